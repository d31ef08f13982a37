"""The strategy `packed`: what golden cases do not show; the headings of a whole document, small leftovers."""

from __future__ import annotations

from typing import Any

import pytest

import quire
from quire import Chunk, Chunks


def cut(text: str, **options: Any) -> Chunks:
    chunks = quire.chunk(text, "packed", **options)
    assert quire.verify(text, chunks) == []
    return chunks


def only(text: str, **options: Any) -> Chunk:
    (chunk,) = cut(text, path="guides/t.md", **options)
    return chunk


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("# A\n\nx\n", ("A",), "Docs > A"),
        ("# A\n\nx\n\n## B\n\ny\n", ("A",), "Docs > A"),
        ("## A\n\nx\n\n### B\n\ny\n\n### C\n\nz\n", ("A",), "Docs > A"),
        ("# A\n\nx\n\n# B\n\ny\n", (), "Docs"),
        ("# A\n\n# B\n\ny\n", ("B",), "Docs > B"),
        ("# A\n\n## B\n\ny\n", ("A", "B"), "Docs > A > B"),
        ("Text above.\n\n# A\n\nx\n", (), "Docs"),
    ],
)
def test_a_whole_document_stands_under_the_heading_that_holds_all_of_it(
    text: str, path: tuple[str, ...], line: str
) -> None:
    chunk = only(text, title="Docs")
    assert (chunk.header_path, chunk.header_breadcrumb) == (path, " > ".join(path))
    assert (chunk.section_title, chunk.section_slug) == (path[-1], path[-1].lower()) if path else ("", "")
    assert chunk.embed_text == f"{line}\n\n{chunk.original_text}"
    assert chunk.breadcrumb == ("t.md",)


def test_a_document_of_several_chunks_names_the_headings_in_the_breadcrumb() -> None:
    chunks = cut(f"# A\n\n{'word ' * 70}\n", path="t.md", hard_cap=64, breadcrumb_mode="none")
    assert {chunk.breadcrumb for chunk in chunks} == {("t.md", "A")}


def test_a_whole_document_leaves_room_for_the_line_of_the_heading_that_holds_it() -> None:
    text = "# One two three four\n\n" + "word " * 22
    sizes = {"hard_cap": 32, "target": 32, "min_tokens": 0, "title": "T", "breadcrumb_mode": "always"}
    assert [chunk.embed_text.partition("\n")[0] for chunk in cut(text, **sizes)] == ["T > One two three four"] * 2


def sizes(text: str, **options: Any) -> list[int]:
    return [chunk.token_stats.tokens for chunk in cut(text, path="a.md", **options)]


TABLE = "| name | meaning |\n|---|---|\n" + "".join(f"| option{n} | what option {n} does |\n" for n in range(150))
CODE = "```console\n" + "".join(f"$ option{n} what option {n} does\n" for n in range(150)) + "```\n"


@pytest.mark.parametrize("block", [TABLE, CODE], ids=["table", "code"])
def test_a_line_above_what_is_cut_joins_its_first_part(block: str) -> None:
    text = f"# A\n\nThe options:\n\n{block}"
    first, *others = cut(text)
    assert first.original_text.startswith("# A\n\nThe options:\n\n")
    assert "option0" in first.original_text
    assert min(chunk.token_stats.tokens for chunk in others) >= 64


def test_a_line_between_two_long_blocks_joins_the_one_above() -> None:
    text = f"# A\n\n{'word ' * 509}\n\nAnd now:\n\n{'other ' * 600}\n"
    assert [chunk.original_text.split()[-1] for chunk in cut(text)] == ["now:", "other"]


def test_what_is_left_of_code_joins_the_part_before_it() -> None:
    lines = "".join(f'  "key{n}": "value {n}",\n' for n in range(102))
    text = f"# A\n\n```json\n{lines}    }}\n  }}\n}}\n```\n\n## B\n\nText of B.\n"
    last = cut(text, hard_cap=1024, target=512)[-1].original_text
    assert min(sizes(text, hard_cap=1024, target=512)) >= 64
    assert last.endswith("    }\n  }\n}\n```\n\n## B\n\nText of B.")


def test_what_is_small_stays_where_both_do_not_fit_the_cap() -> None:
    text = f"# A\n\nThe options:\n\n{TABLE}"
    small, *others = sizes(text, hard_cap=512, target=512, breadcrumb_mode="none")
    assert small == 6
    assert min(others) >= 64


def own(words: int, name: str) -> str:
    """A paragraph of so many words."""
    return " ".join([*["word"] * (words - 1), f"{name}.\n\n"])


def test_without_sizes_sections_share_a_chunk_only_while_they_are_tiny() -> None:
    text = f"# A\n\n{own(80, 'a')}## B\n\n{own(40, 'b')}## C\n\n{own(40, 'c')}## D\n\n{own(900, 'd')}"
    headings = [chunk.contained_headings for chunk in quire.chunk(text, path="a.md")]
    assert headings == [("A",), ("B", "C"), ("D",)]
    assert len(quire.chunk(text, path="a.md", max_tokens=2000)) == 1
    assert len(quire.chunk(text, path="a.md", join_tokens=1, min_tokens=1)) == 4


def test_paragraphs_of_a_section_above_the_cap_stay_whole() -> None:
    paragraphs = [own(words, "end") for words in (200, 40, 40, 240, 600, 35, 35)]
    chunks = quire.chunk("# A\n\n" + "".join(paragraphs), path="a.md", tokenizer=lambda text: len(text.split()))
    assert [chunk.token_stats.tokens for chunk in chunks] == [202, 80, 240, 600, 70]


def test_a_long_line_that_ends_with_a_stop_is_a_paragraph() -> None:
    lines = [f"{own(100, 'end').strip()} \n" for _ in range(12)]
    text = " = Heading = \n".join(lines)
    starts = [chunk.original_text.split()[0] for chunk in quire.chunk(text, path="a.md", syntax="text")]
    assert starts == ["word", *["="] * 11]
