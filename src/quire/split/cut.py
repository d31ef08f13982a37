"""Cutting a block that is too large: the ordered levels, and the one function that goes through them.

A level lists the positions at which a span may be cut. Each segment between two positions is counted once; a part is as
many segments as the limit allows. A segment that is still above the cap is cut on the next level; a row, a line, an
item or a sentence that fits the cap is not torn to reach the limit. reopen.py has what a part needs around it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeAlias

from quire.model import Block, Note
from quire.offsets import BLANK, line_start, text_end, trimmed
from quire.parsing import directive_content, inner_blocks, item_content, list_items
from quire.size.sizer import SLACK, Sizer, furthest
from quire.split.graphemes import grapheme_ends
from quire.split.inline import block_starts, outside
from quire.split.reopen import (
    CODE_INDENT,
    DEEPEST,
    NOTHING,
    QuoteMarks,
    Reopening,
    reopened_container,
    reopened_fence,
    repeated_header,
    width,
)
from quire.split.sentences import sentence_ends, stop_ends
from quire.split.words import inner_word_ends, word_ends

Positions: TypeAlias = Callable[[str, int, int], Sequence[int]]
"""Where a span of a text may be cut: ascending, the last is the end of the span."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK_LINES = re.compile(r"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")
_PIPE = re.compile(r"(?<!\\)\|")
_NESTING = frozenset({"item", "quote", "footnote"})
"""The kinds of block whose content is indented or marked."""
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
    if text.find("\n", start, end) < 0 and text.find("\r", start, end) < 0:
        return [end]
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


class Part(NamedTuple):
    """A part of a block."""

    start: int
    end: int
    tokens: int
    """About how many tokens its own text has."""
    prefix: str
    """What a piece that starts here needs in front: an opening fence, a table's header."""
    suffix: str
    """What a piece that ends here needs behind: a closing fence."""
    ends_sentence: bool
    """Whether no sentence is cut at its end."""


class _Span(NamedTuple):
    """What is being cut."""

    levels: tuple[Level, ...]
    reopening: Reopening = NOTHING
    sentence_end: int = -1
    """Where the sentence or line ends that is cut between words; -1 while none is."""


