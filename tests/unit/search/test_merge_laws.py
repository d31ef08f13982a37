"""What holds for every merging, on random heading trees."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from quire.search.limit_per_document import limit_per_document
from quire.search.merge import Merged
from quire.search.search_settings import SearchSettings
from support.outlines import Line, Outline, planted

scores = st.integers(1, 40).map(lambda tenths: tenths / 4)
shares = st.sampled_from([1.0, 0.5, 0.25, 0.75, 0.0])
marks = st.one_of(st.just((None, 0.0)), st.tuples(scores, shares))
rules = st.builds(
    SearchSettings,
    aggregation_threshold=st.sampled_from([0.5, 0.0, 0.25, 0.75, 1.0]),
    min_aggregation_matches=st.integers(1, 3),
    score_cap_multiplier=st.sampled_from([2.0, 1.0, 1.5, 4.0]),
    parent_rule=st.sampled_from(["best", "any"]),
)


@st.composite
def outlines(draw: st.DrawFn, name: str) -> Outline:
    """A document in which something matches."""
    depths = [0, *draw(st.lists(st.integers(1, 4), max_size=14))]
    names = [name, *(f"{name}{n}" for n in range(1, len(depths)))]
    numbers = [draw(marks) for _ in depths]
    if all(score is None for score, _ in numbers):
        numbers[draw(st.integers(0, len(depths) - 1))] = draw(st.tuples(scores, shares))
    return planted(depths, names, numbers)


documents = outlines("a")
two_documents = st.tuples(outlines("a"), outlines("b"))


def merged(document: Outline, given_rules: SearchSettings) -> list[tuple[Line, Merged]]:
    """The results of a document, each with its node."""
    return [(document.lines[each.position], each) for each in document.merged(given_rules)]


def ordered(some: Sequence[Outline], given_rules: SearchSettings) -> list[Merged]:
    """The results of some documents, the best first."""
    return limit_per_document([result for each in some for result in each.merged(given_rules)], 100, 0)[0]


def none_holds_another(lines: list[Line]) -> bool:
    return len({line.position for line in lines}) == len(lines) and not any(
        one.holds(other) for one in lines for other in lines
    )


# ----------------------------------------------------------------------------------------------------------------------
# In a document
# ----------------------------------------------------------------------------------------------------------------------


@given(documents, rules)
def test_no_result_contains_another(document: Outline, given_rules: SearchSettings) -> None:
    assert none_holds_another([line for line, _ in merged(document, given_rules)])


@given(documents, rules)
def test_every_candidate_is_in_one_result_or_named_as_passed_over(
    document: Outline, given_rules: SearchSettings
) -> None:
    results = merged(document, given_rules)
    inside = [match.position for _, each in results for match in each.constituents]
    passed = [step.position for _, each in results for step in each.trail if step.rule == "passed over"]
    assert Counter(inside + passed) == Counter(each.position for each in document.matches())


@given(documents, rules)
def test_one_that_is_passed_over_is_worse_than_a_result_below_it(
    document: Outline, given_rules: SearchSettings
) -> None:
    for line, result in merged(document, given_rules):
        for step in result.trail:
            if step.rule == "passed over":
                assert document.lines[step.position].holds(line)
                assert step.own < step.best_own or step.own == 0


@given(documents, rules)
def test_constituents_are_in_their_result_best_first(document: Outline, given_rules: SearchSettings) -> None:
    for line, result in merged(document, given_rules):
        inside = [document.lines[match.position] for match in result.constituents]
        assert all(each == line or line.holds(each) for each in inside)
        assert inside == sorted(inside, key=lambda each: (-(each.score or 0), each.position))


@given(documents, rules)
def test_scores_are_between_the_best_constituent_and_its_multiple(
    document: Outline, given_rules: SearchSettings
) -> None:
    for line, result in merged(document, given_rules):
        best = max(match.score for match in result.constituents)
        passed = [step.score for step in result.trail if step.rule == "passed over"]
        assert max(best, *passed, 0) <= result.score <= max(given_rules.score_cap_multiplier * best, *passed, 0)
        if result.how == "match":
            assert result.score == max(line.score or 0, *passed, 0)
            assert [match.position for match in result.constituents] == [line.position]


@given(documents, rules)
def test_the_best_result_of_a_document_scores_at_least_as_much_as_its_best_node(
    document: Outline, given_rules: SearchSettings
) -> None:
    best = max(each.score for each in document.matches())
    assert max(each.score for _, each in merged(document, given_rules)) >= best


@given(documents, rules)
def test_the_document_is_returned_only_if_it_or_all_its_sections_match(
    document: Outline, given_rules: SearchSettings
) -> None:
    for line, result in merged(document, given_rules):
        if line.position > 0:
            continue
        step = result.trail[-1] if result.trail else None
        if step and step.rule == "aggregated":
            assert given_rules.min_aggregation_matches <= step.matching == step.children
        elif step:
            best = max(line.own for line in document.lines if line.score is not None)
            assert step.own >= best if given_rules.parent_rule == "best" else step.own > 0
        else:
            assert [line for line in document.lines if line.score is not None] == [document.lines[0]]


@given(documents, rules, shares)
def test_results_do_not_merge_any_further(document: Outline, given_rules: SearchSettings, own: float) -> None:
    """What was merged, taken as what matched, stays as it is, however well each satisfies the query."""
    results = document.merged(given_rules)
    again = document.merged(given_rules, document.again(results, own))
    assert {each.position: each.score for each in again} == {each.position: each.score for each in results}
    assert {each.how for each in again} == {"match"}


# ----------------------------------------------------------------------------------------------------------------------
# In several documents, with what does not count
# ----------------------------------------------------------------------------------------------------------------------


@given(two_documents, rules)
def test_nothing_that_is_returned_contains_another(some: tuple[Outline, ...], given_rules: SearchSettings) -> None:
    results = ordered(some, given_rules)
    for document in some:
        assert none_holds_another([document.lines[each.position] for each in results if each.document == document.name])


@given(two_documents, rules)
def test_no_document_disappears_and_none_appears(some: tuple[Outline, ...], given_rules: SearchSettings) -> None:
    assert {each.document for each in ordered(some, given_rules)} == {each.name for each in some}


@given(two_documents, rules, st.randoms(use_true_random=False))
def test_the_order_of_the_matches_does_not_matter(
    some: tuple[Outline, ...], given_rules: SearchSettings, chance: random.Random
) -> None:
    results = ordered(some, given_rules)
    for document in some:
        matches = document.matches()
        chance.shuffle(matches)
        again = limit_per_document(document.merged(given_rules, matches), 100, 0)[0]
        assert again == [each for each in results if each.document == document.name]
    assert ordered(some[::-1], given_rules) == results
    assert results == sorted(results, key=lambda each: (-each.score, each.document, each.position))


@given(two_documents, rules)
def test_documents_do_not_touch_each_other(some: tuple[Outline, ...], given_rules: SearchSettings) -> None:
    apart = [each for document in some for each in ordered((document,), given_rules)]
    assert ordered(some, given_rules) == sorted(apart, key=lambda each: (-each.score, each.document, each.position))
