"""A second opinion on headings from markdown-it-py, which shares no code with the parser that quire is built on.

It reads CommonMark with tables and strikethrough and nothing else: front matter, footnotes, math, directives and MDX
are ordinary text to it, and a byte order mark is an ordinary character. Hand it the body, or a document that has none
of these (`grammar.documents(extensions=False)`).

Before parsing it turns `\\r\\n` and a lone `\\r` into `\\n`, and NUL into U+FFFD. Neither adds or removes a line, so
line numbers are those of the text as given, counted by `\\n`, `\\r\\n` and lone `\\r`; other characters that Python's
`splitlines` breaks at (form feed, U+0085, U+2028 ...) end no line.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ["Heading", "headings", "plain", "tokens"]

_PARSER = MarkdownIt("commonmark", {"maxNesting": 500}).enable(["table", "strikethrough"])


class Heading(NamedTuple):
    """A heading at document level. Compares equal to the plain tuple of its fields."""

    level: int
    text: str
    """Plain text: markup and inline HTML dropped, entities decoded, runs of white space made one space."""
    line: int
    """The line where it starts, from 0."""


def tokens(body: str) -> list[Token]:
    """All block tokens, for tests that look at more than headings."""
    return _PARSER.parse(body)


def headings(body: str) -> list[Heading]:
    """The headings at document level, in order; those inside a quote or a list item are left out."""
    found = []
    stream = tokens(body)
    for opening, inline in pairwise(stream):
        if opening.type == "heading_open" and opening.level == 0:
            if opening.map is None:
                raise AssertionError(f"markdown-it-py gave a heading without a line: {opening}")
            found.append(Heading(int(opening.tag[1:]), plain(inline.children or ()), opening.map[0]))
    return found


def plain(inlines: Iterable[Token]) -> str:
    """The plain text of inline tokens, with white space normalised."""
    return " ".join("".join(_pieces(inlines)).split())


def _pieces(inlines: Iterable[Token]) -> Iterable[str]:
    for token in inlines:
        match token.type:
            case "text" | "text_special" | "code_inline":
                yield token.content
            case "image":
                yield from _pieces(token.children or ())
            case "softbreak" | "hardbreak":
                yield " "
