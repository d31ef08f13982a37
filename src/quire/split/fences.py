"""A fence that is cut: what opens it again, what closes it, and which lines it stays with. Used by ladder.py.

standing.py says how it stands where it is indented or quoted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from quire.blank import BLANK, text_end
from quire.split.levels import lines
from quire.split.standing import INDENTED, ITEM, continued, is_closing, led, upright
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


def opened_again(text: str, fence: Fence, start: int, end: int, *, is_top: bool) -> OpenedAgain:
    """What the parts of the code from ``start`` to ``end`` need; ``is_top`` if nothing is around it."""
    behind = continued(fence.prefix)
    last = _text_end(text, start, end, behind)
    closing = _last_line(text, start, last, end)
    is_closed = is_closing(text[closing:last], fence.mark, behind)
    least = INDENTED if is_closed or is_top else ITEM  # what is not closed ends with the item around it
    again = upright(fence.prefix, least)
    lead, left_out = led(fence.prefix, least)
    wrap = Wrap(
        before=f"{again}{fence.opening}\n",
        after=f"\n{behind}{fence.mark}",
        lead=lead,
        inside=behind,
        first=start + left_out,
        last=last if is_closed else len(text) + 1,
    )
    inside = lines(text, start, end)[0] + 1, closing - 1 if is_closed else end
    return OpenedAgain(wrap, f"{again}{fence.mark}\n", inside)


def _last_line(text: str, start: int, last: int, end: int) -> int:
    """Where the last line of a block of several starts, which ends at ``last``; ``end`` if it has one."""
    before = max(text.rfind("\n", start, last), text.rfind("\r", start, last))
    return before + 1 if before >= 0 else end


def _text_end(text: str, start: int, end: int, behind: str) -> int:
    """Where the code ends: inside of something, blank lines may stand behind it, in a quote with its marks."""
    if ">" not in behind:
        return text_end(text, start, end)
    bare = start + len(text[start:end].rstrip(f"{BLANK}>"))
    line = _LINE_END.search(text, bare, end)
    return text_end(text, start, line.start() if line else end)
