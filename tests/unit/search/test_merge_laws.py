"""What holds for every merging, on random heading trees."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quire.search.merge import Candidate, Merged, merge
from support.outlines import Line, Outline, planted

Rules = dict[str, Any]

scores = st.integers(1, 40).map(lambda tenths: tenths / 4)
shares = st.sampled_from([1.0, 0.5, 0.25, 0.75, 0.0])
marks = st.one_of(st.just((None, 0.0)), st.tuples(scores, shares))
rules = st.fixed_dictionaries(
    {
        "threshold": st.sampled_from([0.5, 0.0, 0.25, 0.75, 1.0]),
        "least": st.integers(1, 3),
        "cap": st.sampled_from([2.0, 1.0, 1.5, 4.0]),
    }
)


@st.composite
def outlines(draw: st.DrawFn, name: str) -> Outline:
    depths = [0, *draw(st.lists(st.integers(1, 4), max_size=14))]
    names = [name, *(f"{name}{n}" for n in range(1, len(depths)))]
    return planted(depths, names, [draw(marks) for _ in depths])


two_documents = st.tuples(outlines("a"), outlines("b"))


def candidates_of(documents: tuple[Outline, ...]) -> list[Candidate]:
    return [candidate for each in documents for candidate in each.candidates()]


def lines_of(document: Outline, results: list[Merged]) -> list[tuple[Line, Merged]]:
    return [(document.lines[each.position], each) for each in results if each.document == document.name]


@given(two_documents, rules)
def test_no_result_contains_another(documents: tuple[Outline, ...], given_rules: Rules) -> None:
    results = merge(candidates_of(documents), **given_rules)
    for document in documents:
        lines = [line for line, _ in lines_of(document, results)]
        assert len({line.position for line in lines}) == len(lines)
        assert not [(one, other) for one in lines for other in lines if one.holds(other)]


@given(two_documents, rules)
def test_no_document_disappears_and_none_appears(documents: tuple[Outline, ...], given_rules: Rules) -> None:
    candidates = candidates_of(documents)
    assert {each.document for each in merge(candidates, **given_rules)} == {each.document for each in candidates}


@given(two_documents, rules)
def test_every_candidate_is_in_one_result_or_named_as_passed_over(
    documents: tuple[Outline, ...], given_rules: Rules
) -> None:
    candidates = candidates_of(documents)
    results = merge(candidates, **given_rules)
    inside = [(each.document, at) for each in results for at in each.constituents]
    passed = [(each.document, step.position) for each in results for step in each.trail if step.rule == "passed over"]
    assert Counter(inside + passed) == Counter((each.document, each.position) for each in candidates)


@given(two_documents, rules)
def test_one_that_is_passed_over_is_worse_than_a_result_below_it(
    documents: tuple[Outline, ...], given_rules: Rules
) -> None:
    results = merge(candidates_of(documents), **given_rules)
    for document in documents:
        for line, result in lines_of(document, results):
            for step in result.trail:
                if step.rule == "passed over":
                    assert document.lines[step.position].holds(line)
                    assert step.own < step.best_own or step.own == 0


@given(two_documents, rules)
def test_constituents_are_in_their_result_best_first(documents: tuple[Outline, ...], given_rules: Rules) -> None:
    results = merge(candidates_of(documents), **given_rules)
    for document in documents:
        for line, result in lines_of(document, results):
            inside = [document.lines[at] for at in result.constituents]
            assert all(each == line or line.holds(each) for each in inside)
            assert inside == sorted(inside, key=lambda each: (-(each.score or 0), each.position))


@given(two_documents, rules)
def test_scores_are_between_the_best_constituent_and_its_multiple(
    documents: tuple[Outline, ...], given_rules: Rules
) -> None:
    results = merge(candidates_of(documents), **given_rules)
    for document in documents:
        for line, result in lines_of(document, results):
            best = max(document.lines[at].score or 0 for at in result.constituents)
            passed = [step.score for step in result.trail if step.rule == "passed over"]
            assert max(best, *passed, 0) <= result.score <= max(given_rules["cap"] * best, *passed, 0)
            if result.how == "match":
                assert (result.score, result.constituents) == (max(line.score or 0, *passed, 0), (line.position,))


@given(outlines("a"), rules)
def test_the_best_result_of_a_document_scores_at_least_as_much_as_its_best_node(
    document: Outline, given_rules: Rules
) -> None:
    results = merge(document.candidates(), **given_rules)
    best = max((each.score for each in document.candidates()), default=0)
    assert max((each.score for each in results), default=0) >= best


@given(outlines("a"), rules)
def test_the_document_is_returned_only_if_it_or_all_its_sections_match(document: Outline, given_rules: Rules) -> None:
    for line, result in lines_of(document, merge(document.candidates(), **given_rules)):
        if line.depth > 0:
            continue
        step = result.trail[-1] if result.trail else None
        if step and step.rule == "aggregated":
            assert given_rules["least"] <= step.matching == step.children
        elif step:
            assert step.own >= max(line.own for line in document.lines if line.score is not None)
        else:
            assert [line for line in document.lines if line.score is not None] == [document.lines[0]]


@given(two_documents, rules, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    documents: tuple[Outline, ...], given_rules: Rules, chance: random.Random
) -> None:
    candidates = candidates_of(documents)
    shuffled = list(candidates)
    chance.shuffle(shuffled)
    results = merge(candidates, **given_rules)
    assert merge(shuffled, **given_rules) == results
    assert results == sorted(results, key=lambda each: (-each.score, each.document, each.position))


@given(outlines("a"), rules, shares)
def test_results_do_not_merge_any_further(document: Outline, given_rules: Rules, own: float) -> None:
    """What was merged, taken as what matched, stays as it is, however well each satisfies the query."""
    results = merge(document.candidates(), **given_rules)
    again = merge(document.again(results, own), **given_rules)
    assert [(each.position, each.score) for each in again] == [(each.position, each.score) for each in results]
    assert {each.how for each in again} <= {"match"}


@given(two_documents, rules)
def test_documents_do_not_touch_each_other(documents: tuple[Outline, ...], given_rules: Rules) -> None:
    together = merge(candidates_of(documents), **given_rules)
    apart = [each for document in documents for each in merge(document.candidates(), **given_rules)]
    assert together == sorted(apart, key=lambda each: (-each.score, each.document, each.position))
