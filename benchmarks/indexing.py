"""What indexing costs beside a short script with the same engine, and what an update costs: 100,000 nodes."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import tantivy

from benchmarks import measure
from benchmarks.measure import Document
from quire import Index
from quire.run.workers import cores

NODES = 100_000
FILES = 1_000
UPDATES = 9
ROUNDS = 2
SCRIPT = "a script: tantivy, sections by a pattern"
_HEADING = re.compile(r"^(?=#{1,6}[ ])", re.MULTILINE)


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

    work: float
    """Seconds of all processors, child processes included: this hardly depends on what else the machine does."""
    seconds: float
    """By the clock."""


def _taken(work: Callable[[], object]) -> Taken:
    before, started = sum(os.times()[:4]), time.perf_counter()
    work()
    return Taken(sum(os.times()[:4]) - before, time.perf_counter() - started)


def _building(home: Path, documents: list[Document]) -> list[str]:
    written, size = _written(home / "docs", documents)
    best: dict[str, Taken] = {}
    for number in range(ROUNDS):
        works = {
            SCRIPT: partial(script, home / f"script-{number}", written),
            f"`Index.update`, {cores()} processes": partial(_update, home / f"many-{number}", home / "docs", cores()),
            "`Index.update`, 1 process": partial(_update, home / f"one-{number}", home / "docs", 1),
        }
        for name, work in works.items():
            taken = _taken(work)
            best[name] = min(best.get(name, taken), taken)
    index = Index.open(home / "many-0")
    nodes, on_disk = index.trees()["docs"].nodes, index.status().size
    return [
        f"{len(written):,} files, {size / 1e6:.1f} MB, {nodes:,} nodes, {cores()} cores. Best of {ROUNDS} rounds.",
        f"The index takes {on_disk / size:.2f} of the documents' size.",
        "",
        "| making the index | s of all processors | of the script | s | nodes/s | MB/s |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {taken.work:.1f} | {taken.work / best[SCRIPT].work:.1f} | {taken.seconds:.1f} "
            f"| {nodes / taken.seconds:,.0f} | {size / 1e6 / taken.seconds:.1f} |"
            for name, taken in best.items()
        ),
        "",
        "The script reads the files, cuts them before lines that look like headings, and gives the engine the path and",
        "the text of each part. It has no tokens, links, front matter, ids or positions, and finds headings in code.",
    ]


def _update(home: Path, docs: Path, jobs: int) -> None:
    Index.open(home).update({"docs": docs}, jobs=jobs)


def _written(folder: Path, documents: list[Document]) -> tuple[list[Path], int]:
    """The documents again and again, in folders of their own, until there are about as many nodes as wanted."""
    files: list[Path] = []
    nodes = size = 0
    while nodes < NODES:
        copy = folder / f"copy-{len(files) // len(documents)}"
        for path, text in documents:
            file = copy / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
            files.append(file)
            size += file.stat().st_size
            nodes += 1 + len(_HEADING.findall(text))
    return files, size


def parts(text: str) -> list[str]:
    """A page cut before lines that look like headings."""
    return _HEADING.split(text)


def script(folder: Path, files: list[Path]) -> None:
    """What somebody would write who needs no more than search."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", tokenizer_name="raw", stored=True)
    builder.add_text_field("text", tokenizer_name="en_stem", stored=True)
    schema = builder.build()
    folder.mkdir(parents=True)
    writer = tantivy.Index(schema, path=str(folder)).writer(heap_size=64_000_000 * cores(), num_threads=cores())
    for file in files:
        for text in parts(file.read_text(encoding="utf-8", errors="replace")):
            writer.add_document(tantivy.Document(path=str(file), text=text))
    writer.commit()
    writer.wait_merging_threads()


def _updating(home: Path, documents: list[Document]) -> list[str]:
    docs, files = home / "docs", []
    for path, text in documents[:FILES]:
        file = docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
        files.append(file)
    time.sleep(0.1)  # so that the times of folders can be trusted
    index = Index.open(home / ".quire")
    index.update({"docs": docs})
    rows = {name: list(_updated(index, files, edit)) for name, edit in _EDITS.items()}
    count = len(index.documents())
    shutil.rmtree(home)
    return [
        f"| update of {count:,} files, in a process that runs | median CPU ms | most |",
        "|---|---|---|",
        *(f"| {name} | {statistics.median(each) * 1e3:.0f} | {max(each) * 1e3:.0f} |" for name, each in rows.items()),
    ]


Edit = Callable[[Path, Path, int], object]
"""Changes a file; the second is another one."""


def _updated(index: Index, files: list[Path], edit: Edit) -> Iterator[float]:
    for number in range(UPDATES):
        edit(files[number * 7], files[number * 11 + 3], number)
        started = time.process_time()
        index.update(wait=0)
        yield time.process_time() - started


def _append(file: Path, text: str) -> None:
    file.write_text(f"{file.read_text(encoding='utf-8')}\n\n{text}\n", encoding="utf-8")


_EDITS: dict[str, Edit] = {
    "nothing changed": lambda *_: None,
    "text of one file": lambda file, _, number: _append(file, f"Sentence {number}."),
    "a heading added": lambda file, _, number: _append(file, f"## Edit {number}\n\nAnother sentence."),
    "a link added": lambda file, other, number: _append(
        file, f"[Link {number}]({os.path.relpath(other, file.parent)})"
    ),
    "a file touched": lambda file, *_: os.utime(file),
    "a file added": lambda file, _, number: (file.parent / f"new-{number}.md").write_text("# New\n\nText.\n"),
    "a file renamed": lambda file, _, number: (file.parent / f"new-{number}.md").rename(file.parent / f"{number}.md"),
    "a file removed": lambda file, *_: file.unlink(),
}
