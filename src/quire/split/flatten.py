"""A document as units in order: sections whole where that will do, else blocks, else parts of blocks.

Before: parsing/. After: plan.py. Blocks are looked at only where a section is too large, and cut only where a block is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from quire.blank import trimmed
from quire.counter import TokenCounter, adds_up
from quire.crumbs import Breadcrumbs
from quire.model import Block, Document, Kind, Note, Section
from quire.normalize import RegularText
from quire.split.in_place import Spot, in_place, leads_of
from quire.split.ladder import Ladder
from quire.split.units import JOINT, Unit, blank_behind, is_clearly_above

_ROOM_FOR_TEXT = 4
"""So many tokens must be left for text below a heading; a longer heading is cut as prose."""
_LONG, _VERY_LONG = 4, 8
"""A section with more characters for each token of the cap hardly fits; almost surely it does not."""


class Grain(NamedTuple):
    """How fine the units are."""

    cap: int
    """No unit is above this, with what must stand above it."""
    oversized: int | None = None
    """Blocks above this are cut; None: blocks stay whole."""
    target: int = 0
    """About how large the parts of a block are."""
    least: int = 0
    """A section with less text than this leads its first child."""
    goes_by_length: bool = False
    """Whether a section is taken for too large by its length alone; its blocks may be put together again."""


class _Made:
    """The units so far, and what leads the next one."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.lead = 0
        """Tokens of the units at the end that lead the next one, which must leave room for them."""


