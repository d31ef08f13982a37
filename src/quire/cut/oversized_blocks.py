"""Cutting a block that is too large into slices: the one function that goes through the levels.

Each segment between two positions of a level is counted once; a slice is as many segments as the limit allows. What is
still above the cap is cut on the next level; a row, a line, an item or a sentence that fits the cap is not torn.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from quire.cut.levels import LEVELS, WORDS, Level, line_ends
from quire.cut.reopen import (
    CODE_INDENT,
    NO_AFFIXES,
    Affixes,
    quote_marks,
    reopened_container,
    reopened_fence,
    repeated_header,
    width,
)
from quire.model.document import Block, Note
from quire.model.offsets import BLANK, LINE_END, line_start, text_end, trimmed
from quire.parsing.nested_blocks import NESTING, directive_content, inner_blocks, item_content, list_items
from quire.tokens.sizer import SLACK, Sizer, longest_that_fits

_DEEPEST = 40  # blocks nested deeper are cut at lines
_SHORT = 4  # segments of fewer characters on average are not counted one by one
_SMALL = 8  # a slice smaller than this fraction of the limit joins a neighbour that is above the limit


class Slice(NamedTuple):
    """A stretch of a block that was cut."""

    start: int
    end: int
    tokens: int  # about how many tokens its own text has
    prefix: str  # what a piece that starts here needs in front: an opening fence, a table's header
    suffix: str  # what a piece that ends here needs behind: a closing fence
    ends_sentence: bool  # whether no sentence is cut at its end


class _Cut(NamedTuple):
    """How a span is cut."""

    levels: tuple[Level, ...]
    affixes: Affixes = NO_AFFIXES
    sentence_end: int = -1  # where the sentence or line ends that is cut between words; -1 while none is


class Cutter:
    """Cuts blocks of a document into slices of about ``limit`` tokens that fit the cap.

    Paragraphs in a block, and the like, stay whole up to ``limit``; several share a slice up to ``fill``.
    """

    def __init__(self, text: str, sizer: Sizer, limit: int, fill: int, notes: list[Note]) -> None:
        self._text = text
        self._sizer = sizer
        self._limit = limit
        self._fill = fill
        self._prose = _Cut(LEVELS["prose" if fill == limit else "paragraphs"])
        self._notes = notes
        self.first = self.last = 0  # the text that the first and the last slice stay with: from here, and up to here
        self._start = self._end = self._reserved = 0
        self._block = Block("paragraph", 0, 0)
        self._outer = NO_AFFIXES  # what opens and closes the container that is cut
        self._slices: list[Slice] = []
        self.has_exact_sums = sizer.adds_up  # whether the tokens of all slices so far add up

    def cut(self, block: Block, first: int, last: int) -> list[Slice]:
        """The slices of ``block``; the first fits below the text from ``first`` on, the last above that up to ``last``.

        If lines of the block fit only without that text, ``self.first`` or ``self.last`` is the edge of the block.
        """
        self._block, self.first, self.last = block, first, last
        self._start, self._end = block.start, block.end
        self._reserved = self._tokens_around()
        self._outer, content = self._container(block)
        if content.start > block.start:  # the lines that open and close it stay with the first and the last slice
            self._start, self._end = content.start, content.end
            self._reserved = self._tokens_around()
        slices = self._slices = []
        self._cut_block(content, content.start, content.end, 0, is_nested=False)
        opening_tokens = self._sizer.count(self._text[block.start : content.start])
        slices[0] = slices[0]._replace(start=block.start, tokens=slices[0].tokens + opening_tokens)
        slices[-1] = slices[-1]._replace(end=block.end)
        return self._merged(slices)

    def _tokens_around(self) -> int:
        count = self._sizer.count
        return count(self._text[self.first : self._start]) + count(self._text[self._end : self.last])

    def _container(self, block: Block) -> tuple[Affixes, Block]:
        """What opens and closes a directive around each slice, and what is cut: the block, or the content of it."""
        text, outer = self._text, reopened_container(self._text, block) if block.kind == "directive" else NO_AFFIXES
        if outer is not NO_AFFIXES:
            outer = self._if_room(outer, "container-left-out", "opening of a container")
        children = list_items(text, block) if block.kind == "list" else inner_blocks(text, block)
        if not outer.suffix:
            return outer, block._replace(children=children)
        start, end = trimmed(text, directive_content(text, block)[0], outer.end)
        if end <= start:
            return NO_AFFIXES, block
        return outer._replace(end=end), Block("directive" if children else "paragraph", start, end, children=children)

    # What is cut, by kind

    def _cut_block(self, block: Block, start: int, end: int, depth: int, *, is_nested: bool) -> None:
        """Cut a block from ``start``, the start of its line, to ``end``."""
        if depth > _DEEPEST:
            number = len(self._slices)
            self._cut_span(_Cut(LEVELS["html"]), start, end)
            cuts = [cut.start for cut in self._slices[number + 1 :]]
            for inner in block.walk():
                if inner.kind in ("code", "table") and any(inner.start < cut < inner.end for cut in cuts):
                    part = "fence" if inner.kind == "code" else "header"
                    message = f"{inner.kind} nested too deep to repeat its {part} in every part; it is left out"
                    self._notes.append((inner.start, f"{part}-left-out", message))
        elif block.kind == "code":
            self._cut_code(start, end, is_nested=is_nested)
        elif block.kind == "table":
            self._cut_table(block, start, end)
        elif block.children or block.kind == "item":
            if not block.children:
                block = block._replace(children=item_content(self._text, block))
            self._cut_container(block, start, end, depth, is_nested=is_nested)
        else:
            self._cut_span(_Cut(LEVELS[block.kind]) if block.kind in LEVELS else self._prose, start, end)

    def _cut_container(self, block: Block, start: int, end: int, depth: int, *, is_nested: bool) -> None:
        """Cut between the blocks inside; what is too large there is cut as the block that it is."""
        inner = {line_start(self._text, child.start, start): child for child in reversed(block.children)}
        starts = sorted({start, *inner})
        closing = directive_content(self._text, block)[1] if depth and block.kind == "directive" else end
        is_closed = starts[-1] < closing < end
        if is_closed:
            starts.append(closing)  # the line that closes it does not belong to its last block
        is_nested = is_nested or block.kind in NESTING
        ends = [*starts[1:], end]
        sums, _ = self._sums(start, ends)
        for number, (first, last) in enumerate(zip(starts, ends, strict=True)):
            child, tokens = inner.get(first), sums[number + 1] - sums[number]
            if self._may_stay_whole(first, last, tokens, is_item=block.kind == "list"):
                self._add(self._prose, first, last, tokens)
            elif child is None:
                self._cut_span(self._prose, first, last)
            else:
                self._cut_block(child, first, last, depth + 1, is_nested=is_nested)
        if is_closed:
            *_, above, below = self._slices
            if self._fit_together(above, below, self._sizer.cap):
                self._slices[-2:] = [_joined(above, below, above.tokens + below.tokens)]

    def _may_stay_whole(self, start: int, end: int, tokens: int, *, is_item: bool) -> bool:
        """Whether a block inside a block is not cut: an item that fits the cap, anything else within the limit."""
        prefix, suffix = self._around(start, end, NO_AFFIXES)
        is_bare = not (prefix or suffix) and (is_item or tokens < self._limit)
        if is_bare and tokens + self._reserved <= self._sizer.sure:
            return True
        return self._keeps(start, end, NO_AFFIXES, None if is_item else self._limit)

    def _cut_code(self, start: int, end: int, *, is_nested: bool) -> None:
        fence = reopened_fence(self._text, self._quote_marks(start), start, end, is_nested=is_nested)
        if fence is None:  # it is only indented
            self._cut_span(_Cut(LEVELS["code"]), start, end)
            return
        affixes, inside, code_end, indent = fence
        bare_prefix = f"{affixes.suffix[1:]}\n"  # without the info string
        if not self._leaves_room(affixes, 0) and bare_prefix != affixes.prefix:
            message = "info string of a fence too long to repeat in every part; it is left out"
            self._notes.append((start, "info-left-out", message))
            affixes = affixes._replace(prefix=bare_prefix)
        if is_nested and affixes.end > end:  # alone, nothing would end it
            message = "fence without an end in a list or quote; it is not opened again"
            self._notes.append((start, "fence-left-out", message))
            affixes = NO_AFFIXES
        affixes = self._if_room(affixes, "fence-left-out", "opening fence")
        self._note_indent(affixes, indent, "code")
        self._cut_span(self._within("code", affixes, code_end, end, [inside] * 2), start, end)

    def _cut_table(self, block: Block, start: int, end: int) -> None:
        row = next(islice(LINE_END.finditer(self._text, start, end), 1, None), None)
        first_row = row.end() if row else end
        affixes = repeated_header(self._text, start, first_row, end)
        affixes = self._if_room(affixes, "header-left-out", "table header")
        self._note_indent(affixes, width(affixes.line_prefix), "table")
        windows = [(first_row + 1, block.end), (start, block.end), (start, block.end)]
        self._cut_span(self._within("table", affixes, block.end, end, windows), start, end)

    def _within(self, kind: str, affixes: Affixes, last: int, end: int, windows: Sequence[tuple[int, int]]) -> _Cut:
        """How a block that ends at ``last`` is cut: each level in its window, quote marks up to ``end`` with it."""
        inline = (0, last - 1) if self._text[last:end].strip(BLANK) else (0, end)
        windows = [*windows, *[inline] * (len(LEVELS[kind]) - len(windows))]
        levels = [level._replace(window=window) for level, window in zip(LEVELS[kind], windows, strict=True)]
        return _Cut(tuple(levels), affixes)

    def _note_indent(self, affixes: Affixes, indent: int, what: str) -> None:
        """Report what is indented so far that a slice of it, standing alone, reads as indented code."""
        if indent >= CODE_INDENT and affixes is not NO_AFFIXES and not self._outer.prefix:
            message = f"{what} in a list is opened again at its own indentation, which by itself reads as indented code"
            self._notes.append((affixes.start, "indented-part", message))

    # Sizes

    def _around(self, start: int, end: int, affixes: Affixes) -> tuple[str, str]:
        """The prefix and suffix of a slice."""
        in_line = start > 0 and self._text[start - 1] not in "\r\n"
        prefix = suffix = opening = closing = ""
        if affixes is not NO_AFFIXES:
            prefix, suffix = affixes.around(start, end, in_line=in_line)
        if self._outer is not NO_AFFIXES:
            opening, closing = self._outer.around(start, end)
        if start <= self._start and self.first < start:
            return "", suffix + closing  # the piece starts with other text
        return opening + (prefix or (self._quote_marks(start) if in_line else "")), suffix + closing

    def _quote_marks(self, position: int) -> str:
        marks = quote_marks(self._text, position)
        if marks.count(">") <= _DEEPEST:
            return marks
        message = "quote nested too deep: its marks are not repeated in every part"
        self._notes.append((self._start, "quote-left-out", message))
        return ""

    def _fits(self, start: int, end: int, size: int, prefix: str, suffix: str) -> bool:
        """Whether a slice of this size keeps the cap below its breadcrumb, with the text that it must stay with."""
        if size + self._reserved <= self._sizer.sure:
            return True
        first = self.first if start <= self._start else start
        last = self.last if end >= self._end else text_end(self._text, start, end)
        bounds = self._sizer.bounds(size + self._reserved, self._reserved)
        return self._sizer.fits(first, last, -1, prefix, suffix, bounds)

    def _keeps(self, start: int, end: int, affixes: Affixes, limit: int | None = None) -> bool:
        """Whether a slice keeps the cap, and the limit if there is one."""
        prefix, suffix = self._around(start, end, affixes)
        size = self._sizer.size(start, text_end(self._text, start, end), prefix, suffix)
        return (limit is None or size <= limit) and self._fits(start, end, size, prefix, suffix)

    def _leaves_room(self, affixes: Affixes, reserved: int) -> bool:
        """Whether a slice has room for what is repeated: half of it is its own text."""
        sizer = self._sizer
        line = sizer.breadcrumbs.prefix(sizer.section_of(self._start, self._end))
        room = sizer.cap - reserved - sizer.breadcrumbs.tokens_of(line)
        return sizer.count(affixes.prefix + affixes.suffix + affixes.line_prefix) * 2 <= max(room, 1)

    def _if_room(self, affixes: Affixes, code: str, what: str) -> Affixes:
        if self._leaves_room(affixes, 0):
            return affixes
        self._notes.append((affixes.start, code, f"{what} too long to repeat in every part; it is left out"))
        return NO_AFFIXES

    # The levels

    def _cut_span(self, cut: _Cut, start: int, end: int) -> None:
        """As few slices as the limit allows on the first level; what exceeds the cap goes to the next level."""
        level, affixes, is_last_level = cut.levels[0], cut.affixes, len(cut.levels) == 1
        if len(cut.levels) == len(WORDS):
            cut = cut._replace(sentence_end=text_end(self._text, start, end))
        if is_last_level:
            message = "a character with its combining marks exceeds the cap; it is cut"
            self._notes.append((start, "cut-inside-grapheme", message))
        count = self._sizer.breadcrumbs.tokens_of
        most = max(self._limit, count(affixes.prefix + affixes.suffix) * 2)  # at least half of it is its own text
        whole = most if level.is_preference else None  # what may stay whole above the limit: None for the cap
        limit = self._fill if level.is_preference and self._fill < self._limit else most
        suffix_tokens = count(affixes.suffix + self._outer.suffix)
        ends = level.ends(self._text, start, end)
        sums, is_exact = self._sums(start, ends)
        at = 0
        while start < end:
            base = sums[at]
            before = base - count(self._around(start, end, affixes)[0]) - suffix_tokens

            def keeps(number: int, start: int = start, base: int = base, before: int = before) -> bool:
                high = sums[number + 1] - before + SLACK
                if is_exact and high <= limit and high + self._reserved <= self._sizer.sure:
                    return True
                if is_exact and sums[number + 1] - base - 2 * SLACK > limit:
                    return False
                return self._keeps(start, ends[number], affixes, limit)

            guess = bisect_right(sums, before + limit, lo=at + 1) - 2
            last = len(ends) - 1
            may_be_last = suffix_tokens and sums[-1] - before - suffix_tokens <= limit + SLACK  # it needs no suffix
            best = last if may_be_last and keeps(last) else longest_that_fits(at, len(ends), keeps, guess)
            at, is_within_limit = max(best, at), best >= at
            stop = ends[at]
            is_within_limit = is_within_limit or is_last_level
            if not is_within_limit and (limit == whole or not self._keeps(start, stop, affixes, whole)):
                tears_lines = level.positions is line_ends and cut.levels[1].positions is not line_ends
                if tears_lines and self._parts(start, stop, affixes):
                    continue
                self._cut_span(cut._replace(levels=cut.levels[1:]), start, stop)
            else:
                tokens = sums[at + 1] - base if is_exact else self._sizer.size(start, text_end(self._text, start, stop))
                self._add(cut, start, stop, tokens)
            start, at = stop, at + 1

    def _parts(self, start: int, end: int, affixes: Affixes) -> bool:
        """Whether lines that do not fit are parted from the text around the block: if they, or any of them, fit so."""
        around, reserved = (self.first, self.last), self._reserved
        self.first = self._block.start if start <= self._start else self.first
        self.last = self._block.end if end >= self._end else self.last
        self._reserved = self._tokens_around()
        if self._reserved < reserved and (self._keeps(start, end, affixes) or not self._leaves_room(affixes, reserved)):
            return True
        (self.first, self.last), self._reserved = around, reserved
        return False

    def _sums(self, start: int, ends: Sequence[int]) -> tuple[list[int], bool]:
        if len(ends) * _SHORT > ends[-1] - start:  # characters of a word: to count each is slow and far too much
            density = self._sizer.size(start, ends[-1]) / (ends[-1] - start)
            sums, is_exact = [0, *(int((end - start) * density) for end in ends)], False
        else:
            sums, is_exact = self._sizer.sums(start, ends)
        self.has_exact_sums = self.has_exact_sums and is_exact
        return sums, is_exact

    def _add(self, cut: _Cut, start: int, end: int, tokens: int) -> None:
        """Add a slice of about ``tokens`` tokens, unless it is blank."""
        first, last = trimmed(self._text, start, end)
        if last > first:
            prefix, suffix = self._around(start, end, cut.affixes)
            self._slices.append(Slice(first, last, tokens, prefix, suffix, last >= cut.sentence_end))

    # Small slices

    def _merged(self, slices: Sequence[Slice]) -> list[Slice]:
        """Neighbours that are within the size to fill together, together; then small ones with a neighbour above it."""
        merged: list[Slice] = []
        sums = [*accumulate([cut.tokens for cut in slices], initial=0)]
        first = 0
        while first < len(slices):
            guess = bisect_right(sums, sums[first] + self._fill, lo=first + 1) - 2

            def fits(number: int, first: int = first) -> bool:
                tokens = sums[number + 1] - sums[first]
                return tokens - SLACK <= self._fill and self._fit_together(slices[first], slices[number], self._fill)

            last = max(longest_that_fits(first + 1, min(guess + 2, len(slices)), fits, guess), first)
            merged.append(_joined(slices[first], slices[last], sums[last + 1] - sums[first]))
            first = last + 1
            if len(merged) > 1:  # a lone tag joins a line that is above the limit anyway
                above, below = merged[-2:]
                smaller, larger = sorted((above.tokens, below.tokens))
                if smaller * _SMALL <= self._fill < larger and self._fit_together(above, below, self._sizer.cap):
                    merged[-2:] = [_joined(above, below, larger + smaller)]
        return merged

    def _fit_together(self, first: Slice, last: Slice, limit: int) -> bool:
        size = self._sizer.size(first.start, last.end, first.prefix, last.suffix)
        return size <= limit and self._fits(first.start, last.end, size, first.prefix, last.suffix)


def _joined(first: Slice, last: Slice, tokens: int) -> Slice:
    """Everything from one slice to another as one slice."""
    return last._replace(start=first.start, tokens=tokens, prefix=first.prefix) if first is not last else first
