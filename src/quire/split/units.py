"""A document as a flat list of units: the parts that strategies put together into pieces.

A unit is a section with its own text, a block of a section that is too large, or a part of a block that is too large
(cut.py). A piece is a run of units. From the start of the first to the end of the last it is the source text unchanged,
so parts of one block that meet again are joined as they were; what a cut part needs to stay valid is added only at the
edges of a piece.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quire.model import Block, Document, Finding, Kind, Note, Piece, Section, findings_at
from quire.offsets import trimmed
from quire.size.sizer import Sizer, furthest
from quire.split.cut import Cutter, may_stay_whole
from quire.split.reopen import Reopening

_ROOM_FOR_TEXT = 4
"""A heading must leave this many tokens for text below it; a longer heading is cut as prose."""
_LONG = 5
"""A section with more than this many characters per token of the cap is opened without counting it."""
_HEADING_PARTED = "heading separated from its text: together they exceed the cap"


class Unit(NamedTuple):
    """A part of a document that is not cut any further."""

    start: int
    """Its first character."""
    end: int
    """One past its last character."""
    stop: int
    """Where the next unit starts: blank lines may be in between."""
    kind: Kind
    """The kind of its block; ``paragraph`` for a whole section."""
    leads: bool = False
    """Whether no piece may end with it: a heading, or text too short to be apart from its first child."""
    has_heading: bool = False
    """Whether it is a whole section that starts with its heading."""
    ends_sentence: bool = True
    """Whether no sentence is cut at its end."""
    prefix: str = ""
    """What a piece that starts here needs in front: an opening fence, a table's header."""
    suffix: str = ""
    """What a piece that ends here needs behind: a closing fence."""
    reopening: Reopening | None = None
    """What parts of its block need around them, if it is one."""


class Grain(NamedTuple):
    """How small the units are."""

    opens_all: bool = False
    """Whether every section is opened into its blocks."""
    block_limit: int | None = None
    """Blocks above this many tokens are cut; None: blocks stay whole."""
    target: int = 0
    """About how many tokens the parts of a block have."""
    least: int = 0
    """A section with less text than this leads its first child."""


class Units:
    """The units of a document, where the heading tree is among them, and what can be asked of runs of units."""

    def __init__(self, document: Document, sizer: Sizer, grain: Grain) -> None:
        self.document = document
        self.sizer = sizer
        self.text = document.text
        self.notes: list[Note] = []
        starts = [block[1] for block in document.blocks] if grain.opens_all else document.section_columns.starts
        sizer.measure(starts, len(self.text))
        maker = _Maker(document, sizer, grain, self.notes)
        self.items = maker.items
        self._closing = maker.closing
        self._node_first = _node_firsts(document, [*maker.firsts, len(self.items)], self.items)
        self._node_after = _node_ends(document)
        self._nodes = document.nodes

    def __len__(self) -> int:
        return len(self.items)

    # Nodes: sections with text. A heading with no text below it leads the next node.

    def first(self, node: Section) -> int:
        """The first unit of a node, with the headings that lead it."""
        return self._node_first[node.position or 0]

    def after(self, node: Section) -> int:
        """One past the last unit of a node and everything below it."""
        return self._node_first[self._node_after[node.position or 0]]

    def own_after(self, node: Section) -> int:
        """One past the last unit of a node's own text."""
        return self._node_first[(node.position or 0) + 1]

    def children(self, node: Section) -> Iterator[Section]:
        """The nodes directly below a node."""
        position = node.position or 0
        end, position = self._node_after[position], position + 1
        nodes = self._nodes
        while position < end:
            yield nodes[position]
            position = self._node_after[position]

    def own_text(self, node: Section) -> tuple[int, int]:
        """Where a node's own text starts and ends; the document's is above its first heading."""
        if node.depth:
            return node.text_start, node.text_end
        starts = self.document.section_columns.starts
        stop = starts[1] if len(starts) > 1 else len(self.text)
        return trimmed(self.text, self.document.source.body_start, stop)

    # Runs: the units ``first`` to before ``last``.

    def fits(self, first: int, last: int, section: int = -1) -> bool:
        """Whether a run keeps the cap below its breadcrumb."""
        head, tail = self.items[first], self.items[last - 1]
        return self.sizer.fits(head.start, tail.end, head.prefix, tail.suffix, section=section)

    def is_at_least(self, first: int, last: int, minimum: int) -> bool:
        """Whether the text of a run has at least ``minimum`` tokens."""
        return self.sizer.is_at_least(minimum, self.items[first].start, self.items[last - 1].end)

    def may_end(self, last: int) -> bool:
        """Whether a piece may end before the unit ``last``."""
        return last == len(self.items) or not self.items[last - 1].leads

    def filled(self, first: int, last: int, target: int, section: int = -1) -> list[tuple[int, int]]:
        """Runs of these units, each as long as ``target`` and the cap allow; a heading is never the last of one."""
        ends = [end for end in range(first + 1, last + 1) if end == last or self.may_end(end)]
        runs: list[tuple[int, int]] = []
        start, at = first, 0
        while start < last:
            best = self._furthest(start, ends, at, target, section)
            best = max(best, at)  # one unit at least
            runs.append((start, ends[best]))
            start, at = ends[best], best + 1
        return runs

    def _furthest(self, start: int, ends: Sequence[int], at: int, target: int, section: int) -> int:
        """The index of the last of ``ends`` up to which a run from ``start`` keeps the target and the cap."""
        head = self.items[start]

        def fits(end: int) -> bool:
            tail = self.items[end - 1]
            is_over = self.sizer.is_at_least(target + 1, head.start, tail.end, head.prefix, tail.suffix)
            return not is_over and self.fits(start, end, section)

        reach = self.sizer.reach(head.start, target)
        guess = bisect_right(ends, reach, lo=at, key=lambda end: self.items[end - 1].end) - 1
        return furthest(ends, at, fits, guess)

    def piece(self, first: int, last: int, section: int = -1) -> Piece:
        """A run as a piece."""
        head, tail = self.items[first], self.items[last - 1]
        whose = self.sizer.section_of(head.start, tail.end) if section < 0 else section
        return Piece(head.start, tail.end, whose, head.prefix, tail.suffix)

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """A run as one piece; as several where a heading cannot stay with its text, which is a finding."""
        while last - first > 1 and not self.fits(first, last):
            cut = next((end for end in range(last - 1, first + 1, -1) if self.fits(first, end)), first + 1)
            self.notes.append((self.items[cut - 1].start, "heading-too-long", _HEADING_PARTED))
            yield self.piece(first, cut)
            first = cut
        yield self.piece(first, last)

    def findings(self, pieces: Sequence[Piece]) -> list[Finding]:
        """Findings about cuts, in document order."""
        alone = [piece.start for piece in pieces if piece.start >= self._closing >= 0]
        message = "heading at the end of the document does not fit below its last text within the cap"
        notes = [*((start, "heading-too-long", message) for start in alone), *self.notes]
        told = {note[:2]: note for note in notes}
        return findings_at(self.document.source, sorted(told.values()))


