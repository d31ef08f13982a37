"""Regular white space, for `flow`: line ends, trailing spaces, runs of blank lines. Used by assemble.py and check.py.

Code, tables and HTML are left as they are, also inside lists and quotes. A hard break of two spaces stays.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from quire.model import BLANK, Document

_TRAILING = re.compile(r"(?<![ \t])[ \t]++(?=\n)")
_IRREGULAR = ("\r", " \n", "\t\n", "\n\n\n")
_LINE_WITH_TEXT = re.compile(r"\n[ \t]*+[^ \t\n]")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def normalized(document: Document, start: int, end: int) -> str:
    """The text of a span with regular white space."""
    text = document.text
    if not any(map(text[start:end].__contains__, _IRREGULAR)):  # most text is regular; where code stands is not asked
        return text[start:end].strip("\n").rstrip(BLANK)
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
    goes_on = _LINE_WITH_TEXT.match(text, end) is not None
    is_text = start > 0 and text[start - 1] != "\n"
    return "  " if goes_on and is_text and match.group().endswith("  ") else ""


def _verbatim(document: Document, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of code, tables and HTML between ``start`` and ``end``."""
    spans = document.verbatim
    first = bisect_right(spans, start, key=lambda span: span.end)
    last = bisect_left(spans, end, key=lambda span: span.start)
    for span in spans[first:last]:
        yield max(span.start, start), min(span.end, end)
