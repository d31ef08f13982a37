"""Cutting a block that is too large: the ordered levels of cuts. Used by flatten.py.

A level says where a span may be cut. Parts are as long as the limit allows. What lies between two places of one level
and is still above the cap is cut on the next: a row, a line, an item, a sentence that fits the cap is not torn to reach
the limit.

    list, quote, footnote, directive   between the blocks inside, outermost first
    table                              between rows, then cells; the header is repeated
    code                               at blank lines, then at lines; the fence is opened again
    html, math                         at lines
    prose                              at sentences, then stops before small letters, then words, then inside code and
                                       links, then graphemes

and at last between any two characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from quire.blank import BLANK, text_end
from quire.counter import TokenCounter, adds_up
from quire.model import Block, Kind, Note
from quire.normalize import RegularText
from quire.offsets import line_start
from quire.split.around import INDENTED, Around, width
from quire.split.fences import Fence, opened_again
from quire.split.levels import IN_LINES, PROSE, Level, Places, blank_lines, cells, lines, with_end
from quire.split.quoted import DEEPEST, Quoted
from quire.split.reach import Reach
from quire.split.sentences import sentence_ends, stop_ends
from quire.split.standing import prefix_at, standing, standing_before
from quire.split.units import Unit, Wrap, blank_behind, composed

_SMALL = 8
"""A part with at most this part of the limit joins a neighbour that is above it."""

_SENTENCES: tuple[Level, ...] = (sentence_ends, stop_ends, *PROSE)
"""The levels of prose."""

_FENCE = re.compile(r"[ \t]*(?:[-*+>][ \t]*|[0-9]{1,9}[.)][ \t]*|\[\^[^\]\s]+\]:[ \t]*)*?((`{3,}|~{3,})[^\r\n]*)")


class Ladder:
    """Cuts blocks of one text into units of about ``limit`` tokens, and of at most ``cap``."""

    def __init__(self, text: str, embedded: str | RegularText, counter: TokenCounter, limit: int, cap: int) -> None:
        self.text = text
        self.embedded = embedded
        self.counter = counter
        self.limit = limit
        self.cap = cap
        self.notes: list[Note] = []
        self._adds_up = adds_up(counter)
        self._last_code = -1  # behind it no code and no table starts
        self._quoted = Quoted(text)
        self._plain = Reach(text, embedded, counter, self._quoted, limit)

    def cut(self, block: Block) -> list[Unit]:
        """The parts of ``block``, each within the cap, together all of its text; some may be small."""
        self._last_code = max(self.text.rfind(mark, block.start, block.end) for mark in ("```", "~~~", "|"))
        parts = list(self._block(block, block.start, block.end, Around(self.text), 0))
        if self._quoted.left_out >= 0:
            what = "a quote is nested too deep for its marks to be repeated; they are left out"
            self.notes.append((self._quoted.left_out, "quote-left-out", what))
        return parts

    def merged(self, units: Sequence[Unit]) -> list[Unit]:
        """Neighbours that fit together, together."""
        merged: list[Unit] = []
        for unit in units:
            tokens = self._joined(merged[-1], unit) if merged else None
            if tokens is None:
                merged.append(unit)
            else:
                first = merged[-1]
                wrap = unit.wrap if unit.wrap == first.wrap else None  # of two blocks neither's will do for both
                merged[-1] = unit._replace(start=first.start, before=first.before, tokens=tokens, wrap=wrap)
        return merged

    def size(self, unit: Unit) -> int:
        """How many tokens a part has with what stands around it."""
        return self.counter.count(composed(self.embedded, unit, unit))

    def _block(self, block: Block, start: int, end: int, around: Around, depth: int) -> Iterator[Unit]:
        """The parts of a block that is cut from ``start``, the start of its line, to ``end``."""
        if depth > DEEPEST:
            parts = list(self._parts(block.kind, start, end, (lines, *PROSE)))
            self._note_depth(block, [part.start for part in parts[1:]])
            yield from parts
        elif block.kind == "code":
            yield from self._code(start, end, around)
        elif block.kind == "table":
            yield from self._table(block, start, end, around)
        elif block.children:
            yield from self._container(block, start, end, around, depth)
        else:
            levels = (lines, *PROSE) if block.kind in IN_LINES else _SENTENCES
            reach = self._before(start, around, block)
            yield from self._parts(block.kind, max(start, reach.wrap.first), end, levels, reach)

    def _note_depth(self, block: Block, cuts: Sequence[int]) -> None:
        """Tell of code and tables inside a block that are cut, though nothing is repeated there."""
        for inner in block.walk():
            is_cut = bisect_right(cuts, inner.start) < bisect_left(cuts, inner.end)
            if is_cut and inner.kind in ("code", "table"):
                code, what = ("fence", "code") if inner.kind == "code" else ("header", "a table")
                message = f"{what} is nested too deep for its {code} to be repeated; it is left out"
                self.notes.append((inner.start, f"{code}-left-out", message))

    def _container(self, block: Block, start: int, end: int, around: Around, depth: int) -> Iterator[Unit]:
        """Cut between the blocks inside; what is too large there is cut as the block that it is."""
        inner = {line_start(self.text, child.start, start): child for child in reversed(block.children)}
        starts = sorted({start, *inner})
        text, count = self.text, self.counter.count
        outside, around = around, around.inside(block)
        most = self.cap if block.kind == "list" else self.limit  # an item is not cut where it fits
        for first, last in zip(starts, [*starts[1:], end], strict=True):
            own = text[first:last].rstrip(BLANK)
            child = inner.get(first)
            reach = self._before(first, outside if first == start else around, child)
            is_plain = reach is self._plain and first and text[first - 1] == "\n"
            if is_plain and own and (size := count(self.embedded[first : first + len(own)])) <= most:
                # The usual case: an item that fits, on lines of its own.
                yield Unit(first, first + len(own), block.kind, size, first + len(own))
                continue
            begin = max(first, reach.wrap.first)
            size = reach.size(begin, last)
            if size <= most:
                yield from self._unit(block.kind, begin, last, reach, size=size)
            elif child is None:
                yield from self._parts(block.kind, begin, last, _SENTENCES, reach, size=size)
            else:
                yield from self._block(child, first, last, around, depth + 1)

    def _before(self, start: int, around: Around, block: Block | None) -> Reach:
        """The reach of parts of a block that starts here, if one does: they stand inside of what is around them.

        Only HTML and math, whose lines are cut as they are, and what stands above code and tables.
        """
        if around.is_top or (start > self._last_code and (block is None or block.kind not in IN_LINES)):
            return self._plain
        stands = standing_before(prefix_at(self.text, start), around)
        if stands is None or (weight := self.counter.count(stands.again + stands.behind)) * 2 > self.cap:
            return self._plain
        first, last = start + stands.left_out, len(self.text) + 1
        wrap = Wrap(stands.again, "", stands.lead, stands.behind, first, last)
        return Reach(self.text, self.embedded, self.counter, self._quoted, max(self.limit, weight * 2), wrap=wrap)

    def _code(self, start: int, end: int, around: Around) -> Iterator[Unit]:
        fence = _FENCE.match(self.text, start, end)
        prefix = self._quoted.marks(start) + self.text[start : fence.start(1)] if fence else ""
        if fence is None or (around.is_top and width(prefix) >= INDENTED):  # it is only indented
            yield from self._parts("code", start, end, (blank_lines, lines, *PROSE), preferred=1)
            return
        made = opened_again(self.text, Fence(prefix, fence.group(1), fence.group(2)), around, start, end)
        wrap = made.wrap
        if self._weight(wrap) * 2 > self.cap and made.bare != wrap.before:
            self.notes.append(
                (start, "info-left-out", "the info string of a fence is too long to be repeated; it is left out")
            )
            wrap = wrap._replace(before=made.bare)
        levels = (_between(blank_lines, made.inside), _between(lines, made.inside), *self._inside_lines(made.end, end))
        yield from self._parts("code", wrap.first, end, levels, self._with(wrap, "fence-left-out"), preferred=1)

    def _table(self, block: Block, start: int, end: int, around: Around) -> Iterator[Unit]:
        body = next((row.start for row in block.children if not row.level), end)
        first_row = line_start(self.text, body, start)
        header = self.text[start:first_row].rstrip(BLANK)
        prefix = prefix_at(header, 0)
        stands = standing(prefix, around, moves=True)
        start += stands.left_out
        names = lines(header, 0, len(header))[0]
        delimiter = header[names + len(prefix_at(header, names)) :]
        again = f"{stands.again}{header[len(prefix) : names]}{stands.behind}{delimiter}\n"
        wrap = Wrap(again, "", stands.lead, stands.behind, start, end)
        rows = _between(lines, (first_row + 1, block.end))  # the header stays with a row
        levels = (rows, _between(lines, (start, block.end)), cells, *self._inside_lines(block.end, end))
        yield from self._parts("table", start, end, levels, self._with(wrap, "header-left-out"))

    def _inside_lines(self, last: int, end: int) -> tuple[Level, ...]:
        """The levels below lines of a block that ends at ``last``; marks of a quote behind it stay with it."""
        if not self.text[last:end].strip(BLANK):
            return PROSE
        return tuple(_between(level, (0, last - 1)) for level in PROSE)

    def _weight(self, wrap: Wrap) -> int:
        """How many tokens every part is given."""
        return self.counter.count(wrap.before + wrap.after)

    def _with(self, wrap: Wrap, code: str) -> Reach:
        """The reach of parts with ``wrap`` around them, if they have room for it: half of each is its own text."""
        weight = self._weight(wrap)
        if weight * 2 <= self.cap:
            return Reach(self.text, self.embedded, self.counter, self._quoted, max(self.limit, weight * 2), wrap=wrap)
        what = "an opening fence" if code == "fence-left-out" else "a table's header"
        self.notes.append((wrap.first, code, f"{what} is too long to be repeated in every part; it is left out"))
        return self._plain

    def _parts(
        self,
        kind: Kind,
        start: int,
        end: int,
        levels: Sequence[Level],
        reach: Reach | None = None,
        *,
        size: int = -1,
        preferred: int = 0,
        until: int = -1,
    ) -> Iterator[Unit]:
        """As few parts of a span as the limit allows on the first level; what is above the cap goes to the next.

        So does what is above the limit on the first ``preferred`` levels, which are only the best places. ``until`` is
        where the sentence or line ends that is cut between words, if one is.
        """
        reach = reach or self._plain
        if len(levels) == len(PROSE):
            until = text_end(self.text, start, end)
        if size < 0:
            size = reach.about(start, end)
        if size <= reach.limit:
            yield from self._unit(kind, start, end, reach, size=size, until=until)
            return
        if not levels:
            yield from self._characters(kind, start, end, reach, until)
            return
        places = Places(self.text, levels[0], start, end)
        most = reach.limit if preferred > 0 else self.cap
        if levels[0] is stop_ends and places.all[0] == end:  # the usual case
            yield from self._parts(kind, start, end, levels[1:], reach, size=size)
            return
        stride = (end - start) * reach.limit // size  # about as many characters as fit
        while start < end:
            place, size = reach.place(start, places, stride)
            if size > most:
                yield from self._parts(
                    kind, start, place, levels[1:], reach, size=size, preferred=preferred - 1, until=until
                )
            else:
                yield from self._unit(kind, start, place, reach, size=size, until=until)
                stride = place - start
            start = place

    def _characters(self, kind: Kind, start: int, end: int, reach: Reach, until: int) -> Iterator[Unit]:
        """The last resort: as many characters as fit, one at least."""
        self.notes.append((start, "cut-inside-grapheme", "a character with all its marks is above the cap; it is cut"))
        while start < end:
            length = min(end - start, 4 * reach.limit)
            while length > 1 and reach.size(start, start + length) > reach.limit:
                length //= 2
            size = reach.size(start, start + length)
            yield from self._unit(kind, start, start + length, reach, size=size, until=until)
            start += length

    def _unit(self, kind: Kind, start: int, end: int, reach: Reach, *, size: int, until: int = -1) -> Iterator[Unit]:
        """A part, whose size with what stands around it is known; if it ends before ``until``, inside a sentence."""
        last = text_end(self.text, start, end)
        if last > start:
            before, after = reach.around(start, end)
            tokens = self.counter.count(self.embedded[start:last]) if before or after else size
            yield Unit(start, last, kind, tokens, last, before, after, last >= until, wrap=reach.wrap)

    def _joined(self, first: Unit, last: Unit) -> int | None:
        """How many tokens two neighbours have together; None if they do not fit."""
        tokens = first.tokens + last.tokens
        most = self.limit
        if tokens > most + 2:
            if min(first.tokens, last.tokens) * _SMALL > most or max(first.tokens, last.tokens) <= most:
                return None
            most = self.cap  # a lone tag beside a line that is above the limit anyway
        if self._adds_up and self.counter.cuts_cleanly(self.text, last.start):
            tokens += blank_behind(self.text, self.counter, first, last.start)
        else:
            tokens = self.counter.count(self.embedded[first.start : last.end])
        if not (first.before or last.after):
            return tokens if tokens <= most else None
        return tokens if self.counter.count(composed(self.embedded, first, last)) <= most else None


def _between(level: Level, span: tuple[int, int]) -> Level:
    """A level with only those places that lie in a span, and the end."""
    low, high = span

    def places(text: str, start: int, end: int) -> Sequence[int]:
        return with_end([place for place in level(text, start, end) if low <= place <= high], end)

    return places
