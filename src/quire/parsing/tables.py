"""Tables that the parser does not see by itself: those below a line of text. Used by standin.py and blocks.py.

A table may start amid a paragraph, also inside an item or a quote; the parser knows that only of one whose header
starts with a pipe. So the header is given one. What ends the table, and whether the two lines stand in one block, is
then the parser's to say.
"""

from __future__ import annotations

import re

from quire.blank import BLANK

_DASHES = r"[ \t]*+:?-++:?[ \t]*+"
_DELIMITER_ROW = re.compile(rf"\n([ \t>]*+)(\|?{_DASHES}(?:\|{_DASHES})*+\|?)[ \t]*+(?=[\r\n]|\Z)")
_INLINE_TAG = r"(?:a|b|br|code|em|i|img|kbd|span|strong|sub|sup)\b[^<>\n]*+>[ \t]*+[^ \t\n]"
# Lines that open a block, that delimit or underline themselves, or that end HTML.
_OPENING = rf"\#{{1,6}}[ \t\n]|```|~~~|[-+*][ \t\n]|[0-9]{{1,9}}[.)][ \t\n]|\[[^\]\n]*+\]:|<(?!{_INLINE_TAG})"
_RULING = r"[-*_=][-*_= \t]*+\n|[-:][-:| \t]*+\n"
_HEADER = re.compile(rf"[ \t>]*+(?![|\n]|{_OPENING}|{_RULING}|-->|\?>|\]\]>)")
"""What stands in front of a line of text that may be a header, and has no pipe there."""
_CODE_INDENT = 4
_ITEM = ("- ", "-\t")
_ESCAPED = re.compile(r"\\.")
_LONE_PIPE = re.compile(r"(?:^|\r)\|[ \t\r]*+$", re.MULTILINE)
"""A line that is a row to some, and ends the table to the parser."""


def shown(text: str) -> str:
    """``text`` with a pipe in place of the first character of each header; its lines end with line feeds."""
    parts: list[str] = []
    done = 0
    for row in _DELIMITER_ROW.finditer(text):
        if "|" not in row[2]:
            continue
        if row[2].startswith(_ITEM):  # an item, which the parser takes for a delimiter row
            start, mark = row.start(2) + len(row[2].rstrip(" \t")) - 1, "x"
        else:
            header = _HEADER.match(text, text.rfind("\n", 0, row.start()) + 1)
            if header is None or not _fit(header[0], text[header.end() : row.start()], row[1], row[2]):
                continue
            start = header.end()
            mark = "|x" if text.startswith(r"\|", start) else "|"
        parts += (text[done:start], mark)
        done = start + len(mark)
    return "".join(parts) + text[done:] if parts else text


def _fit(header_indent: str, header: str, row_indent: str, row: str) -> bool:
    """Whether a line can be the header above a delimiter row: that has as many cells, and is not in a deeper block."""
    if header_indent.count(">") != row_indent.count(">"):
        return False
    deeper = len(row_indent.expandtabs(4)) - len(header_indent.expandtabs(4))
    return deeper < _CODE_INDENT and _cells(header) == _cells(row)


def is_table(text: str, start: int, end: int) -> bool:
    """Whether lines that start with a pipe are a table for sure: the second delimits as many cells as the first has."""
    header_end = text.find("\n", start, end)
    row = _DELIMITER_ROW.match(text, header_end, end) if header_end > 0 else None
    header = text[start : max(header_end, start)]
    if row is None or "\\" in header or "\r" in header[:-1] or _LONE_PIPE.search(text, start, end):
        return False
    return _cells(header) == _cells(row[2])


def _cells(row: str) -> int:
    """How many cells a row has: pipes that are not escaped part them, the outer ones are optional."""
    plain = _ESCAPED.sub("", row).strip(BLANK)
    return plain.removeprefix("|").removesuffix("|").count("|") + 1
