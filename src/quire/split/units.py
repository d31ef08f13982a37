"""A document as parallel lists of units: the parts that strategies put together into pieces.

A unit is a section with its own text, a block of a section that is too large, or a part of a block that is too large
(cut.py). A piece is a run of units. From the start of the first to the end of the last it is the source text unchanged,
so parts of one block that meet again are joined as they were; what a cut part needs to stay valid is added only at the
edges of a piece.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from quire.model import Block, Document, Finding, Kind, Note, Piece, findings_at
from quire.offsets import line_start, text_end
from quire.parsing import inner_blocks
from quire.size.sizer import SLACK, Sizer, furthest
from quire.split.cut import Cutter, Part

SectionOf = Callable[[int, int], int]
"""The section whose breadcrumb goes above a span."""

_ROOM_FOR_TEXT = 4
"""A heading must leave this many tokens for text below it; a longer heading is cut as prose."""
_LONG = 4
"""A section with more characters per token of the cap is counted block by block: it will be opened."""
_BLANK_LINE_ABOVE = re.compile(r"(?:\r\n|\r|\n)[ \t>]*(?:\r\n|\r|\n)\Z")
_HEADING_PARTED = "heading separated from its text: together they exceed the cap"


class Units:
    """The units of a document, and what can be asked of runs of units: the units ``first`` to before ``last``.

    ``opens_all``: every section is opened into its blocks. ``limit``: blocks with more tokens are cut into parts of
    about ``target``; None for no limit. ``least``: a section with fewer tokens of text leads its first child.
    """

    def __init__(
        self,
        document: Document,
        sizer: Sizer,
        section_of: SectionOf,
        *,
        opens_all: bool = False,
        limit: int | None = None,
        target: int = 0,
        least: int = 0,
    ) -> None:
        self.document = document
        self.sizer = sizer
        self.section_of = section_of
        self.starts: list[int] = []
        """The first character of each unit; then the end of the document."""
        self.ends: list[int] = []
        """One past the last character of each unit; blank lines may follow."""
        self.kinds: list[Kind] = []
        """The kind of its block; ``paragraph`` for a whole section."""
        self.leads: list[bool] = []
        """Whether no piece may end with it: a heading, or text too short to be apart from its first child."""
        self.totals: list[int] = []
        """The sum of tokens up to the start of each unit; then up to the end of the document."""
        self.parts: dict[int, Part] = {}
        """The units that are parts of a block, with what they need around them."""
        self.firsts: list[int] = []
        """The first unit of each section; then their number."""
        self.notes: list[Note] = []
        self._limit, self._least, self._target = limit, least, target
        self._lead = -1  # the first of the units that lead the next one; -1 if none does
        self._closing = _closing_headings(document)
        self._tail = self._closing if self._tail_fits() else -1
        self._cutter: Cutter | None = None  # most documents need none
        if opens_all:
            self._open_all()
        else:
            self._open_large_sections()
        self.firsts.append(len(self.ends))

    # Making units

    def _tail_fits(self) -> bool:
        """Whether headings that close the document leave half of the cap for text above them."""
        start, ends = self._closing, self.document.block_columns.ends
        return start >= 0 and self.sizer.size(start, ends[-1]) * 2 < self.sizer.cap

    def _open_all(self) -> None:
        """A unit for each block."""
        lists, (_, starts, _, _) = self.document.section_columns, self.document.block_columns
        mark, size = self.sizer.mark, len(self.document.text)
        totals = [*map(mark, starts), mark(size)]
        stops = [*lists.blocks[1:], len(starts)]
        for first, last in zip([0, *lists.blocks[1:]], stops, strict=True):
            self.firsts.append(len(self.ends))
            self._open(first, last, totals[first : last + 1])
        self.starts.append(size)
        self.totals.append(totals[-1])

    def _open_large_sections(self) -> None:
        """A unit for each section that fits, with its heading; units for the blocks of the others."""
        document, sizer = self.document, self.sizer
        lists, (_, block_starts, block_ends, _) = document.section_columns, document.block_columns
        blocks = [0, *lists.blocks[1:], len(block_starts)]
        starts = [block_starts[0] if block_starts else 0, *lists.starts[1:], len(document.text)]
        totals, inner = self._section_totals(starts, blocks)
        sure, tail, has_text = sizer.sure, self._tail, map(int.__lt__, lists.text_starts, lists.text_ends)
        for number, is_whole in enumerate(has_text):
            first, last = blocks[number], blocks[number + 1]
            start, stop = starts[number], starts[number + 1]
            self.firsts.append(len(self.ends))
            if first == last:
                continue
            total, after, end = totals[number], totals[number + 1], block_ends[last - 1]
            is_usual = after - total <= sure and self._lead < 0 and stop != tail
            if is_whole and (is_usual or self._fits(start, end, stop, total, after)):
                leads = bool(self._least) and self._is_short_above_child(number, after - total)
                self._add(start, end, stop, "paragraph", total, leads=leads)
            else:
                counted = inner.get(number)
                if counted is None:
                    edges = [*block_starts[first:last], stop]
                    counted = [*accumulate(map(sizer.size, edges, edges[1:]), initial=total)]
                self._open(first, last, counted)
        self.starts.append(starts[-1])
        self.totals.append(totals[-1])

    def _section_totals(self, starts: Sequence[int], blocks: Sequence[int]) -> tuple[list[int], dict[int, list[int]]]:
        """The sums up to the start of each section, and of each block of long ones."""
        mark, most, block_starts = self.sizer.mark, self.sizer.cap * _LONG, self.document.block_columns.starts
        totals: list[int] = []
        inner: dict[int, list[int]] = {}
        for number, start in enumerate(starts[:-1]):
            totals.append(mark(start))
            if starts[number + 1] - start > most:
                first, last = blocks[number], blocks[number + 1]
                inner[number] = [totals[-1], *map(mark, block_starts[first + 1 : last])]
        totals.append(mark(starts[-1]))
        for number, counted in inner.items():
            counted.append(totals[number + 1])
        return totals, inner

    def _is_short_above_child(self, number: int, tokens: int) -> bool:
        """Whether a section's own text is too short to be apart from its first child."""
        lists = self.document.section_columns
        child = number + 1
        if child == len(lists.starts) or lists.parents[child] != number or lists.positions[child] < 0:
            return False
        return self.is_short(number, self._least, tokens)

    def is_short(self, number: int, least: int, tokens: int = 0) -> bool:
        """Whether a section's own text has fewer than ``least`` tokens; all of it has ``tokens``, if known."""
        lists, text = self.document.section_columns, self.document.text
        start, end = lists.text_starts[number], lists.text_ends[number]
        if not number:  # front matter is no text
            blocks = self.document.block_columns
            last = lists.blocks[1] if len(lists.blocks) > 1 else len(blocks.ends)
            if not last:
                return True
            start, end = blocks.starts[0], blocks.ends[last - 1]
        elif tokens and self.sizer.adds_up:
            stop = lists.starts[number + 1] if number + 1 < len(lists.starts) else len(text)
            others = stop - lists.starts[number] - (end - start)
            if tokens - others * (1 if text.isascii() else 4) >= least:
                return False
        return self.sizer.size(start, end) < least

    def _open(self, first: int, last: int, totals: Sequence[int]) -> None:
        """Add blocks as units; ``totals`` are the sums up to the start of each, and behind the last."""
        sizer, limit = self.sizer, self._limit
        kinds, starts, ends, _ = self.document.block_columns
        sure, size = sizer.sure, len(self.document.text)
        for number in range(first, last):
            kind, start, end = kinds[number], starts[number], ends[number]
            stop = starts[number + 1] if number + 1 < len(starts) else size
            total, after = totals[number - first], totals[number - first + 1]
            if kind == "heading":
                self._add_heading(number, stop, total)
                continue
            lead = self._lead
            above = self.totals[lead] if lead >= 0 else total
            is_usual = after - above <= sure and (limit is None or after - total <= limit) and stop != self._tail
            if is_usual or (limit is not None and self._is_small(start, end, stop, total, after)):
                self._add(start, end, stop, kind, total)
            elif limit is None:
                self._add_between_blank_lines(Block(kind, start, end), stop, total, after)
            else:
                self._add_parts(Block(kind, start, end), stop, total)

    def _add_between_blank_lines(self, block: Block, stop: int, total: int, after: int) -> None:
        """Add a block that is not cut; a list, a quote or a container above the cap at the blank lines inside it."""
        text, starts = self.document.text, [block.start]
        if not self._fits(block.start, block.end, stop, total, after):
            lines = sorted({line_start(text, child.start, block.start) for child in inner_blocks(text, block)})
            starts += [line for line in lines[1:] if _BLANK_LINE_ABOVE.search(text, max(line - 80, block.start), line)]
        for start, following in zip(starts, [*starts[1:], stop], strict=True):
            self._add(start, text_end(text, start, min(following, block.end)), following, block.kind, total)
            total += self.sizer.size(start, following) if following < stop else 0

    def _is_small(self, start: int, end: int, stop: int, total: int, after: int) -> bool:
        tokens, limit = after - total, self._limit or 0
        if self.sizer.adds_up and tokens - (stop - end) > limit + SLACK:
            return False
        is_small = (self.sizer.adds_up and tokens <= limit) or self.sizer.size(start, end) <= limit
        return is_small and self._fits(start, end, stop, total, after)

    def _fits(self, start: int, end: int, stop: int, total: int, after: int) -> bool:
        """Whether a span keeps the cap with everything that cannot be apart from it."""
        if self._lead >= 0:
            start, total = self.starts[self._lead], self.totals[self._lead]
        if stop == self._tail:
            end = self.document.block_columns.ends[-1]
            return self.sizer.fits(start, end, self.section_of(start, end))
        tokens, low = after - total, after - total - (stop - end)
        if tokens <= self.sizer.sure or self.sizer.is_over(low):
            return tokens <= self.sizer.sure
        return self.sizer.fits(start, end, self.section_of(start, end), low=low, high=tokens)

    def _add(self, start: int, end: int, stop: int, kind: Kind, total: int, *, leads: bool = False) -> None:
        leads = leads or stop == self._tail  # the headings that close the document stay with it
        if not leads:
            self._lead = -1
        elif self._lead < 0:
            self._lead = len(self.ends)
        self.starts.append(start)
        self.ends.append(end)
        self.kinds.append(kind)
        self.leads.append(leads)
        self.totals.append(total)

    def _add_heading(self, number: int, stop: int, total: int) -> None:
        """A heading leads what follows; one that leaves no room for text is cut as prose."""
        blocks = self.document.block_columns
        start, end = blocks.starts[number], blocks.ends[number]
        is_last = number + 1 == len(blocks.starts)
        while not self._leaves_room(self.starts[self._lead] if self._lead >= 0 else start, end):
            if self._lead < 0:
                message = "heading too long to stay with its text within the cap; it is cut as prose"
                self.notes.append((start, "heading-too-long", message))
                if self._limit is None:
                    self._add(start, end, stop, "heading", total)
                else:
                    self._add_parts(Block("heading", start, end), stop, total)
                return
            self._release()
        self._add(start, end, stop, "heading", total, leads=not is_last)

    def _leaves_room(self, start: int, end: int) -> bool:
        sizer = self.sizer
        if end - start <= sizer.sure // 4:
            return True
        line = sizer.breadcrumbs.prefix(self.section_of(start, end))
        return sizer.size(start, end, line) + _ROOM_FOR_TEXT <= sizer.cap

    def _release(self) -> None:
        """Let a piece end with the last unit after all."""
        if self.kinds[-1] == "heading":
            self.notes.append((self.starts[-1], "heading-too-long", _HEADING_PARTED))
        self.leads[-1] = False
        self._lead = -1

    def _add_parts(self, block: Block, stop: int, total: int) -> None:
        """Add the parts of a block that is too large."""
        if self._cutter is None:
            self._cutter = Cutter(self.document.text, self.sizer, self.section_of, self._target, self.notes)
        first = self.starts[self._lead] if self._lead >= 0 else block.start
        last = self.document.block_columns.ends[-1] if stop == self._tail else block.end
        parts = self._cutter.cut(block, first, last)
        for number, part in enumerate(parts):
            after = parts[number + 1].start if number + 1 < len(parts) else stop
            self._add(part.start, part.end, after, block.kind, total)
            self.parts[len(self.ends) - 1] = part
            total += part.tokens

    # Runs of units

    def fits(self, first: int, last: int, section: int = -1) -> bool:
        """Whether a run keeps the cap below its breadcrumb."""
        tokens = self.totals[last] - self.totals[first]
        prefix, suffix = self._around(first, last) if self.parts else ("", "")
        if tokens <= self.sizer.sure and not (prefix or suffix):
            return True
        start, end = self.starts[first], self.ends[last - 1]
        low = tokens - (self.starts[last] - end)
        if self.sizer.is_over(low):
            return False
        section = section if section >= 0 else self.section_of(start, end)
        return self.sizer.fits(start, end, section, prefix, suffix, low=low, high=tokens)

    def is_at_least(self, first: int, last: int, minimum: int) -> bool:
        """Whether the text of a run has at least ``minimum`` tokens."""
        tokens, end = self.totals[last] - self.totals[first], self.ends[last - 1]
        if self.sizer.adds_up:
            if tokens + SLACK < minimum:
                return False
            if tokens - (self.starts[last] - end) - SLACK >= minimum:
                return True
        return self.sizer.size(self.starts[first], end) >= minimum

    def may_end(self, last: int) -> bool:
        """Whether a piece may end before the unit ``last``."""
        return last == len(self.ends) or not self.leads[last - 1]

    def filled(self, first: int, last: int, target: int, section: int = -1) -> list[tuple[int, int]]:
        """Runs of these units, each as long as ``target`` and the cap allow; a heading is never the last of one."""
        ends = [end for end in range(first + 1, last + 1) if end == last or self.may_end(end)]
        runs: list[tuple[int, int]] = []
        start, at = first, 0
        while start < last:
            aim = self.totals[start] + target
            guess = bisect_right(ends, aim, lo=at, key=self.totals.__getitem__) - 1

            def keeps(number: int, start: int = start) -> bool:
                return self._keeps(start, ends[number], target, section)

            best = max(furthest(at, len(ends), keeps, guess), at)  # one unit at least
            runs.append((start, ends[best]))
            start, at = ends[best], best + 1
        return runs

    def _keeps(self, first: int, last: int, target: int, section: int) -> bool:
        """Whether a run keeps the target and the cap."""
        start, end = self.starts[first], self.ends[last - 1]
        prefix, suffix = self._around(first, last)
        tokens = self.totals[last] - self.totals[first]
        if not self.sizer.adds_up or prefix or suffix or tokens + SLACK > target:
            if self.sizer.adds_up and tokens - (self.starts[last] - end) - SLACK > target:
                return False
            if self.sizer.size(start, end, prefix, suffix) > target:
                return False
        return self.fits(first, last, section)

    def _around(self, first: int, last: int) -> tuple[str, str]:
        """What a run needs in front and behind."""
        head, tail = self.parts.get(first), self.parts.get(last - 1)
        return head.prefix if head else "", tail.suffix if tail else ""

    def piece(self, first: int, last: int, section: int = -1) -> Piece:
        """A run as a piece."""
        start, end = self.starts[first], self.ends[last - 1]
        prefix, suffix = self._around(first, last)
        section = self.section_of(start, end) if section < 0 else section
        return Piece(start, end, section, self.sizer.size(start, end, prefix, suffix), prefix, suffix)

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """A run as one piece; as several where a heading cannot stay with its text, which is a finding."""
        while last - first > 1 and not self.fits(first, last):
            cut = next((end for end in range(last - 1, first + 1, -1) if self.fits(first, end)), first + 1)
            self.notes.append((self.starts[cut - 1], "heading-too-long", _HEADING_PARTED))
            yield self.piece(first, cut)
            first = cut
        yield self.piece(first, last)

    def findings(self, pieces: Sequence[Piece]) -> list[Finding]:
        """Findings about cuts, in document order."""
        alone = [piece.start for piece in pieces if piece.start >= self._closing >= 0]
        message = "heading at the end of the document does not fit below its last text within the cap"
        notes = [*((start, "heading-too-long", message) for start in alone), *self.notes]
        if not notes:
            return []
        told = {note[:2]: note for note in notes}
        return findings_at(self.document.source, sorted(told.values()))


