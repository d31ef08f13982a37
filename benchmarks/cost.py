"""What a strategy costs beside its two parts: draining the parser's events, and counting every byte once.

The cost is counted in instructions, by valgrind's cachegrind, because load on the machine does not change them. Each
figure is that of two passes over the documents minus that of one. ``python -m benchmarks.cost NAME ROUNDS`` is such a
process; ``python -m benchmarks.cost memory`` prints the memory of documents and chunks.
"""

from __future__ import annotations

import gc
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyromark
from pyromark import Options

import quire
from benchmarks import measure
from benchmarks.measure import RUNS, Document
from quire.tokens import tokenizers

BASE = "10f7106"
"""The commit of version 0.2.0."""
STEP = 12
"""Every so many documents are measured."""
COUNTER = tokenizers.resolve("o200k_base", "o200k_base")
Made = TypeVar("Made")
_PARSER = pyromark.Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH)
_PARTS = "parts"
_INSTRUCTIONS = re.compile(r"I\s+refs:\s+([\d,]+)")
_GOTHIC = "\N{GOTHIC LETTER AHSA}"  # the counter in Python declines it, so the engine is loaded


def drain(text: str) -> None:
    """Take all events from the parser and do nothing with them."""
    deque(_PARSER.events_with_range(text), maxlen=0)


def count(text: str) -> None:
    """Count the tokens of the whole text."""
    COUNTER.count(text)


def run() -> Iterator[str]:
    """The page as lines of Markdown."""
    documents = _documents()
    if not documents:
        yield "No documents: set QUIRE_SHARED to a folder with Markdown files."
        return
    megabytes = measure.megabytes(documents)
    yield f"One in {STEP} documents of Docker and Kubernetes: {len(documents):,}, {megabytes:.1f} MB."
    yield f"0.2.0 is commit {BASE}."
    with tempfile.TemporaryDirectory() as folder:
        sources = [measure.unpacked(BASE, Path(folder)), measure.ROOT / "src"]
        yield from ("", "## Instructions", "", *_instruction_table(sources))
        yield from ("", "## Memory", "", *_memory_table(sources))


def _documents() -> list[Document]:
    return measure.documents("linkqa/k8s", "linkqa/docker")[::STEP]


def _instruction_table(sources: Sequence[Path]) -> Iterator[str]:
    if shutil.which("valgrind") is None:
        yield "Not measured: valgrind is not installed."
        return
    parts = _instructions(_PARTS, sources[-1])
    yield "As multiples of the two parts: draining the parser's events once, and counting every byte once"
    yield f"({parts / 1e6:.0f} million instructions). Ten fields of every chunk are read."
    yield ""
    yield "| strategy | 0.2.0 | now | now / 0.2.0 |"
    yield "|---|---|---|---|"
    for name in RUNS:
        old, new = (_instructions(name, source) for source in sources)
        yield f"| {name} | {old / parts:.2f} | {new / parts:.2f} | {new / old:.2f} |"


def _instructions(name: str, source: Path) -> int:
    """The instructions of one pass."""
    once, twice = (_instructions_of_process(name, rounds, source) for rounds in (1, 2))
    return twice - once


def _instructions_of_process(name: str, rounds: int, source: Path) -> int:
    valgrind = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    done = _process(source, *valgrind, sys.executable, "-m", "benchmarks.cost", name, str(rounds))
    found = _INSTRUCTIONS.search(done.stderr)
    if found is None:
        raise RuntimeError(done.stderr)
    return int(found[1].replace(",", ""))


def _process(source: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A finished process with the version of quire in ``source``."""
    environment = measure.environment(source)
    return subprocess.run(command, cwd=source.parent, env=environment, capture_output=True, text=True, check=True)


def _pass(name: str, rounds: int) -> None:
    """All documents, ``rounds`` times."""
    documents, work = _documents(), _both_parts if name == _PARTS else partial(_cut, name)
    COUNTER.count(_GOTHIC)
    gc.disable()
    for _ in range(rounds):
        for document in documents:
            work(document)


def _both_parts(document: Document) -> None:
    drain(document[1])
    count(document[1])


def _cut(name: str, document: Document) -> None:
    strategy, options = RUNS[name]
    for chunk in quire.chunk(document[1], strategy, path=document[0], **options):
        measure.ten_fields(chunk)


def _memory_table(sources: Sequence[Path]) -> Iterator[str]:
    yield "Bytes that Python allocates, by tracemalloc, without the text of a document and the two texts of a chunk."
    yield ""
    yield "| | 0.2.0 | now |"
    yield "|---|---|---|"
    figures = [json.loads(_process(each, sys.executable, "-m", "benchmarks.cost", "memory").stdout) for each in sources]
    for name in figures[-1]:
        yield f"| {name} | " + " | ".join(each[name] for each in figures) + " |"


def _memory() -> dict[str, str]:
    documents = _documents()
    characters = sum(len(text) for _, text in documents)
    for strategy, options in RUNS.values():
        for path, text in documents:
            quire.chunk(text, strategy, path=path, **options)  # imports and caches
    COUNTER.count(_GOTHIC)
    tracemalloc.start()
    parsed, own = _allocated(lambda: [quire.parse(text, path=path) for path, text in documents])
    _, read = _allocated(lambda: [(each.blocks, each.sections) for each in parsed])
    figures = {
        "a parsed document, bytes per character": f"{own / characters:.2f}",
        "the same with its blocks and sections read": f"{(own + read) / characters:.2f}",
    }
    for name, (strategy, options) in RUNS.items():
        cut = partial(quire.chunk, strategy=strategy, **options)
        chunks, taken = _allocated(lambda cut=cut: [chunk for document in parsed for chunk in cut(document)])  # type: ignore[misc]
        texts = {id(text): sys.getsizeof(text) for each in chunks for text in (each.original_text, each.embed_text)}
        figures[f"a chunk of {name}, bytes"] = f"{(taken - sum(texts.values())) / len(chunks):,.0f}"
    return figures


def _allocated(make: Callable[[], Made]) -> tuple[Made, int]:
    """What ``make`` returns, and the bytes that stay allocated for it."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    gc.collect()
    return made, tracemalloc.get_traced_memory()[0] - before


if __name__ == "__main__":
    if sys.argv[1] == "memory":
        print(json.dumps(_memory()))
    else:
        _pass(sys.argv[1], int(sys.argv[2]))