class Flattening:
    """Makes the units of one document."""

    def __init__(
        self,
        document: Document,
        counter: TokenCounter,
        crumbs: Breadcrumbs,
        grain: Grain,
        embedded: str | RegularText,
    ) -> None:
        """``embedded`` is the text as it is embedded: its slices are counted."""
        self._document = document
        self._text = document.text
        self._embedded = embedded
        self._count = counter.count
        self._counter = counter
        self._crumbs = crumbs
        self._grain = grain
        self.notes: list[Note] = []
        self.closing = -1
        """Where headings start that close the document; -1 for none."""
        self._tail_start, self._tail, self._gap = self._headings_at_end()
        self._sure = grain.cap - crumbs.most - _ROOM_FOR_TEXT  # so many tokens fit below any breadcrumb
        self._oversized = grain.cap if grain.oversized is None else grain.oversized
        self._adds_up = adds_up(counter)
        self._long = grain.cap * (_LONG if grain.goes_by_length else _VERY_LONG)
        self.firsts: list[int] = []
        """For each section, the number of its first unit."""

    def blocks_of(self, unit: Unit) -> list[Unit]:
        """The blocks of a unit that is a section; all of them fit, since together they do."""
        made = _Made()
        self._add_blocks(made, self._document.own_blocks(unit.section), unit.stop)
        return made.units

    def _headings_at_end(self) -> tuple[int, int, int]:
        """Where headings with no text below them close the document, their tokens, and those of the blank lines above.

        The last text goes with them.
        """
        start = len(self._text)
        for section in reversed(self._document.sections[1:]):
            if section.text_start < section.text_end:
                break
            start = section.start
        _, end = trimmed(self._text, 0, start) if start < len(self._text) else (0, 0)
        if not end:
            return -1, 0, 0
        self.closing = start
        tail, gap = self._count(self._embedded[start:]), self._count(self._embedded[end:start])
        if (tail + gap) * 2 < self._grain.cap:
            return start, tail, gap
        return -1, 0, 0

    def _note_heading(self, start: int, what: str) -> None:
        self.notes.append((start, "heading-too-long", f"{what} within the cap"))

    def units(self) -> list[Unit]:
        """The units, in order."""
        made = _Made()
        units, text, embedded, count, firsts = made.units, self._text, self._embedded, self._count, self.firsts
        append = units.append
        sections = self._document.sections
        starts = self._document.section_starts
        first, _ = own_text(self._document, sections[0], starts[1] if len(starts) > 1 else len(text))
        starts, stops = [first, *starts[1:]], [*starts[1:], len(text)]
        # All counts one after the other: between other work each would take twice as long.
        most = self._long
        sizes = [
            count(embedded[start:stop]) if stop - start <= most else self._size_of_long(start, stop)
            for start, stop in zip(starts, stops, strict=True)
        ]
        sure = self._sure
        new = tuple.__new__  # twice as fast as the class itself
        for section, following, size, stop in zip(sections, [*sections[1:], None], sizes, stops, strict=True):
            firsts.append(len(units))
            number, depth, _, start, _, _, _, text_start, text_end, *_ = section
            is_usual = depth and text_start < text_end and stop != self._tail_start  # a heading above text
            if is_usual and made.lead + size <= sure:
                leads = self._leads(section, following, size)
                made.lead = made.lead + size if leads else 0
                append(new(Unit, (start, text_end, "paragraph", size, stop, "", "", True, leads, number, None)))
            else:
                self._add_section(made, section, following, size, stop)
        return units

    def _size_of_long(self, start: int, stop: int) -> int:
        """How many tokens a long section has; those of its beginning, if they are clearly too many already."""
        if self._grain.goes_by_length:
            return sys.maxsize
        size = self._count(self._embedded[start : start + self._long])
        return size if is_clearly_above(size, self._grain.cap) else self._count(self._embedded[start:stop])

    def _add_section(self, made: _Made, section: Section, following: Section | None, size: int, stop: int) -> None:
        """Add the units of a section that is large, or a heading alone, or the document, or the last above headings."""
        first, last = self._own_span(section, stop)
        if first == last:
            return
        is_last = stop == self._tail_start
        needed = made.lead + size + (self._tail if is_last else 0) + _ROOM_FOR_TEXT
        if needed > self._room(made, section.number, needed):
            self._add_blocks(made, self._document.own_blocks(section.number), stop)
            return
        is_heading = section.depth > 0 and section.text_start >= section.text_end
        leads = is_heading or self._leads(section, following, size)
        made.lead = made.lead + size if leads else 0
        kind: Kind = "heading" if is_heading else "paragraph"
        whole = -1 if is_heading else section.number
        made.units.append(Unit(first, last, kind, size, stop, leads=leads or is_last, section=whole))

    def _leads(self, section: Section, following: Section | None, size: int) -> bool:
        """Whether a section's own text is too short to stand without its first child."""
        if not self._grain.least or following is None:
            return False
        if following.parent != section.number or following.position is None:
            return False
        if self._adds_up and size - self._around(section, following.start) >= self._grain.least:
            return False  # the usual case, seen without counting the text by itself
        start, end = own_text(self._document, section, following.start)
        return self._count(self._embedded[start:end]) < self._grain.least

    def _around(self, section: Section, stop: int) -> int:
        """No more tokens are in a section's heading and the blank lines around its text: none has more than bytes."""
        around = stop - section.start - (section.text_end - section.text_start)
        return around * (1 if self._text.isascii() else 4) + JOINT + 1

    def _own_span(self, section: Section, stop: int) -> tuple[int, int]:
        """From a section's heading to the end of its own text; for the document, the text above the first heading."""
        if section.depth == 0:
            return own_text(self._document, section, stop)
        if section.text_start < section.text_end:
            return section.start, section.text_end
        return trimmed(self._text, section.start, stop)

    def _room(self, made: _Made, section: int, needed: int) -> int:
        """How many tokens there are below the breadcrumb of a section, and of the one in which what leads it starts.

        Not worked out where it is plain to see.
        """
        sure = self._grain.cap - self._crumbs.most
        if needed <= sure:
            return sure
        leads = leads_of(made.units)
        first = self._document.section_at(leads[0].start) if leads else section
        return self._grain.cap - max(self._crumbs.reserve(section), self._crumbs.reserve(first))

    def _add_blocks(self, made: _Made, blocks: Sequence[Block], stop: int) -> None:
        text, count, append = self._embedded, self._count, made.units.append
        starts = [block[1] for block in blocks]
        stops = [*starts[1:], max(stop, blocks[-1].end)] if blocks else []
        sizes = [count(text[start:end]) for start, end in zip(starts, stops, strict=True)]
        sure, oversized = self._sure, self._oversized
        new = tuple.__new__  # twice as fast as the class itself
        for block, size, end in zip(blocks, sizes, stops, strict=True):
            if size > oversized or made.lead + size > sure or end == self._tail_start:
                self._add_block(made, block, size, end)
            elif block[0] == "heading":
                made.lead += size
                append(new(Unit, (block[1], block[2], "heading", size, end, "", "", True, True, -1, None)))
            else:  # the usual case
                made.lead = 0
                append(new(Unit, (block[1], block[2], block[0], size, end, "", "", True, False, -1, None)))

    def _add_block(self, made: _Made, block: Block, size: int, stop: int) -> None:
        """Add the units of a block that is large, or stands below or above headings that leave little room."""
        lead = made.lead
        needed = lead + size + _ROOM_FOR_TEXT
        room = self._room(made, self._document.section_at(block.start), needed) - lead
        if block.kind == "heading" and lead and room < size + _ROOM_FOR_TEXT <= room + lead:
            # What leads gives way, rather than the heading be parted from what is below it.
            made.units[-1] = self._released(made.units[-1])
            room, lead = room + lead, 0
        if block.kind == "heading" and size + _ROOM_FOR_TEXT <= room:
            made.units.append(Unit(block.start, block.end, block.kind, size, stop, leads=True))
            made.lead = lead + size
            return
        is_last = stop == self._tail_start
        tail, gap = (self._tail, self._gap) if is_last else (0, 0)
        leads = leads_of(made.units) if lead and not self._adds_up else ()
        *parts, last = self._unit_or_parts(block, size, stop, Spot(room - tail, lead, gap, leads, is_last))
        made.units += (*parts, last._replace(leads=is_last))
        made.lead = 0

    def _released(self, unit: Unit) -> Unit:
        """A unit that may stand at the end of a piece after all; for a heading that is a finding."""
        if unit.kind == "heading":
            self._note_heading(unit.start, "headings in a row are parted, for they are too long to stand above text")
        return unit._replace(leads=False)

    def _unit_or_parts(self, block: Block, size: int, stop: int, spot: Spot) -> list[Unit]:
        """The block whole, or in parts."""
        if block.kind == "heading":
            self._note_heading(block.start, self._why_alone(block, spot.room))
        if not self._fits(block, size, spot):
            return self._parts(block, stop, spot)
        return [Unit(block.start, block.end, block.kind, size, stop)]

    def _fits(self, block: Block, size: int, spot: Spot) -> bool:
        """Whether a block with so many tokens stays whole."""
        if self._grain.oversized is None:
            return True
        if size > self._grain.oversized or size > spot.room:
            return False
        if size <= spot.room - (JOINT if self._adds_up else spot.joints):
            return True
        if self._adds_up:  # the line end behind it may be merged with its last sign, and is not in a piece
            return self._count(self._embedded[block.start : block.end]) <= spot.room
        own = max(size - spot.gap, 0)
        counter = in_place(
            self._document, self._embedded, self._counter, self._crumbs, block, spot=spot, cap=self._grain.cap
        )
        return counter.checked(own, self._embedded[block.start : block.end]) <= spot.room - spot.gap

    def _why_alone(self, heading: Block, room: int) -> str:
        """What keeps a heading from standing above text."""
        size = self._count(self._embedded[heading.start : heading.end])
        if size + _ROOM_FOR_TEXT <= room:
            return "blank lines part a heading from its text, for they leave no room for it"
        if size <= room or self._grain.oversized is None:
            return "a heading stands alone, for it leaves no room for text below it"
        return "a heading is cut as prose, for it is too long to stand"

    def _parts(self, block: Block, end: int, spot: Spot) -> list[Unit]:
        """The parts of a block. Only the first stands below the headings above it, if it leaves room for them."""
        counter = self._counter
        if not self._adds_up:
            counter = in_place(
                self._document, self._embedded, counter, self._crumbs, block, spot=spot, cap=self._grain.cap
            )
        room = spot.room - spot.gap
        limit = max(min(self._grain.target, room), 1)
        wide = Ladder(self._text, self._embedded, counter, limit, max(room + spot.lead, 1))
        every, notes = wide.cut(block), wide.notes
        parts = wide.merged(every)
        if spot.lead and wide.size(parts[0]) > room:
            narrow = Ladder(self._text, self._embedded, counter, limit, max(room, 1))
            first = narrow.cut(block)
            at = _meeting(first, every)
            parts = narrow.merged([part for part in first if part.start < at])
            parts += wide.merged([part for part in every if part.start >= at])
            notes = [*(note for note in narrow.notes if note[0] < at), *(note for note in notes if note[0] >= at)]
        self.notes += notes
        ends = [*(part.start for part in parts[1:]), end]
        return [
            part._replace(tokens=self._tokens_up_to(stop, part), stop=stop)
            for part, stop in zip(parts, ends, strict=True)
        ]

    def _tokens_up_to(self, stop: int, part: Unit) -> int:
        """How many tokens a part has with the blank lines behind it."""
        if self._adds_up:
            return part.tokens + blank_behind(self._text, self._counter, part, stop)
        return self._count(self._embedded[part.start : stop])


def _meeting(parts: Sequence[Unit], others: Sequence[Unit]) -> int:
    """The first place inside a block where both rows of parts are cut, and need the same behind them."""
    places = [{(each.start, each.wrap.after if each.wrap else "") for each in row[1:]} for row in (parts, others)]
    return min(places[0] & places[1], default=(sys.maxsize, ""))[0]


def own_text(document: Document, section: Section, stop: int) -> tuple[int, int]:
    """Where a section's own text starts and ends; the document's, up to the first heading at ``stop``."""
    if section.depth:
        return section.text_start, section.text_end
    return trimmed(document.text, document.source.body_start, stop)


def holder(document: Document, start: int, end: int) -> int:
    """The deepest section that holds the text from ``start`` to ``end``."""
    section = document.sections[document.section_at(start)]
    while section.parent is not None and section.end < end:
        section = document.sections[section.parent]
    return section.number
