"""Small to big: ranked pieces become their sections, or the passages around them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import quire

WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
TEXT = f"""# Guide

Before all sections.

## Install

{WORDS} install.

{WORDS} packages.

## Configure

{WORDS} configure.

## Run

{WORDS} run.
"""


def piece(part: str, text: str = TEXT, path: str = "guide.md") -> dict[str, object]:
    """A row of a store whose span is that of ``part``."""
    start = text.index(part)
    return {"source_path": path, "char_start": start, "char_end": start + len(part)}


def headings(chunks: list[quire.Chunk]) -> list[str]:
    return [chunk.section_title for chunk in chunks]


def test_a_piece_becomes_its_section() -> None:
    (section,) = quire.expand([piece("packages")], {"guide.md": TEXT})
    assert section.original_text == TEXT[TEXT.index("## Install") : TEXT.index("\n\n## Configure")]
    assert (section.node_id, section.anchor) == ("doc:guide.md#install", "install")
    at = section.source_position
    assert TEXT[at.char_start : at.char_end] == section.original_text
    assert (at.start_line, at.end_line) == (5, 9)


def test_pieces_of_one_section_become_one_in_the_order_of_relevance() -> None:
    ranked = [piece("run."), piece("packages"), piece("install."), piece("run.")]
    children = "".join(f"## {n}\n\n{WORDS} {n}.\n\n" for n in range(5))
    text = TEXT + children
    assert headings(quire.expand(ranked, {"guide.md": text})) == ["Run", "Install"]


def test_more_than_half_of_the_children_become_their_parent() -> None:
    ranked = [piece("configure."), piece("packages")]
    (parent,) = quire.expand(ranked, {"guide.md": TEXT})
    assert parent.original_text == TEXT.strip()
    assert headings(quire.expand(ranked, {"guide.md": TEXT}, max_tokens=64)) == ["Configure", "Install"]


def test_half_of_the_children_stay_apart() -> None:
    text = f"{TEXT}\n## Stop\n\n{WORDS} stop.\n"
    ranked = [piece("configure."), piece("packages")]
    assert headings(quire.expand(ranked, {"guide.md": text})) == ["Configure", "Install"]


def test_a_document_is_the_parent_of_its_sections_only_if_all_have_pieces() -> None:
    text = "".join(f"# {name}\n\n{WORDS} {WORDS} {WORDS} {WORDS} {name}.\n\n" for name in "ABC")
    ranked = [piece("A.", text), piece("B.", text)]
    assert headings(quire.expand(ranked, {"guide.md": text})) == ["A", "B"]
    (whole,) = quire.expand([*ranked, piece("C.", text)], {"guide.md": text})
    assert whole.original_text == text.strip()


def test_a_section_above_the_budget_becomes_the_passage_around_its_pieces() -> None:
    paragraphs = [" ".join([WORDS] * 5) + f" paragraph {n}." for n in range(20)]
    text = "# Long\n\n" + "\n\n".join(paragraphs)
    (passage,) = quire.expand([piece("paragraph 7.", text)], {"guide.md": text})
    assert passage.original_text == paragraphs[7]
    assert passage.section_title == "Long"


def test_a_document_without_headings_becomes_passages() -> None:
    lines = [" ".join([WORDS] * 5) + f" line {n}." for n in range(20)]
    text = "\n".join(lines)
    ranked = [piece("line 12.", text), piece("line 3.", text)]
    assert [chunk.original_text for chunk in quire.expand(ranked, {"guide.md": text})] == [lines[12], lines[3]]


def test_nothing_is_returned_twice() -> None:
    chunks = quire.chunk(TEXT * 20, path="guide.md", max_tokens=32)
    sections = quire.expand(chunks, {"guide.md": TEXT * 20})
    spans = sorted((each.source_position.char_start, each.source_position.char_end) for each in sections)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_chunks_records_and_rows_are_pieces() -> None:
    small = quire.chunk(TEXT, path="guide.md", max_tokens=32)[-1:]
    expected = quire.expand(small, {"guide.md": TEXT})
    assert headings(expected) == ["Run"]
    for pieces in ([small[0].to_dict()], [quire.flat(small[0])]):
        assert quire.expand(pieces, {"guide.md": TEXT}) == expected


def test_documents_are_a_folder_or_a_function(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(TEXT)
    expected = quire.expand([piece("run.")], {"guide.md": TEXT})
    assert quire.expand([piece("run.")], tmp_path) == expected
    assert quire.expand([piece("run.")], lambda path: (tmp_path / path).read_text()) == expected


def test_options_of_packed_are_taken() -> None:
    (section,) = quire.expand([piece("run.")], {"guide.md": TEXT}, base_url="https://example.com", content_type="help")
    assert section.url == "https://example.com/guide#run"
    assert section.node_id == "help:guide.md#run"


@pytest.mark.parametrize("bad", [{}, {"source_path": "a.md"}, 3])
def test_a_piece_without_a_place_is_an_error(bad: object) -> None:
    with pytest.raises(quire.InputError, match="piece 0"):
        quire.expand([bad], {})  # type: ignore[list-item]


def test_a_missing_document_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(quire.InputError, match=r"guide\.md"):
        quire.expand([piece("run.")], {})
    with pytest.raises(quire.InputError, match=r"guide\.md"):
        quire.expand([piece("run.")], tmp_path)