class _Maker:
    """Makes the units of one document."""

    def __init__(self, document: Document, sizer: Sizer, grain: Grain, notes: list[Note]) -> None:
        self.items: list[Unit] = []
        self.firsts: list[int] = []
        """The first unit of each section."""
        self._document = document
        self._text = document.text
        self._sizer = sizer
        self._grain = grain
        self._notes = notes
        self._lead = -1  # where the units start that lead the next one; -1 if none does
        self.closing = _closing_headings(document)
        """Where headings without text start that close the document; -1 if none does."""
        self._tail = self.closing if self._tail_fits() else -1
        self._cutter: Cutter | None = None  # most documents need none
        self._make()

    def _tail_fits(self) -> bool:
        """Whether headings that close the document leave half of the cap for text above them."""
        end = self.closing
        if end < 0:
            return False
        _, last = trimmed(self._text, 0, end)
        return self._sizer.size(last, len(self._text)) * 2 < self._sizer.cap

    def _make(self) -> None:
        document, text = self._document, self._text
        sections, starts = document.sections, document.section_columns.starts
        stops = (*starts[1:], len(text))
        block = 0
        blocks = document.blocks
        for section, stop in zip(sections, stops, strict=True):
            self.firsts.append(len(self.items))
            first, last = _own_span(document, section, stop)
            first_block = block
            while block < len(blocks) and blocks[block][1] < stop:
                block += 1
            if first == last:
                continue
            is_bare = section.depth > 0 and section.text_start >= section.text_end
            if not (self._grain.opens_all or is_bare) and self._fits(first, last, stop):
                leads = self._leads(section, stop)
                self._add(Unit(first, last, stop, "paragraph", leads, has_heading=section.depth > 0))
            else:
                self._open(blocks[first_block:block], stop)

    def _leads(self, section: Section, stop: int) -> bool:
        """Whether a section's own text is too short to be apart from its first child."""
        least, following = self._grain.least, section.number + 1
        if not least or following == len(self._document.sections):
            return False
        child = self._document.sections[following]
        if child.parent != section.number or not child.is_node:
            return False
        start, end = (section.text_start, section.text_end) if section.depth else trimmed(self._text, 0, stop)
        return not self._sizer.is_at_least(least, start, end)

    def _open(self, blocks: Sequence[Block], stop: int) -> None:
        """Add the blocks of a section as units."""
        stops = [*(block.start for block in blocks[1:]), stop]
        limit = self._grain.block_limit
        for block, end in zip(blocks, stops, strict=True):
            if block.kind == "heading":
                self._add_heading(block, end)
            elif limit is None or self._may_stay_whole(block, end, limit):
                self._add(Unit(block.start, block.end, end, block.kind))
            else:
                self._add_parts(block, end)

    def _may_stay_whole(self, block: Block, stop: int, limit: int) -> bool:
        if block.end - block.start > limit * _LONG:
            return False  # seen without counting
        tokens = self._sizer.size(block.start, block.end)
        is_small = may_stay_whole(block.kind, self._text[block.start : block.end], tokens, limit)
        return is_small and self._fits(block.start, block.end, stop)

    def _add(self, unit: Unit) -> None:
        if self._tail == unit.stop:
            unit = unit._replace(leads=True)  # the headings that close the document stay with it
        self.items.append(unit)
        if unit.leads and self._lead < 0:
            self._lead = unit.start
        if not unit.leads:
            self._lead = -1

    def _bounds(self, start: int, end: int, stop: int) -> tuple[int, int]:
        """A span with the units that lead it and the headings that close the document, if it has to take them."""
        first = self._lead if self._lead >= 0 else start
        return first, len(self._text.rstrip()) if stop == self._tail else end

    def _fits(self, start: int, end: int, stop: int) -> bool:
        """Whether a span keeps the cap with everything that cannot be apart from it."""
        return self._sizer.fits(*self._bounds(start, end, stop))

    def _add_heading(self, block: Block, stop: int) -> None:
        """A heading leads what follows; one that leaves no room for text is cut as prose."""
        if self._leaves_room(self._lead if self._lead >= 0 else block.start, block.end):
            self._add(Unit(block.start, block.end, stop, "heading", leads=stop < len(self._text)))
            return
        if self._lead >= 0:
            self._release()
            self._add_heading(block, stop)
            return
        message = "heading too long to stay with its text within the cap; it is cut as prose"
        self._notes.append((block.start, "heading-too-long", message))
        if self._grain.block_limit is None:
            self._add(Unit(block.start, block.end, stop, "heading"))
        else:
            self._add_parts(block, stop)

    def _leaves_room(self, start: int, end: int) -> bool:
        line = self._sizer.breadcrumbs.prefix(self._sizer.section_of(start, end))
        return self._sizer.size(start, end, line) + _ROOM_FOR_TEXT <= self._sizer.cap

    def _release(self) -> None:
        """Let a piece end with the last unit after all."""
        last = self.items[-1]
        if last.kind == "heading":
            self._notes.append((last.start, "heading-too-long", _HEADING_PARTED))
        self.items[-1] = last._replace(leads=False)
        self._lead = -1

    def _add_parts(self, block: Block, stop: int) -> None:
        """Add the parts of a block that is too large."""
        if self._cutter is None:
            self._cutter = Cutter(self._document, self._sizer, self._grain.target, self._notes)
        parts = self._cutter.cut(block, *self._bounds(block.start, block.end, stop))
        stops = [*(part.start for part in parts[1:]), stop]
        for part, end in zip(parts, stops, strict=True):
            self._add(
                Unit(
                    part.start,
                    part.end,
                    end,
                    block.kind,
                    ends_sentence=part.ends_sentence,
                    prefix=part.prefix,
                    suffix=part.suffix,
                    reopening=part.reopening,
                )
            )


