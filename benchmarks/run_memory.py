"""``quire chunk --engine local`` over ten gigabytes of Markdown: how much memory its processes hold.

Not part of ``make bench``: it takes an hour or so, and 20 GB of disk.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import measure
from benchmarks.many import filled, resident_bytes, wait

MEGABYTES = int(os.environ.get("QUIRE_RUN_MB", "10000"))
_EVERY = 0.5
"""Seconds between two looks at the memory."""


def run() -> list[str]:
    """A table as lines of Markdown."""
    documents = measure.documents()
    if not documents:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    with filled(documents, MEGABYTES) as (folder, _, count):
        output = folder / "out"
        command = [sys.executable, "-m", "quire", "chunk", "-q", str(folder / "in"), "--engine", "local", "-j", "2"]
        started = time.perf_counter()
        child = subprocess.Popen([*command, "-o", str(output)])
        own, worker, first = _watch(child, output)
        seconds = time.perf_counter() - started
        cpu = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        files = list(output.glob("*.parquet"))
        written = sum(file.stat().st_size for file in files) / 1e6
    return [
        f"`quire chunk --engine local -j 2` over {count:,} documents, {MEGABYTES:,} MB, `packed`, beside other work:",
        f"{seconds:,.0f} s, {MEGABYTES / cpu:.1f} MB per CPU-s; {len(files):,} files, {written:,.0f} MB. One round.",
        "",
        "| | |",
        "|---|---|",
        f"| a worker, resident MB at most | {worker / 1e6:.0f} |",
        f"| the command itself, which lists the documents | {own / 1e6:.0f} |",
        f"| the first file was written after, s | {first:.0f} |",
    ]


def _watch(child: subprocess.Popen[bytes], output: Path) -> tuple[int, int, float]:
    """The most resident bytes of the command and of a process that it starts; when its first file was there."""
    own = worker = 0
    first, started = 0.0, time.perf_counter()
    while child.poll() is None:
        found = resident_bytes(child.pid)
        own = max(own, found.pop(child.pid, 0))
        worker = max(worker, *found.values(), 0)
        if not first and next(output.glob("*.parquet"), None):
            first = time.perf_counter() - started
        time.sleep(_EVERY)
    wait(child)
    return own, worker, first
