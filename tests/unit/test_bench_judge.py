"""The judge of the peers: hand-made chunks with one thing wrong each, and right ones that it must not blame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise

import pytest

pytest.importorskip("markdown_it", reason="markdown-it-py, the judge's parser, is not installed")

from benchmarks.peers.judge import Verdict, judge
from benchmarks.peers.record import CAP, Output, Peer, Piece
from benchmarks.peers.truth import truth

CODE = "# One\n\nText.\n\n```python\n# no heading\ndef a():\n    return 1\n```\n\n## Two\n\nMore text here.\n"
TABLE = "Before.\n\n| name | size |\n|---|---|\n| one | 1 |\n| two | 2 |\n| three | 3 |\n\nAfter.\n"
FRONT = "---\ntitle: Guide\ntags: [a, b]\n---\n\n# Guide\n\nText.\n"


def words(text: str) -> int:
    return len(text.split())


def wrong(document: str, texts: Sequence[str | Piece], front: dict[str, object] | None = None) -> dict[str, int]:
    """What the judge finds, without what is 0 or not offered."""
    pieces = [text if isinstance(text, Piece) else Piece(text, text) for text in texts]
    has_headings, has_offsets = (
        any(piece.headings for piece in pieces),
        any(piece.start is not None for piece in pieces),
    )
    peer = Peer("", (), lambda: str, lambda _, raw: raw, None, has_headings=has_headings, has_offsets=has_offsets)
    verdict = judge(truth(document), Output(pieces, front or {}), words, peer)
    return {name: value for name, value in asdict(verdict).items() if value and name != "chunks"}


def cut(document: str, *places: str) -> list[str]:
    """``document`` cut before each of ``places``."""
    at = [0, *(document.index(place) for place in places), len(document)]
    return [document[start:end] for start, end in pairwise(at)]


@pytest.mark.parametrize("document", [CODE, TABLE, FRONT])
def test_whole_document_is_right(document):
    assert wrong(document, [document]) == {}


def test_good_cuts_are_right():
    assert wrong(CODE, cut(CODE, "## Two")) == {}
    assert wrong(TABLE, cut(TABLE, "| name", "After.")) == {}


def test_white_space_is_nobodys_fault():
    assert wrong(TABLE, [" ".join(piece.split()) for piece in cut(TABLE, "| name", "After.")]) == {}


def test_lost_text_is_counted_in_characters_and_places():
    assert wrong(CODE, [CODE.replace("More ", ""), ""]) == {"lost": 4, "lost_places": 1}


def test_lost_chunk():
    first, _, last = cut(TABLE, "| name", "After.")
    found = wrong(TABLE, [first, last])
    assert found["lost_places"] == 1
    assert found["lost"] == len("".join(TABLE.split())) - len("Before.After.")


def test_changed_character_is_one_character():
    assert wrong(CODE, [CODE.replace("More text", "More tent")]) == {
        "lost": 1,
        "lost_places": 1,
        "foreign": 1,
        "foreign_chunks": 1,
    }


def test_text_out_of_nowhere():
    assert wrong(CODE, [CODE, "Something that a tool made up, which is nowhere."])["foreign_chunks"] == 1


def test_what_a_tool_says_it_added_is_not_foreign():
    assert wrong(CODE, [Piece("Guide > One\n\n" + CODE, CODE)]) == {}


def test_title_in_the_metadata_is_not_lost():
    bodies = [Piece("Text.", "Text.", headings=("One",)), Piece(CODE[14:], CODE[14:], headings=("One", "Two"))]
    assert wrong(CODE, bodies) == {}


def test_title_that_is_nowhere_is_lost():
    assert wrong(FRONT, ["---\ntitle: Guide\ntags: [a, b]\n---", "Text."]) == {"lost": 6, "lost_places": 1}


def test_front_matter_in_the_metadata_is_not_lost():
    assert wrong(FRONT, ["# Guide\n\nText."], {"title": "Guide", "tags": ["a", "b"]}) == {}


def test_front_matter_that_is_half_told_is_lost():
    assert wrong(FRONT, ["# Guide\n\nText."], {"title": "Guide"})["lost_places"] == 1


def test_body_that_says_the_same_as_the_front_matter():
    document = "---\ntitle: The same words twice\n---\n\nThe same words twice\n\nMore.\n"
    assert wrong(document, ["The same words twice", "More."], {"title": "The same words twice"}) == {}


def test_over_the_cap():
    document = "word " * (CAP + 1)
    assert wrong(document, [document]) == {"over": 1}
    assert wrong(document, [document[:5], document[5:]]) == {}


def test_added_text_counts_for_the_cap():
    document = "word " * CAP
    assert wrong(document, [Piece("Title\n\n" + document, document)]) == {"over": 1}


def test_torn_fence_is_two_bad_chunks():
    assert wrong(CODE, cut(CODE, "def a")) == {"torn_fences": 2}


def test_fence_that_is_closed_and_opened_again_is_right():
    first, second = cut(CODE, "def a")
    assert wrong(CODE, [Piece(first + "```\n", first), Piece("```python\n" + second, second)]) == {}


def test_piece_of_code_without_any_fence():
    document = "```\n" + "".join(f"line {n}\n" for n in range(9)) + "```\n"
    assert wrong(document, cut(document, "line 3", "line 6")) == {"torn_fences": 3}


def test_code_that_lost_its_indentation():
    assert wrong(CODE, [CODE.replace("    return", "return")]) == {"unindented": 1}


def test_table_without_its_header():
    assert wrong(TABLE, cut(TABLE, "| two")) == {"headless": 1}


def test_table_with_its_header_once_more_is_right():
    first, second = cut(TABLE, "| two")
    assert wrong(TABLE, [first, Piece("| name | size |\n|---|---|\n" + second, second)]) == {}


def test_cut_row():
    assert wrong(TABLE, cut(TABLE, "2 |"))["cut_rows"] == 1


def test_row_that_cannot_fit_may_be_cut():
    row = " ".join(["word"] * (2 * CAP))
    document = f"| a |\n|---|\n| {row} |\n"
    half = document.index(row) + len(row) // 2
    found = judge(
        truth(document), Output([Piece(t, t) for t in (document[:half], document[half:])]), len, _plain_peer()
    )
    assert (found.cut_rows, found.headless) == (0, 0)


def _plain_peer() -> Peer:
    return Peer("", (), lambda: str, lambda _, raw: raw, None)


def test_chunk_that_ends_with_a_heading():
    assert wrong(CODE, cut(CODE, "More text")) == {"hanging": 1}


def test_chunk_that_is_only_a_heading():
    assert wrong(CODE, cut(CODE, "Text.", "## Two")) == {"hanging": 1}


def test_heading_at_the_end_of_the_document_is_right():
    assert wrong("Text.\n\n# Last\n", ["Text.\n\n# Last"]) == {}


def test_comment_in_code_is_no_heading():
    assert wrong(CODE, cut(CODE, "def a")).get("hanging") is None
    assert wrong(CODE, [Piece(CODE, CODE, headings=("One", "no heading", "Two"))]) == {"false_headings": 1}


def test_heading_that_is_not_reported():
    assert wrong(CODE, [Piece(CODE, CODE, headings=("One",))]) == {"missed_headings": 1}


def test_titles_may_be_spelled_as_written_or_plain():
    document = "# The `x` of **y** #\n\nText.\n"
    for title in ("The `x` of **y**", "The x of y", "The `x` of **y** #"):
        assert wrong(document, [Piece(document, document, headings=(title,))]) == {}


@pytest.mark.parametrize(("start", "end"), [(None, None), (1, 9), (0, 3)])
def test_offsets_that_lead_elsewhere(start, end):
    pieces = [Piece("Before.", "Before.", start, end), Piece(TABLE[9:], TABLE[9:], 9, len(TABLE))]
    assert wrong(TABLE, pieces) == {"offsets": 1}


def test_what_a_tool_does_not_offer_is_none():
    verdict = judge(truth(CODE), Output([Piece(CODE, CODE)]), words, _plain_peer())
    assert (verdict.offsets, verdict.false_headings, verdict.missed_headings) == (None, None, None)


def test_verdicts_add_up():
    together = Verdict(chunks=2, lost=5, lost_places=1, offsets=None) + Verdict(chunks=3, over=1, offsets=2)
    assert (together.chunks, together.lost, together.over, together.offsets, together.defects) == (5, 5, 1, 2, 4)
