"""Cutting a block that is too large: the ordered levels, and the one function that goes through them.

A level lists the positions at which a span may be cut. Parts are as long as the limit allows. A span between two
positions of one level that is still above the cap is cut on the next level; a row, a line, an item or a sentence that
fits the cap is not torn to reach the limit. reopen.py has what a part needs around it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import NamedTuple, TypeAlias

from quire.model import Block, Document, Kind, Note
from quire.offsets import BLANK, line_start, text_end, trimmed
from quire.parsing import container_blocks, inner_blocks
from quire.size.sizer import Sizer, furthest
from quire.split.graphemes import grapheme_ends
from quire.split.inline import block_starts, outside
from quire.split.reopen import (
    DEEPEST,
    NOTHING,
    Container,
    QuoteMarks,
    Reopening,
    reopened_container,
    reopened_fence,
    repeated_header,
    repeated_markers,
    without_bullets,
)
from quire.split.sentences import sentence_ends, stop_ends
from quire.split.words import inner_word_ends, word_ends

Positions: TypeAlias = Callable[[str, int, int], Sequence[int]]
"""Where a span of a text may be cut: ascending, the last is the end of the span."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK_LINES = re.compile(r"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")
_PIPE = re.compile(r"(?<!\\)\|")
_LONG = 8
"""The size of a span with this many characters per token of the limit is estimated from its beginning."""
_GUESSES = 6
"""So many sizes say where to look next; then the search halves what is left."""
_SMALL = 8
"""A part smaller than this fraction of the limit joins a neighbour that is above the limit."""


def line_ends(text: str, start: int, end: int) -> list[int]:
    """After each line."""
    return _with_end([match.end() for match in _LINE_END.finditer(text, start, end)], end)


def blank_line_ends(text: str, start: int, end: int) -> list[int]:
    """After each run of blank lines."""
    return _with_end([match.end() for match in _BLANK_LINES.finditer(text, start, end)], end)


def cell_starts(text: str, start: int, end: int) -> list[int]:
    """Before each cell of a table row but the first."""
    return _with_end([match.start() for match in _PIPE.finditer(text, start + 1, end)], end)


def sentence_line_ends(text: str, start: int, end: int) -> list[int]:
    """After each sentence that ends its line: text without hard line breaks has its paragraphs there."""
    ends = sentence_ends(text, start, end)
    return _with_end([each for each in ends if "\n" in text[each - 2 : each] or "\r" in text[each - 2 : each]], end)


def safe_grapheme_ends(text: str, start: int, end: int) -> list[int]:
    """After each grapheme, unless the rest would open another block."""
    return outside(grapheme_ends(text, start, end), block_starts(text, start, end, end))


def _with_end(positions: list[int], end: int) -> list[int]:
    if not positions or positions[-1] != end:
        positions.append(end)
    return positions


class Level(NamedTuple):
    """One way to cut a span."""

    positions: Positions
    """Where it may be cut."""
    is_preference: bool = False
    """Whether spans above the limit, not only those above the cap, are cut on the next level."""


WORDS = (Level(word_ends), Level(inner_word_ends), Level(safe_grapheme_ends))
LEVELS: dict[str, tuple[Level, ...]] = {
    "prose": (Level(sentence_line_ends, is_preference=True), Level(sentence_ends), Level(stop_ends), *WORDS),
    "code": (Level(blank_line_ends, is_preference=True), Level(line_ends), *WORDS),
    "table": (Level(line_ends), Level(line_ends), Level(cell_starts), *WORDS),
    "html": (Level(line_ends), *WORDS),
    "math": (Level(line_ends), *WORDS),
}
"""The levels of each kind of block, the best first; lists, quotes and the like are cut between the blocks inside.

The second level of a table may separate the header from the first row.
"""


def may_stay_whole(kind: Kind, text: str, tokens: int, limit: int) -> bool:
    """Whether a block, or a part of one, is small enough. Add rules such as "at most 20 rows in a table" here."""
    return tokens <= limit


