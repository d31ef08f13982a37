"""Regular white space, for `flow`: line ends, trailing spaces, runs of blank lines.

Code, tables and HTML stay as they are, also inside lists and quotes. A hard break of two spaces stays.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache

from quire.model import VERBATIM, Block, Document, Span
from quire.offsets import BLANK
from quire.parsing import inner_blocks

_IRREGULAR = ("\r", " \n", "\t\n", "\n\n\n")
_FENCES = ("```", "~~~")
_SPACES = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"\n{3,}")
_CONTAINERS = frozenset({"list", "quote", "footnote", "directive", "html", "math"})


def is_regular(text: str) -> bool:
    """Whether normalising changes nothing but blank lines around the text."""
    return not any(map(text.__contains__, _IRREGULAR))


def irregular_places(text: str) -> list[int]:
    """Where normalising changes something; a span with none of these only loses blank lines around it."""
    places: list[int] = []
    for mark in _IRREGULAR:
        place = text.find(mark)
        while place >= 0:
            places.append(place)
            place = text.find(mark, place + 1)
    return sorted(places)


def normalized(document: Document, start: int, end: int) -> str:
    """The text of a span with regular white space."""
    text = document.text
    inner = text[start:end]
    if is_regular(inner):  # most text is
        return inner.strip("\n").rstrip(BLANK)
    parts: list[str] = []
    seen = start
    for span in _verbatim_spans(document, start, end):
        first, last = max(span.start, seen), _verbatim_end(text, span, end)
        parts += (_regular(text[seen:first]), text[first:last])
        seen = last
    parts.append(_regular(text[seen:end]))
    whole = "".join(parts).strip("\r\n")
    return whole.rstrip(BLANK) if parts[-1] else whole


def _regular(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if " \n" in text or "\t\n" in text:
        text = "\n".join(_trimmed(text.split("\n")))
    return _BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text


def _trimmed(lines: list[str]) -> list[str]:
    """Lines without white space at their ends; the last one continues behind ``text``, so it stays as it is.

    Two or more spaces before a line that is not blank are a hard break.
    """
    for number, following in enumerate(lines[1:]):
        line = lines[number]
        if line.endswith((" ", "\t")):
            bare = line.rstrip(" \t")
            is_break = bare and line.endswith("  ") and following.strip(" \t")
            lines[number] = f"{bare}  " if is_break else bare
    return lines


def _verbatim_spans(document: Document, start: int, end: int) -> Iterator[Span]:
    """The spans of code, tables and HTML that overlap ``start`` to ``end``, in order."""
    seen = 0
    for block in document.blocks_between(start, end):
        spans = _verbatim_in(document.text, block)
        first = bisect_right(spans, start, key=lambda span: span.end)
        for span in spans[first : bisect_left(spans, end, key=lambda span: span.start)]:
            if span.start >= seen:
                yield span
                seen = span.end


def _verbatim_end(text: str, span: Span, end: int) -> int:
    """Where a verbatim span ends, up to ``end``: blanks behind its last line belong to it, unless that is a fence."""
    spaces = _SPACES.match(text, span.end, end)
    if spaces is None:
        return end
    return span.end if text.endswith(_FENCES, span.start, span.end) else spaces.end()


@lru_cache(maxsize=64)
def _verbatim_in(text: str, block: Block) -> tuple[Span, ...]:
    """The spans of code, tables and HTML in a block, itself included; a long block is asked about many times."""
    if block.kind not in _CONTAINERS:
        return (block.span,) if block.kind in VERBATIM else ()
    if block.kind not in VERBATIM and is_regular(text[block.start : block.end]):
        return ()  # nothing in it changes
    children = inner_blocks(text, block)
    if block.kind in VERBATIM and not children:
        return (block.span,)
    spans: list[Span] = []
    for child in children:
        for inner in child.walk():
            is_leaf = inner.kind == "table" or (inner.kind in VERBATIM and not inner.children)
            if is_leaf and (not spans or inner.start >= spans[-1].end):
                spans.append(inner.span)
    return tuple(spans)