class Cutter:
    """Cuts blocks of a document into parts of about ``limit`` tokens that fit the cap."""

    def __init__(
        self, text: str, sizer: Sizer, section_of: Callable[[int, int], int], limit: int, notes: list[Note]
    ) -> None:
        self._text = text
        self._sizer = sizer
        self._section_of = section_of
        self._limit = limit
        self._notes = notes
        self._quotes = QuoteMarks(text)
        self._start = self._end = self._first = self._last = self._reserved = 0
        self._outer = NOTHING  # what opens and closes the container that is cut

    def cut(self, block: Block, first: int, last: int) -> list[Part]:
        """The parts of ``block``, which together are all of its text.

        The first part has to fit below the text from ``first`` on, the last one above the text up to ``last``.
        """
        text = self._text
        self._start, self._end, self._first, self._last = block.start, block.end, first, last
        self._reserved = self._tokens_around()
        self._outer, content = self._container(block)
        if content.start > block.start:  # the lines that open and close it stay with the first and the last part
            self._start, self._end = content.start, content.end
            self._reserved = self._tokens_around()
        parts = list(self._cut_block(content, content.start, content.end, 0, is_nested=False))
        opening = text[block.start : content.start]
        first_tokens = self._sizer.count(opening) if opening else 0
        parts[0] = parts[0]._replace(start=block.start, tokens=parts[0].tokens + first_tokens)
        parts[-1] = parts[-1]._replace(end=block.end)
        if self._quotes.left_out >= 0:
            message = "quote nested too deep: its marks are not repeated in every part"
            self._notes.append((self._quotes.left_out, "quote-left-out", message))
        return self._merged(parts)

    def _tokens_around(self) -> int:
        before, behind = self._text[self._first : self._start], self._text[self._end : self._last]
        return (self._sizer.count(before) if before else 0) + (self._sizer.count(behind) if behind else 0)

    def _container(self, block: Block) -> tuple[Reopening, Block]:
        """What opens and closes a directive around each part, and what is cut: the block, or the content of it."""
        text, outer = self._text, reopened_container(self._text, block) if block.kind == "directive" else NOTHING
        if outer is not NOTHING:
            outer = self._if_light(outer, "container-left-out", "opening of a container")
        children = list_items(text, block) if block.kind == "list" else inner_blocks(text, block)
        if not outer.suffix:
            return outer, block._replace(children=children)
        start, end = trimmed(text, directive_content(text, block)[0], outer.end)
        if end <= start:
            return NOTHING, block
        return outer._replace(end=end), Block("directive" if children else "paragraph", start, end, children=children)

    # What is cut, by kind

    def _cut_block(self, block: Block, start: int, end: int, depth: int, *, is_nested: bool) -> Iterator[Part]:
        """The parts of a block from ``start``, the start of its line, to ``end``."""
        if depth > DEEPEST:
            parts = list(self._parts(_Span(LEVELS["html"]), start, end))
            self._note_depth(block, [part.start for part in parts[1:]])
            yield from parts
        elif block.kind == "code":
            yield from self._cut_code(start, end, is_nested=is_nested)
        elif block.kind == "table":
            yield from self._cut_table(block, start, end)
        elif block.children or block.kind == "item":
            if not block.children:
                block = block._replace(children=item_content(self._text, block))
            yield from self._cut_container(block, start, end, depth, is_nested=is_nested)
        else:
            yield from self._parts(_Span(LEVELS.get(block.kind, LEVELS["prose"])), start, end)

    def _cut_container(self, block: Block, start: int, end: int, depth: int, *, is_nested: bool) -> Iterator[Part]:
        """Cut between the blocks inside; what is too large there is cut as the block that it is."""
        inner = {line_start(self._text, child.start, start): child for child in reversed(block.children)}
        starts = sorted({start, *inner})
        is_nested = is_nested or block.kind in _NESTING
        for first, last in zip(starts, [*starts[1:], end], strict=True):
            child, span = inner.get(first), _Span(LEVELS["prose"])
            tokens = self._sizer.count(self._text[first:last])
            if self._may_stay_whole(first, last, tokens, is_item=block.kind == "list"):
                yield from self._part(span, first, last, tokens)
            elif child is None:
                yield from self._parts(span, first, last)
            else:
                yield from self._cut_block(child, first, last, depth + 1, is_nested=is_nested)

    def _may_stay_whole(self, start: int, end: int, tokens: int, *, is_item: bool) -> bool:
        """Whether a block inside a block is not cut: an item that fits the cap, anything else within the limit."""
        prefix, suffix = self._around(start, end, NOTHING)
        is_light = not (prefix or suffix) and (is_item or tokens <= self._limit)
        if is_light and tokens + self._reserved <= self._sizer.sure:
            return True
        size = self._size(start, end, prefix, suffix)
        return (is_item or size <= self._limit) and self._fits(start, end, size, prefix, suffix)

    def _cut_code(self, start: int, end: int, *, is_nested: bool) -> Iterator[Part]:
        fence = reopened_fence(self._text, self._quotes.at(start), start, end, is_nested=is_nested)
        if fence is None:  # it is only indented
            yield from self._parts(_Span(LEVELS["code"]), start, end)
            return
        reopening = fence.reopening
        if not self._is_light(reopening) and fence.bare_prefix != reopening.prefix:
            message = "info string of a fence too long to repeat in every part; it is left out"
            self._notes.append((start, "info-left-out", message))
            reopening = reopening._replace(prefix=fence.bare_prefix)
        if is_nested and reopening.end > end:  # alone, nothing would end it
            message = "fence without an end in a list or quote; it is not opened again"
            self._notes.append((start, "fence-left-out", message))
            reopening = NOTHING
        reopening = self._if_light(reopening, "fence-left-out", "opening fence")
        self._note_indent(reopening, fence.indent, "code")
        levels = _within(LEVELS["code"], [fence.inside] * 2, self._inline_window(fence.end, end))
        yield from self._parts(_Span(levels, reopening), start, end)

    def _cut_table(self, block: Block, start: int, end: int) -> Iterator[Part]:
        row = next(islice(_LINE_END.finditer(self._text, start, end), 1, None), None)
        first_row = row.end() if row else end
        reopening = repeated_header(self._text, start, first_row, end)
        reopening = self._if_light(reopening, "header-left-out", "table header")
        self._note_indent(reopening, width(reopening.line_prefix), "table")
        windows = [(first_row + 1, block.end), (start, block.end), (start, block.end)]
        levels = _within(LEVELS["table"], windows, self._inline_window(block.end, end))
        yield from self._parts(_Span(levels, reopening), start, end)

    def _inline_window(self, last: int, end: int) -> tuple[int, int]:
        """Where a block that ends at ``last`` may be cut inside lines; quote marks behind it stay with it."""
        return (0, last - 1) if self._text[last:end].strip(BLANK) else (0, end)

    def _note_indent(self, reopening: Reopening, indent: int, what: str) -> None:
        """Report what is indented so far that a part of it, standing alone, reads as indented code."""
        if indent >= CODE_INDENT and reopening is not NOTHING and not self._outer.prefix:
            message = f"{what} in a list is opened again at its own indentation, which by itself reads as indented code"
            self._notes.append((reopening.start, "indented-part", message))

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
        if start <= self._start and self._first < start:
            return "", suffix + closing  # the piece starts with other text
        return opening + (prefix or (self._quotes.at(start) if in_line else "")), suffix + closing

    def _size(self, start: int, end: int, prefix: str, suffix: str) -> int:
        return self._sizer.size(start, text_end(self._text, start, end), prefix, suffix)

    def _fits(self, start: int, end: int, size: int, prefix: str, suffix: str) -> bool:
        """Whether a part of this size keeps the cap below its breadcrumb, with the text that it must stay with."""
        high = size + self._reserved
        if high <= self._sizer.sure:
            return True
        first = self._first if start <= self._start else start
        last = self._last if end >= self._end else text_end(self._text, start, end)
        section = self._section_of(first, last)
        return self._sizer.fits(first, last, section, prefix, suffix, low=size, high=high)

    def _is_light(self, reopening: Reopening) -> bool:
        """Whether a part has room for what is repeated: half of it is its own text."""
        sizer = self._sizer
        room = sizer.cap - self._reserved - sizer.breadcrumbs.tokens(self._section_of(self._start, self._end))
        return sizer.count(reopening.prefix + reopening.suffix + reopening.line_prefix) * 2 <= max(room, 1)

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
        level, around = span.levels[0], span.reopening
        if len(span.levels) == len(WORDS):
            span = span._replace(sentence_end=text_end(self._text, start, end))
        count = self._sizer.breadcrumbs.count
        limit = max(self._limit, count(around.prefix + around.suffix) * 2)  # at least half of a part is its own text
        ends = level.positions(self._text, start, end)
        sums, is_exact = self._sizer.sums(start, ends)
        at = 0
        while start < end:
            prefix, _ = self._around(start, end, around)
            own = sums[at]
            before = own - count(prefix) - count(around.suffix + self._outer.suffix)

            def is_small(number: int, start: int = start, own: int = own, before: int = before) -> bool:
                high = sums[number + 1] - before + SLACK
                if is_exact and high <= limit and high + self._reserved <= self._sizer.sure:
                    return True
                if is_exact and sums[number + 1] - own - 2 * SLACK > limit:
                    return False
                return self._is_small(start, ends[number], around, limit)

            guess = bisect_right(sums, before + limit, lo=at + 1) - 2
            best = furthest(at, len(ends), is_small, guess)
            tokens = sums[max(best, at) + 1] - sums[at]
            place = ends[max(best, at)]
            if best < at and (level.is_preference or not self._keeps_cap(start, place, around)):
                yield from self._parts(span._replace(levels=span.levels[1:]), start, place)
            else:
                yield from self._part(span, start, place, tokens if is_exact else self._size(start, place, "", ""))
            start, at = place, max(best, at) + 1

    def _is_small(self, start: int, end: int, around: Reopening, limit: int) -> bool:
        """Whether a part keeps the limit and the cap."""
        prefix, suffix = self._around(start, end, around)
        size = self._size(start, end, prefix, suffix)
        return size <= limit and self._fits(start, end, size, prefix, suffix)

    def _keeps_cap(self, start: int, end: int, around: Reopening) -> bool:
        prefix, suffix = self._around(start, end, around)
        return self._fits(start, end, self._size(start, end, prefix, suffix), prefix, suffix)

    def _cut_characters(self, span: _Span, start: int, end: int) -> Iterator[Part]:
        """The last resort: as many characters as fit, one at least."""
        message = "a character with its combining marks exceeds the cap; it is cut"
        self._notes.append((start, "cut-inside-grapheme", message))
        while start < end:
            length = min(end - start, 4 * self._limit)
            while length > 1 and not self._keeps_cap(start, start + length, span.reopening):
                length //= 2
            yield from self._part(span, start, start + length, self._size(start, start + length, "", ""))
            start += length

    def _part(self, span: _Span, start: int, end: int, tokens: int) -> Iterator[Part]:
        """A part of about ``tokens`` tokens, unless it is blank."""
        first, last = trimmed(self._text, start, end)
        if last > first:
            prefix, suffix = self._around(start, end, span.reopening)
            yield Part(first, last, tokens, prefix, suffix, last >= span.sentence_end)

    # Small parts

    def _merged(self, parts: Sequence[Part]) -> list[Part]:
        """Neighbours that are within the limit together, together; then small ones with a neighbour above it."""
        merged: list[Part] = []
        first, sums = 0, [0]
        for part in parts:
            sums.append(sums[-1] + part.tokens)
        while first < len(parts):
            guess = bisect_right(sums, sums[first] + self._limit, lo=first + 1) - 2

            def fits(number: int, first: int = first) -> bool:
                tokens = sums[number + 1] - sums[first]
                return tokens - SLACK <= self._limit and self._fit_together(parts[first], parts[number], self._limit)

            last = max(furthest(first + 1, min(guess + 2, len(parts)), fits, guess), first)
            merged.append(_joined(parts[first], parts[last], sums[last + 1] - sums[first]))
            first = last + 1
        return self._without_small(merged)

    def _without_small(self, parts: Sequence[Part]) -> list[Part]:
        """A lone tag joins a line that is above the limit anyway."""
        made: list[Part] = []
        for part in parts:
            if made:
                larger, smaller = max(made[-1].tokens, part.tokens), min(made[-1].tokens, part.tokens)
                if smaller * _SMALL <= self._limit < larger and self._fit_together(made[-1], part, self._sizer.cap):
                    made[-1] = _joined(made[-1], part, larger + smaller)
                    continue
            made.append(part)
        return made

    def _fit_together(self, first: Part, last: Part, limit: int) -> bool:
        size = self._sizer.size(first.start, last.end, first.prefix, last.suffix)
        return size <= limit and self._fits(first.start, last.end, size, first.prefix, last.suffix)


def _joined(first: Part, last: Part, tokens: int) -> Part:
    """Everything from one part to another as one part."""
    return last._replace(start=first.start, tokens=tokens, prefix=first.prefix) if first is not last else first


def _within(levels: Sequence[Level], windows: Sequence[tuple[int, int]], inline: tuple[int, int]) -> tuple[Level, ...]:
    """The levels with only those positions that lie in their window; levels inside lines have the last one."""
    made: list[Level] = []
    for number, level in enumerate(levels):
        low, high = windows[number] if number < len(windows) else inline
        made.append(level._replace(positions=_positions_within(level.positions, low, high)))
    return tuple(made)


def _positions_within(positions: Positions, low: int, high: int) -> Positions:
    def places(text: str, start: int, end: int) -> Sequence[int]:
        return _with_end([each for each in positions(text, start, end) if low <= each <= high], end)

    return places
