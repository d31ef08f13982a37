"""Counting a block as it will stand, where counts do not add up. Used by flatten.py, which cuts blocks to fit.

A function that counts may find more tokens in a text than in its parts: ``len(text) // 4`` rounds each of them down. So
what fills its room to the last token is counted once more, below its breadcrumb and the headings that lead it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple

from quire.blank import BLANK
from quire.counter import TokenCounter
from quire.crumbs import Breadcrumbs
from quire.model import Block, Document
from quire.normalize import RegularText
from quire.split.units import Unit


class Spot(NamedTuple):
    """Where a block stands that is large, or has little room."""

    room: int
    """How many tokens there are for it, by the sums of what stands around it."""
    lead: int
    """Tokens of the units that lead it, for which there is room."""
    gap: int
    """Tokens of the blank lines behind it that stay in the piece."""
    leads: Sequence[Unit]
    """The units that lead it; needed only where counts do not add up."""
    is_last: bool
    """Whether headings that close the document stand behind it."""

    @property
    def joints(self) -> int:
        """So many texts meet where it stands, and so far sums may be off: breadcrumb, what leads, what closes."""
        return 1 + len(self.leads) + (2 if self.is_last else 0)


class _Place(NamedTuple):
    """What stands around a block, or a part of it."""

    above: str
    behind: str
    room: int
    """How many tokens are left beside that, by sums."""
    joints: int
    """So far those may be too small."""


class InPlace:
    """A counter for the parts of one block: what fits by itself alone has one token more than there is room."""

    def __init__(self, counter: TokenCounter, cap: int, places: Sequence[_Place]) -> None:
        self.name = counter.name
        self.cuts_cleanly = counter.cuts_cleanly
        self._counter = counter
        self._cap = cap
        self._places = places

    def count(self, text: str) -> int:
        """How many tokens ``text`` has."""
        return self.checked(self._counter.count(text), text)

    def checked(self, size: int, text: str) -> int:
        """``size``, the tokens of ``text``; one more than the room if that is not enough for it."""
        for above, behind, room, joints in self._places:
            is_close = room - joints < size <= room
            if is_close and self._counter.count(f"{above}{text}{behind}") > self._cap:
                return room + 1
        return size


def in_place(
    document: Document,
    embedded: str | RegularText,
    counter: TokenCounter,
    crumbs: Breadcrumbs,
    block: Block,
    *,
    spot: Spot,
    cap: int,
) -> InPlace:
    """What counts a block and its parts: below their breadcrumb, and the first below what leads the block."""
    section_at = document.section_at
    start = spot.leads[0].start if spot.leads else block.start
    above = crumbs.prefix(section_at(start)) + embedded[start : block.start]
    behind = embedded[block.end :].rstrip(BLANK) if spot.is_last else ""
    room = spot.room - spot.gap
    places = [_Place(above, behind, room, spot.joints)]
    if spot.leads:  # which stand above the first part only
        places.append(_Place(crumbs.prefix(section_at(block.start)), "", room + spot.lead, 1))
    return InPlace(counter, cap, places)


def leads_of(units: Sequence[Unit]) -> list[Unit]:
    """The units at the end that lead the next one."""
    return list(takewhile(attrgetter("leads"), reversed(units)))[::-1]
