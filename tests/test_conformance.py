"""Headings are those of an independent CommonMark parser, and the line scan finds the blocks that the parser finds."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given

import quire
from quire.model.document import Source
from quire.model.offsets import lines_at
from quire.parsing.blocks import flat_blocks
from quire.parsing.nested_blocks import inner_blocks
from quire.parsing.parser import parser_input
from support import grammar, judge, shared


def headings(text: str) -> list[tuple[int, str, int]]:
    """Level, plain text and 0-based line of each heading, below the front matter."""
    document = quire.parse(text)
    sections = document.sections[1:]
    first = lines_at(text, [document.source.body_start])[0]
    lines = lines_at(text, [section.start for section in sections])
    return [
        (section.depth, " ".join(section.title.split()), line - first)
        for section, line in zip(sections, lines, strict=True)
    ]


@shared.needs_shared
def test_commonmark_examples() -> None:
    different = [
        example["example"]
        for example in shared.commonmark_examples()
        if quire.parse(example["markdown"]).source.body_start == 0
        and headings(example["markdown"]) != judge.headings(example["markdown"])
    ]
    assert different == []


@shared.needs_shared
def test_commonmark_examples_by_their_html() -> None:
    """Against the specification's own HTML: as many headings at document level, of the same levels."""
    wrong = [
        example["example"]
        for example in shared.commonmark_examples()
        if "<blockquote>" not in example["html"] and "<li>" not in example["html"]
        and [level for level, _, _ in headings(example["markdown"])]
        != [int(level) for level in re.findall(r"<h([1-6])>", example["html"])]
    ]  # fmt: skip
    assert wrong == []


_GENERATOR = re.compile(r"\{\{[<%]|\{%|\{:?[ ]?#|\{/\*|^(?:!!!|\?\?\?|===)|\)=$|<a[ ](?:id|name)|^#.*[{]", re.MULTILINE)
"""What documentation generators add to Markdown; the judge reads it as text."""


@shared.needs_shared
def test_every_shared_document() -> None:
    different: list[tuple[str, Any]] = []
    for name, data in shared.documents():
        text = data.decode()
        if _GENERATOR.search(text):
            continue
        body = text[quire.parse(text).source.body_start :]
        ours, theirs = headings(text), judge.headings(body)
        if ours != theirs:
            different.append((name, set(ours) ^ set(theirs)))
    assert different == []


@given(grammar.documents(extensions=False))
def test_random_documents(text: str) -> None:
    assert_judged_alike(text)


@given(grammar.small_texts())
def test_random_texts(text: str) -> None:
    assert_judged_alike(text)


def assert_judged_alike(text: str) -> None:
    """Equal to the judge, but for what the two are known to read differently."""
    if quire.parse(text).source.body_start or _judge_differs(text):
        return
    assert headings(text) == judge.headings(text)