def node_firsts(units: Units) -> list[int]:
    """The first unit of each node, and the number of units; headings without text lead the next node."""
    positions, firsts = units.document.section_columns.positions, units.firsts
    if min(positions) >= 0:
        return firsts
    made: list[int] = []
    lead = -1
    for position, unit, following in zip(positions, firsts, firsts[1:], strict=False):
        if position >= 0:
            made.append(unit if lead < 0 else lead)
            lead = -1
        elif following > unit + 1:
            lead = -1  # too long to lead, so it was cut
        elif lead < 0:
            lead = unit
    return [*made, firsts[-1]]


def whole_document(document: Document, sizer: Sizer, section_of: SectionOf) -> Piece | None:
    """The document as one piece, if it fits; a long one is not tried, its units are."""
    _, starts, ends, _ = document.block_columns
    if not starts or ends[-1] - starts[0] > sizer.cap * _LONG:
        return None
    start, end = starts[0], ends[-1]
    section = section_of(start, end)
    tokens = sizer.size(start, end)
    fits = tokens <= sizer.sure or sizer.size(start, end, sizer.breadcrumbs.prefix(section)) <= sizer.cap
    return Piece(start, end, section, tokens) if fits else None


def _closing_headings(document: Document) -> int:
    """Where headings with no text below them close the document; -1 if it does not end so, or has no text."""
    kinds = document.block_columns.kinds
    first = len(kinds)
    while first and kinds[first - 1] == "heading":
        first -= 1
    return document.block_columns.starts[first] if 0 < first < len(kinds) else -1
