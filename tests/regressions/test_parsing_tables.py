"""Tables where GitHub has them: below a line of text, in items and quotes, up to the line that ends them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.model.offsets import lines_at
from quire.parsing.nested_blocks import inner_blocks
from support import judge

LINE_ENDS = pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in quire.parse(text).blocks]


def kinds(text: str) -> list[str]:
    return [block.kind for block in quire.parse(text).blocks]


def inside(text: str) -> list[tuple[str, str]]:
    inner = inner_blocks(text, quire.parse(text).blocks[0])
    return [(each.kind, text[each.start : each.end]) for block in inner for each in block.walk()]


def headings(text: str) -> list[tuple[int, str]]:
    return [(section.depth, section.title) for section in quire.parse(text).sections[1:]]


@LINE_ENDS
def test_a_rule_below_a_table_underlines_nothing(line_end: str) -> None:
    text = "Intro line:\nName | Value\n--- | ---\na | b\n---\n\ntext\n".replace("\n", line_end)
    assert headings(text) == []
    assert kinds(text) == ["paragraph", "table", "rule", "paragraph"]


@LINE_ENDS
def test_equals_signs_below_a_table_are_a_row(line_end: str) -> None:
    text = "Intro line:\nName | Value\n--- | ---\na | b\n===\n\ntext\n".replace("\n", line_end)
    assert headings(text) == []
    assert blocks(text)[1][1].endswith("===")


@pytest.mark.parametrize(
    ("line", "kind"), [("2. item", "list"), ("    # code", "code"), ("*", "list"), ("> q", "quote"), ("```", "code")]
)
def test_what_ends_a_table(line: str, kind: str) -> None:
    assert kinds(f"para\nx | y\n-- | --\n1 | 2\n{line}\n") == ["paragraph", "table", kind]


@LINE_ENDS
def test_a_table_below_text_starts_with_its_header(line_end: str) -> None:
    text = "para text\na | b\n-- | --\nc | d\n".replace("\n", line_end)
    assert blocks(text) == [("paragraph", "para text"), ("table", text[len("para text" + line_end) :].rstrip())]


@LINE_ENDS
def test_a_header_without_a_pipe(line_end: str) -> None:
    text = "para text\nmore\n|--|\nfoo\nbar\n".replace("\n", line_end)
    assert blocks(text) == [("paragraph", "para text"), ("table", text[len("para text" + line_end) :].rstrip())]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("- a\n  x | y\n  -- | --\n  1 | 2\n", "x | y\n  -- | --\n  1 | 2"),
        ("> p\n> x | y\n> -- | --\n> 1 | 2\n", "x | y\n> -- | --\n> 1 | 2"),
        ("[^1]: p\n    x | y\n    -- | --\n    1 | 2\n", "x | y\n    -- | --\n    1 | 2"),
        ("> - p\n>   x | y\n>   -- | --\n", "x | y\n>   -- | --"),
    ],
)
@LINE_ENDS
def test_tables_inside_other_blocks(text: str, table: str, line_end: str) -> None:
    text, table = text.replace("\n", line_end), table.replace("\n", line_end)
    found = inside(text)
    assert [each for each in found if each[0] == "table"] == [("table", table)]
    assert next(source for kind, source in found if kind == "row").startswith("x | y")


def test_a_table_in_a_quote_leaves_the_heading_below_it() -> None:
    assert headings("> p\n> x | y\n> -- | --\npara\n---\n\ntext\n") == [(2, "para")]


@pytest.mark.parametrize("opening", ["The options:\r\n", "- The options:\n  "])
def test_every_part_of_a_table_below_text_has_its_header(opening: str) -> None:
    line_end, indent = ("\n", "  ") if opening.startswith("-") else ("\r\n", "")
    rows = ["Name | Value", "---- | -----", *(f"option-{number} | the value of it" for number in range(30))]
    text = opening + f"{line_end}{indent}".join(rows) + line_end
    chunks = quire.chunk(text, "packed", hard_cap=64, target=48)
    assert len(chunks) > 3
    for chunk in chunks:
        assert "Name | Value" in chunk.original_text
        assert chunk.original_text.endswith("the value of it")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("> p\nx | y\n-- | --\n1 | 2\n", ["quote"]),
        ("> p\n> x | y\n-- | --\n", ["quote"]),
        ("p\nx | y\n-- | -- | --\n", ["paragraph"]),
        ("p\n\\| x | y\n-- | --\n", ["paragraph", "table"]),
        ("p\n\\| x | y\n-- | -- | --\n", ["paragraph"]),
        ("```\nx\n```\n|-|\n", ["code", "paragraph"]),
        ("p\n# x | y\n--|--\n", ["paragraph", "heading", "paragraph"]),
        ("p\n- x | y\n--|--\n", ["paragraph", "list"]),
        ("p\n1. x | y\n--|--\n", ["paragraph", "list"]),
        ("p\n***\n|-|\n", ["paragraph", "rule", "paragraph"]),
        ("p\n===\n|-|\n", ["heading", "paragraph"]),
        ("<!--\nx\n--> | y\n--|--\n", ["html", "paragraph"]),
        ("<b>\n|-|\n", ["html"]),
        ("p\n<b>x</b> | y\n--|--\n", ["paragraph", "table"]),
        ("p\nx | y\n--|--\n--|--\n", ["paragraph", "table"]),
        ("| x | y |\n--|--\n--|--\n", ["table"]),
        ("p\n`x` | y\n--|--\n", ["paragraph", "table"]),
        ("p\n[x](u) | y\n--|--\n", ["paragraph", "table"]),
    ],
)
def test_lines_above_a_delimiter_row(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize("lines", ["x\n|-|", "ab\\\n-|"])
def test_titles_of_what_is_no_table_after_all(lines: str) -> None:
    assert headings(f"{lines}\n===\n\ntext\n") == [(1, lines.replace("\\", "").replace("\n", " "))]


def test_an_item_is_no_delimiter_row() -> None:
    text = "a | b\n- | -\n\n  # inside\n\n  text\n"
    assert headings(text) == []
    assert kinds(text) == ["paragraph", "list"]


FRAGMENTS = (
    "para\n", "para\nmore\n", "\n", "# A\n", "Title\n===\n", "Two\nlines\n---\n", "- a\n- b\n", "- a\n\n  b\n", "2. x\n",
    "> q\n", "```\n# no\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "a | b\n--|--\n1 | 2\n", "* * *\n", "---\n", "===\n",
    "para\na | b\n--|--\n1 | 2\n", "- a\n  a | b\n  --|--\n  1 | 2\n", "> q\n> a | b\n> --|--\n> 1 | 2\n", "<div>\n\n",
)  # fmt: skip
NAMES = {
    "paragraph_open": "paragraph", "heading_open": "heading", "bullet_list_open": "list", "ordered_list_open": "list",
    "blockquote_open": "quote", "fence": "code", "table_open": "table", "hr": "rule", "html_block": "html",
}  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join), st.sampled_from(["\n", "\r\n", "\r"]))
def test_mixtures_are_judged_alike(lines: str, line_end: str) -> None:
    document = quire.parse(lines.replace("\n", line_end))
    if document.source.body_start:
        return  # front matter, which the judge does not know
    starts = lines_at(document.text, [block.start for block in document.blocks])
    expected = [
        (NAMES[token.type], token.map[0])
        for token in judge.tokens(lines)
        if token.level == 0 and token.type in NAMES and token.map
    ]
    assert [(block.kind, line - 1) for block, line in zip(document.blocks, starts, strict=True)] == expected
    assert headings(document.text) == [(each.level, each.text) for each in judge.headings(lines)]
