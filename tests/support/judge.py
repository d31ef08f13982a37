"""A second opinion on headings from markdown-it-py, which shares no code with the parser that quire is built on.

It reads CommonMark with tables and strikethrough and nothing else: front matter, footnotes, math, directives and MDX
are ordinary text to it, and a byte order mark is an ordinary character. Hand it the body, or a document that has none
of these (`grammar.documents(extensions=False)`). Where it is known to differ from CommonMark and GitHub: struck text
takes two tildes, never one; white space inside HTML tags is Python's, so that `<div` with a no-break space behind it
is a tag; an indented line right below a link reference definition is code, not the next line of a paragraph.

Before parsing it turns `\\r\\n` and a lone `\\r` into `\\n`, and NUL into U+FFFD. Neither adds or removes a line, so
line numbers are those of the text as given, counted by `\\n`, `\\r\\n` and lone `\\r`; other characters that Python's
`splitlines` breaks at (form feed, U+0085, U+2028 ...) end no line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

__all__ = ["Heading", "headings", "plain", "references", "tokens"]

_SETEXT_UNDERLINE = re.compile(r"[ \t]*(?:-+|=+)[ \t]*")


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """markdown-it-py's table, save that a line which underlines a heading is no delimiter row."""
    if start + 1 < end:
        below = state.src[state.bMarks[start + 1] + state.tShift[start + 1] : state.eMarks[start + 1]]
        if _SETEXT_UNDERLINE.fullmatch(below):
            return False
    return table(state, start, end, silent)


def _parser() -> MarkdownIt:
    """CommonMark with tables where GitHub has them: only lines that no other block claims can begin one.

    markdown-it-py asks for a table first, and so takes `# a | b` above `-|-` for a header row rather than a heading.
    """
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("strikethrough")
    parser.block.ruler.before("lheading", "table_last", _table, {"alt": ["paragraph", "reference"]})
    return parser


_PARSER = _parser()
_BLOCKS = _parser().disable("inline")
"""Leaves inline markup as it is, which takes most of the time."""


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
    env: dict[str, Any] = {}
    for opening, inline in pairwise(_BLOCKS.parse(body, env)):
        if opening.type == "heading_open" and opening.level == 0:
            if opening.map is None:
                raise AssertionError(f"markdown-it-py gave a heading without a line: {opening}")
            children = _PARSER.parseInline(inline.content, env)[0].children
            found.append(Heading(int(opening.tag[1:]), plain(children or ()), opening.map[0]))
    return found


def references(body: str) -> frozenset[str]:
    """The labels of all link reference definitions, normalised (upper case, single spaces)."""
    env: dict[str, Any] = {}
    _PARSER.parse(body, env)
    return frozenset(env.get("references", {}))


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
