"""Two million small documents in shards: the memory of the command and of its workers, and what a repeated run does.

Not part of ``make bench``: it takes an hour or so, and 4 GB of disk. ``QUIRE_SHARDS_DOCUMENTS`` sets the number.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from benchmarks import measure
from benchmarks.many import resident_bytes, wait

COUNT = int(os.environ.get("QUIRE_SHARDS_DOCUMENTS", "2000000"))
ENGINE = os.environ.get("QUIRE_SHARDS_ENGINE", "local")
_PER_SHARD = 10_000
_CHARACTERS = 150
"""The size of a document."""
_EVERY = 0.5
"""Seconds between two looks at the memory."""


def run() -> list[str]:
    """A table as lines of Markdown."""
    documents = measure.documents()
    if not documents:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    with tempfile.TemporaryDirectory() as folder:
        size = _fill(Path(folder), documents)
        first, again = (_watched(Path(folder)) for _ in range(2))
        files = list(Path(folder, "out").glob("*.parquet"))
    return [
        f"`quire chunk 'shards/*.jsonl' --engine {ENGINE} -j 2 -o out` over {COUNT:,} documents in",
        f"{-(-COUNT // _PER_SHARD):,} shards, {size / 1e6:,.0f} MB, `packed`, beside other work; {len(files):,} files.",
        "",
        "| | first run | repeated |",
        "|---|---|---|",
        *(f"| {name} | {one} | {two} |" for name, one, two in zip(_NAMES, first, again, strict=True)),
    ]


_NAMES = ("the command itself, resident MB at most", "a worker, resident MB at most", "CPU-s", "s")


def _fill(folder: Path, documents: list[measure.Document]) -> int:
    """Write shards of pieces of real documents; return their size."""
    texts = (text[start : start + _CHARACTERS] for _, text in cycle(documents) for start in range(0, len(text), 997))
    (folder / "shards").mkdir()
    for first in range(0, COUNT, _PER_SHARD):
        with (folder / "shards" / f"{first:09}.jsonl").open("w") as stream:
            for number, text in enumerate(islice(texts, min(_PER_SHARD, COUNT - first)), start=first):
                document = {"path": f"{number // 1000}/{number}.md", "text": f"# {number}\n\n{text}"}
                stream.write(json.dumps(document) + "\n")
    return sum(file.stat().st_size for file in (folder / "shards").iterdir())


def _watched(folder: Path) -> tuple[str, ...]:
    """The most resident megabytes of the command and of a process that it starts; CPU seconds; seconds."""
    command = [sys.executable, "-m", "quire", "chunk", "-q", str(folder / "shards" / "*.jsonl")]
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    started = time.perf_counter()
    child = subprocess.Popen([*command, "--engine", ENGINE, "-j", "2", "-o", str(folder / "out")])
    own = worker = 0
    while child.poll() is None:
        sizes = resident_bytes(child.pid)
        own = max(own, sizes.pop(child.pid, 0))
        worker = max(worker, *sizes.values(), 0)
        time.sleep(_EVERY)
    wait(child)
    cpu = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before
    return f"{own / 1e6:.0f}", f"{worker / 1e6:.0f}", f"{cpu:,.0f}", f"{time.perf_counter() - started:,.0f}"
