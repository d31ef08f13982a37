"""Timing: everything in turn, the best of several rounds, so that a noisy machine disturbs all alike."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from quire import size

Document = tuple[str, str]
"""A path and a text."""
Item = TypeVar("Item")


def documents() -> list[Document]:
    """All Markdown files of the shared data; none where there is no such folder."""
    folder = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    files = sorted(folder.rglob("*.md")) if folder.is_dir() else []
    return [(file.relative_to(folder).as_posix(), file.read_bytes().decode()) for file in files]


def load() -> None:
    """Have the vocabulary loaded, so that nothing measured has to wait for it."""
    size.resolve("o200k_base", "o200k_base").count("".join(chr(0x4E00 + n % 20000) for n in range(500_000)))


def megabytes(texts: Sequence[Document]) -> float:
    """The size of the texts in UTF-8."""
    return sum(len(text.encode()) for _, text in texts) / 1e6


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """The best time of ``work``."""
    return min(_timed(work) for _ in range(rounds))


def in_turn(works: Mapping[str, Callable[[Item], object]], items: Sequence[Item], rounds: int) -> dict[str, float]:
    """The sum over ``items`` of each work's best time, all works in turn on each item, in changing order."""
    best = {name: [float("inf")] * len(items) for name in works}
    for round_ in range(rounds):
        for index, item in enumerate(items):
            for name in _rotated(list(works), round_):
                taken = _timed(lambda name=name, item=item: works[name](item))
                best[name][index] = min(best[name][index], taken)
    return {name: sum(times) for name, times in best.items()}


def _rotated(names: list[str], by: int) -> Iterator[str]:
    first = by % len(names)
    yield from names[first:]
    yield from names[:first]


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
