"""Which hits are right, and what is read until then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.evals.outcomes import Outcome, ask, is_right
from quire.evals.questions import HeldLink, Question
from quire.search.index_api import Index

GUIDE = """\
# Guide

Read this.

## Install

Install from a package or from source.

### From source

Compile it with make.

## Remove

Delete the folder.
"""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text(GUIDE)
    (docs / "news.md").write_text("# News\n\nYou can now compile it with make, with make alone.\n")
    with Index.open(tmp_path / "index") as opened:
        opened.update({"docs": docs})
        yield opened


@pytest.mark.parametrize(
    ("hit", "answer", "expected"),
    [
        ("guide.md#install", "guide.md#install", True),
        ("guide.md#from-source", "guide.md#install", True),
        ("guide.md#install", "guide.md#from-source", True),
        ("guide.md#remove", "guide.md#install", False),
        ("guide.md", "guide.md#install", False),
        ("guide.md", "guide.md", True),
        ("guide.md#remove", "guide.md", True),
        ("news.md", "guide.md", False),
    ],
)
def test_right(index, hit, answer, expected) -> None:
    assert is_right(index.get(hit), index.get(answer)) is expected


def test_outcomes(index) -> None:
    first, second = index.search("compile make")
    right = Question("compile make", (second.id,))
    missed = Question("delete folder", ("news.md",))
    assert ask(index, [right, missed]) == [
        Outcome(right, 2, first.tokens + second.tokens, first.id, repeats_title=False),
        Outcome(missed, 0, 0, "docs:guide.md#remove", repeats_title=False),
    ]


def test_hits_in_a_document_with_the_link_do_not_count(index) -> None:
    first, second = index.search("compile make")
    link = HeldLink(f"{first.tree}:{first.path}", quire.Link("compile make", 0, 1, "x.md"))
    [outcome] = ask(index, [Question("compile make", (second.id,), (link,))])
    assert (outcome.rank, outcome.tokens, outcome.first) == (1, second.tokens, second.id)


def test_a_query_that_is_the_title(index) -> None:
    [outcome] = ask(index, [Question("from Source", ("guide.md#from-source",))])
    assert (outcome.rank, outcome.repeats_title) == (1, True)


def test_an_answer_that_no_section_has_is_named(index) -> None:
    with pytest.raises(
        quire.InputError,
        match=r"^q.jsonl:3: answer not found in what is searched: guide.md#instal: not in the index; similar: docs:guide.md#install",
    ):
        ask(index, [Question("a", ("guide.md#instal",), line="q.jsonl:3")])


def test_an_answer_outside_of_the_search_is_named(index) -> None:
    with pytest.raises(quire.InputError, match=r"^q.jsonl:3: answer not found in what is searched: guide.md: "):
        ask(index, [Question("a", ("guide.md",), line="q.jsonl:3")], without=["docs:guide.md"])


def test_an_invalid_query(index) -> None:
    query = "-make"
    with pytest.raises(quire.QueryError):
        index.search(query)
    with pytest.raises(quire.InputError, match=r"^q.jsonl:3: invalid query: "):
        ask(index, [Question(query, ("guide.md",), line="q.jsonl:3")])
    [outcome] = ask(index, [Question(query, ("guide.md",))])
    assert (outcome.rank, outcome.first) == (0, "")
