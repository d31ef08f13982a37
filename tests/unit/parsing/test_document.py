"""The document and its inner blocks as plain values."""

from __future__ import annotations

import pickle

import pytest

import quire
from quire.parsing.nested_blocks import inner_blocks

TEXT = """\
---
title: T
---
# A `b` *c*

text [x]

- one

  - two

> quote

| a | b |
|---|---|
| 1 | 2 |

## A b c

:::note

inside

:::

[x]: /u
"""


def test_equal_texts_give_equal_documents_that_pickle() -> None:
    document = quire.parse(TEXT, path="a.md")
    assert quire.parse(TEXT, path="a.md") == document
    assert pickle.loads(pickle.dumps(document)) == document
    assert quire.parse(TEXT + "more\n", path="a.md") != document


def test_all_fields_are_set() -> None:
    document = quire.parse(TEXT, path="a.md")
    assert [block.kind for block in document.blocks] == [
        "heading", "paragraph", "list", "quote", "table", "heading", "directive", "reference",
    ]  # fmt: skip
    assert [(section.title, section.slug, section.anchor) for section in document.sections] == [
        ("T", "", ""), ("A b c", "a-b-c", "a-b-c"), ("A b c", "a-b-c-1", "a-b-c-1"),
    ]  # fmt: skip
    assert document.section_columns.starts == [section.start for section in document.sections]
    assert all(block.children == () for block in document.blocks)


def test_text_of_a_section_starts_and_ends_with_its_blocks() -> None:
    text = "# A\n\n \n  a\n\n  \n# B\n\n## C\r\n\r\n    c  \r\n\r\n"
    document = quire.parse(text)
    assert [text[section.text_start : section.text_end] for section in document.sections[1:]] == ["  a", "", "    c"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("- a\n- b\n", ["item", "item"]),
        ("> a\n>\n> - b\n", ["paragraph", "list"]),
        ("| a |\n|---|\n| 1 |\n", ["row", "row"]),
        ("[^1]: a\n\n    b\n", ["paragraph", "paragraph"]),
        (":::note\n\na\n\n- b\n\n:::\n", ["paragraph", "list"]),
        ("<details>\n\na\n\n</details>\n", ["html", "paragraph", "html"]),
        ("$$\n- a\n# b\n$$\n", []),
        ("$$ a $$\n", []),
        ("<div>\na\n</div>\n", []),
        ("a\n", []),
        ("```\na\n```\n", []),
        ("# a\n", []),
    ],
)
def test_inner_blocks(text: str, kinds: list[str]) -> None:
    (block,) = quire.parse(f"# before\n\n{text}").blocks[1:]
    inner = inner_blocks(f"# before\n\n{text}", block)
    assert [each.kind for each in inner] == kinds


def test_inner_blocks_have_their_children() -> None:
    text = ":::note\n\n- a\n  - b\n\n:::\n"
    inner = inner_blocks(text, quire.parse(text).blocks[0])
    assert [each.kind for each in inner[0].walk()] == ["list", "item", "paragraph", "list", "item", "paragraph"]


@pytest.mark.parametrize("marker", ["> ", "- ", "1. "])
def test_deep_nesting(marker: str) -> None:
    text = marker * 5000 + "a\n"
    document = quire.parse(text)
    assert len(document.blocks) == 1
    assert len(inner_blocks(text, document.blocks[0])) == 1


def test_front_matter_that_does_not_parse_opens_nothing() -> None:
    text = "---\na: [\n:::note\n---\n\n:::\n"
    assert [block.kind for block in quire.parse(text).blocks] == ["paragraph", "paragraph"]


@pytest.mark.parametrize("underline", ["", "\n==="])
def test_long_titles_are_cut(underline: str) -> None:
    hashes = "" if underline else "# "
    text = f"a\n\n{hashes}{'word ' * 40_000}x{underline}\n\nb\n\n## short\n\nc\n"
    document = quire.parse(text)
    title = document.sections[1].title
    assert title == ("word " * 200).rstrip() + "…"
    assert document.title == title == document.blocks[1].info
    assert document.sections[1].slug == document.sections[1].anchor == title.removesuffix("…").replace(" ", "-")
    assert [(finding.code, finding.line, finding.message) for finding in document.findings] == [
        ("title-shortened", 3, "title of 200,001 characters; records have the first 1,000")
    ]


def test_findings_are_in_document_order() -> None:
    document = quire.parse(f"# A\n\n# {'b' * 1001}\n\nx\n\n# C\n")
    assert [(finding.code, finding.line) for finding in document.findings] == [
        ("heading-without-text", 1), ("title-shortened", 3), ("heading-without-text", 7),
    ]  # fmt: skip


def test_plain_text_is_one_paragraph() -> None:
    document = quire.parse("\n:::note\n\n# a\n\n:::\n", path="a.txt")
    assert [tuple(block) for block in document.blocks] == [("paragraph", 1, 18, 0, "", (), "")]
