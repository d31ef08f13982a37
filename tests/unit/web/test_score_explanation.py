"""Hits in words: which word counts where, what replaced what, and the tree around the result."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire
from quire.web.score_explanation import search_record

GUIDE = Path(__file__).parents[3] / "docs" / "strategies" / "guide.md"


@pytest.fixture
def index(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_bytes(GUIDE.read_bytes())
    with quire.Index.open(tmp_path / ".quire") as opened:
        opened.update({"docs": tmp_path / "docs"})
        yield opened


def record(index: quire.Index, query: str) -> dict:
    results = index.search(query, explain=True)
    return search_record(index, results, ["docs/guide.md"] * len(results))


def test_children_that_match_are_drawn_below_the_section_that_replaces_them(index) -> None:
    hit = record(index, "source OR package")["hits"][0]
    assert (hit["title"], hit["how"], hit["document"]) == ("Install", "aggregated", "docs/guide.md")
    drawn = [(each["role"], each["depth"], each["title"]) for each in hit["tree"]]
    assert drawn == [
        ("above", 0, "Relay"), ("result", 1, "Install"), ("match", 2, "From a package"), ("match", 2, "From source"),
    ]  # fmt: skip
    assert any("2 of 2 sections below “Install” match, so it replaces" in reason for reason in hit["reasons"])


def test_every_section_that_matched_says_what_its_words_add(index) -> None:
    hits = record(index, "relay install")["hits"]
    assert all(any("adds" in reason for reason in hit["reasons"]) for hit in hits)
    assert any("“Install” matches in its own right" in reason for reason in hits[0]["reasons"])


def test_matches_are_where_the_words_are(index) -> None:
    for hit in record(index, "receiver timeout")["hits"]:
        words = {hit["text"][start:end].lower().rstrip("s") for start, end in hit["matches"]}
        assert words <= {"receiver", "timeout"}
        assert words


def test_corrections_are_said(index) -> None:
    assert 'no match for "instll"; showing results for "install"' in record(index, "relay instll")["notes"]
