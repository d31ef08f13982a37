"""A document ready to be packed: its units, where its sections start and end among them, what breadcrumbs cost.

Before: parsing/, ladder.py. After: packed.py, flow.py and sections.py, which choose runs of units.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import zip_longest

from quire import crumbs
from quire.config import Options
from quire.model import Block, Document, Finding, Piece, Section, TokenCounter
from quire.offsets import lines_at
from quire.split.ladder import Ladder, Note
from quire.split.units import Unit, Units

_ROOM_FOR_TEXT = 4
"""So many tokens must be left for text below a heading; a longer heading is cut as prose."""


class Crumbs:
    """The breadcrumb lines of a document's sections, each short enough for the cap."""

    def __init__(self, document: Document, counter: TokenCounter, options: Options, cap: int) -> None:
        self._document = document
        self._counter = counter
        self._off = options.breadcrumb_mode == "none"
        self._most = cap // 2
        self._known: dict[int, tuple[str, int]] = {}

    def prefix(self, section: int) -> str:
        """The line with the blank line below it; nothing where none is wanted."""
        return self._of(section)[0]

    def tokens(self, section: int) -> int:
        """How many tokens the prefix has."""
        return self._of(section)[1]

    def reserve(self, section: int) -> int:
        """The most tokens that the prefix of a section, or of one above it, has."""
        parent = self._document.sections[section].parent
        return self.tokens(section) if parent is None else max(self.tokens(section), self.reserve(parent))

    def _of(self, section: int) -> tuple[str, int]:
        known = self._known.get(section)
        if known is None:
            known = ("", 0) if self._off else self._made(section)
            self._known[section] = known
        return known

    def _made(self, section: int) -> tuple[str, int]:
        document = self._document
        titles = [each.title for each in document.path_to(document.sections[section])]
        line = crumbs.fitted(document.title, titles, self._most, self._counter.count)
        prefix = f"{line}\n\n" if line else ""
        return prefix, self._counter.count(prefix)


class Plan:
    """Units, sections and breadcrumbs together."""

    def __init__(self, document: Document, units: Units, lines: Crumbs, cap: int, notes: Sequence[Note]) -> None:
        self.document = document
        self.units = units
        self.lines = lines
        self.cap = cap
        self.notes = notes
        self._starts = [section.start for section in document.sections]

    def piece(self, first: int, last: int, section: int | None = None) -> Piece:
        """The units ``first`` to before ``last`` as a piece of the deepest section that holds them all."""
        head, tail = self.units.items[first], self.units.items[last - 1]
        holder = self.holder(first, last) if section is None else section
        return Piece(head.start, tail.end, holder, self.units.exact(first, last), head.before, tail.after)

    def fits(self, first: int, last: int, section: int | None = None) -> bool:
        """Whether these units stay within the cap below the breadcrumb of the section that holds them."""
        holder = self.holder(first, last) if section is None else section
        return self.units.fits(first, last, self.cap, self.lines.prefix(holder))

    def holder(self, first: int, last: int) -> int:
        """The deepest section that holds all of these units."""
        end = self.units.items[last - 1].end
        section = self.document.sections[self.section_of(first)]
        while section.parent is not None and section.end < end:
            section = self.document.sections[section.parent]
        return section.number

    def section_of(self, unit: int) -> int:
        """The section in which a unit stands; a heading stands in its own."""
        return self.section_at(self.units.items[unit].start)

    def section_at(self, position: int) -> int:
        """The section in which a position stands."""
        return bisect_right(self._starts, position) - 1

    def findings(self) -> list[Finding]:
        """What could not be had, in document order."""
        notes = sorted(self.notes)
        found = lines_at(self.document.text, [position for position, _, _ in notes])
        return [
            Finding(code=code, path=self.document.source.name, line=line, message=message)
            for (_, code, message), line in zip(notes, found, strict=True)
        ]

    def filled(self, first: int, last: int, target: int, section: int | None = None) -> list[tuple[int, int]]:
        """Runs of these units, as long as ``target`` allows; a heading is never the last of one."""
        runs: list[tuple[int, int]] = []
        start, end, cut = first, first + 1, first
        while end < last:
            if self.may_end(end):
                cut = end
            fits = self.units.fits(start, end + 1, target) and self.fits(start, end + 1, section)
            if fits or cut == start:
                end += 1
            else:
                runs.append((start, cut))
                start, end = cut, max(end, cut + 1)
        return [*runs, (start, last)]

    def has_text(self, first: int, last: int) -> bool:
        """Whether there is something besides headings among these units."""
        return any(not unit.is_glued for unit in self.units.items[first:last])

    def is_over_cap(self, piece: Piece) -> bool:
        """Whether a piece is above the cap below its breadcrumb."""
        text = (
            f"{self.lines.prefix(piece.section)}{piece.before}{self.units.text[piece.start : piece.end]}{piece.after}"
        )
        return self.units.counter.count(text) > self.cap

    def may_end(self, end: int) -> bool:
        """Whether a piece may end before the unit ``end``."""
        return not self.units.items[end - 1].is_glued

    def start(self, section: Section) -> int:
        """The first unit of a section: its heading, and headings with nothing below them that lead it."""
        unit = self.units.at(section.start)
        empty = self._empty
        while unit and self.units.items[unit - 1].start in empty:
            unit -= 1
        return unit

    def end(self, section: Section) -> int:
        """One past the last unit of all that belongs to a section."""
        following = self._following[section.number]
        return len(self.units) if following is None else self.start(following)

    def own_end(self, section: Section) -> int:
        """One past the last unit of a section's own text."""
        children = self.children(section)
        return self.start(children[0]) if children else self.end(section)

    def own_size(self, section: Section, own_end: int) -> int:
        """About how many tokens the text below a section's heading has."""
        first = self.units.at(section.body_start)
        return self.units.about(first, own_end) if first < own_end else 0

    def children(self, section: Section) -> Sequence[Section]:
        """The nodes directly below a section."""
        return self._children[section.number]

    @cached_property
    def _children(self) -> dict[int, list[Section]]:
        children: dict[int, list[Section]] = {section.number: [] for section in self.document.sections}
        for node in self.document.nodes[1:]:
            children[node.parent or 0].append(node)
        return children

    @cached_property
    def _following(self) -> dict[int, Section | None]:
        """For each node, the next one that does not belong to it."""
        following: dict[int, Section | None] = {0: None}
        above: list[Section] = []
        for node in self.document.nodes[1:]:
            while above and above[-1].end <= node.start:
                following[above.pop().number] = node
            above.append(node)
        following.update(dict.fromkeys((section.number for section in above), None))
        return following

    @cached_property
    def _empty(self) -> frozenset[int]:
        """Where the headings with no text below them start; they lead what follows."""
        return frozenset(section.start for section in self.document.sections if section.position is None)


