"""How much CPU time each tool takes: all in turn on each document, the best of several rounds. Neighbour: report.py.

Each round gives every tool a new splitter, for some remember what they counted, and a second pass over the same
documents would then be measured, which nobody makes. Making it is not timed. A tool that fails is out, with a reason.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks import cost
from benchmarks.measure import Document
from benchmarks.peers.record import Split

PARTS = ("draining the parser's events", "counting every byte once")


@dataclass(frozen=True, slots=True)
class Times:
    """What was measured."""

    seconds: Mapping[str, float]
    """For each tool, and for each of ``PARTS``: the sum over the documents of its best times."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """For each tool that failed: how."""


def measure(makers: Mapping[str, Callable[[], Split]], documents: Sequence[Document], rounds: int) -> Times:
    """The best times of all splitters, by name, and who failed."""
    failures: dict[str, str] = {}
    best: dict[str, list[float]] = {}
    for round_ in range(rounds):
        works = _made(makers, failures)
        gc.collect()
        gc.freeze()  # what was imported and made is no work of the tool that happens to run
        for index, document in enumerate(documents):
            for name in _rotated(list(works), round_ + index):
                if name not in failures:
                    times = best.setdefault(name, [float("inf")] * len(documents))
                    times[index] = min(times[index], _timed(name, works[name], document[1], failures))
        gc.unfreeze()
    return Times({name: sum(times) for name, times in best.items() if name not in failures}, failures)


def _made(makers: Mapping[str, Callable[[], Split]], failures: dict[str, str]) -> dict[str, Split]:
    works: dict[str, Split] = dict(zip(PARTS, (cost.drain, cost.count), strict=True))
    for name, make in makers.items():
        if name not in failures:
            try:
                works[name] = make()
            except Exception as error:  # noqa: BLE001 - others' code may raise anything; it is named in the table
                failures[name] = _said(error)
    return works


def _rotated(names: list[str], by: int) -> list[str]:
    first = by % len(names)
    return [*names[first:], *names[:first]]


def _timed(name: str, work: Split, text: str, failures: dict[str, str]) -> float:
    started = time.process_time()
    try:
        work(text)
    except Exception as error:  # noqa: BLE001 - as above
        failures[name] = _said(error)
    return time.process_time() - started


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"[:160]
