"""What indexing costs beside the engine alone, and what an update costs: 100,000 nodes of real documents."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure
from benchmarks.measure import Document
from quire import Index
from quire.index.engine.writer import Writer
from quire.index.file_records import FileRecord
from quire.index.read_files import IndexedFile, read_batch
from quire.index.update import threads_for
from quire.index.update_plan import Task
from quire.run.workers import cores

NODES = 100_000
FILES = 1_000
UPDATES = 15
ROUNDS = 2
ALONE = "the engine alone, fields in memory"


def run() -> list[str]:
    """Two tables as lines of Markdown."""
    documents = measure.documents()
    if not documents:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        return [*_building(home / "many", documents), "", *_updating(home / "few", documents)]


class Taken(NamedTuple):
    """What something took."""

    seconds: float
    """By the clock."""
    work: float
    """Of all processors, child processes included: this hardly depends on what else the machine does."""


def _taken(work: Callable[[], object]) -> Taken:
    before, started = sum(os.times()[:4]), time.perf_counter()
    work()
    return Taken(time.perf_counter() - started, sum(os.times()[:4]) - before)


def _building(home: Path, documents: list[Document]) -> list[str]:
    written, nodes, size = _written(home / "docs", documents)
    threads = threads_for(size)
    processes = cores()
    several = f"`Index.update`, {processes} processes"
    best: dict[str, Taken] = {}
    for number in range(ROUNDS):
        works = {
            "the engine alone, fields in memory": _engine(home / f"engine-{number}", home / "docs", written, threads)
        }
        works[several] = partial(_update, home / f"many-{number}", home / "docs", processes)
        if not number:
            works["`Index.update`, 1 process"] = partial(_update, home / "one", home / "docs", 1)
        for name, work in works.items():
            taken = _taken(work)
            best[name] = min(best.get(name, taken), taken)
    on_disk = Index.open(home / "many-0").status().size
    alone = best[ALONE].seconds
    return [
        f"{len(written):,} files, {size / 1e6:.1f} MB, {nodes:,} nodes, {processes} cores. The engine alone is given",
        f"the same fields, made beforehand, with {threads} threads. Best of {ROUNDS} rounds.",
        f"The index takes {on_disk / size:.2f} of the documents' size.",
        "",
        "| making the index | s | nodes/s | MB/s | of the engine alone | s of all processors |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {taken.seconds:.1f} | {nodes / taken.seconds:,.0f} | {size / 1e6 / taken.seconds:.1f} "
            f"| {alone / taken.seconds:.2f} | {taken.work:.1f} |"
            for name, taken in best.items()
        ),
    ]


def _update(home: Path, docs: Path, jobs: int) -> None:
    Index.open(home).update({"docs": docs}, jobs=jobs)


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
            each = sum(len(reading.nodes.own) for _, reading in _readings(folder, paths))
        nodes += each
    return paths, nodes, size


def _readings(folder: Path, paths: list[str]) -> Iterator[tuple[str, IndexedFile]]:
    for path in paths:
        record = FileRecord("docs", path, size=0, mtime_ns=0, ctime_ns=0, racy=False)
        [file] = read_batch([Task(os.fsencode(folder / path), "english", record)])
        yield f"docs:{path}", file


def _engine(generation: Path, folder: Path, paths: list[str], threads: int) -> Callable[[], None]:
    """Has the same fields in the engine, from memory."""
    generation.mkdir(parents=True)
    readings = list(_readings(folder, paths))

    def work() -> None:
        writer = Writer(generation, ("english",), create=True, threads=threads)
        while readings:
            document_id, reading = readings.pop()
            writer.replace(document_id, len(readings), reading.nodes, is_new=True)
        writer.commit()

    return work


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
