"""A gigabyte of Markdown: in what memory, and how much faster on two processes than on one. Neighbour: many.py.

Not part of ``make bench``: it takes minutes, and three gigabytes of disk.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from benchmarks import measure
from benchmarks.many import filled, most_memory, start, wait

MEGABYTES = int(os.environ.get("QUIRE_GIGABYTE_MB", "1000"))
_EVERY = 0.1
"""Seconds between two looks at the memory."""


def run() -> list[str]:
    """A table as lines of Markdown."""
    documents = measure.documents()
    if not documents:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    with filled(documents, MEGABYTES) as (folder, halves, count):
        side = _side_by_side(folder, halves)
        one, two = (_watched(folder, jobs) for jobs in (1, 2))
    return [
        f"{count:,} documents, {MEGABYTES} MB, `packed`, to JSON lines. One round.",
        "",
        "| | seconds | gain | the process, MB at most | all together |",
        "|---|---|---|---|---|",
        f"| `-j 1` | {one[0]:.1f} | 1.00 | {one[1]:.0f} | {one[2]:.0f} |",
        f"| `-j 2` | {two[0]:.1f} | {one[0] / two[0]:.2f} | {two[1]:.0f} | {two[2]:.0f} |",
        f"| two runs side by side, each on one half | {side:.1f} | {one[0] / side:.2f} | | |",
    ]


def _watched(folder: Path, jobs: int) -> tuple[float, float, float]:
    """Seconds, and resident megabytes of the process and of all together."""
    target = folder / "out"
    started = time.perf_counter()
    own, together = most_memory(start("jsonl", folder / "in", target, jobs), _EVERY)
    seconds = time.perf_counter() - started
    target.with_suffix(".jsonl").unlink()
    return seconds, own / 1e6, together / 1e6


def _side_by_side(folder: Path, halves: list[Path]) -> float:
    started = time.perf_counter()
    for child in [start("jsonl", half, folder / half.name, 1) for half in halves]:
        wait(child)
    seconds = time.perf_counter() - started
    for half in halves:
        (folder / half.name).with_suffix(".jsonl").unlink()
    return seconds
