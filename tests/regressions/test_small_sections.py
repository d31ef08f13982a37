"""``sections`` and ``packed`` leave a small section alone only where it has nothing to join."""

from __future__ import annotations

import pytest

import quire

_LARGE = "word " * 300
_BLOCK = "```\n" + "a line of code\n" * 300 + "```"


def _starts(text: str) -> list[str]:
    chunks = quire.chunk(text, "sections")
    assert quire.verify(text, chunks) == []
    return ["+".join(chunk.contained_headings) for chunk in chunks]


@pytest.mark.parametrize("child", ["### B1\n\ntiny", "### B1\n\n#### C\n\ntiny", f"### B1\n\n{_LARGE}"])
def test_a_section_without_text_joins_the_one_before_and_its_child_follows(child: str) -> None:
    headings = _starts(f"# R\n\n{_LARGE}\n\n## A\n\ntiny\n\n## B\n\n{child}\n")
    assert [each.removesuffix("+C") for each in headings] == ["R", "A+B+B1"]


def test_what_joins_with_its_child_keeps_within_the_cap() -> None:
    text = f"# R\n\n{_LARGE}\n\n## A\n\n{_LARGE}\n\n## B\n\n### B1\n\n{_LARGE * 2}\n"
    assert _starts(text) == ["R", "A", "B+B1"]


def test_a_small_section_joins_the_last_piece_of_one_that_was_cut() -> None:
    assert _starts(f"# A\n\n{_BLOCK}\n\nThe end.\n\n# B\n\ntiny\n") == ["A", "B"]


def test_a_small_first_piece_of_a_section_joins_the_one_before() -> None:
    assert _starts(f"# A\n\n{_LARGE}\n\n# B\n\nRun this:\n\n{_BLOCK}\n\n{_LARGE}\n") == ["A+B", "", ""]


def paragraph(count: int) -> str:
    return "word " * count


@pytest.mark.parametrize("mark", ["##", "#"])
def test_a_small_last_section_joins_the_piece_before_it(mark: str) -> None:
    long = f"{mark} Long\n\n{paragraph(600)}\n\n{mark}# Part\n\n{paragraph(600)}\n\n{mark}# Rest\n\n{paragraph(140)}\n"
    text = f"{mark} First\n\n{paragraph(300)}\n\n{long}\n{mark} Samples\n\n[one](a.md)\n"
    last = quire.chunk(text, "packed", path="a.md", max_tokens=1024)[-1]
    assert last.contained_headings[-2:] == ("Rest", "Samples")
    strict = quire.chunk(text, "packed", path="a.md", max_tokens=1024, merge_siblings=False)[-1]
    assert strict.contained_headings == ("Samples",)
    assert quire.chunk(text, "packed", path="a.md", max_tokens=1024, min_tokens=0)[-1].contained_headings == (
        "Samples",
    )


def test_a_small_section_that_fits_only_the_piece_behind_it_joins_that() -> None:
    text = f"# A\n\n{paragraph(1019)}\n\n# Small\n\nWords.\n\n# B\n\n{paragraph(500)}\n\n## C\n\n{paragraph(900)}\n"
    chunks = quire.chunk(text, "packed", path="a.md", max_tokens=1024)
    assert [chunk.contained_headings for chunk in chunks] == [("A",), ("Small", "B"), ("C",)]
    assert quire.verify(text, chunks) == []


def test_a_preamble_stays_a_piece_by_itself() -> None:
    text = f"{paragraph(200)}\n\n# Small\n\n{paragraph(30)}\n\n# B\n\n{paragraph(1000)}\n"
    chunks = quire.chunk(text, "packed", path="a.md", max_tokens=1024)
    assert [chunk.contained_headings for chunk in chunks] == [(), ("Small",), ("B",)]
