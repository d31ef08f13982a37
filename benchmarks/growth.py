"""Whether time and memory grow linearly: one document from 10 KB to 100 MB, ordinary and of each shape.

Shapes are given to `packed` up to that size, and to the others up to 10 MB.

Every shape and strategy has a process of its own, which cuts larger and larger documents and says after each how long
that took and how much memory it has had. ``python -m benchmarks.growth SHAPE STRATEGY SIZE…`` is such a process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import quire
from benchmarks import curves, measure
from benchmarks.shapes import HOSTILE, SHAPES
from quire.model.options import STRATEGIES

SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
LARGEST = "packed"
"""The strategy that is given the largest document of every shape; the others would only take longer to say the same."""
ORDINARY = next(iter(SHAPES))
PICTURE = Path(__file__).parent / "results" / "growth.svg"
_ROOT = Path(__file__).parents[1]


class Point(NamedTuple):
    """What a document took."""

    size: int
    """Bytes of the document."""
    seconds: float
    memory: int
    """Bytes beyond what the process had before it, at the highest."""


def cut(text: str, strategy: str) -> None:
    """From text to chunks, and every chunk read."""
    for chunk in quire.chunk(text, strategy, path="a.md", tokenizer="o200k_base"):
        chunk.embed_text, chunk.source_position, chunk.token_stats  # noqa: B018 - what fills them in


def run(largest: int = SIZES[-1]) -> Iterator[str]:
    """The page as lines of Markdown; the picture is written beside it."""
    points = {
        shape: {
            each: _measured(shape, each, [size for size in _sizes(shape, each) if size <= largest])
            for each in STRATEGIES
        }
        for shape in SHAPES
    }
    PICTURE.write_text(curves.panels(points), encoding="utf-8")
    yield "Every chunk is read. A line that stays level is time, or memory, that grows as the document does."
    yield ""
    yield "![time and memory by size](growth.svg)"
    for strategy in STRATEGIES:
        yield from ("", f"## `{strategy}`", "", *_table({shape: points[shape][strategy] for shape in points}))
    yield from ("", "## What has hurt", "", *_hostile())


def _sizes(shape: str, strategy: str) -> Sequence[int]:
    return SIZES if strategy == LARGEST or shape == ORDINARY else SIZES[:-1]


def _measured(shape: str, strategy: str, sizes: Sequence[int]) -> list[Point]:
    command = [sys.executable, "-m", "benchmarks.growth", shape, strategy, *map(str, sizes)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True)
    return [Point(*json.loads(line)) for line in done.stdout.splitlines()]


def _table(points: dict[str, list[Point]]) -> Iterator[str]:
    yield "| | " + " | ".join(f"{_size(size)}: ms/MB, memory" for size in SIZES) + " |"
    yield "|---" * (len(SIZES) + 1) + "|"
    for shape, measured in points.items():
        cells = {
            _size(point.size): f"{point.seconds / point.size * 1e9:.0f}, {_size(point.memory)}" for point in measured
        }
        yield f"| {shape} | " + " | ".join(cells.get(_size(size), "") for size in SIZES) + " |"


def _size(number: float) -> str:
    return f"{number / 1e3:.0f} KB" if number < 1e6 else f"{number / 1e6:.0f} MB"


def _hostile() -> Iterator[str]:
    measure.load()
    yield "| ms/MB at 20 KB, at 200 KB | " + " | ".join(f"`{strategy}`" for strategy in STRATEGIES) + " |"
    yield "|---" * (len(STRATEGIES) + 1) + "|"
    for name, shape in HOSTILE.items():
        small, large = shape(20_000), shape(200_000)
        yield f"| {name} | " + " | ".join(f"{_per(small, each)}, {_per(large, each)}" for each in STRATEGIES) + " |"


def _per(text: str, strategy: str) -> str:
    rounds = 3 if len(text) <= 20_000 else 1
    return f"{measure.seconds(lambda: cut(text, strategy), rounds) / len(text.encode()) * 1e9:.0f}"


def _child(shape: str, strategy: str, sizes: Sequence[int]) -> None:
    measure.load()
    cut(SHAPES[ORDINARY](10_000), strategy)
    for size in sizes:
        text = SHAPES[shape](size)
        before = _forgotten()
        seconds = min(_timed(text, strategy) for _ in range(3 if size <= 100_000 else 1))
        print(json.dumps([size, seconds, max(0, _resident("VmHWM") - before)]), flush=True)


def _timed(text: str, strategy: str) -> float:
    started = time.perf_counter()
    cut(text, strategy)
    return time.perf_counter() - started


def _forgotten() -> int:
    """What the process has now, after the system is told to forget the most it has had."""
    forget = Path("/proc/self/clear_refs")
    if forget.exists():
        forget.write_text("5", encoding="ascii")
    return _resident("VmRSS")


def _resident(what: str) -> int:
    """``VmRSS`` is what the process has, ``VmHWM`` the most it has had; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(what)), 0)


if __name__ == "__main__":
    _child(sys.argv[1], sys.argv[2], [int(size) for size in sys.argv[3:]])
