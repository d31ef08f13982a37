"""The marks of quotes that lines start with. Used by ladder.py, which cuts inside lines.

Lines may be long and are asked about again and again, mostly further on: what was seen is not looked at once more.
"""

from __future__ import annotations

import re

from quire.offsets import line_start

DEEPEST = 40
"""Blocks nested deeper are cut at lines; nobody writes them, and Python does not recurse for ever."""

_MARKS = re.compile(r"(?:[ \t]{0,3}>[ \t]?)+")


class Quoted:
    """The lines of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = (0, 0)  # the line that was looked at last: its start, and how far it is known
        self._marks = (-1, -1)  # the line whose marks were looked for last, and where they end
        self.left_out = -1
        """The first line whose marks are too many to be repeated; -1 for none."""

    def marks(self, position: int) -> str:
        """The marks of the quotes that a position inside a line stands in; none at the start of a line."""
        if position == 0 or self._text[position - 1] in "\r\n":
            return ""
        start = self._line_of(position)
        if start != self._marks[0]:
            self._marks = (start, self._marks_end(start))
        end = self._marks[1]
        return self._text[start:end] if end <= position else ""

    def _marks_end(self, start: int) -> int:
        marks = _MARKS.match(self._text, start)
        if marks and marks.group().count(">") > DEEPEST:
            self.left_out = start if self.left_out < 0 else self.left_out
            marks = None
        return marks.end() if marks else start

    def _line_of(self, position: int) -> int:
        start, seen = self._line
        if position < start:
            start, seen = line_start(self._text, position), position
        elif position > seen:
            line = line_start(self._text, position, seen)
            is_new = line > seen or (seen > 0 and self._text[seen - 1] in "\r\n")
            start, seen = (line, position) if is_new else (start, position)
        self._line = (start, seen)
        return start
