"""A document as parallel lists of units, which strategies put together into pieces.

A unit is a section with its own text, a block of a section that is too large, or a slice of a block that is too large
(cut.py). A piece is a group of consecutive units: the source text unchanged from the start of the first to the end of
the last. Slices of one block that meet again are joined as they were; what a slice needs to stay valid is added only at
the edges of a piece.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from quire.model import Block, Document, Finding, Kind, Note, findings_at
from quire.offsets import line_start, text_end
from quire.parsing import inner_blocks, list_items
from quire.record import Piece
from quire.size.sizer import NEVER, NO_CAP, SLACK, Sizer, longest_that_fits
from quire.split.cut import Cutter
from quire.split.levels import line_ends

_ROOM_FOR_TEXT = 4  # a heading must leave this many tokens for text below it; a longer heading is cut as prose
_LONG = 4  # text with more characters per token of a limit is counted in smaller steps: it will most likely be cut
_CUT_AT_LINES = frozenset({"code", "table", "html", "math"})
_BLANK_LINE_ABOVE = re.compile(r"(?:\r(?!\n)|\n)[ \t>]*(?:\r\n|\r|\n)\Z")
_CONTAINERS = frozenset({"list", "quote", "footnote", "directive", "html"})
HEADING_PARTED = "heading separated from its text: together they exceed the cap"


class Units:
    """The units of a document, and what can be asked of groups of units: the units ``first`` to before ``last``.

    ``opens_all``: every section is opened into its blocks, and the section of a group is that of its first text; else
    it is the deepest that contains all its text. ``limit``: blocks with more tokens are cut into slices of about
    ``target``; None for no limit. ``least``: a section with fewer tokens of text leads its first child.
    """

    def __init__(
        self,
        document: Document,
        sizer: Sizer,
        *,
        opens_all: bool = False,
        limit: int | None = None,
        target: int = 0,
        least: int = 0,
    ) -> None:
        self.document = document
        self.sizer = sizer
        self.starts: list[int] = []  # the first character of each unit; then the end of the document
        self.ends: list[int] = []  # one past the last character of each unit; blank lines may follow
        self.kinds: list[Kind] = []  # the kind of its block; `paragraph` for a whole section
        self.stays_with_next: list[bool] = []
        """True if a piece must not end here: a heading, or text too short to be apart from its first child."""
        self.totals: list[int] = []
        """The sum of tokens up to the start of each unit; then up to the end of the document."""
        self.torn: set[int] = set()  # the units that end inside a sentence
        self.prefixes: dict[int, str] = {}
        """What a piece needs in front if it starts with a unit; not for units that need nothing."""
        self.suffixes: dict[int, str] = {}  # what a piece needs behind if it ends with a unit
        self.firsts: list[int] = []  # the first unit of each section; then their number
        self.notes: list[Note] = []
        self._opens_all, self._limit, self._least, self._target = opens_all, limit, least, target
        self._section_of = document.first_section if opens_all else document.enclosing_section
        self._adds_up, self._sure = sizer.adds_up, sizer.sure
        self._lead = -1  # the first of the units that lead the next one; -1 if none does
        closing = self._closing = _closing_headings(document)
        # They stay with the text above them if they leave it half of the cap.
        has_room = closing >= 0 and sizer.size(closing, document.block_columns.ends[-1]) * 2 < sizer.cap
        self._tail = closing if has_room else -1
        self._cutter: Cutter | None = None  # most documents need none
        self._sums: dict[int, int] = {}  # the sums up to the starts of sections and of blocks
        self._add_sections()

    # Making units

    def _add_sections(self) -> None:
        """A unit for each section that fits, with its heading; units for the blocks of the others."""
        lists, block_starts, block_ends = self.document.section_columns, *self.document.block_columns[1:3]
        blocks = [0, *lists.blocks[1:], len(block_starts)]
        edges = [block_starts[0] if block_starts else 0, *lists.starts[1:], len(self.document.text)]
        self._count_sections(edges, blocks)
        sums, sure, tail = self._sums, self._sure, self._tail
        self.starts.append(edges[0])
        self.totals.append(sums[edges[0]])
        for number, start in enumerate(edges[:-1]):
            first, last, stop = blocks[number], blocks[number + 1], edges[number + 1]
            self.firsts.append(len(self.ends))
            if first == last:
                continue
            end, tokens = block_ends[last - 1], sums[stop] - sums[start]
            is_usual = tokens <= sure and self._lead < 0 and stop != tail
            if self._opens_all or lists.text_starts[number] == lists.text_ends[number]:
                self._open(first, last, stop)
            elif is_usual or self._fits(end, stop):
                has_child = number + 1 < len(lists.parents) and lists.parents[number + 1] == number
                leads = has_child and self._least > 0 and lists.positions[number + 1] >= 0
                leads = leads and self.is_short(number, self._least, tokens)  # to be apart from its first child
                self._add(end, stop, "paragraph", sums[stop], leads=leads)
            else:
                self._open(first, last, stop)
        self.firsts.append(len(self.ends))

    def _count_sections(self, edges: Sequence[int], blocks: Sequence[int]) -> None:
        """Count the text once: section by section, long sections block by block, long blocks line by line."""
        kinds, starts, ends, _ = self.document.block_columns
        longest = 0 if self._opens_all else self.sizer.cap * _LONG
        longest_block = self._limit * _LONG if self._limit and self._adds_up else len(self.document.text)
        positions: list[int] = []
        for number, start in enumerate(edges[:-1]):
            positions.append(start)
            if edges[number + 1] - start <= longest:
                continue
            for block in range(blocks[number], blocks[number + 1]):
                positions.append(starts[block])
                if ends[block] - starts[block] > longest_block and kinds[block] in _CUT_AT_LINES:
                    positions += line_ends(self.document.text, starts[block], ends[block])[:-1]
        positions.append(edges[-1])
        self._sums = dict(zip(positions, self.sizer.sums(positions[0], positions)[0][1:], strict=True))

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

    def _open(self, first: int, last: int, stop: int) -> None:
        """Add the blocks ``first`` to before ``last`` of a section as units."""
        kinds, starts, ends, _ = self.document.block_columns
        edges = [*starts[first:last], stop]
        sums, limit = self._sums, self._limit
        if last - first > 1 and edges[1] not in sums:
            counted, _ = self.sizer.sums(edges[0], edges[1:])
            shift = sums[edges[0]] - counted[0]
            sums.update(zip(edges[1:-1], [total + shift for total in counted[1:-1]], strict=True))
        for block, following in enumerate(edges[1:], first):
            kind, end, after = kinds[block], ends[block], sums[following]
            is_usual = after - self.totals[self._lead] <= self._sure and following != self._tail
            if kind == "heading":
                self._add_heading(end, following)
            elif is_usual and (limit is None or after - self.totals[-1] < limit):
                self._add(end, following, kind, after)
            elif limit is None:
                self._add_between_blank_lines(Block(kind, starts[block], end), following)
            elif self._is_small(end, following, limit):
                self._add(end, following, kind, after)
            else:
                self._add_slices(Block(kind, starts[block], end), following)

    def _add_between_blank_lines(self, block: Block, stop: int) -> None:
        """Add a block that is not cut; a list, a quote or a container above the cap at the blank lines inside it."""
        text, starts = self.document.text, [block.start]
        if block.kind in _CONTAINERS and not self._fits(block.end, stop):
            items = list_items(text, block) if block.kind == "list" else inner_blocks(text, block)
            lines = sorted({line_start(text, item.start, block.start) for item in items})
            starts += [line for line in lines[1:] if _BLANK_LINE_ABOVE.search(text, max(line - 80, block.start), line)]
        for start, following in zip(starts, [*starts[1:], stop], strict=True):
            end = text_end(text, start, min(following, block.end))
            after = self._sums[stop] if following == stop else self.totals[-1] + self.sizer.size(start, following)
            self._add(end, following, block.kind, after)

    def _is_small(self, end: int, stop: int, limit: int) -> bool:
        """Whether a block has at most ``limit`` tokens and keeps the cap."""
        tokens = self._sums[stop] - self.totals[-1]
        if self._adds_up and tokens - (stop - end) > limit + SLACK:
            return False
        is_small = (self._adds_up and tokens < limit) or self.sizer.size(self.starts[-1], end) <= limit
        return is_small and self._fits(end, stop)

    def _fits(self, end: int, stop: int) -> bool:
        """Whether a section or a block keeps the cap with everything that cannot be apart from it."""
        start, tokens = self.starts[self._lead], self._sums[stop] - self.totals[self._lead]
        if stop == self._tail:
            end = self.document.block_columns.ends[-1]
            return self.sizer.fits(start, end, self._section_of(start, end))
        return tokens <= self._sure or self._keeps_cap(start, end, tokens, stop - end)

    def _keeps_cap(  # noqa: PLR0917
        self, start: int, end: int, tokens: int, blanks: int, section: int = -1, prefix: str = "", suffix: str = ""
    ) -> bool:
        """Whether a span keeps the cap below its breadcrumb; its sum is that of the ``blanks`` behind it too."""
        low, high = self._bounds(tokens, blanks)
        if low > self.sizer.cap:
            return False
        section = self._section_of(start, end) if section < 0 else section
        return self.sizer.fits(start, end, section, prefix, suffix, low=low, high=high)

    def _bounds(self, tokens: int, blanks: int) -> tuple[int, int]:
        """The fewest and the most tokens of a span, by its sum, which is that of the ``blanks`` behind it too."""
        return (tokens - blanks - SLACK, tokens + SLACK) if self._adds_up else (0, NO_CAP)

    def _add(self, end: int, stop: int, kind: Kind, after: int, *, leads: bool = False) -> None:
        """Add the text from the last unit to ``end``; the next unit starts at ``stop``, where the sum is ``after``."""
        leads = leads or stop == self._tail  # the headings that close the document stay with it
        if not leads:
            self._lead = -1
        elif self._lead < 0:
            self._lead = len(self.ends)
        self.ends.append(end)
        self.kinds.append(kind)
        self.stays_with_next.append(leads)
        self.starts.append(stop)
        self.totals.append(after)

    def _add_heading(self, end: int, stop: int) -> None:
        """A heading leads what follows; one that leaves no room for text is cut as prose."""
        start, after = self.starts[-1], self._sums[stop]
        has_room = self._leaves_room(self.starts[self._lead], end)
        if self._lead >= 0 and not has_room:
            if self.kinds[-1] == "heading":
                self.notes.append((self.starts[-2], "heading-too-long", HEADING_PARTED))
            self.stays_with_next[-1] = False
            self._lead = -1
            has_room = self._leaves_room(start, end)
        if has_room:
            is_last = end == self.document.block_columns.ends[-1]
            self._add(end, stop, "heading", after, leads=not is_last)
            return
        message = "heading too long to stay with its text within the cap; it is cut as prose"
        self.notes.append((start, "heading-too-long", message))
        if self._limit is None:
            self._add(end, stop, "heading", after)
        else:
            self._add_slices(Block("heading", start, end), stop)

    def _leaves_room(self, start: int, end: int) -> bool:
        sizer = self.sizer
        if end - start <= sizer.sure // 4:
            return True
        line = sizer.breadcrumbs.prefix(self._section_of(start, end))
        return sizer.size(start, end, line) + _ROOM_FOR_TEXT <= sizer.cap

    def _add_slices(self, block: Block, stop: int) -> None:
        """Add the slices of a block that is too large."""
        if self._cutter is None:
            self._cutter = Cutter(self.document.text, self.sizer, self._section_of, self._target, self.notes)
        last = self.document.block_columns.ends[-1] if stop == self._tail else block.end
        slices = self._cutter.cut(block, self.starts[self._lead], last)
        if not self._cutter.has_exact_sums:  # slices of a word have more tokens together than one by one
            self._adds_up, self._sure = False, NEVER
        for cut, following in zip(slices, [*[later.start for later in slices[1:]], stop], strict=True):
            unit, after = len(self.ends), self._sums[stop]
            if following < stop:
                after = self.sizer.total(following) if self._adds_up else self.totals[-1] + cut.tokens
            self._add(cut.end, following, block.kind, after)
            if not cut.ends_sentence:
                self.torn.add(unit)
            if cut.prefix:
                self.prefixes[unit] = cut.prefix
            if cut.suffix:
                self.suffixes[unit] = cut.suffix

    # Groups of units

    def fits(self, first: int, last: int, section: int = -1) -> bool:
        """Whether a group keeps the cap below its breadcrumb, by default that of the section of its text."""
        tokens = self.totals[last] - self.totals[first]
        prefix, suffix = self.prefixes.get(first, ""), self.suffixes.get(last - 1, "")
        if tokens <= self._sure and not (prefix or suffix):
            return True
        start, end, stop = self.starts[first], self.ends[last - 1], self.starts[last]
        return self._keeps_cap(start, end, tokens, stop - end, section, prefix, suffix)

    def is_at_least(self, first: int, last: int, minimum: int) -> bool:
        """Whether the text of a group has at least ``minimum`` tokens."""
        start, end = self.starts[first], self.ends[last - 1]
        low, high = self._bounds(self.totals[last] - self.totals[first], self.starts[last] - end)
        return low >= minimum or (high >= minimum and self.sizer.size(start, end) >= minimum)

    def possible_ends(self, first: int, last: int) -> list[int]:
        """The units before which a piece may end, from ``first`` on; ``last`` is one of them."""
        stays = self.stays_with_next
        return [*[end for end in range(first + 1, last) if not stays[end - 1]], last]

    def filled(self, first: int, last: int, target: int, section: int = -1) -> list[tuple[int, int]]:
        """Groups of these units, each as long as ``target`` and the cap allow; a heading is never the last of one."""
        ends = self.possible_ends(first, last)
        groups: list[tuple[int, int]] = []
        start, at = first, 0
        while start < last:
            guess = bisect_right(ends, self.totals[start] + target, lo=at, key=self.totals.__getitem__) - 1

            def keeps(number: int, first: int = start) -> bool:
                start, last, end = self.starts[first], ends[number], self.ends[ends[number] - 1]
                prefix, suffix = self.prefixes.get(first, ""), self.suffixes.get(last - 1, "")
                low, high = self._bounds(self.totals[last] - self.totals[first], self.starts[last] - end)
                is_sure = high <= target and not (prefix or suffix)
                if not is_sure and (low > target or self.sizer.size(start, end, prefix, suffix) > target):
                    return False
                return self.fits(first, last, section)

            best = max(longest_that_fits(at, len(ends), keeps, guess), at)  # one unit at least
            groups.append((start, ends[best]))
            start, at = ends[best], best + 1
        return groups

    def piece(self, first: int, last: int, section: int = -1) -> Piece:
        """A group as a piece, by default of the section of its text."""
        start, end = self.starts[first], self.ends[last - 1]
        prefix, suffix = self.prefixes.get(first, ""), self.suffixes.get(last - 1, "")
        section = self._section_of(start, end) if section < 0 else section
        return Piece(start, end, section, self.sizer.size(start, end, prefix, suffix), prefix, suffix)

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
    of_nodes: list[int] = []
    lead = -1
    for position, unit, following in zip(positions, firsts, firsts[1:], strict=False):
        if position >= 0:
            of_nodes.append(unit if lead < 0 else lead)
            lead = -1
        elif following > unit + 1:
            lead = -1  # too long to lead, so it was cut
        elif lead < 0:
            lead = unit
    return [*of_nodes, firsts[-1]]


def whole_document(document: Document, sizer: Sizer, section_of: Callable[[int, int], int]) -> Piece | None:
    """The document as one piece, if it fits; a long one is not tried, its units are."""
    _, starts, ends, _ = document.block_columns
    if not starts or ends[-1] - starts[0] > sizer.cap * _LONG:
        return None
    start, end = starts[0], ends[-1]
    section, tokens = section_of(start, end), sizer.size(start, end)
    fits = tokens <= sizer.sure or sizer.size(start, end, sizer.breadcrumbs.prefix(section)) <= sizer.cap
    return Piece(start, end, section, tokens) if fits else None


def _closing_headings(document: Document) -> int:
    """Where headings with no text below them close the document; -1 if it does not end so, or has no text."""
    kinds = document.block_columns.kinds
    first = len(kinds)
    while first and kinds[first - 1] == "heading":
        first -= 1
    return document.block_columns.starts[first] if 0 < first < len(kinds) else -1
