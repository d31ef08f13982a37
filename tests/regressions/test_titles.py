"""Titles of headings and of documents: white space, footnote marks, ids behind them, headings in HTML."""

from __future__ import annotations

import pytest

import quire


def sections(text: str, dialect: str | None = None) -> list[tuple[str, str]]:
    """Title and anchor of each heading."""
    document = quire.parse(text, path="docs/readme.md", dialect=dialect)
    return [(section.title, section.anchor) for section in document.sections[1:]]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("# A   b", "a---b"),
        ("# A <br> b", "a--b"),
        ("# A &nbsp; b", "a--b"),
        ("# A \N{NO-BREAK SPACE} b", "a--b"),
        ("# *A*  `b`", "a--b"),
        ("# `A  b`", "a--b"),
        ("A   b\n===", "a---b"),
        ("A\n   b\n===", "a-b"),
        ("# A\tb", "a-b"),
    ],
)
def test_white_space_in_a_title_is_one_space_and_in_an_anchor_a_hyphen_each(heading: str, anchor: str) -> None:
    text = f"{heading}\n\ntext\n"
    assert sections(text) == [("A b", anchor)]
    for rule in ("github", "docusaurus", "hugo"):
        (chunk,) = quire.chunk(text, "packed", path="a.md", slugs=rule)
        assert (chunk.file_title, chunk.header_path, chunk.header_slugs) == ("A b", ("A b",), (anchor,))
    (node,) = quire.chunk(text, "tree", path="a.md")
    assert node.id == "doc:a.md#a-b"


@pytest.mark.parametrize("form", ["{}\n===", "  {}\n  =", "# {}"])
def test_commonmark_has_no_ids_in_titles(form: str) -> None:
    heading = form.format("[^1] index {#inline} {#id-2}")
    assert sections(f"{heading}\n\ntext\n", "commonmark")[0][0] == "[^1] index {#inline} {#id-2}"
    text = f"{heading}\n\ntext\n\n[^1]: note\n"
    assert sections(text, "commonmark")[0][0] == "index {#inline} {#id-2}"
    assert sections(text)[0] == ("index {#inline}", "id-2")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('<h1 align="center">Title</h1>\n\ntext', "Title"),
        ("<div>\n  <H1>My <b>Tool</b>\n  &amp; more</H1 >\n</div>\n\n## Install\n\nx", "My Tool & more"),
        ('<p align="center">\n\n<h1>\n\nTitle\n\n</h1>\n\ntext', "Title"),
        ('<a href="x"><h1>Title</h1></a>\n\ntext', "Title"),
        ('<h1><img src="a.png"></h1>\n<h1><img alt="Logo" src="a.png"><br>Tool</h1>\n', "Logo Tool"),
        ("<!-- <h1>No</h1> -->\n<h1>Yes</h1>\n", "Yes"),
        ("# Markdown\n\n<h1>No</h1>\n", "Markdown"),
        ("---\ntitle: Stated\n---\n<h1>No</h1>\n", "Stated"),
        ("---\nabout: <h1>No</h1>\n---\ntext\n", "readme"),
        ("```html\n<h1>No</h1>\n```\n\n    <h1>No</h1>\n\n`<h1>No</h1>` and <h1>No</h1>\n", "readme"),
        ("<h1>never closed\n\ntext\n", "readme"),
        ("<h1></h1>\n\n<h2>No</h2>\n", "readme"),
    ],
)
def test_the_first_h1_in_html_is_the_title_of_a_document_without_another(text: str, title: str) -> None:
    assert quire.parse(text, path="docs/readme.md").title == title
    assert quire.chunk(text, "packed", path="docs/readme.md")[0].file_title == title
    assert quire.parse(text, path="docs/readme.txt").title in ("readme", "Stated")


@pytest.mark.parametrize(
    ("ids", "are_ids"),
    [
        (["page-top", "install", "next_step"], True),
        (["#page-top", "#install"], True),
        (["page-top", "", "install", ""], True),
        (["page-top"], False),
        (["page-top", "", "", "", "install"], False),
        (["page-top", "page-top"], False),
        (["advanced", "optional"], False),
        (["2024-01-02", "2024-03-04"], False),
        (["WIP-a", "WIP-b"], False),
        (["link-a", "link-b"], False),
    ],
)
def test_ids_in_brackets_are_ids_where_most_headings_of_a_document_have_one(ids: list[str], are_ids: bool) -> None:
    lines = [f"## Part {number}{f' [{each}]' if each else ''}\n\nText.\n" for number, each in enumerate(ids)]
    text = "\n".join([*lines, "[link-a]: /a"])
    found = sections(text)
    assert [title == f"Part {number}" for number, (title, _) in enumerate(found)] == [
        are_ids or not each for each in ids
    ]
    assert ("page-top" in {anchor for _, anchor in found}) == are_ids
    assert sections(text, "commonmark")[0][0] != "Part 0"
