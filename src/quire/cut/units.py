"""A document as columns of units, which strategies put together into pieces.

A unit is a section with its own text, a block of a section that is too large, or a slice of a block that is too large
(oversized_blocks.py). A piece is a group of consecutive units; what a slice needs to stay valid is added at its edges.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import lt
from typing import TypeAlias

from msgspec import Struct

from quire.cut.levels import line_ends
from quire.cut.oversized_blocks import Cutter
from quire.model.chunk_record import Piece
from quire.model.document import VERBATIM, Block, Document, Finding, Kind, Note, findings_at
from quire.model.offsets import line_start, text_end
from quire.model.options import Options
from quire.parsing.nested_blocks import inner_blocks, list_items
from quire.tokens.sizer import NEVER, SLACK, UNKNOWN, Sizer, longest_that_fits

_ROOM_FOR_TEXT = 4  # a heading must leave this many tokens for text below it; a longer heading is cut as prose
_LONG = 4  # text with more characters per token of a limit is counted in smaller steps: it will most likely be cut
_BLANK_LINE_ABOVE = re.compile(r"(?:\r(?!\n)|\n)[ \t>]*(?:\r\n|\r|\n)\Z")
_CONTAINERS = frozenset({"list", "quote", "footnote", "directive", "html"})
UnitRange: TypeAlias = tuple[int, int]  # the first unit of a group, and one past its last
HEADING_PARTED = "heading separated from its text: together they exceed the cap"


class Units(Struct, frozen=True):
    """The columns, and what can be asked of groups: the units ``first`` to before ``last``."""

    document: Document
    sizer: Sizer
    starts: Sequence[int]  # the first character of each unit; then the end of the document
    ends: Sequence[int]  # one past the last character of each unit; blank lines may follow
    kinds: Sequence[Kind]  # the kind of its block; `paragraph` for a whole section
    stays_with_next: Sequence[bool]
    """True if a piece must not end here: a heading, or text too short to be apart from its first child."""
    totals: Sequence[int]  # the sum of tokens up to the start of each unit; then up to the end of the document
    sure: int
    """A group whose total is at most this fits, unless it needs a prefix or suffix. ``NEVER`` if totals say nothing:
    with a counter that does not add up, or after a word was cut, whose slices have more tokens together."""
    firsts: Sequence[int]  # the first unit of each section; then their number
    torn: frozenset[int]  # the units that end inside a sentence
    prefixes: Mapping[int, str]  # what a piece needs in front if it starts with a unit; not for units that need nothing
    suffixes: Mapping[int, str]  # what a piece needs behind if it ends with a unit
    notes: Sequence[Note]

    def bounds(self, first: int, last: int, added: int = 0) -> tuple[int, int]:
        """The fewest and the most tokens of a group, with as many characters ``added`` around it."""
        if self.sure == NEVER:
            return UNKNOWN
        total = self.totals[last] - self.totals[first]
        # As Sizer.bounds, which takes longer to call than to compute.
        return total - self.starts[last] + self.ends[last - 1] - SLACK, total + SLACK + 4 * added

    def fits(self, first: int, last: int, section: int = -1) -> bool:
        """Whether a group keeps the cap below its breadcrumb, by default that of the section of its text."""
        total, sure = self.totals[last] - self.totals[first], self.sure
        start, end = self.starts[first], self.ends[last - 1]
        if sure != NEVER and total - self.starts[last] + end - SLACK > self.sizer.cap:
            return False
        prefix, suffix = self.prefixes.get(first, ""), self.suffixes.get(last - 1, "")
        if total <= sure and not (prefix or suffix):
            return True
        return self.sizer.fits(start, end, section, prefix, suffix, self.bounds(first, last, len(prefix) + len(suffix)))

    def is_below(self, first: int, last: int, minimum: int) -> bool:
        """Whether the text of a group has fewer than ``minimum`` tokens."""
        start, end = self.starts[first], self.ends[last - 1]
        if self.sure != NEVER:  # as with ``bounds``
            total = self.totals[last] - self.totals[first]
            if total - self.starts[last] + end - SLACK >= minimum:
                return False
            if total + SLACK < minimum:
                return True
        return self.sizer.size(start, end) < minimum

    def without_small(self, groups: Sequence[UnitRange], minimum: int) -> list[UnitRange]:
        """A group below the minimum joins the one before it, or else the one after it, where both fit together."""
        done: list[UnitRange] = []
        waiting = [*reversed(groups)]
        while waiting:
            first, last = waiting.pop()
            if not self.is_below(first, last, minimum):
                done.append((first, last))
            elif done and self.fits(done[-1][0], last):
                done[-1] = done[-1][0], last
            elif waiting and self.fits(first, waiting[-1][1]):
                waiting[-1] = first, waiting[-1][1]
            else:
                done.append((first, last))
        return done

    def possible_ends(self, first: int, last: int) -> list[int]:
        """The units before which a piece may end, from ``first`` on; ``last`` is one of them."""
        stays = self.stays_with_next
        return [*[end for end in range(first + 1, last) if not stays[end - 1]], last]

    def filled(self, first: int, last: int, target: int, section: int = -1) -> list[UnitRange]:
        """Groups of these units, each as long as ``target`` and the cap allow; a heading is never the last of one."""
        ends = self.possible_ends(first, last)
        groups: list[UnitRange] = []
        start, at = first, 0
        while start < last:
            guess = bisect_right(ends, self.totals[start] + target, lo=at, key=self.totals.__getitem__) - 1

            def keeps(number: int, first: int = start) -> bool:
                start, last, end = self.starts[first], ends[number], self.ends[ends[number] - 1]
                prefix, suffix = self.prefixes.get(first, ""), self.suffixes.get(last - 1, "")
                bounds = self.bounds(first, last, len(prefix) + len(suffix))
                is_within = self.sizer.is_within(target, start, end, prefix, suffix, bounds)
                return is_within and self.fits(first, last, section)

            best = max(longest_that_fits(at, len(ends), keeps, guess), at)  # one unit at least
            groups.append((start, ends[best]))
            start, at = ends[best], best + 1
        return groups

    def piece(self, first: int, last: int, section: int = -1) -> Piece:
        """A group as a piece, by default of the section of its text."""
        start, end = self.starts[first], self.ends[last - 1]
        prefix, suffix = self.prefixes.get(first, ""), self.suffixes.get(last - 1, "")
        section = self.sizer.section_of(start, end) if section < 0 else section
        return Piece(start, end, section, self.sizer.size(start, end, prefix, suffix), prefix, suffix)

    def node_firsts(self) -> Sequence[int]:
        """The first unit of each node, and the number of units; headings without text lead the next node."""
        positions, firsts = self.document.section_columns.positions, self.firsts
        if min(positions) >= 0:
            return firsts
        of_nodes: list[int] = []
        lead = -1
        for position, unit, following in zip(positions, firsts, firsts[1:], strict=False):
            lead = unit if lead < 0 else lead
            if position >= 0:
                of_nodes.append(lead)
            if position >= 0 or following > unit + 1:  # a heading too long to lead was cut
                lead = -1
        return [*of_nodes, firsts[-1]]

    def findings(self, pieces: Sequence[Piece], notes: Sequence[Note] = ()) -> list[Finding]:
        """Findings about cuts, with those of a strategy, in document order."""
        closing = _closing_headings(self.document)
        alone = [piece.start for piece in pieces if piece.start >= closing >= 0]
        message = "heading at the end of the document does not fit below its last text within the cap"
        notes = [*((start, "heading-too-long", message) for start in alone), *self.notes, *notes]
        if not notes:
            return []
        told = {note[:2]: note for note in notes}
        return findings_at(self.document.source, sorted(told.values()))


def whole_document(document: Document, sizer: Sizer, options: Options, units: Units | None = None) -> Piece | None:
    """The document as one piece, if it fits below the breadcrumb that it gets; a long one is tried with its units."""
    _, starts, ends, _ = document.block_columns
    if not starts:
        return None
    start, end, lists = starts[0], ends[-1], document.section_columns
    limit = min(getattr(options, "join_tokens", sizer.cap), sizer.cap)  # of several sections together
    if limit < sizer.cap and sum(map(lt, lists.text_starts, lists.text_ends)) < 2:
        limit = sizer.cap
    is_long = end - start > limit * _LONG if units is None else units.bounds(0, len(units.ends))[0] > limit
    if is_long:
        return None
    whole = Piece(start, end, sizer.section_of(start, end), sizer.size(start, end))
    if whole.tokens > limit:
        return None
    if whole.tokens <= sizer.sure or sizer.fits(start, end, whole.section, bounds=sizer.bounds(whole.tokens)):
        return whole
    # No breadcrumb is above a text whose first heading says the same.
    titles = lists.titles[1:2] if options.breadcrumb_mode == "conditional" else []
    return whole if any(sizer.breadcrumbs.repeats(title, whole.section) for title in titles) else None


def make_units(
    document: Document,
    sizer: Sizer,
    *,
    opens_all: bool = False,
    limit: int | None = None,
    target: int = 0,
    fill: int | None = None,
    least: int = 0,
) -> Units:
    """A unit for each section that fits, with its heading; units for the blocks of the others.

    ``opens_all``: every section is opened into its blocks. ``limit``: blocks with more tokens are cut into slices of
    about ``target``; None for no limit. ``fill``: paragraphs of such a block share a slice up to this, ``target`` by
    default. ``least``: a section with fewer tokens of text leads its first child.
    """
    lists, block_starts, block_ends = document.section_columns, *document.block_columns[1:3]
    blocks = [0, *lists.blocks[1:], len(block_starts)]
    edges = [block_starts[0] if block_starts else 0, *lists.starts[1:], len(document.text)]
    sums = _sums(document, sizer, edges, blocks, 0 if opens_all else sizer.cap * _LONG, limit)
    builder = _Builder(document, sizer, limit, (target, target if fill is None else fill), sums)
    rows, sure, tail, firsts = builder.rows, sizer.sure, builder.tail, []
    parents, positions = [*lists.parents, -1], lists.positions
    columns = zip(edges, edges[1:], blocks, blocks[1:], lists.text_starts, lists.text_ends, strict=False)
    for number, (start, stop, first, last, own_start, own_end) in enumerate(columns):
        firsts.append(len(rows))
        if first == last:
            continue
        end, after = block_ends[last - 1], sums[stop]
        is_usual = after - sums[start] <= sure and builder.lead_start == start and stop != tail
        if opens_all or own_start == own_end or not (is_usual or builder.fits(end, stop)):
            builder.open(first, last, stop)
        else:
            leads = least > 0 and parents[number + 1] == number and positions[number + 1] >= 0
            leads = leads and is_short(document, sizer, number, least, after - sums[start])
            builder.add(end, "paragraph", stop, after, leads=leads)
    firsts.append(len(rows))
    ends, kinds, starts, totals, stays = zip(*rows, strict=True) if rows else ((),) * 5
    return Units(
        document, sizer, (edges[0], *starts), ends, kinds, stays, (sums[edges[0]], *totals), builder.sure, firsts,
        frozenset(builder.torn), builder.prefixes, builder.suffixes, builder.notes,
    )  # fmt: skip


def _sums(  # noqa: PLR0917
    document: Document, sizer: Sizer, edges: list[int], blocks: list[int], longest: int, limit: int | None
) -> dict[int, int]:
    """The text counted once: section by section, long sections block by block, long blocks line by line."""
    kinds, starts, ends, _ = document.block_columns
    longest_block = limit * _LONG if limit and sizer.adds_up else len(document.text)
    positions: list[int] = []
    for number, start in enumerate(edges[:-1]):
        positions.append(start)
        if edges[number + 1] - start <= longest:
            continue
        for block in range(blocks[number], blocks[number + 1]):
            positions.append(starts[block])
            if ends[block] - starts[block] > longest_block and kinds[block] in VERBATIM:
                positions += line_ends(document.text, starts[block], ends[block])[:-1]
    positions = [*dict.fromkeys(positions), edges[-1]]  # the document and its first heading may start together
    return dict(zip(positions, sizer.sums(positions[0], positions[1:])[0], strict=True))


def is_short(document: Document, sizer: Sizer, number: int, least: int, tokens: int = 0) -> bool:
    """Whether a section's own text has fewer than ``least`` tokens; all of it has ``tokens``, if known."""
    lists, text = document.section_columns, document.text
    start, end = lists.text_starts[number], lists.text_ends[number]
    if not number:  # front matter is no text
        start = min(document.block_columns.starts[0], end)
    elif tokens and sizer.adds_up:
        stop = lists.starts[number + 1] if number + 1 < len(lists.starts) else len(text)
        others = stop - lists.starts[number] - (end - start)
        if tokens - others * (1 if text.isascii() else 4) >= least:
            return False
    return sizer.size(start, end) < least


