"""A document as an independent parser sees it: markdown-it-py, which no tool here is built on.

All places are counted in characters that are not blank, so that white space, which tools strip and join as they like,
never matters. Such a place is called solid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
_FRONT = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_ID = re.compile(r"\{(?:/\*|:)?#[^{}]*\}$")
"""The id that an author gives a heading: ``{#id}``, ``{: #id}``, ``{/* #id */}``."""
_LINE_END = re.compile(r"\r\n?")


class Span(NamedTuple):
    """A half-open range of solid places."""

    start: int
    end: int


class Heading(NamedTuple):
    """A heading."""

    span: Span
    """With its marks."""
    titles: frozenset[str]
    """How a tool may spell it: as written, and as plain text."""
    is_section: bool
    """Whether it is at document level, and so the head of a section."""


class Fence(NamedTuple):
    """Fenced code."""

    span: Span
    """With its fences."""
    code: Span
    """What is between them."""


class Table(NamedTuple):
    """A table."""

    head: Span
    """The first row and the one with the dashes."""
    rows: tuple[Span, ...]
    """The others."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is so about a document."""

    text: str
    solid: str
    """Its characters that are not blank."""
    front: Span
    """The front matter; empty if there is none."""
    metadata: Mapping[str, Any]
    """What the front matter says."""
    headings: tuple[Heading, ...]
    fences: tuple[Fence, ...]
    tables: tuple[Table, ...]
    code_lines: tuple[str, ...]
    """The lines of fenced code that start with white space."""


def solid(text: str) -> str:
    """``text`` without white space."""
    return "".join(text.split())


def truth(text: str) -> Truth:
    """What is so about ``text``."""
    lines = _LINE_END.sub("\n", text).split("\n")
    starts = [0, *accumulate(len(solid(line)) for line in lines)]
    below, metadata = _front(lines)
    tokens = _PARSER.parse("\n" * below + "\n".join(lines[below:]))
    fences = [token for token in tokens if token.type == "fence" and token.map]
    return Truth(
        text,
        solid(text),
        Span(0, starts[below]),
        metadata,
        tuple(_headings(tokens, starts)),
        tuple(_fence(token, lines, starts) for token in fences),
        tuple(_tables(tokens, starts)),
        tuple(
            line.rstrip() for token in fences for line in _between(token, lines) if line.strip() and line[0] in " \t"
        ),
    )


def _front(lines: list[str]) -> tuple[int, Mapping[str, Any]]:
    """How many lines the front matter has, and what it says."""
    found = _FRONT.match("\n".join(lines))
    if found is None:
        return 0, {}
    try:
        values = yaml.safe_load(found[1])
    except yaml.YAMLError:
        return 0, {}
    return (found[0].count("\n") + 1, values) if isinstance(values, dict) else (0, {})


def _headings(tokens: list[Token], starts: list[int]) -> Iterator[Heading]:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.map and inline.content:
            titles = frozenset({spelled(inline.content), spelled(_plain(inline))})
            yield Heading(_span(opening.map, starts), titles, opening.level == 0)


def spelled(title: str) -> str:
    """A title with nothing left that tools spell differently: white space, an id, marks that close it."""
    return _ID.sub("", solid(title)).rstrip("#")


def _plain(inline: Token) -> str:
    parts = []
    for child in inline.children or ():
        if child.type in {"text", "text_special", "code_inline"}:
            parts.append(child.content)
        elif child.type == "image":
            parts.append(_plain(child))
    return "".join(parts)


def _fence(token: Token, lines: list[str], starts: list[int]) -> Fence:
    first, end = token.map or (0, 0)
    is_closed = end - first > 1 and lines[end - 1].strip(" \t>").startswith(token.markup)
    return Fence(_span((first, end), starts), Span(starts[first + 1], starts[end - 1 if is_closed else end]))


def _between(token: Token, lines: list[str]) -> list[str]:
    first, end = token.map or (0, 0)
    return lines[first + 1 : end - 1]


def _tables(tokens: list[Token], starts: list[int]) -> Iterator[Table]:
    for token in tokens:
        if token.type == "table_open" and token.map:
            first, end = token.map
            rows = tuple(_span((line, line + 1), starts) for line in range(first + 2, end))
            yield Table(_span((first, first + 2), starts), tuple(row for row in rows if row.end > row.start))


def _span(lines: list[int] | tuple[int, int], starts: list[int]) -> Span:
    return Span(starts[lines[0]], starts[min(lines[1], len(starts) - 1)])
