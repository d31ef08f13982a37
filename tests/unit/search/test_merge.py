"""Hits that merge into sections: each rule and each edge, on small outlines."""

from __future__ import annotations

from typing import Any

import pytest

from quire.search.limit_per_document import limit_per_document
from quire.search.merge import Step
from quire.search.search_settings import SearchSettings
from support.outlines import outline

NAMES = {"threshold": "aggregation_threshold", "least": "min_aggregation_matches", "cap": "score_cap_multiplier"}


def ruled(**rules: Any) -> SearchSettings:
    return SearchSettings(**{NAMES.get(name, name): value for name, value in rules.items()})


def merged(text: str, **rules: Any) -> list[str]:
    """The results as lines: name, score, how, constituents."""
    drawn = outline(text)
    results = drawn.merged(ruled(**rules))
    return [
        f"{drawn.lines[result.position].name} {result.score:g} {result.how}: "
        + " ".join(drawn.lines[match.position].name for match in result.constituents)
        for result in sorted(results, key=lambda result: (-result.score, result.position))
    ]


def trail(text: str, name: str) -> list[Step]:
    """How the result of that name came about."""
    drawn = outline(text)
    results = drawn.merged(ruled())
    return next(list(each.trail) for each in results if drawn.lines[each.position].name == name)


def ordered(*texts: str) -> list[str]:
    """The results in several documents, with what stands apart: document, name and score."""
    outlines = {each.name: each for each in map(outline, texts)}
    results, _ = limit_per_document([result for each in outlines.values() for result in each.merged(ruled())], 100, 0)
    return [f"{each.document} {outlines[each.document].lines[each.position].name} {each.score:g}" for each in results]


# ----------------------------------------------------------------------------------------------------------------------
# Leaves
# ----------------------------------------------------------------------------------------------------------------------


def test_a_leaf_stands_alone() -> None:
    text = """
    doc
      A
        a 1.5
        b
        c
    """
    assert merged(text) == ["a 1.5 match: a"]
    assert trail(text, "a") == [Step(rule="apart", position=1, best_own=1.0, matching=1, children=3)]


def test_a_document_without_headings_is_a_leaf() -> None:
    assert merged("notes 1.0") == ["notes 1 match: notes"]


def test_a_document_that_matches_by_its_path_alone_does_not_disappear() -> None:
    assert merged("notes 1.0/0") == ["notes 1 match: notes"]


# ----------------------------------------------------------------------------------------------------------------------
# Enough children
# ----------------------------------------------------------------------------------------------------------------------


def test_more_than_half_of_the_children_become_their_parent() -> None:
    text = """
    doc
      A
        a 1.0
        b 1.5
        c
      B
    """
    assert merged(text) == ["A 2.5 aggregated: b a"]
    assert trail(text, "A") == [
        Step(
            rule="aggregated",
            position=1,
            score=2.5,
            best_own=1.0,
            matching=2,
            children=3,
            total=2.5,
            limit=3.0,
            replaced=(2, 3),
        ),
        Step(rule="apart", position=0, best_own=1.0, matching=1, children=2),
    ]


def test_exactly_the_threshold_is_not_enough() -> None:
    text = """
    doc
      A
        a 1.0
        b 1.5
        c
        d
    """
    assert merged(text) == ["b 1.5 match: b", "a 1 match: a"]
    assert merged(text, threshold=0.49) == ["A 2.5 aggregated: b a"]


@pytest.mark.parametrize(("matching", "threshold"), [(29, 0.29), (7, 0.07), (57, 0.57), (58, 0.58)])
def test_the_threshold_is_exact(matching: int, threshold: float) -> None:
    leaves = "".join(f"\n    x{n}" + (" 1.0" if n < matching else "") for n in range(100))
    assert len(merged(f"doc\n  A{leaves}", threshold=threshold)) == matching
    one_more = leaves.replace(f"x{matching}\n", f"x{matching} 1.0\n")
    assert len(merged(f"doc\n  A{one_more}", threshold=threshold)) == 1


def test_a_single_child_is_not_enough() -> None:
    text = """
    doc
      A
        a 1.0
    """
    assert merged(text) == ["a 1 match: a"]
    assert merged(text, least=1) == ["doc 1 aggregated: a"]


def test_least_counts_whatever_the_share() -> None:
    text = """
    doc
      A
        a 1.0
        b 1.0
      B
    """
    assert merged(text, least=3) == ["a 1 match: a", "b 1 match: b"]
    assert merged(text, least=2) == ["A 2 aggregated: a b"]


