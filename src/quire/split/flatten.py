"""A document as units in order: sections whole where that will do, else blocks, else parts of blocks.

Before: parsing/. After: plan.py. Blocks are looked at only where a section is too large, and cut only where a block is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from quire.blank import trimmed
from quire.counter import TokenCounter, adds_up
from quire.model import Block, Document, Kind, Section
from quire.split.crumbled import Crumbs
from quire.split.ladder import Ladder, Note
from quire.split.units import Unit, blank_behind, is_clearly_above

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


class Flattening:
    """Makes the units of one document."""

    def __init__(self, document: Document, counter: TokenCounter, lines: Crumbs, grain: Grain) -> None:
        self._document = document
        self._text = document.text
        self._count = counter.count
        self._counter = counter
        self._lines = lines
        self._grain = grain
        self._led_by = 0  # tokens of what leads the next unit, which must leave room for it
        self._lead_gives_way = False  # whether what leads must stand alone after all
        self.notes: list[Note] = []
        self.closing = -1
        """Where headings start that close the document; -1 for none."""
        self._tail_start, self._tail, self._gap = self._headings_at_end()
        self._sure = grain.cap - lines.most - _ROOM_FOR_TEXT  # so many tokens fit below any breadcrumb
        self._oversized = grain.cap if grain.oversized is None else grain.oversized
        self._adds_up = adds_up(counter)
        self._long = grain.cap * (_LONG if grain.goes_by_length else _VERY_LONG)
        self.firsts: list[int] = []
        """For each section, the number of its first unit."""

    def blocks_of(self, unit: Unit) -> list[Unit]:
        """The blocks of a unit that is a section; all of them fit, since together they do."""
        apart = copy(self)  # so that it may be asked at any time, by any thread
        apart._led_by = 0  # noqa: SLF001  a copy of this one
        return apart._blocks(self._document.own_blocks(unit.section), unit.stop)  # noqa: SLF001

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
        tail, gap = self._count(self._text[start:]), self._count(self._text[end:start])
        if (tail + gap) * 2 < self._grain.cap:
            return start, tail, gap
        return -1, 0, 0

    def _note_heading(self, start: int, what: str) -> None:
        self.notes.append((start, "heading-too-long", f"{what} within the cap"))

    def units(self) -> list[Unit]:
        """The units, in order."""
        made: list[Unit] = []
        text, count, firsts, append = self._text, self._count, self.firsts, made.append
        sections = self._document.sections
        starts = self._document.section_starts
        first, _ = own_text(self._document, sections[0], starts[1] if len(starts) > 1 else len(text))
        starts, stops = [first, *starts[1:]], [*starts[1:], len(text)]
        # All counts one after the other: between other work each would take twice as long.
        most = self._long
        sizes = [
            count(text[start:stop]) if stop - start <= most else self._size_of_long(start, stop)
            for start, stop in zip(starts, stops, strict=True)
        ]
        sure = self._sure
        new = tuple.__new__  # twice as fast as the class itself
        for section, following, size, stop in zip(sections, [*sections[1:], None], sizes, stops, strict=True):
            firsts.append(len(made))
            number, depth, _, start, _, _, _, text_start, text_end, _, _, _ = section
            is_usual = depth and text_start < text_end and stop != self._tail_start  # a heading above text
            if is_usual and self._led_by + size <= sure:
                leads = self._leads(section, following, size)
                self._led_by = self._led_by + size if leads else 0
                append(new(Unit, (start, text_end, "paragraph", size, stop, "", "", True, leads, number, None)))
            else:
                made += self._of_section(section, following, size, stop, made)
        return made

    def _size_of_long(self, start: int, stop: int) -> int:
        """How many tokens a long section has; those of its beginning, if they are clearly too many already."""
        if self._grain.goes_by_length:
            return sys.maxsize
        size = self._count(self._text[start : start + self._long])
        return size if is_clearly_above(size, self._grain.cap) else self._count(self._text[start:stop])

    def _of_section(
        self, section: Section, following: Section | None, size: int, stop: int, made: list[Unit]
    ) -> list[Unit]:
        """The units of a section that is large, or a heading alone, or the document, or the last above headings."""
        first, last = self._own_span(section, stop)
        if first == last:
            return []
        tail = self._tail if stop == self._tail_start else 0
        needed = self._led_by + size + tail + _ROOM_FOR_TEXT
        if needed > self._room(section.number, needed):
            parts = self._blocks(self._document.own_blocks(section.number), stop)
            if self._lead_gives_way:
                made[-1] = self._released(made[-1])
                self._lead_gives_way = False
            return parts
        is_heading = section.depth > 0 and section.text_start >= section.text_end
        leads = is_heading or self._leads(section, following, size)
        self._led_by = self._led_by + size if leads else 0
        kind: Kind = "heading" if is_heading else "paragraph"
        whole = -1 if is_heading else section.number
        return [Unit(first, last, kind, size, stop, is_glued=leads or stop == self._tail_start, section=whole)]

    def _leads(self, section: Section, following: Section | None, size: int) -> bool:
        """Whether a section's own text is too short to stand without its first child."""
        if not self._grain.least or following is None:
            return False
        if following.parent != section.number or following.position is None:
            return False
        if self._adds_up and surely_has(self._grain.least, self._document, section, following.start, size):
            return False
        start, end = own_text(self._document, section, following.start)
        return self._count(self._text[start:end]) < self._grain.least

    def _own_span(self, section: Section, stop: int) -> tuple[int, int]:
        """From a section's heading to the end of its own text; for the document, the text above the first heading."""
        if section.depth == 0:
            return own_text(self._document, section, stop)
        if section.text_start < section.text_end:
            return section.start, section.text_end
        return trimmed(self._text, section.start, stop)

    def _room(self, section: int, needed: int) -> int:
        """How many tokens there are below a section's breadcrumb; not worked out where it is plain to see."""
        sure = self._grain.cap - self._lines.most
        return sure if needed <= sure else self._grain.cap - self._lines.reserve(section)

    def _blocks(self, blocks: Sequence[Block], stop: int) -> list[Unit]:
        made: list[Unit] = []
        text, count, append = self._text, self._count, made.append
        starts = [block[1] for block in blocks]
        stops = [*starts[1:], max(stop, blocks[-1].end)] if blocks else []
        sizes = [count(text[start:end]) for start, end in zip(starts, stops, strict=True)]
        sure, oversized = self._sure, self._oversized
        new = tuple.__new__  # twice as fast as the class itself
        for block, size, end in zip(blocks, sizes, stops, strict=True):
            if size > oversized or self._led_by + size > sure or end == self._tail_start:
                made += self._of_block(block, size, end, made)
            elif block[0] == "heading":
                self._led_by += size
                append(new(Unit, (block[1], block[2], "heading", size, end, "", "", True, True, -1, None)))
            else:  # the usual case
                self._led_by = 0
                append(new(Unit, (block[1], block[2], block[0], size, end, "", "", True, False, -1, None)))
        return made

    def _of_block(self, block: Block, size: int, stop: int, made: list[Unit]) -> list[Unit]:
        """The units of a block that is large, or stands below or above headings that leave little room."""
        needed = self._led_by + size + _ROOM_FOR_TEXT
        room = self._room(self._document.section_at(block.start), needed) - self._led_by
        if block.kind == "heading" and self._led_by and room < size + _ROOM_FOR_TEXT <= room + self._led_by:
            # What leads gives way, rather than the heading be parted from what is below it.
            room, self._led_by = room + self._led_by, 0
            if made:
                made[-1] = self._released(made[-1])
            else:
                self._lead_gives_way = True
        if block.kind == "heading" and size + _ROOM_FOR_TEXT <= room:
            self._led_by += size
            return [Unit(block.start, block.end, block.kind, size, stop, is_glued=True)]
        lead, self._led_by = self._led_by, 0
        if stop != self._tail_start:
            return self._unit_or_parts(block, size, room, stop, lead=lead)
        *parts, last = self._unit_or_parts(block, size, room - self._tail, stop, lead=lead, gap=self._gap)
        return [*parts, last._replace(is_glued=True)]

    def _released(self, unit: Unit) -> Unit:
        """A unit that may stand at the end of a piece after all; for a heading that is a finding."""
        if unit.kind == "heading":
            self._note_heading(unit.start, "headings in a row are parted, for they are too long to stand above text")
        return unit._replace(is_glued=False)

    def _unit_or_parts(self, block: Block, size: int, room: int, stop: int, *, lead: int, gap: int = 0) -> list[Unit]:
        """The block whole, or in parts. ``lead`` are the tokens of headings above it, for which there is room.

        ``gap`` are those of blank lines that stay in the piece behind it.
        """
        if block.kind == "heading":
            self._note_heading(block.start, self._why_alone(block, room))
        if self._grain.oversized is None or size <= min(self._grain.oversized, room):
            return [Unit(block.start, block.end, block.kind, size, stop)]
        return self._parts(block, room - gap, stop, lead)

    def _why_alone(self, heading: Block, room: int) -> str:
        """What keeps a heading from standing above text."""
        size = self._count(self._text[heading.start : heading.end])
        if size + _ROOM_FOR_TEXT <= room:
            return "blank lines part a heading from its text, for they leave no room for it"
        if size <= room or self._grain.oversized is None:
            return "a heading stands alone, for it leaves no room for text below it"
        return "a heading is cut as prose, for it is too long to stand"

    def _parts(self, block: Block, room: int, end: int, lead: int) -> list[Unit]:
        """The parts of a block. Only the first stands below the headings above it, if it leaves room for them."""
        limit = max(min(self._grain.target, room), 1)
        ladder = Ladder(self._text, self._counter, limit, max(room + lead, 1))
        parts = ladder.cut(block)
        if lead and ladder.size(parts[0]) > room:
            ladder = Ladder(self._text, self._counter, limit, max(room, 1))
            parts = ladder.cut(block)
        self.notes += ladder.notes
        ends = [*(part.start for part in parts[1:]), end]
        return [
            part._replace(tokens=self._tokens_up_to(stop, part), stop=stop)
            for part, stop in zip(parts, ends, strict=True)
        ]

    def _tokens_up_to(self, stop: int, part: Unit) -> int:
        """How many tokens a part has with the blank lines behind it."""
        if self._adds_up:
            return part.tokens + blank_behind(self._text, self._counter, part, stop)
        return self._count(self._text[part.start : stop])


def own_text(document: Document, section: Section, stop: int) -> tuple[int, int]:
    """Where a section's own text starts and ends; the document's, up to the first heading at ``stop``."""
    if section.depth:
        return section.text_start, section.text_end
    return trimmed(document.text, document.source.body_start, stop)


def surely_has(least: int, document: Document, section: Section, stop: int, size: int) -> bool:
    """Whether a section's own text surely has ``least`` tokens, where counts add up and up to ``stop`` it has ``size``.

    Its heading and the blank lines around its text have no more tokens than bytes.
    """
    around = stop - section.start - (section.text_end - section.text_start)
    return size - around * (1 if document.text.isascii() else 4) - 4 >= least
