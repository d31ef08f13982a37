"""Figures of outcomes, their intervals, and differences between two searches."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from quire.evals.figures import Figure, figures
from quire.evals.outcomes import Outcome
from quire.evals.questions import Question


def outcomes(ranks: Sequence[int], *, repeats_title: bool = False) -> list[Outcome]:
    """Outcomes with these ranks, each with 100 tokens per hit."""
    return [
        Outcome(Question(str(number), ("a.md",)), rank, 100 * rank, "docs:a.md", repeats_title)
        for number, rank in enumerate(ranks)
    ]


def test_values() -> None:
    found = figures([*outcomes([1, 2, 0, 10]), *outcomes([6], repeats_title=True)])
    values = {name: figure.value for name, figure in found.items()}
    assert values == {
        "mrr": pytest.approx((1 + 1 / 2 + 1 / 10 + 1 / 6) / 5),
        "mrr_hard": pytest.approx((1 + 1 / 2 + 1 / 10) / 4),
        "recall_1": pytest.approx(1 / 5),
        "recall_5": pytest.approx(2 / 5),
        "recall_10": pytest.approx(4 / 5),
        "tokens": pytest.approx((100 + 200 + 1000 + 600) / 4),
    }


def test_nothing_to_average() -> None:
    found = figures(outcomes([0, 0], repeats_title=True))
    assert found["mrr"] == Figure(0, 0, pytest.approx(0.658, abs=0.001))
    assert (found["mrr_hard"], found["tokens"]) == (Figure(None), Figure(None))


def test_the_interval_of_a_share_is_that_of_the_binomial_distribution() -> None:
    """Of 400 with a share of 0.5 the standard error is 0.025."""
    share = figures(outcomes([1, 0] * 200))["recall_1"]
    assert share.value == 0.5
    assert share.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.006)
    assert share.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.006)
    assert figures(outcomes([1, 0] * 200))["recall_1"] == share


def test_the_interval_of_a_share_holds_at_its_borders() -> None:
    """15 right answers of 15 do not show that all are right."""
    everything, nothing = (figures(outcomes([rank] * 15)) for rank in (1, 0))
    for name in ("recall_1", "mrr"):
        assert everything[name] == Figure(1, pytest.approx(0.796, abs=0.001), 1)
        assert nothing[name] == Figure(0, 0, pytest.approx(0.204, abs=0.001))


def test_more_questions_give_a_smaller_interval() -> None:
    few, many = (figures(outcomes([1, 2, 0] * times))["mrr"] for times in (10, 250))
    assert many.high - many.low < (few.high - few.low) / 3


def test_a_small_difference_on_every_question_is_not_noise() -> None:
    """It is smaller than the interval of either, but the questions are the same for both."""
    old, new = outcomes([2, 0] * 100), outcomes([1, 0] * 100)
    change = figures(old, new)["mrr"]
    assert change.value == pytest.approx(0.25)
    assert change.low > 0
    assert figures(new, old)["mrr"].value == pytest.approx(-0.25)


def test_a_difference_that_goes_both_ways_is_noise() -> None:
    change = figures(outcomes([1, 2] * 50 + [1]), outcomes([2, 1] * 50 + [1]))["mrr"]
    assert change.low < 0 < change.high
