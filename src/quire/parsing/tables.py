"""Tables that interrupt a paragraph: the parser takes most of them for text. Used by blocks.py."""

from __future__ import annotations

import re

from quire.blank import BLANK

_DASHES = r"[ \t]*+:?-++:?[ \t]*+"
_DELIMITER_ROW = re.compile(rf"[\r\n] {{0,3}}(\|?{_DASHES}(?:\|{_DASHES})*+\|?)[ \t]*+(?=[\r\n]|\Z)")
_ESCAPED_PIPE = re.compile(r"\\.")
_LONE_PIPE = re.compile(r"(?:^|\r)\|[ \t\r]*+$", re.MULTILINE)
"""A line that is a row to some, and ends the table to the parser."""


def interrupting_table(text: str, start: int, end: int) -> int:
    """Where in the paragraph ``text[start:end]`` a table starts; ``end`` if there is none."""
    if text.find("|", start, end) < 0:
        return end
    for row in _DELIMITER_ROW.finditer(text, start, end):
        header_start = max(text.rfind("\n", start, row.start()), text.rfind("\r", start, row.start())) + 1
        header_start = max(header_start, start)
        delimiter = row.group(1)
        if "|" in delimiter and _cells(text[header_start : row.start()]) == _cells(delimiter):
            return header_start
    return end


def is_table(text: str, start: int, end: int) -> bool:
    """Whether lines that start with a pipe are a table for sure: the second delimits as many cells as the first has."""
    header_end = text.find("\n", start, end)
    row = _DELIMITER_ROW.match(text, header_end, end) if header_end > 0 else None
    header = text[start : max(header_end, start)]
    if row is None or "\\" in header or "\r" in header[:-1] or _LONE_PIPE.search(text, start, end):
        return False
    return _cells(header) == _cells(row.group(1))


def _cells(row: str) -> int:
    """How many cells a row has: pipes that are not escaped part them, the outer ones are optional."""
    plain = _ESCAPED_PIPE.sub("", row).strip(BLANK)
    return plain.removeprefix("|").removesuffix("|").count("|") + 1