def plan_of(
    document: Document,
    counter: TokenCounter,
    options: Options,
    *,
    cap: int,
    oversized: int | None,
    target: int | None = None,
) -> Plan:
    """Cut blocks above ``oversized`` into parts of about ``target``, and put everything together for packing.

    With no ``oversized``, blocks stay whole.
    """
    lines = Crumbs(document, counter, options, cap)
    maker = _Maker(document, counter, lines, cap, oversized, target or cap)
    return Plan(document, Units(document, counter, maker.units()), lines, cap, maker.notes)


class _Maker:
    """Makes units of a document's blocks; those that are oversized, or too large below their headings, in parts."""

    def __init__(
        self, document: Document, counter: TokenCounter, lines: Crumbs, cap: int, oversized: int | None, target: int
    ) -> None:
        self._document = document
        self._counter = counter
        self._adds_up = counter.cuts_cleanly("a\nb", 2)
        self._lines = lines
        self._cap = cap
        self._oversized = oversized
        self._target = target
        self.notes: list[Note] = []

    def units(self) -> list[Unit]:
        """The units, in order."""
        made: list[Unit] = []
        blocks = self._document.blocks
        section_starts = [section.start for section in self._document.sections]
        headings = 0
        for block, following in zip_longest(blocks, blocks[1:]):
            end = following.start if following is not None and self._adds_up else block.end
            size = self._counter.count(self._document.text[block.start : end])
            if self._oversized is None:
                made.append(Unit(block.start, block.end, block.kind, size, is_glued=block.kind == "heading"))
                continue
            room = self._cap - self._lines.reserve(bisect_right(section_starts, block.start) - 1)
            if block.kind == "heading" and headings + size + _ROOM_FOR_TEXT <= room:
                headings += size
                made.append(Unit(block.start, block.end, "heading", size, is_glued=True))
                continue
            room -= headings
            if size <= min(self._oversized, room):
                made.append(Unit(block.start, block.end, block.kind, size))
            else:
                made += self._parts(block, min(self._target, room), end)
            headings = 0
        return made

    def _parts(self, block: Block, limit: int, end: int) -> list[Unit]:
        text, count = self._document.text, self._counter.count
        if block.kind == "heading":
            self.notes.append(
                (block.start, "heading-too-long", "a heading is too long for the cap; it is cut as prose")
            )
        ladder = Ladder(text, self._counter, max(limit, 1))
        parts = ladder.cut(block)
        self.notes += ladder.notes
        ends = [part.start for part in parts[1:]] + [end] if self._adds_up else [part.end for part in parts]
        return [part._replace(tokens=count(text[part.start : stop])) for part, stop in zip(parts, ends, strict=True)]
