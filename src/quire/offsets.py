r"""Characters to UTF-8 bytes and lines. All other positions in quire are characters.

A line ends with ``\n``, ``\r\n`` or a lone ``\r``, as in CommonMark; form feeds and U+2028 do not end a line. Positions
must be ascending, so that one pass over the text is enough.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

_LINE_END = re.compile(r"\r\n|\r|\n")


def line_starts(text: str) -> list[int]:
    """The position at which each line starts; the first is always 0."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def line_start(text: str, position: int, least: int = 0) -> int:
    """Where the line of a position starts, or ``least``, whichever comes later."""
    line = max(text.rfind("\n", least, position) + 1, least)
    return max(text.rfind("\r", line, position) + 1, line)


def lines_at(text: str, positions: Iterable[int]) -> list[int]:
    """The 1-based line of each of the ascending ``positions``."""
    if "\r" in text:
        starts = line_starts(text)
        return [bisect_right(starts, position) for position in positions]
    lines: list[int] = []
    line, seen = 1, 0
    count = text.count
    for position in positions:
        line += count("\n", seen, position)
        seen = position
        lines.append(line)
    return lines


def bytes_at(text: str, positions: Sequence[int]) -> Sequence[int]:
    """The UTF-8 byte offset of each of the ascending ``positions``."""
    if text.isascii():
        return positions
    offsets: list[int] = []
    offset, seen = 0, 0
    for position in positions:
        offset += utf8_length(text[seen:position])
        seen = position
        offsets.append(offset)
    return offsets


def utf8_length(text: str) -> int:
    """The number of bytes of ``text`` in UTF-8; a lone surrogate has three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
