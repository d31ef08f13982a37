"""MRR, recall and tokens with 95 % intervals, by bootstrap: the questions are drawn again, with replacement.

A share of questions has Wilson's interval: by bootstrap, 15 right answers of 15 would give 1.000 to 1.000.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple, TypeAlias

from quire.evals.outcomes import DEPTH, Outcome
from quire.evals.questions import SEED

RESAMPLES = 1_000
_TAIL = 0.025
_DEVIATIONS = 1.96  # of a normal distribution, to both sides

Measure: TypeAlias = Callable[[Outcome], float | None]  # of a question; None if it does not count


class Figure(NamedTuple):
    """A value with its 95 % interval; all are None if no question counts for it."""

    value: float | None
    low: float | None = None
    high: float | None = None


def _reciprocal(outcome: Outcome) -> float:
    return 1 / outcome.rank if outcome.rank else 0.0


def _recall(depth: int) -> Measure:
    return lambda outcome: float(0 < outcome.rank <= depth)


MEASURES: Mapping[str, tuple[str, Measure]] = {
    "mrr": (f"MRR@{DEPTH}", _reciprocal),
    "mrr_hard": (
        f"MRR@{DEPTH}, query is not the title",
        lambda outcome: None if outcome.repeats_title else _reciprocal(outcome),
    ),
    **{f"recall_{depth}": (f"recall at {depth}", _recall(depth)) for depth in (1, 5, 10)},
    "tokens": ("tokens read until right", lambda outcome: outcome.tokens or None),
}
"""By the name in JSON: the name in tables, and the value of a question. More is better, except for tokens."""
SHARES = tuple(name for name in MEASURES if name != "tokens")  # those from 0 to 1, of which more is better


def figures(*searches: Sequence[Outcome]) -> dict[str, Figure]:
    """The mean of every measure with its interval; of two searches, how much it is above that of the first."""
    # Both have the same questions in the same order.
    random, numbers = Random(SEED), range(len(searches[0]))  # noqa: S311
    drawn = [random.choices(numbers, k=len(numbers)) for _ in range(RESAMPLES)]
    figures = {}
    for name, (_, measure) in MEASURES.items():
        columns = [[*map(measure, outcomes)] for outcomes in searches]
        values = [value for value in columns[0] if value is not None]
        if values and len(searches) == 1 and not {*values} - {0.0, 1.0}:
            figures[name] = _share(sum(values), len(values))
            continue
        value, resampled = _value(columns, numbers), [_value(columns, sample) for sample in drawn]
        ordered = sorted([other for other in resampled if other is not None])
        edge = int(_TAIL * len(ordered))
        has_value = value is not None and ordered
        figures[name] = Figure(value, ordered[edge], ordered[-1 - edge]) if has_value else Figure(None)
    return figures


def _share(count: float, total: int) -> Figure:
    """A share with Wilson's interval, which holds for few questions and for shares near 0 and 1."""
    share, spread = count / total, _DEVIATIONS**2 / total
    middle = (share + spread / 2) / (1 + spread)
    half = (spread * share * (1 - share) + spread**2 / 4) ** 0.5 / (1 + spread)
    return Figure(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def _value(columns: Sequence[Sequence[float | None]], numbers: Iterable[int]) -> float | None:
    """The mean of the values with these numbers; of two columns, their difference."""
    means = []
    for column in columns:
        values = [value for value in [column[number] for number in numbers] if value is not None]
        if not values:
            return None
        means.append(sum(values) / len(values))
    return means[-1] - means[0] if len(means) > 1 else means[0]
