"""What is around a block that is cut: quotes, items, footnotes, and where their text starts. Used by standing.py.

ladder.py goes from a container into those inside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TypeAlias

from quire.model import Block
from quire.offsets import line_start

INDENTED = 4
"""So many columns make code of what stands behind them."""

LABEL = re.compile(r"(?:\A[ \t]*|(?<=[> \t]))\[\^[^\]\s]+\]:[ \t]*")
"""The label of a footnote, perhaps in a quote; the lines below it are indented by four columns."""
_BULLET = re.compile(r"([-*+]|[0-9]{1,9}[.)])([ \t]*)")
_FENCE = re.compile(r"`+|~+")
_TELLING = frozenset({"code", "table", "list", "quote"})
"""The kinds of block that are, or may hold, code or a table."""

Stops: TypeAlias = Sequence[int]
"""The columns at which the text of nested items starts, from the outermost on."""


class Around:
    """A container, or a document, as what is around the blocks inside."""

    def __init__(self, text: str, stops: tuple[Stops, ...] = ((),), blocks: Sequence[Block] = ()) -> None:
        self._text = text
        self._blocks = blocks
        self.stops = stops
        """Outside of quotes, and behind the mark of each."""
        self.quotes = len(stops) - 1
        """How many quotes it stands in, or is."""
        self.column = stops[-1][-1] if stops[-1] else 0
        """Where its text starts."""
        self.is_top = stops == ((),)
        """Whether it is a document, or as good as one."""

    def inside(self, block: Block) -> Around:
        """``block``, which stands in this container, as a container itself."""
        if block.kind == "list":
            return self
        *outer, stops = self.stops
        if block.kind == "quote":
            outer, stops = [*outer, stops], ()
        elif block.kind == "footnote":
            stops = (*stops, self.column + INDENTED)
        elif block.kind == "item":
            stops = (*stops, _column_of_item(self._text, block.start))
        return Around(self._text, (*outer, stops), block.children)

    @cached_property
    def reach(self) -> tuple[int, int]:
        """How far its code and tables are indented: the least of all lines, and the most of those that tell what it is.

        Those are the first of a block, the last of code, and all of a table: alone, four columns would be too many.
        """
        text, beyond = self._text, self.column + INDENTED
        least, most = beyond, self.column
        for block in self._blocks:
            if block.kind not in _TELLING:
                continue
            first = width(text[line_start(text, block.start) : block.start])
            telling = {first}
            if block.kind in ("code", "table") and first < beyond:
                below = [match[1] for match in _below(self.quotes).finditer(text, block.start, block.end)]
                widths = {first, *map(width, {*below})}
                least = min(least, *widths)
                telling = widths if block.kind == "table" else {first, *map(width, below[-1:])}
                fence = _FENCE.match(text, block.start)
                if block.kind == "code" and fence and not text.endswith(fence[0], fence.end(), block.end):
                    most = max(most, INDENTED)  # what is not closed ends with the item
            most = max([most, *(each for each in telling if each < beyond)])
        return least, most


def _column_of_item(text: str, start: int) -> int:
    """Where the text of the item starts whose marker stands at ``start``."""
    line = line_start(text, start)
    bullet = _BULLET.match(text, start)
    if bullet is None:
        return width(text[line:start])
    marker, column = width(text[line : bullet.end(1)]), width(text[line : bullet.end()])
    is_empty = text[bullet.end() : bullet.end() + 1] in ("", "\r", "\n")
    return marker + 1 if is_empty or column > marker + INDENTED else column


def width(prefix: str) -> int:
    """How many columns stand behind the last quote's mark of what a line starts with; its first blank is the mark's."""
    inner = LABEL.sub(" " * INDENTED, prefix).expandtabs(4).rpartition(">")[2]
    return len(inner) - (">" in prefix and inner.startswith(" "))


@cache
def _below(quotes: int) -> re.Pattern[str]:
    """What lines below others start with, inside of so many quotes, if they are not blank."""
    return re.compile(rf"[\r\n]((?:[ \t]*+>){{{quotes}}}[ \t]*+)(?![ \t\r\n]|\Z)")
