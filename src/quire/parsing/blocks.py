"""Blocks with exact positions, made when somebody asks for them. Before: headings.py. After: the strategies.

A heading ends all that is open above it, so the sections between two headings are parsed by themselves: most are never
looked into. What is inside a block is found when somebody asks for that (inside.py).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter

from quire.blank import BLANK, text_end, trimmed
from quire.model import Block, Source
from quire.parsing.events import KINDS
from quire.parsing.group import group, may_group
from quire.parsing.inside import CONTAINERS, Inside, fence_info
from quire.parsing.outline import Heading
from quire.parsing.scan import Top, found_in, line_start, tops_of
from quire.parsing.skeleton import Plain, skeleton
from quire.parsing.standin import stand_in
from quire.parsing.tables import is_table

_start_of = itemgetter(1)


class Blocks:
    """Makes the blocks of one document. ``tops`` are what stands at document level, where that is known."""

    def __init__(self, source: Source, headings: Sequence[Heading], tops: Sequence[Top] | None) -> None:
        self._source = source
        self._found = headings
        self._tops = tops if source.syntax == "markdown" else ()  # any other text is one paragraph
        self._inside = Inside(source.text)

    def __call__(self, start: int, end: int) -> tuple[Block, ...]:
        """The blocks between two positions where sections start, in order: all that is not blank is in one of them."""
        source = self._source
        if self._tops is not None:
            made = self._made(_between(self._tops, start, end), start, end)
        else:
            first = max(start, source.markdown_start)
            text = stand_in(source.text[first:end])
            bones = skeleton(text)
            if not bones.text and source.opaque is None:  # the usual case; none of these is known only in parts
                return tuple(self._of_run([*chain.from_iterable(bones.runs.values())], first))
            made = self._made(found_in(text, first, bones), start, end)
        return group(source.text, made) if may_group(source.text, start, end) else tuple(made)

    def _made(self, found: Iterable[Top | list[Plain]], start: int, end: int) -> list[Block]:
        """A block for each that was found, and for the text between them."""
        source = self._source
        base = max(start, source.markdown_start)
        made: list[Block] = []
        seen = max(source.body_start, start)
        if source.opaque is not None and source.opaque.end > seen:
            made.append(self._block("paragraph", source.opaque.start, source.opaque.end))
            seen = source.opaque.end
        for each in found:
            blocks = self._of_run(each, base) if isinstance(each, list) else [self._reported(*each)]
            made += self._references(seen, blocks[0].start)
            made += blocks
            seen = blocks[-1].end
        made += self._references(seen, end)
        return made

    @cached_property
    def _headings(self) -> dict[int, Heading]:
        """The headings, by where they start."""
        return {heading.start: heading for heading in self._found}

    def _of_run(self, plain: Sequence[Plain], base: int) -> list[Block]:
        """Blocks of plain ones, where they stand behind ``base``: all start at the start of their line."""
        made: list[Block] = []
        text, inside = self._source.text, self._inside
        append, new = made.append, tuple.__new__  # twice as fast as the class itself
        for tag, first, last in plain:
            start, end = first + base, last + base - 1
            if text[end - 1] in BLANK or text[end] not in BLANK:
                end = text_end(text, start, last + base)
            if tag == "Paragraph":
                append(new(Block, ("paragraph", start, end, 0, "", ())))
            elif tag == "Heading":
                heading = self._headings[start]
                append(new(Block, ("heading", start, end, heading.level, heading.title, ())))
            elif tag == "CodeBlock":
                append(new(Block, ("code", start, end, 0, fence_info(text, start), ())))
            elif tag == "List" or (tag == "Bullets" and _is_one_list(text[start:end])):
                append(new(Block, ("list", start, end, 0, "", inside.plain_items)))
            elif tag == "BlockQuote":
                append(new(Block, ("quote", start, end, 0, "", inside)))
            elif tag == "Pipes" and is_table(text, start, end):
                append(new(Block, ("table", start, end, 0, "", inside)))
            else:  # it may be several: the parser tells them apart
                made += [self._reported(*top) for top in tops_of(stand_in(text[start : last + base]), start)]
        return made

    def _reported(self, tag: str, start: int, end: int) -> Block:
        """A block that the parser has reported."""
        text = self._source.text
        start = line_start(text, start)
        if tag == "Heading":
            heading = self._headings[start]
            return self._block("heading", start, end, heading.level, heading.title)
        kind = KINDS[tag]
        block = self._block(kind, start, end, info=fence_info(text, start) if kind == "code" else "")
        if kind == "list" and "]:" in text[start:end]:
            # The parser counts definitions that follow a list to the list.
            return self._block(kind, start, block.children[-1].end)
        return block

    def _block(self, kind: str, start: int, end: int, level: int = 0, info: str = "") -> Block:
        end = text_end(self._source.text, start, end)
        return Block(kind, start, end, level, info, self._inside if kind in CONTAINERS else ())  # type: ignore[arg-type]

    def _references(self, start: int, end: int) -> Iterator[Block]:
        """Text between two blocks: the parser reports no event for reference definitions. Plain text is a paragraph."""
        first, last = trimmed(self._source.text, start, end)
        if first < last:
            yield self._block("reference" if self._source.syntax == "markdown" else "paragraph", first, last)


def _between(tops: Sequence[Top], start: int, end: int) -> Sequence[Top]:
    return tops[bisect_left(tops, start, key=_start_of) : bisect_left(tops, end, key=_start_of)]


def _is_one_list(lines: str) -> bool:
    """Whether all items have the same marker; another marker starts another list."""
    marks = [mark for mark in "-*+" if lines[0] == mark or f"\n{mark}" in lines or f"\r{mark}" in lines]
    return len(marks) == 1