class Part(NamedTuple):
    """A part of a block."""

    start: int
    end: int
    tokens: int
    """Tokens of its own text."""
    prefix: str
    suffix: str
    ends_sentence: bool
    """Whether no sentence is cut at its end."""
    reopening: Reopening


class _Span(NamedTuple):
    """What is being cut."""

    kind: Kind
    levels: tuple[Level, ...]
    reopening: Reopening
    limit: int
    sentence_end: int = -1
    """Where the sentence or line ends that is cut between words; -1 while none is."""


class Cutter:
    """Cuts blocks of a document into parts of about ``limit`` tokens that fit the cap."""

    def __init__(
        self,
        document: Document,
        sizer: Sizer,
        limit: int,
        notes: list[Note],
    ) -> None:
        self._text = document.text
        self._sizer = sizer
        self._limit = limit
        self._notes = notes
        self._quotes = QuoteMarks(document.text)
        self._block = self._first = self._last = self._block_end = self._last_fence = 0
        self._reserved = 0
        self._outer = NOTHING  # what opens and closes the container that is cut

    def cut(self, block: Block, first: int, last: int) -> list[Part]:
        """The parts of ``block``, which together are all of its text.

        The first part has to fit below the text from ``first`` on, the last one above the text up to ``last``.
        """
        text = self._text
        self._block, self._block_end, self._first, self._last = block.start, block.end, first, last
        self._reserved = self._sizer.count(text[first : block.start]) + self._sizer.count(text[block.end : last])
        self._last_fence = max(text.rfind(mark, block.start, block.end) for mark in ("```", "~~~", "|"))
        self._outer, content = self._container(block)
        if content.start > block.start:  # the lines that open and close it stay with the first and the last part
            self._block, self._block_end = content.start, content.end
            self._reserved = self._sizer.count(text[first : content.start]) + self._sizer.count(
                text[content.end : last]
            )
        parts = list(self._cut_block(content, content.start, content.end, Container(text), 0))
        parts[0] = parts[0]._replace(start=block.start)
        parts[-1] = parts[-1]._replace(end=block.end)
        if self._quotes.left_out >= 0:
            message = "quote nested too deep: its marks are not repeated in every part"
            self._notes.append((self._quotes.left_out, "quote-left-out", message))
        return self._merged(parts)

    def _container(self, block: Block) -> tuple[Reopening, Block]:
        """What opens and closes a directive around each part, and what is cut: the block, or the content of it."""
        text, outer = self._text, reopened_container(self._text, block) if block.kind == "directive" else NOTHING
        if outer is not NOTHING:
            outer = self._if_light(outer, "container-left-out", "opening of a container")
        if not outer.suffix:
            return outer, block._replace(children=inner_blocks(text, block))
        start, end = trimmed(text, text.find("\n", block.start) + 1, outer.end)
        if end <= start:
            return NOTHING, block
        children = container_blocks(text, start, end)
        return outer._replace(end=end), Block("directive" if children else "paragraph", start, end, children=children)

    # What is cut, by kind

    def _cut_block(self, block: Block, start: int, end: int, container: Container, depth: int) -> Iterator[Part]:
        """The parts of a block from ``start``, the start of its line, to ``end``."""
        if depth > DEEPEST:
            parts = list(self._parts(_Span(block.kind, LEVELS["html"], NOTHING, self._limit), start, end))
            self._note_depth(block, [part.start for part in parts[1:]])
            yield from parts
        elif block.kind == "code":
            yield from self._cut_code(start, end, container)
        elif block.kind == "table":
            yield from self._cut_table(block, start, end, container)
        elif block.children:
            yield from self._cut_container(block, start, end, container, depth)
        else:
            reopening = self._markers(start, container, block)
            span = _Span(block.kind, LEVELS.get(block.kind, LEVELS["prose"]), reopening, self._limit_of(reopening))
            yield from self._parts(span, max(start, reopening.start), end)

    def _cut_container(self, block: Block, start: int, end: int, container: Container, depth: int) -> Iterator[Part]:
        """Cut between the blocks inside; what is too large there is cut as the block that it is."""
        inner = {line_start(self._text, child.start, start): child for child in reversed(block.children)}
        starts = sorted({start, *inner})
        outside, container = container, container.inside(block)
        for first, last in zip(starts, [*starts[1:], end], strict=True):
            child = inner.get(first)
            reopening = self._markers(first, outside if first == start else container, child)
            begin = max(first, reopening.start)
            span = _Span(block.kind, LEVELS["prose"], reopening, self._limit_of(reopening))
            size = self._size(begin, last, reopening)
            is_whole = self._fits(begin, last, size, reopening) and (block.kind == "list" or size <= self._limit)
            if is_whole and may_stay_whole(block.kind, self._text[begin:last], size, max(size, self._limit)):
                yield from self._part(span, begin, last, size)
            elif child is None:
                yield from self._parts(span, begin, last)
            else:
                yield from self._cut_block(child, first, last, container, depth + 1)

    def _cut_code(self, start: int, end: int, container: Container) -> Iterator[Part]:
        fence = reopened_fence(self._text, container, self._quotes.at(start), start, end)
        if fence is None:  # it is only indented
            yield from self._parts(_Span("code", LEVELS["code"], NOTHING, self._limit), start, end)
            return
        reopening = fence.reopening
        if not self._is_light(reopening) and fence.bare_prefix != reopening.prefix:
            message = "info string of a fence too long to repeat in every part; it is left out"
            self._notes.append((start, "info-left-out", message))
            reopening = reopening._replace(prefix=fence.bare_prefix)
        reopening = self._if_light(reopening, "fence-left-out", "opening fence")
        levels = _within(LEVELS["code"], [fence.inside] * 2, self._inline_window(fence.end, end))
        yield from self._parts(_Span("code", levels, reopening, self._limit_of(reopening)), fence.reopening.start, end)

    def _cut_table(self, block: Block, start: int, end: int, container: Container) -> Iterator[Part]:
        body = next((row.start for row in block.children if not row.level), end)
        first_row = line_start(self._text, body, start)
        header = repeated_header(self._text, container, start, first_row, end)
        reopening = self._if_light(header, "header-left-out", "table header")
        start = header.start
        windows = [(first_row + 1, block.end), (start, block.end), (start, block.end)]
        levels = _within(LEVELS["table"], windows, self._inline_window(block.end, end))
        yield from self._parts(_Span("table", levels, reopening, self._limit_of(reopening)), start, end)

    def _markers(self, start: int, container: Container, block: Block | None) -> Reopening:
        """The list markers that a part from here on needs; only HTML, math and text above code or tables need any."""
        is_verbatim = block is not None and block.kind in ("html", "math")
        if container.is_document or (start > self._last_fence and not is_verbatim):
            return NOTHING
        reopening = repeated_markers(self._text, container, start)
        return reopening if reopening is not None and self._is_light(reopening) else NOTHING

    def _inline_window(self, last: int, end: int) -> tuple[int, int]:
        """Where a block that ends at ``last`` may be cut inside lines; quote marks behind it stay with it."""
        return (0, last - 1) if self._text[last:end].strip(BLANK) else (0, end)

    def _note_depth(self, block: Block, cuts: Sequence[int]) -> None:
        """Report cut code and tables inside a block that is nested too deep to repeat anything."""
        for inner in block.walk():
            is_cut = bisect_right(cuts, inner.start) < bisect_left(cuts, inner.end)
            if is_cut and inner.kind in ("code", "table"):
                code, what = ("fence", "code") if inner.kind == "code" else ("header", "table")
                message = f"{what} nested too deep to repeat its {code} in every part; it is left out"
                self._notes.append((inner.start, f"{code}-left-out", message))

    # Sizes

    def _around(self, start: int, end: int, reopening: Reopening) -> tuple[str, str]:
        """The prefix and suffix of a part."""
        in_line = start > 0 and self._text[start - 1] not in "\r\n"
        prefix, suffix = reopening.around(start, end, in_line=in_line)
        opening, closing = self._outer.around(start, end)
        if start == self._block and self._first < start:
            return "", suffix + closing  # the piece starts with other text
        prefix = prefix or self._quotes.at(start)
        return opening + without_bullets(prefix) if opening else prefix, suffix + closing

    def _size(self, start: int, end: int, reopening: Reopening) -> int:
        """The tokens of a part with its prefix and suffix."""
        prefix, suffix = self._around(start, end, reopening)
        return self._sizer.size(start, text_end(self._text, start, end), prefix, suffix)

    def _fits(self, start: int, end: int, size: int, reopening: Reopening) -> bool:
        """Whether a part of this size keeps the cap below its breadcrumb, with the text that it must stay with."""
        first = self._first if start == self._block else start
        last = self._last if end >= self._block_end else text_end(self._text, start, end)
        if self._sizer.surely_fits(size + self._reserved, first, last):
            return True
        prefix, suffix = self._around(start, end, reopening)
        return self._sizer.fits(first, last, prefix, suffix)

    def _limit_of(self, reopening: Reopening) -> int:
        """The limit; at least half of a part is its own text."""
        weight = self._sizer.count(reopening.prefix + reopening.suffix) if reopening is not NOTHING else 0
        return max(self._limit, weight * 2)

    def _is_light(self, reopening: Reopening) -> bool:
        """Whether a part has room for what is repeated: half of it is its own text."""
        section = self._sizer.section_of(self._block, self._block_end)
        room = self._sizer.cap - self._reserved - self._sizer.breadcrumbs.tokens(section)
        return self._sizer.count(reopening.prefix + reopening.suffix + reopening.line_prefix) * 2 <= max(room, 1)

    def _if_light(self, reopening: Reopening, code: str, what: str) -> Reopening:
        if self._is_light(reopening):
            return reopening
        self._notes.append((reopening.start, code, f"{what} too long to repeat in every part; it is left out"))
        return NOTHING

    # The levels

    def _parts(self, span: _Span, start: int, end: int) -> Iterator[Part]:
        """As few parts as the limit allows on the first level; what exceeds the cap goes to the next level."""
        if not span.levels:
            yield from self._cut_characters(span, start, end)
            return
        level = span.levels[0]
        if len(span.levels) == len(WORDS):
            span = span._replace(sentence_end=text_end(self._text, start, end))
        below = span._replace(levels=span.levels[1:])
        size = self._estimate(start, end, span)
        if self._is_small(start, end, size, span):
            yield from self._part(span, start, end, size)
            return
        ends = level.positions(self._text, start, end)
        at = 0
        while start < end:
            best, size = self._furthest(start, ends, at, span)
            place = ends[max(best, at)]
            if best < at and (level.is_preference or not self._fits(start, place, size, span.reopening)):
                yield from self._parts(below, start, place)
            else:
                yield from self._part(span, start, place, size)
            start, at = place, max(best, at) + 1

    def _estimate(self, start: int, end: int, span: _Span) -> int:
        """The size of a span; for a long one an estimate from its beginning."""
        reach = start + span.limit * _LONG
        if end > reach:
            size = self._size(start, reach, span.reopening)
            if size > span.limit * 9 // 8 + 4:
                return size * (end - start) // (reach - start)
        return self._size(start, end, span.reopening)

    def _is_small(self, start: int, end: int, size: int, span: _Span) -> bool:
        is_whole = may_stay_whole(span.kind, self._text[start:end], size, span.limit)
        return is_whole and self._fits(start, end, size, span.reopening)

    def _furthest(self, start: int, ends: Sequence[int], at: int, span: _Span) -> tuple[int, int]:
        """The index of the last of ``ends`` up to which a part from ``start`` is small, and its size.

        If none is, ``at - 1`` and the size up to the first.
        """
        low, high = at - 1, len(ends)  # small, too large
        small = large = 0
        aim = self._sizer.reach(start, span.limit)
        for attempt in count():
            guess = bisect_right(ends, aim, lo=low + 1, hi=high) - 1 if attempt < _GUESSES else (low + high) // 2
            guess = max(guess, low + 1)
            size = self._size(start, ends[guess], span.reopening)
            if self._is_small(start, ends[guess], size, span):
                low, small = guess, size
            else:
                high, large = guess, size
            if low + 1 >= high:
                break
            aim = start + (ends[guess] - start) * span.limit // max(size, 1)  # sizes grow about as lengths do
        return low, small if low >= at else large

    def _cut_characters(self, span: _Span, start: int, end: int) -> Iterator[Part]:
        """The last resort: as many characters as fit, one at least."""
        message = "a character with its combining marks exceeds the cap; it is cut"
        self._notes.append((start, "cut-inside-grapheme", message))
        while start < end:
            length = min(end - start, 4 * span.limit)
            while (size := self._size(start, start + length, span.reopening)) and length > 1:
                if self._fits(start, start + length, size, span.reopening):
                    break
                length //= 2
            yield from self._part(span, start, start + length, size)
            start += length

    def _part(self, span: _Span, start: int, end: int, size: int) -> Iterator[Part]:
        """A part, whose size with its prefix and suffix is known."""
        last = text_end(self._text, start, end)
        if last > start:
            prefix, suffix = self._around(start, end, span.reopening)
            tokens = self._sizer.size(start, last) if prefix or suffix else size
            reopening = self._outer if span.reopening is NOTHING else span.reopening
            yield Part(start, last, tokens, prefix, suffix, last >= span.sentence_end, reopening)

    def _merged(self, parts: Sequence[Part]) -> list[Part]:
        """Neighbours that are within the limit together, together; then small ones with a neighbour above it."""
        merged: list[Part] = []
        first = 0
        while first < len(parts):
            guess, total = first, parts[first].tokens
            while guess + 1 < len(parts) and total + parts[guess + 1].tokens <= self._limit:
                guess += 1
                total += parts[guess].tokens
            joined = partial(self._are_small, parts[first], parts)
            last = furthest(range(len(parts)), first + 1, joined, guess, stop=guess + 1)
            merged.append(self._joined(parts[first], parts[last]) if last > first else parts[first])
            first = last + 1
        return self._without_small(merged)

    def _without_small(self, parts: Sequence[Part]) -> list[Part]:
        """A lone tag joins a line that is above the limit anyway."""
        made: list[Part] = []
        for part in parts:
            if made:
                larger, smaller = max(made[-1].tokens, part.tokens), min(made[-1].tokens, part.tokens)
                if smaller * _SMALL <= self._limit < larger and self._fit_together(made[-1], part, self._sizer.cap):
                    made[-1] = self._joined(made[-1], part)
                    continue
            made.append(part)
        return made

    def _are_small(self, first: Part, parts: Sequence[Part], last: int) -> bool:
        return self._fit_together(first, parts[last], self._limit)

    def _fit_together(self, first: Part, last: Part, limit: int) -> bool:
        size = self._sizer.size(first.start, last.end, first.prefix, last.suffix)
        around = Reopening(first.prefix, last.suffix, first.prefix, "", first.start, last.end + 1)
        return size <= limit and self._fits(first.start, last.end, size, around)

    def _joined(self, first: Part, last: Part) -> Part:
        """Everything from one part to another as one part."""
        reopening = first.reopening if first.reopening == last.reopening else NOTHING
        tokens = self._sizer.size(first.start, last.end)
        return last._replace(start=first.start, tokens=tokens, prefix=first.prefix, reopening=reopening)


def _within(levels: Sequence[Level], windows: Sequence[tuple[int, int]], inline: tuple[int, int]) -> tuple[Level, ...]:
    """The levels with only those positions that lie in their window; levels inside lines have the last one."""
    made: list[Level] = []
    for number, level in enumerate(levels):
        low, high = windows[number] if number < len(windows) else inline
        made.append(level._replace(positions=_positions_within(level.positions, low, high)))
    return tuple(made)


def _positions_within(positions: Positions, low: int, high: int) -> Positions:
    if low <= 0 and high >= 1 << 62:
        return positions

    def places(text: str, start: int, end: int) -> Sequence[int]:
        return _with_end([each for each in positions(text, start, end) if low <= each <= high], end)

    return places
