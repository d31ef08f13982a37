"""What indexing costs beside the engine alone, and what an update costs: 100,000 nodes of real documents."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import Document
from quire import Index
from quire.index.engine.store import Writer
from quire.index.reading import read_task
from quire.index.tasks import Reading, Task
from quire.index.update import threads_for
from quire.run.cores import cores

NODES = 100_000
FILES = 1_000
UPDATES = 15


def run() -> list[str]:
    """Two tables as lines of Markdown."""
    documents = measure.documents()
    if not documents:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        return [*_building(home / "many", documents), "", *_updating(home / "few", documents)]


def _building(home: Path, documents: list[Document]) -> list[str]:
    written, nodes, size = _written(home / "docs", documents)
    engine = min(
        _engine_alone(home / f"engine-{number}", home / "docs", written, threads_for(size)) for number in range(2)
    )
    taken: dict[int, float] = {}
    for jobs in (1, cores()):
        index = Index.open(home / f".quire-{jobs}")
        started = time.perf_counter()
        done = index.update({"docs": home / "docs"}, jobs=jobs)
        taken[jobs] = time.perf_counter() - started
        assert done.nodes == nodes
    on_disk = index.status().size
    rows = [("the engine alone, fields in memory", engine)]
    rows += [(f"`Index.update`, {jobs} process{'es' * (jobs > 1)}", seconds) for jobs, seconds in taken.items()]
    return [
        f"{len(written):,} files, {size / 1e6:.1f} MB, {nodes:,} nodes, {cores()} cores. The engine alone is given the",
        f"same fields, made beforehand, with {threads_for(size)} threads.",
        f"The index takes {on_disk / size:.2f} of the documents' size.",
        "",
        "| making the index | s | nodes/s | MB/s | of the engine alone |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {seconds:.1f} | {nodes / seconds:,.0f} | {size / 1e6 / seconds:.1f} | {engine / seconds:.2f} |"
            for name, seconds in rows
        ),
    ]


def _written(folder: Path, documents: list[Document]) -> tuple[list[str], int, int]:
    """The documents again and again, in folders of their own, until there are nodes enough."""
    paths: list[str] = []
    nodes = size = 0
    while nodes < NODES:
        number = len(paths) // len(documents)
        for path, text in documents:
            file = folder / f"copy-{number}" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
            paths.append(f"copy-{number}/{path}")
            size += file.stat().st_size
        if not number:
            each = sum(len(reading.nodes) for _, reading in _readings(folder, paths))
        nodes += each
    return paths, nodes, size


def _readings(folder: Path, paths: list[str]) -> Iterator[tuple[str, Reading]]:
    for path in paths:
        yield f"docs:{path}", read_task(Task(os.fsencode(folder / path), "docs", path, "english"))


def _engine_alone(generation: Path, folder: Path, paths: list[str], threads: int) -> float:
    """Seconds to have the same fields in the engine, from memory."""
    generation.mkdir(parents=True)
    readings = list(_readings(folder, paths))
    started = time.perf_counter()
    writer = Writer(generation, ("english",), create=True, threads=threads)
    for document_id, reading in readings:
        writer.replace(document_id, reading.nodes, is_new=True)
    writer.commit()
    return time.perf_counter() - started


def _updating(home: Path, documents: list[Document]) -> list[str]:
    docs = home / "docs"
    for path, text in documents[:FILES]:
        file = docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    index = Index.open(home / ".quire")
    index.update({"docs": docs})
    time.sleep(0.1)
    nothing = [_seconds(index) for _ in range(UPDATES)]
    one, touched = [], []
    for number in range(UPDATES):
        file = docs / documents[number * 7][0]
        file.write_text(f"{documents[number * 7][1]}\n\n## Edit {number}\n\nAnother sentence.\n", encoding="utf-8")
        one.append(_seconds(index))
        os.utime(file)
        touched.append(_seconds(index))
    rows = {"nothing changed": nothing, "one file changed": one, "one file touched": touched}
    count = len(index.documents())
    shutil.rmtree(home)
    return [
        f"| update of {count:,} files, in a process that runs | median ms | longest ms |",
        "|---|---|---|",
        *(f"| {name} | {statistics.median(each) * 1e3:.0f} | {max(each) * 1e3:.0f} |" for name, each in rows.items()),
    ]


def _seconds(index: Index) -> float:
    started = time.perf_counter()
    index.update(wait=0)
    return time.perf_counter() - started