def test_a_threshold_of_one_turns_gathering_off() -> None:
    text = """
    doc
      A 1.0
      B 1.0
    """
    assert merged(text, threshold=1.0) == ["A 1 match: A", "B 1 match: B"]


def test_a_threshold_of_zero_leaves_only_the_least_number() -> None:
    text = """
    doc
      A
        a 1.0
        b 1.0
        c
        d
        e
      B
        f 1.0
        g
    """
    assert merged(text, threshold=0.0) == ["A 2 aggregated: a b", "f 1 match: f"]


# ----------------------------------------------------------------------------------------------------------------------
# Scores
# ----------------------------------------------------------------------------------------------------------------------


def test_the_sum_is_capped_at_a_multiple_of_the_best() -> None:
    text = """
    doc
      A
        a 1.0
        b 2.0
        c 1.5
      B
    """
    assert merged(text) == ["A 4 aggregated: b c a"]
    assert merged(text, cap=10) == ["A 4.5 aggregated: b c a"]
    assert merged(text, cap=1) == ["A 2 aggregated: b c a"]


def test_gathering_on_several_levels_does_not_multiply_several_times() -> None:
    text = """
    doc
      A
        B
          a 1.0
          b 1.0
          c 1.0
        C
          d 1.0
          e 1.0
          f 1.0
      D
    """
    assert merged(text) == ["A 2 aggregated: a b c d e f"]


def test_a_gathering_node_that_matches_a_little_keeps_its_own_score() -> None:
    text = """
    doc
      A 9.0/0.5
        a 1.0
        b 1.0
      B
    """
    assert merged(text) == ["A 9 aggregated: A a b"]


# ----------------------------------------------------------------------------------------------------------------------
# Several levels
# ----------------------------------------------------------------------------------------------------------------------

CASCADE = """
doc
  A
    B
      C
        a 1.0
        b 1.0
      c 2.0
      d
    e 1.0
    f
  G
"""


def test_a_gathered_child_counts_for_its_own_parent() -> None:
    assert merged(CASCADE) == ["A 4 aggregated: c a b e"]
    assert [(step.rule, step.position, step.score, step.replaced) for step in trail(CASCADE, "A")] == [
        ("aggregated", 3, 2.0, (4, 5)),
        ("aggregated", 2, 4.0, (3, 6)),
        ("aggregated", 1, 4.0, (2, 8)),
        ("apart", 0, 0.0, ()),
    ]


def test_a_child_that_matches_in_its_own_right_counts_too() -> None:
    text = """
    doc
      A
        B 1.0
          a 1.5
        C 1.0
      D
    """
    assert merged(text) == ["A 2.5 aggregated: a B C"]


def test_grandchildren_alone_do_not_make_their_parent_match() -> None:
    text = """
    doc
      A
        B
          a 1.0
          b
          c
        C
          d 2.0
          e
      F
    """
    assert merged(text) == ["d 2 match: d", "a 1 match: a"]


def test_a_gathering_node_takes_in_what_matches_deeper_too() -> None:
    text = """
    doc
      A
        a 1.0
        b 1.0
        C
          deep 5.0
          d
          e
      F
    """
    assert merged(text) == ["A 5 aggregated: deep a b"]


# ----------------------------------------------------------------------------------------------------------------------
# A parent that matches in its own right
# ----------------------------------------------------------------------------------------------------------------------


def test_a_parent_that_matches_takes_the_place_of_its_descendants() -> None:
    text = """
    doc
      A 3.0
        a 1.0
        B
          b 2.0
      C
    """
    assert merged(text) == ["A 3 parent: A b a"]
    assert trail(text, "A")[0] == Step(rule="parent", position=1, score=3.0, own=1.0, best_own=1.0, replaced=(2, 4))


def test_it_keeps_at_least_the_best_score_below_it() -> None:
    assert merged("""
    doc
      A 1.0
        a 2.0
        b
        c
      C
    """) == ["A 2 parent: a A"]


def test_it_keeps_what_its_descendants_have_gathered() -> None:
    assert merged("""
    doc
      A 1.0
        B
          a 1.0
          b 0.5
        c
        d
      C
    """) == ["A 1.5 parent: A a b"]


