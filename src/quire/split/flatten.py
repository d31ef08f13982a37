"""A document as units in order: sections whole where that will do, else blocks, else parts of blocks.

Before: parsing/. After: plan.py. Blocks are looked at only where a section is too large, and cut only where a block is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from quire.model import Block, Document, Section, TokenCounter
from quire.offsets import trimmed
from quire.split.crumbled import Crumbs
from quire.split.ladder import Ladder, Note
from quire.split.units import Unit

_ROOM_FOR_TEXT = 4
"""So many tokens must be left for text below a heading; a longer heading is cut as prose."""


class Grain(NamedTuple):
    """How fine the units are."""

    cap: int
    """No unit is above this, with what must stand above it."""
    oversized: int | None = None
    """Blocks above this are cut; None: blocks stay whole."""
    target: int = 0
    """About how large the parts of a block are."""
    by_section: bool = False
    """Whether a section's own text is one unit where it fits."""


class Flattening:
    """Makes the units of one document."""

    def __init__(self, document: Document, counter: TokenCounter, lines: Crumbs, grain: Grain) -> None:
        self._document = document
        self._text = document.text
        self._count = counter.count
        self._counter = counter
        self._adds_up = counter.cuts_cleanly("a\nb", 2)
        self._lines = lines
        self._grain = grain
        self._headings = 0  # tokens of the headings that the next unit must leave room for
        self.notes: list[Note] = []

    def units(self) -> list[Unit]:
        """The units, in order."""
        blocks = self._document.blocks if not self._grain.by_section else ()
        return self._sections() if self._grain.by_section else self._blocks(blocks, len(self._text))

    def _sections(self) -> list[Unit]:
        made: list[Unit] = []
        sections = self._document.sections
        for section, following in zip_longest(sections, sections[1:]):
            stop = following.start if following is not None else len(self._text)
            first, last = self._own_span(section, stop)
            if first == last:
                continue
            size = self._count(self._text[first : stop if self._adds_up else last])
            is_heading = section.depth > 0 and section.text_start >= section.text_end
            if self._headings + size + _ROOM_FOR_TEXT > self._room(section.number, size + _ROOM_FOR_TEXT):
                made += self._blocks(self._blocks_between(first, last), stop)
                continue
            self._headings = self._headings + size if is_heading else 0
            made.append(Unit(first, last, "heading" if is_heading else "paragraph", size, is_glued=is_heading))
        return made

    def _own_span(self, section: Section, stop: int) -> tuple[int, int]:
        """From a section's heading to the end of its own text; for the document, the text above the first heading."""
        if section.depth == 0:
            return trimmed(self._text, self._document.source.body_start, stop)
        if section.text_start < section.text_end:
            return section.start, section.text_end
        return trimmed(self._text, section.start, stop)

    def _blocks_between(self, start: int, end: int) -> Sequence[Block]:
        blocks = self._document.blocks
        first = bisect_right(blocks, start, key=lambda block: block.end)
        return blocks[first : bisect_left(blocks, end, key=lambda block: block.start)]

    def _room(self, section: int, size: int) -> int:
        """How many tokens there are below a section's breadcrumb; not worked out where it is plain to see."""
        sure = self._grain.cap - self._lines.most
        return sure if self._headings + size <= sure else self._grain.cap - self._lines.reserve(section)

    def _blocks(self, blocks: Sequence[Block], stop: int) -> list[Unit]:
        made: list[Unit] = []
        oversized = self._grain.oversized
        starts = [section.start for section in self._document.sections]
        for block, following in zip_longest(blocks, blocks[1:]):
            kind, start, last = block[:3]
            end = last if not self._adds_up else following.start if following is not None else max(stop, last)
            size = self._count(self._text[start:end])
            room = self._room(bisect_right(starts, start) - 1, size + _ROOM_FOR_TEXT) if oversized is not None else size
            if kind == "heading" and (oversized is None or self._headings + size + _ROOM_FOR_TEXT <= room):
                self._headings += size
                made.append(Unit(start, last, kind, size, is_glued=True))
                continue
            room -= self._headings
            if oversized is None or size <= min(oversized, room):
                made.append(Unit(start, last, kind, size))
            else:
                made += self._parts(block, min(self._grain.target, room), end)
            self._headings = 0
        return made

    def _parts(self, block: Block, limit: int, end: int) -> list[Unit]:
        if block.kind == "heading":
            self.notes.append(
                (block.start, "heading-too-long", "a heading is too long for the cap; it is cut as prose")
            )
        ladder = Ladder(self._text, self._counter, max(limit, 1))
        parts = ladder.cut(block)
        self.notes += ladder.notes
        ends = [part.start for part in parts[1:]] + [end] if self._adds_up else [part.end for part in parts]
        return [
            part._replace(tokens=self._count(self._text[part.start : stop]))
            for part, stop in zip(parts, ends, strict=True)
        ]