def whole_document(document: Document, sizer: Sizer) -> Piece | None:
    """The document as one piece, if it fits."""
    text, first = document.text, document.source.body_start
    if len(text) - first > 2 * sizer.cap * _LONG:  # seen without a copy of a long text
        return None
    start, end = trimmed(text, first, len(text))
    if start == end or end - start > sizer.cap * _LONG:
        return None
    sizer.measure([start], end, stretch=end)
    return Piece(start, end, sizer.section_of(start, end)) if sizer.fits(start, end) else None


def _own_span(document: Document, section: Section, stop: int) -> tuple[int, int]:
    """From a section's heading to the end of its own text; for the document the text above the first heading."""
    if section.depth and section.text_start < section.text_end:
        return section.start, section.text_end
    return trimmed(document.text, section.start if section.depth else document.source.body_start, stop)


def _closing_headings(document: Document) -> int:
    """Where headings with no text below them close the document; -1 if it does not end so, or has no text."""
    start = -1
    for section in reversed(document.sections[1:]):
        if section.text_start < section.text_end:
            return start
        start = section.start
    first, last = trimmed(document.text, document.source.body_start, max(start, 0))
    return start if start >= 0 and first < last else -1


def _node_firsts(document: Document, firsts: Sequence[int], items: Sequence[Unit]) -> list[int]:
    """The first unit of each node, by its position, and the number of units; headings without text lead the next."""
    made: list[int] = []
    lead = -1
    for section, unit, following in zip(document.sections, firsts, firsts[1:], strict=False):
        if section.position is not None:
            made.append(unit if lead < 0 else lead)
            lead = -1
        elif following > unit + 1:
            lead = -1  # too long to lead, so it was cut
        elif lead < 0:
            lead = unit
    return [*made, len(items)]


def _node_ends(document: Document) -> list[int]:
    """For each node, by its position, the position of the next node that is not below it."""
    nodes = document.nodes
    after = [len(nodes)] * len(nodes)
    above: list[int] = []
    for position, node in enumerate(nodes):
        while above and nodes[above[-1]].end <= node.start:
            after[above.pop()] = position
        above.append(position)
    return after