def test_better_children_stay_and_the_parent_is_passed_over() -> None:
    text = """
    doc
      A 3.0/0.5
        a 1.0
        b
        c
        d 2.0
      C
    """
    assert merged(text) == ["d 3 match: d", "a 1 match: a"]  # the best of them stands where the parent would have
    numbers = {"position": 1, "own": 0.5, "best_own": 1.0, "matching": 2, "children": 4}
    assert trail(text, "d") == [Step(rule="passed over", score=3.0, **numbers), Step(rule="apart", **numbers)]
    assert trail(text, "a") == [Step(rule="apart", **numbers)]


def test_enough_better_children_are_gathered() -> None:
    assert merged("""
    doc
      A 1.0/0.5
        a 1.0
        b 2.0
      C
    """) == ["A 3 aggregated: b A a"]


def test_one_that_is_passed_over_still_matches_for_its_own_parent() -> None:
    assert merged("""
    doc
      A
        B 1.0/0.5
          b 4.0
          c
        D 1.0
      E
    """) == ["A 4 aggregated: b B D"]


def test_a_match_by_path_or_inherited_headings_alone_is_not_its_own_right() -> None:
    assert merged("""
    doc
      A 3.0/0
        a 1.0/0
        b
      C
    """) == ["a 3 match: a"]


@pytest.mark.parametrize("share", [0.1 + 0.2, 0.30001], ids=["as they are", "rounded to both sides"])
def test_equal_shares_may_differ_in_their_last_digits(share: float) -> None:
    assert merged(f"""
    doc
      A 1.0/0.3
        a 1.0/{share!r}
      C
    """) == ["A 1 parent: A a"]


@pytest.mark.parametrize("shares", [(0.25, 0.75), (0.75, 0.25)])
def test_the_best_share_counts_wherever_it_is(shares: tuple[float, float]) -> None:
    first, second = shares
    assert merged(f"""
    doc
      A 9.0/0.5
        a 1.0/{first}
        b 1.0/{second}
        c
        d
      E
    """) == ["a 9 match: a", "b 1 match: b"]


def test_the_best_share_counts_however_deep_it_is() -> None:
    assert merged("""
    doc
      A 1.0/0.8
        B 1.0/0.5
          b 1.0/0.9
          c
        d
        e
      F
    """) == ["b 1 match: b"]


# ----------------------------------------------------------------------------------------------------------------------
# The document
# ----------------------------------------------------------------------------------------------------------------------


def test_more_than_half_of_the_top_sections_do_not_make_the_document() -> None:
    assert merged("""
    doc
      A 1.0
      B 1.0
      C 1.0
      D
    """) == ["A 1 match: A", "B 1 match: B", "C 1 match: C"]


def test_all_top_sections_make_the_document() -> None:
    assert merged("""
    doc
      A 1.0
      B
        a 1.0
        b 1.0
      C 1.5
        c 1.0
    """) == ["doc 3 aggregated: C A a b c"]


def test_a_single_top_section_does_not_make_the_document() -> None:
    assert merged("""
    doc
      A
        a 1.0
        b 1.0
    """) == ["A 2 aggregated: a b"]


def test_a_document_that_matches_in_its_own_right() -> None:
    assert merged("""
    doc 0.5
      A
        a 1.0
        b
      B
    """) == ["doc 1 parent: a doc"]


def test_a_document_that_matches_less_than_a_section_is_passed_over() -> None:
    text = """
    doc 5.0/0.5
      A 1.0
      B
      C
    """
    assert merged(text) == ["A 5 match: A"]
    assert [(step.rule, step.position) for step in trail(text, "A")] == [("passed over", 0), ("apart", 0)]


# ----------------------------------------------------------------------------------------------------------------------
# Several documents
# ----------------------------------------------------------------------------------------------------------------------


def test_documents_do_not_mix() -> None:
    one = """
    one
      A
        a 1.0
        b
      B
    """
    two = """
    two
      A
        a 3.0
        b 3.0
      B
    """
    assert ordered(two, one) == ["two A 6", "one a 1"]


def test_equal_scores_are_ordered_by_document_and_position() -> None:
    draw = "{}\n  {} 1.0\n  -\n  {} 1.0\n  -"
    both = [draw.format("b", "b1", "b2"), draw.format("a", "a1", "a2")]
    assert ordered(*both) == ["a a1 1", "a a2 1", "b b1 1", "b b2 1"]


def test_no_documents_give_nothing() -> None:
    assert ordered() == []
