"""The scoring of ``benchmarks recall``, with answers written by hand on one small document."""

from __future__ import annotations

import pytest
from benchmarks.recall_cuts import located
from benchmarks.recall_score import Ranked, scores, share, within
from benchmarks.recall_sets import Question, breadcrumbs, headings, sections

PAGE = """---
title: "Pets"
---
All about pets.

## Cats {#felines}

Cats sleep.

```sh
# not a heading
```

### What's new?

Nothing.

## Dogs [canines]

Dogs bark.

### What's new?

Less.
"""
CATS = (PAGE.index("## Cats"), PAGE.index("### What's"))


def chunk(start: int, end: int, tokens: int = 10, path: str = "pets.md") -> Ranked:
    return Ranked(path, start, end, tokens)


def asked(*passages: tuple[int, int]) -> Question:
    return Question("why?", "pets.md", passages)


def test_headings_have_the_slugs_of_github_and_their_own() -> None:
    found = [(sorted(each.slugs), each.depth, each.title) for each in headings(PAGE)]
    assert found == [
        (["cats", "felines"], 2, "Cats"),
        (["whats-new"], 3, "What's new?"),
        (["canines", "dogs"], 2, "Dogs"),
        (["whats-new-1"], 3, "What's new?"),
    ]


def test_a_fence_without_an_end_hides_all_headings_below_it() -> None:
    assert [each.title for each in headings("# A\n\n~~~\n# B\n\n# C\n")] == ["A"]


def test_sections_are_the_own_texts_of_headings() -> None:
    spans = sections(PAGE)
    assert len(spans) == 5
    assert spans[1] == CATS
    assert "".join(PAGE[start:end] for start, end in spans) == PAGE


def test_breadcrumbs_have_the_title_and_the_headings_above() -> None:
    assert list(breadcrumbs("pets.md", PAGE).values()) == [
        "Pets",
        "Pets > Cats",
        "Pets > Cats > What's new?",
        "Pets > Dogs",
        "Pets > Dogs > What's new?",
    ]


def test_a_page_without_a_title_is_called_by_its_path() -> None:
    assert breadcrumbs("a/b.md", "# One\n") == {0: "a/b.md > One"}


def test_share_counts_every_character_once_and_other_documents_not() -> None:
    question = asked((100, 200))
    assert share([chunk(100, 150)], question) == 0.5
    assert share([chunk(140, 260), chunk(90, 150), chunk(100, 150)], question) == 1
    assert share([chunk(0, 100), chunk(200, 300), chunk(100, 200, path="else.md")], question) == 0
    assert share([chunk(100, 120), chunk(150, 160)], question) == pytest.approx(0.3)


def test_share_of_several_passages_is_by_their_length() -> None:
    assert share([chunk(0, 100)], asked((0, 100), (500, 800))) == 0.25


def test_a_chunk_that_does_not_fit_counts_with_its_first_part() -> None:
    best = [chunk(0, 100, 600), chunk(100, 200, 800), chunk(200, 300, 10)]
    assert [(each.start, each.end) for each in within(best, 1_000)] == [(0, 100), (100, 150)]
    assert [(each.start, each.end) for each in within(best, 1_405)] == [(0, 100), (100, 200), (200, 250)]


def test_a_chunk_without_tokens_costs_nothing() -> None:
    assert within([chunk(0, 9, 0)], 1) == [chunk(0, 9, 0)]


def test_scores_are_for_five_chunks_and_for_each_budget() -> None:
    best = [*(chunk(1_000, 1_010, 300) for _ in range(4)), chunk(0, 50, 300), chunk(50, 100, 1_000)]
    assert scores(best, asked((0, 100))) == pytest.approx((0.5, 0, 0.75))


def test_pieces_are_located_whatever_their_white_space() -> None:
    text = "One  two.\n\nThree\nfour. One two."
    assert located(text, ["One two.", "Three four.", "One two."]) == [(0, 9), (11, 22), (23, 31)]
    assert located(text, ["not there", "Three"]) == [(0, 0), (11, 16)]