class _Builder:
    """The units so far. ``sums`` are those up to the starts of sections, and of blocks where they were counted."""

    def __init__(
        self, document: Document, sizer: Sizer, limit: int | None, target: tuple[int, int], sums: dict[int, int]
    ) -> None:
        self.rows: list[tuple[int, Kind, int, int, bool]] = []
        """Of each unit its end, its kind, the start of the next one, the sum up to there, and whether it leads that."""
        self.torn: set[int] = set()
        self.prefixes: dict[int, str] = {}
        self.suffixes: dict[int, str] = {}
        self.notes: list[Note] = []
        self.sure = sizer.sure
        self._document, self._sizer, self._limit, self._target, self._sums = document, sizer, limit, target, sums
        self._cutter: Cutter | None = None  # most documents need none
        # Of the next unit, and of the units that lead it; the first sum is that up to the first section.
        self._start, self._total = self.lead_start, self._lead_total = next(iter(sums.items()))
        self.tail = _closing_headings(document)
        # They stay with the text above them if they leave it half of the cap.
        if self.tail >= 0 and sizer.size(self.tail, document.block_columns.ends[-1]) * 2 >= sizer.cap:
            self.tail = -1

    def fits(self, end: int, stop: int, room: int = 0) -> bool:
        """Whether the text up to ``end`` and ``room`` more tokens keep the cap, with what cannot be apart from it."""
        if stop == self.tail:
            end, stop = self._document.block_columns.ends[-1], len(self._document.text)
        sizer, total = self._sizer, self._sums[stop] - self._lead_total
        if total + room <= sizer.sure:
            return True
        return sizer.fits(self.lead_start, end, bounds=sizer.bounds(total, stop - end), room=room)

    def open(self, first: int, last: int, stop: int) -> None:
        """Add the blocks ``first`` to before ``last`` of a section as units."""
        kinds, starts, ends, _ = self._document.block_columns
        edges = [*starts[first:last], stop]
        sums, limit, sizer, sure, tail = self._sums, self._limit, self._sizer, self._sizer.sure, self.tail
        if last - first > 1 and edges[1] not in sums:
            counted, _ = self._sizer.sums(edges[0], edges[1:])
            shift = sums[edges[0]] - counted[0]
            sums.update(zip(edges[1:-1], [total + shift for total in counted[1:-1]], strict=True))
        for block, following in enumerate(edges[1:], first):
            kind, end, after = kinds[block], ends[block], sums[following]
            is_usual = after - self._lead_total <= sure and following != tail
            if kind == "heading":
                self._add_heading(end, following)
            elif is_usual and (limit is None or after - self._total < limit):
                self.add(end, kind, following, after)
            elif limit is None:
                self._add_between_blank_lines(Block(kind, starts[block], end), following)
            else:
                bounds = sizer.bounds(after - self._total, following - end)
                if sizer.is_within(limit, self._start, end, bounds=bounds) and self.fits(end, following):
                    self.add(end, kind, following, after)
                else:
                    self._add_slices(Block(kind, starts[block], end), following)

    def add(self, end: int, kind: Kind, stop: int, after: int, *, leads: bool = False) -> None:
        """Add the text from the last unit to ``end``; the next unit starts at ``stop``, where the sum is ``after``."""
        leads = leads or stop == self.tail  # the headings that close the document stay with it
        self.rows.append((end, kind, stop, after, leads))
        self._start, self._total = stop, after
        if not leads:
            self.lead_start, self._lead_total = stop, after

    def _add_between_blank_lines(self, block: Block, stop: int) -> None:
        """Add a block that is not cut; a list, a quote or a container above the cap at the blank lines inside it."""
        text, starts = self._document.text, [block.start]
        if block.kind in _CONTAINERS and not self.fits(block.end, stop):
            items = list_items(text, block) if block.kind == "list" else inner_blocks(text, block)
            lines = sorted({line_start(text, item.start, block.start) for item in items})
            starts += [line for line in lines[1:] if _BLANK_LINE_ABOVE.search(text, max(line - 80, block.start), line)]
        for start, following in zip(starts, [*starts[1:], stop], strict=True):
            end = text_end(text, start, min(following, block.end))
            after = self._sums[stop] if following == stop else self._total + self._sizer.size(start, following)
            self.add(end, block.kind, following, after)

    def _add_heading(self, end: int, stop: int) -> None:
        """A heading leads what follows; one that leaves no room for text is cut as prose."""
        start, after = self._start, self._sums[stop]
        has_room = self.fits(end, stop, _ROOM_FOR_TEXT)
        if self.lead_start < start and not has_room:
            self._part_lead()
            has_room = self.fits(end, stop, _ROOM_FOR_TEXT)
        if has_room:
            is_last = end == self._document.block_columns.ends[-1]
            self.add(end, "heading", stop, after, leads=not is_last)
            return
        message = "heading too long to stay with its text within the cap; it is cut as prose"
        self.notes.append((start, "heading-too-long", message))
        if self._limit is None:
            self.add(end, "heading", stop, after)
        else:
            self._add_slices(Block("heading", start, end), stop)

    def _part_lead(self) -> None:
        """Let a piece end before the next unit."""
        if self.rows[-1][1] == "heading":
            above = self.rows[-2][2] if len(self.rows) > 1 else self.lead_start
            self.notes.append((above, "heading-too-long", HEADING_PARTED))
        self.rows[-1] = (*self.rows[-1][:4], False)
        self.lead_start, self._lead_total = self._start, self._total

    def _add_slices(self, block: Block, stop: int) -> None:
        """Add the slices of a block that is too large."""
        last = self._document.block_columns.ends[-1] if stop == self.tail else block.end
        cutter = self._cutter = self._cutter or Cutter(self._document.text, self._sizer, *self._target, self.notes)
        slices = cutter.cut(block, self.lead_start, last)
        if cutter.first > self.lead_start:
            self._part_lead()
        if cutter.last < last:
            self.tail = -1
        self.sure = self.sure if cutter.has_exact_sums else NEVER
        for cut, following in zip(slices, [*[later.start for later in slices[1:]], stop], strict=True):
            unit, after = len(self.rows), self._sums[stop]
            if following < stop:
                is_exact = cutter.has_exact_sums
                after = self._sizer.total(following) if is_exact else self._total + cut.tokens
            self.add(cut.end, block.kind, following, after)
            if not cut.ends_sentence:
                self.torn.add(unit)
            if cut.prefix:
                self.prefixes[unit] = cut.prefix
            if cut.suffix:
                self.suffixes[unit] = cut.suffix


def _closing_headings(document: Document) -> int:
    """Where headings with no text below them close the document; -1 if it does not end so, or has no text."""
    kinds = document.block_columns.kinds
    first = len(kinds)
    while first and kinds[first - 1] == "heading":
        first -= 1
    return document.block_columns.starts[first] if 0 < first < len(kinds) else -1
