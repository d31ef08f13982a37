"""Regular white space, for `flow`: line ends, trailing spaces, runs of blank lines. Used by assemble.py and check.py.

Code, tables and HTML are left as they are, also inside lists and quotes. A hard break of two spaces stays.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from quire.model import BLANK, Block, Document

_VERBATIM = frozenset({"code", "table", "html", "math"})
_MAY_HOLD_VERBATIM = frozenset({"list", "quote", "footnote", "directive"})
_TRAILING = re.compile(r"[ \t]++(?=\n)")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def normalized(document: Document, start: int, end: int) -> str:
    """The text of a span with regular white space."""
    text = document.text
    parts: list[str] = []
    seen = start
    for first, last in _verbatim(document, start, end):
        parts += (_regular(text[seen:first]), text[first:last])
        seen = last
    parts.append(_regular(text[seen:end]))
    whole = "".join(parts).strip("\r\n")
    return whole.rstrip(BLANK) if parts[-1] else whole


def _regular(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if " \n" in text or "\t\n" in text:
        text = _TRAILING.sub(_hard_break, text)
    return _BLANK_LINES.sub("\n\n", text) if "\n" in text else text


def _hard_break(match: re.Match[str]) -> str:
    """Two or more spaces before a line that goes on are a hard break; all others are nothing."""
    text, start, end = match.string, match.start(), match.end()
    goes_on = end < len(text) and text[end + 1 : end + 2] not in ("", "\n", " ", "\t")
    is_text = start > 0 and text[start - 1] != "\n"
    return "  " if goes_on and is_text and match.group().endswith("  ") else ""


def _verbatim(document: Document, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of code, tables and HTML between ``start`` and ``end``."""
    blocks = document.blocks
    first = bisect_right(blocks, start, key=lambda block: block.end)
    last = bisect_left(blocks, end, key=lambda block: block.start)
    for block in blocks[first:last]:
        for inner in _verbatim_in(block):
            if inner[0] < end and inner[1] > start:
                yield max(inner[0], start), min(inner[1], end)


def _verbatim_in(block: Block) -> Iterator[tuple[int, int]]:
    if block.kind in _VERBATIM and not (block.kind == "html" and block.children):
        yield block.start, block.end
    elif block.kind in _MAY_HOLD_VERBATIM or block.children:
        for child in block.children:
            yield from _verbatim_in(child)
