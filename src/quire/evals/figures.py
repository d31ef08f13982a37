"""MRR, recall and tokens with 95 % intervals, by bootstrap: the questions are drawn again, with replacement.

Differences between two searches are drawn in pairs, the same questions for both. The seed is fixed: equal outcomes give
equal figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from quire.evals.outcomes import DEPTH, Outcome

RESAMPLES = 1_000
_SEED = 0
_TAIL = 0.025

Measure: TypeAlias = Callable[[Sequence[Outcome]], float | None]


class Figure(NamedTuple):
    """A value with its 95 % interval; all are None if no question counts for it."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def may_be_zero(self) -> bool:
        """Whether the interval contains 0: then a difference may be noise."""
        return self.low is None or self.high is None or self.low <= 0 <= self.high


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _mrr(outcomes: Sequence[Outcome]) -> float | None:
    return _mean([1 / outcome.rank if outcome.rank else 0.0 for outcome in outcomes])


def _hard_mrr(outcomes: Sequence[Outcome]) -> float | None:
    return _mrr([outcome for outcome in outcomes if not outcome.repeats_title])


def _recall(depth: int) -> Measure:
    return lambda outcomes: _mean([float(0 < outcome.rank <= depth) for outcome in outcomes])


def _tokens(outcomes: Sequence[Outcome]) -> float | None:
    return _mean([outcome.tokens for outcome in outcomes if outcome.tokens])


MEASURES: Mapping[str, tuple[str, Measure]] = MappingProxyType(
    {
        "mrr": (f"MRR@{DEPTH}", _mrr),
        "mrr_hard": (f"MRR@{DEPTH}, query is not the title", _hard_mrr),
        "recall_1": ("recall at 1", _recall(1)),
        "recall_5": ("recall at 5", _recall(5)),
        "recall_10": ("recall at 10", _recall(10)),
        "tokens": ("tokens read until right", _tokens),
    }
)
"""By the name in JSON: the name in tables, and how it is computed. More is better, except for tokens."""
SHARES = tuple(name for name in MEASURES if name != "tokens")
"""Those from 0 to 1, of which more is better."""


def figures(outcomes: Sequence[Outcome]) -> dict[str, Figure]:
    """Every measure with its interval."""
    drawn = [[outcomes[number] for number in numbers] for numbers in _draws(len(outcomes))]
    return {
        name: _figure(measure(outcomes), [measure(sample) for sample in drawn])
        for name, (_, measure) in MEASURES.items()
    }


def differences(old: Sequence[Outcome], new: Sequence[Outcome]) -> dict[str, Figure]:
    """How much each measure of ``new`` is above that of ``old``; both have the same questions in the same order."""
    drawn = [([old[number] for number in numbers], [new[number] for number in numbers]) for numbers in _draws(len(old))]
    return {
        name: _figure(_difference(measure, old, new), [_difference(measure, *pair) for pair in drawn])
        for name, (_, measure) in MEASURES.items()
    }


def _difference(measure: Measure, old: Sequence[Outcome], new: Sequence[Outcome]) -> float | None:
    before, after = measure(old), measure(new)
    return None if before is None or after is None else after - before


def _draws(count: int) -> Iterator[list[int]]:
    random = Random(_SEED)  # noqa: S311
    return (random.choices(range(count), k=count) for _ in range(RESAMPLES))


def _figure(value: float | None, drawn: Sequence[float | None]) -> Figure:
    ordered = sorted(value_drawn for value_drawn in drawn if value_drawn is not None)
    if value is None or not ordered:
        return Figure(None)
    edge = int(_TAIL * len(ordered))
    return Figure(value, ordered[edge], ordered[-1 - edge])
