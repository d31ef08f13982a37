"""Whether time and memory grow linearly: an index of 1,000 to 50,000 documents, and one document from 10 KB to 100 MB.

The documents of an index are those of copies.py. ``python -m benchmarks.growth FOLDER COUNT…`` measures only that, with
other numbers. Of one document there is an ordinary one, and one of each shape. Shapes are given to `packed` up to that
size, and to the others up to 10 MB.

Every shape and strategy has a process of its own, which cuts larger and larger documents and says after each how long
that took and how much memory it has had. ``python -m benchmarks.growth SHAPE STRATEGY SIZE…`` is such a process.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import quire
from benchmarks import curves, indexing, measure
from benchmarks.shapes import HOSTILE, SHAPES
from quire.model.options import STRATEGIES

COUNTS = (1_000, 14_000, 50_000)
"""Of documents in an index."""
ROWS = (
    "source, MB",
    "build, CPU s (× tantivy alone)",
    "peak memory of the build, MB",
    "its journal, × source",
    "index, × source",
    "`quire search`, nothing changed, CPU s / MB",
    "the same, `--no-update`",
    "one file edited · renamed · removed, CPU s, medians",
    "query in an open index, CPU ms, p50 / p95",
)
CHANGES = 5
"""How many files are edited, renamed and removed."""
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
    with tempfile.TemporaryDirectory() as home:
        yield from index_growth(Path(home), COUNTS)
    yield from ("## One document", "")
    yield "Every chunk is read. A line that stays level is time, or memory, that grows as the document does."
    yield ""
    yield "![time and memory by size](growth.svg)"
    for strategy in STRATEGIES:
        yield from ("", f"## `{strategy}`", "", *_table({shape: points[shape][strategy] for shape in points}))
    yield from ("", "## What has hurt", "", *_hostile())


def index_growth(home: Path, counts: Sequence[int]) -> Iterator[str]:
    """The table of indexes."""
    columns = [_index_column(home / str(count), count) for count in counts]
    yield from ("## An index", "", "CPU time of the command and its processes. tantivy alone indexes the same text,")
    yield "cut before lines that look like headings, without links, outlines, names and tokens."
    yield "The journal is the file that a large build waits in. Queries are texts of links in Docker's pages."
    yield from ("", "| | " + " | ".join(f"{count:,}" for count in counts) + " |", "|---" * (len(counts) + 1) + "|")
    yield from (f"| {' | '.join(row)} |" for row in zip(ROWS, *columns, strict=True))
    yield ""


def _index_column(home: Path, count: int) -> list[str]:
    docs, index = home / "docs", home / "index"
    _command([sys.executable, "-m", "benchmarks.copies", str(docs), str(count)])  # this process must stay small
    size = sum(file.stat().st_size for file in docs.rglob("*.md"))
    command = [sys.executable, "-m", "quire"]
    build, memory, journal = _command([*command, "index", str(docs), "--index", str(index)], index / "index.reading")
    alone, _, _ = _command([sys.executable, "-m", "benchmarks.growth", "alone", str(home)])
    disk = sum(file.stat().st_size for file in index.rglob("*") if file.is_file())
    search = [*command, "search", "container image", str(docs), "--index", str(index)]
    searched, unchecked = (min(_command([*search, *more]) for _ in range(3)) for more in ([], ["--no-update"]))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.growth", "queries", str(index)], cwd=_ROOT, capture_output=True, check=True
    )
    half, most = json.loads(done.stdout)
    update = [*command, "index", str(docs), "--index", str(index)]
    changes = " · ".join(f"{seconds:.2f}" for seconds in _change_files(docs, update))
    shutil.rmtree(home)
    return [
        f"{size / 1e6:.0f}",
        f"{build:.1f} ({build / alone:.1f})",
        f"{memory:.0f}",
        f"{journal / size:.2f}" if journal else "in memory",
        f"{disk / size:.2f}",
        f"{searched[0]:.2f} / {searched[1]:.0f}",
        f"{unchecked[0]:.2f} / {unchecked[1]:.0f}",
        changes,
        f"{half:.1f} / {most:.1f}",
    ]


def _command(command: Sequence[str], journal: Path | None = None) -> tuple[float, float, int]:
    """The CPU seconds and MB of a command with its processes, and the largest size of a file meanwhile."""
    process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.DEVNULL)
    largest, ended = 0, 0
    while not ended:
        time.sleep(0.01)
        if journal is not None and journal.exists():
            largest = max(largest, journal.stat().st_size)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, largest


def _change_files(docs: Path, update: Sequence[str]) -> list[float]:
    """What an update takes after a file was edited, renamed and removed."""
    seconds: list[list[float]] = [[], [], []]
    for file in random.Random(1).sample(sorted(docs.rglob("*.md")), CHANGES):
        text, other = file.read_text(encoding="utf-8"), file.with_name(f"other-{file.name}")
        file.write_text(f"{text}\n\nAnother sentence.\n", encoding="utf-8")
        seconds[0].append(_command(update)[0])
        file.rename(other)
        seconds[1].append(_command(update)[0])
        other.unlink()
        seconds[2].append(_command(update)[0])
    return [sorted(each)[CHANGES // 2] for each in seconds]


def _alone(home: Path) -> None:
    indexing.script(home / "alone", sorted((home / "docs").rglob("*.md")))


def _queries(folder: str) -> None:
    index, times = quire.Index.open(folder), list[float]()
    [(_, questions)] = measure.documents("linkqa", pattern="docker.jsonl")
    for line in questions.splitlines()[:300]:
        query = json.loads(line)["query"].replace('"', "")
        index.search(query)
        started = time.process_time()
        index.search(query)
        times.append((time.process_time() - started) * 1e3)
    print(json.dumps([sorted(times)[len(times) * share // 100] for share in (50, 95)]))


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
    if sys.argv[1] == "alone":
        _alone(Path(sys.argv[2]))
    elif sys.argv[1] == "queries":
        _queries(sys.argv[2])
    elif sys.argv[1] in SHAPES:
        _child(sys.argv[1], sys.argv[2], [int(size) for size in sys.argv[3:]])
    else:
        print("\n".join(index_growth(Path(sys.argv[1]), [int(count) for count in sys.argv[2:]])))
