"""A fence that is cut: what opens it again, what closes it, and which lines it stays with. Used by ladder.py.

standing.py says how it stands where it is indented or quoted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from quire.blank import BLANK, text_end
from quire.offsets import line_start
from quire.split.around import INDENTED, Around, width
from quire.split.levels import lines
from quire.split.standing import standing
from quire.split.units import Wrap

_LINE_END = re.compile(r"[\r\n]")


class Fence(NamedTuple):
    """The line that opens a fence."""

    prefix: str
    """What stands before the marks: an indentation, markers of items and quotes."""
    opening: str
    """The marks, with the info string."""
    mark: str
    """The marks."""


class OpenedAgain(NamedTuple):
    """What parts of a fence need."""

    wrap: Wrap
    bare: str
    """What opens it without the info string."""
    inside: tuple[int, int]
    """Between these it may be cut: both fences stay with a line."""
    end: int
    """Where the code ends; in a quote there may be marks behind it."""


def opened_again(text: str, fence: Fence, around: Around, start: int, end: int) -> OpenedAgain:
    """What the parts of the code from ``start`` to ``end`` need, with what is ``around`` it."""
    last = _text_end(text, start, end, around.quotes)
    closing = _last_line(text, start, last, end)
    is_closed = 0 <= _closes_at(text[closing:last], fence.mark, around.quotes) < around.column + INDENTED
    stands = standing(fence.prefix, around)
    wrap = Wrap(
        before=f"{stands.again}{fence.opening}\n",
        after=f"\n{stands.behind}{fence.mark}",
        lead=stands.lead,
        inside=stands.behind,
        first=start + stands.left_out,
        last=last if is_closed or text[last:end].strip(BLANK) else len(text) + 1,  # marks of a quote end it too
    )
    inside = lines(text, start, end)[0] + 1, closing - 1 if is_closed else last
    return OpenedAgain(wrap, f"{stands.again}{fence.mark}\n", inside, last)


def _closes_at(line: str, mark: str, quotes: int) -> int:
    """How far the line that closes a fence of ``mark`` is indented, inside of so many quotes; -1 if it does not."""
    *marks, rest = line.split(">", quotes)
    fence = rest.strip(" \t")
    if len(marks) != quotes or any(each.strip(" \t") for each in marks) or fence.strip(mark[0]):
        return -1
    return width(line[: len(line) - len(rest.lstrip(" \t"))]) if fence.startswith(mark) else -1


def _last_line(text: str, start: int, last: int, end: int) -> int:
    """Where the last line of a block of several starts, which ends at ``last``; ``end`` if it has one."""
    line = line_start(text, last, start)
    return line if line > start else end


def _text_end(text: str, start: int, end: int, quotes: int) -> int:
    """Where the code ends: inside of something, blank lines may stand behind it, in a quote with its marks."""
    if not quotes:
        return text_end(text, start, end)
    bare = start + len(text[start:end].rstrip(f"{BLANK}>"))
    line = _LINE_END.search(text, bare, end)
    return text_end(text, start, line.start() if line else end)