def _judge_differs(text: str) -> bool:
    """Constructs that the judge reads otherwise than CommonMark or GFM, or that quire leaves to the parser.

    Definitions followed by an indented line or a tag, comments within a line, runs of tildes, raw HTML that is
    closed by the end tag of another element, tables directly in front of a line of dashes, feeds in a link, NUL.
    """
    return bool(
        (re.search(r"[\x0b\x0c]", text) and "](" in text)
        or re.search(r"\]:|<!--|~|\x00|\$|:::|\[\^", text)
        or (re.search(r"<(script|pre|style|textarea)", text, re.IGNORECASE) and "</" in text)
        or ("|" in text and re.search(r"-", text))
    )


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\npara\n\n```\n# no\n\nx\n```\n## B\npara\n# C\n",
        "- a\n- b\n\n  c\n\npara\n\n# A\n\n- x\n\n\n# B\n",
        "<!--\n\n# no\n\n-->\n\n# A\n\npara\n",
        "```\n# no\n",
        "para\n```\n# no\n\npara\n",
        "> quote\n\npara\n\n# A `b` c ##\n1. x\n2. y\n\n10. z\n\npara\n",
        "- x\n\n  ```\n  # no\n  ```\n\n# A\n",
        "   ```\n# no\n   ```\n# A\n",
        "- ```\n  x\n  ```\n\n# A\n\n  ```\n# B\n",
        "<div>\n# no\n\n# A\n",
        "<!-- x -->\n# A\n<!--\n# no\n-->\n# B\n",
        "<div>\n<!-- x -->\n</div>\n\n# A\n",
        "<pre>\n\n# no\n\n</pre>\n# A\n",
        "A\n===\n\nb\nc\n---\n\n> d\n---\n\n- e\n---\n",
        "A #\n---\n\nx\n\n---\n\n* * *\n- - -\n",
        "1. # no\n\n   ## no\n\n# A\n",
        "# [a]\n\n[a]: /u\n\n# b[^1]\n\n[^1]: c\n# *d* &amp; \\e\n",
        "# A\r# B\r\n~~~\r# no\r~~~\r# C",
        "# é `ü`\n\n## ***n***\n\n#\n###### six\n####### seven\n#no\n",
        "a\n\n    code\n\n    more\n\ttab\n\nb\n\n    code\n  c\n",
        " a\n   b\n      c\n\n    code\n",
        "a\n```\nb\n```\n\na\n``` `b`\n\na\n~~~ `b`\nc\n",
        "<div>\n# no\n \n# A\n<!-- a -->\n# B\n<hr>\n# no\n\n<!-->\n# C\n",
        "a\n\n<!-- never closed\n\n# no\n",
        "a\n\n---\n\n***\nb\n___\n\n* * *\n",
        "|a\n--\n\n|a|\n|-|\n|\n\n|a|b|\n|-|\n",
        "- a\n* b\n\n- a\n\n* b\n\n1. a\n2) b\n",
        "# A\r\n\r\na\r\n\r\n- b\r\n\r\n  c\r\n\r\n```\r\n\r\n# no\r\n```\r\n",
    ],
)
def test_line_scan_is_the_parser(text: str) -> None:
    assert_parser_agrees(text)


@given(grammar.documents())
def test_line_scan_is_the_parser_on_random_documents(text: str) -> None:
    assert_parser_agrees(text)


@given(grammar.small_texts())
def test_line_scan_is_the_parser_on_random_texts(text: str) -> None:
    assert_parser_agrees(text)


@shared.needs_shared
def test_line_scan_is_the_parser_on_shared_documents() -> None:
    for _, data in shared.documents():
        assert_parser_agrees(data.decode())


def assert_parser_agrees(text: str) -> None:
    """The blocks are the same without the line scan; they are in order and cover all text that is not blank."""
    document = quire.parse(text)
    start = document.source.markdown_start
    lines = parser_input(text[start:]).lines
    scanned, _ = flat_blocks(text, start, len(text), lines)
    parsed, _ = flat_blocks(text, start, len(text), lines, line_scan=False)
    assert scanned == parsed
    seen = document.source.body_start
    for block in document.blocks:
        assert not text[seen : block.start].strip(" \t\r\n")
        assert block.start < block.end
        seen = block.end
        for inner in inner_blocks(text, block):
            assert all(block.start <= each.start < each.end <= block.end for each in inner.walk())
    assert not text[seen:].strip(" \t\r\n")
    assert document.section_columns.starts == [section.start for section in document.sections]
    headings = [(block.level, block.start, block.info) for block in document.blocks if block.kind == "heading"]
    assert headings == [(section.depth, section.start, section.title) for section in document.sections[1:]]


def test_plain_text_has_no_headings() -> None:
    assert quire.parse("# A\n\nx\n", path="a.txt").sections[1:] == ()
    assert quire.parse("# A\n\nx\n", path="a.txt", syntax="markdown").sections[1].title == "A"
    assert Source(text="x").syntax == "markdown"
