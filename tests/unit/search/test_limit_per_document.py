"""Further results of a document are set back, so that others are seen."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.search.limit_per_document import DEMOTION, limit_per_document
from quire.search.merge import Merged


def found(document: str, position: int, score: float) -> Merged:
    return Merged(document=document, position=position, score=score, how="match", constituents=[])


def ids(results: Sequence[Merged]) -> list[str]:
    return [f"{each.document}{each.position}" for each in results]


def test_two_results_of_a_document_count_in_full() -> None:
    best = [found("a", 1, 1.0), found("a", 2, 0.9), found("b", 1, 0.2)]
    results, set_back = limit_per_document(best, 10, 2)
    assert results == best
    assert set_back == 0


def test_the_third_stands_behind_what_is_nearly_as_good() -> None:
    best = [found("a", 1, 1.0), found("a", 2, 0.9), found("a", 3, 0.8), found("b", 1, 0.2), found("c", 1, 0.01)]
    results, set_back = limit_per_document(best, 10, 2)
    assert ids(results) == ["a1", "a2", "b1", "a3", "c1"]
    assert results[3].score == pytest.approx(0.8 * DEMOTION)
    assert set_back == 1


def test_the_trail_says_that_a_result_was_set_back() -> None:
    merged = Merged(document="a", position=3, score=0.8, how="parent", constituents=[])
    results, _ = limit_per_document([found("a", 1, 1.0), found("a", 2, 0.9), merged, found("a", 5, 0.7)], 10, 2)
    assert [step.rule for each in results[2:] for step in each.trail] == ["set back", "set back"]
    assert [each.how for each in results[2:]] == ["parent", "match"]


def test_0_sets_none_back() -> None:
    best = [found("a", position, 1 / position) for position in range(1, 9)]
    assert limit_per_document(best, 10, 0) == (best, 0)
    assert limit_per_document(best, 10, 7)[1] == 1


def test_those_that_are_no_longer_among_the_first_are_counted_too() -> None:
    best = [found("a", 1, 1.0), found("a", 2, 0.9), found("a", 3, 0.8), found("b", 1, 0.2)]
    results, set_back = limit_per_document(best, 3, 2)
    assert ids(results) == ["a1", "a2", "b1"]
    assert set_back == 1


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.001, 2.0)), max_size=20),
    st.integers(1, 20),
    st.integers(0, 3),
)
def test_in_order_each_once_and_never_above_its_own_score(
    drawn: list[tuple[str, float]], limit: int, full: int
) -> None:
    best = [found(document, position, score) for position, (document, score) in enumerate(drawn)]
    best.sort(key=lambda each: (-each.score, each.document, each.position))
    results, _ = limit_per_document(best, limit, full)
    scores = [each.score for each in results]
    assert scores == sorted(scores, reverse=True)
    assert len(results) == len(set(ids(results))) == min(limit, len(best))
    by_id = {position: score for position, (_, score) in enumerate(drawn)}
    assert all(each.score <= by_id[each.position] for each in results)
    assert not best or results[0] == best[0]
