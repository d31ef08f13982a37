"""The scripts that speak for other tools: each on a page whose right answer is written by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from benchmarks import fts5, indexing
from benchmarks.peers import load
from benchmarks.peers.record import CAP, Piece, count

BEFORE = "---\ntitle: Guide\n---\n\nBefore.\n\n"
ONE = "# One\n\nText of one.\n\n```sh\n# no heading\n```\n\n"
TWO = "## Two\n\nText of two.\n"
PAGE = BEFORE + ONE + TWO
LONG = "".join(f"# {name}\n\n{'The same words again and again. ' * 50}\n\n" for name in ("One", "Two", "Three"))

RECURSIVE = ("chonkie, recursive, Markdown rules", "LangChain, recursive, Markdown separators")
RECURSIVE += ("semantic-text-splitter, own tokenizer", "semantic-text-splitter, quire's counter")
BY_HEADING = ("Haystack, headers", "Haystack, headers then recursive", "LangChain, headers then recursive")
BY_HEADING += ("LlamaIndex, headers", "LlamaIndex, headers then sentences")
PEERS, MISSING = load()


def pieces(name: str, page: str) -> list[Piece]:
    """A peer's chunks of ``page``."""
    peer = next((peer for peer in PEERS if peer.name == name), None)
    if peer is None:
        pytest.skip(f"not installed: {', '.join(MISSING)}")
    return list(peer.output(page, peer.make()(page)).pieces)


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", [*RECURSIVE, "semchunk", "chonkie, sentences"])
def test_a_page_that_fits_is_one_chunk(name) -> None:
    [piece] = pieces(name, PAGE)
    assert piece.text.strip() == PAGE.strip()
    assert piece.start in (0, None)


@pytest.mark.parametrize("name", BY_HEADING)
def test_a_page_is_cut_at_its_headings_and_not_in_code(name) -> None:
    found = pieces(name, PAGE)
    assert [squeezed(piece.text) for piece in found] == [squeezed(part) for part in (BEFORE, ONE, TWO)]
    assert {title for piece in found for title in piece.headings} == {"One", "Two"}


@pytest.mark.parametrize("name", RECURSIVE)
def test_sections_of_which_no_two_fit_are_a_chunk_each(name) -> None:
    starts = [LONG.index(f"# {title}") for title in ("One", "Two", "Three")]
    sections = [LONG[start:end].strip() for start, end in pairwise([*starts, len(LONG)])]
    assert [count(section) * 2 > CAP > count(section) for section in sections] == [True] * 3
    assert [piece.text.strip() for piece in pieces(name, LONG)] == sections


def test_sections_of_fts5_end_at_the_next_heading() -> None:
    found = list(fts5.sections(PAGE))
    assert [(title, text) for title, _, _, text in found] == [
        ("Guide", BEFORE.strip()),
        ("One", ONE.strip()),
        ("Two", TWO.strip()),
    ]
    assert all(PAGE[start:end].strip() == text for _, start, end, text in found)


def test_the_script_beside_indexing_cuts_before_every_line_that_looks_like_a_heading() -> None:
    code = ONE.index("# no")
    assert indexing.parts(PAGE) == [BEFORE, ONE[:code], ONE[code:], TWO]
