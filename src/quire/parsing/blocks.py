"""Blocks with exact positions, made when somebody asks for them. Before: scan.py. After: the strategies.

What is inside a block is found when somebody asks for that (inside.py).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter

from quire.model import BLANK, Block, Source
from quire.parsing.events import KINDS, events_of, opened
from quire.parsing.group import group
from quire.parsing.inside import CONTAINERS, Inside
from quire.parsing.outline import Heading
from quire.parsing.scan import RUN, Scan, Top, line_start
from quire.parsing.skeleton import blocks_in
from quire.parsing.tables import interrupting_table

_FENCE_INFO = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*([^\r\n]*)")
_LEADING_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")
_start_of = itemgetter(1)


class Blocks:
    """Makes the blocks of one document. ``text`` is its stand-in, ``found`` what stands at document level."""

    def __init__(self, source: Source, text: str, found: Scan) -> None:
        self._source = source
        self._text = text
        self._found = found
        self._base = source.markdown_start
        self._inside = Inside(source, text)

    def __call__(self, start: int, end: int) -> tuple[Block, ...]:
        """The blocks between two positions where sections start, in order: all that is not blank is in one of them."""
        return group(self._source.text, self._made(start, end), start, end)

    def _made(self, start: int, end: int) -> list[Block]:
        """A block for each that was found, and for the text between them."""
        source = self._source
        made: list[Block] = []
        seen = max(source.body_start, start)
        if source.opaque is not None and source.opaque.end > seen:
            made.append(self._block("paragraph", source.opaque.start, source.opaque.end))
            seen = source.opaque.end
        for tag, first, last in self._tops_between(start, end):
            blocks = self._reported(tag, first, last) if tag != RUN else self._of_run(max(first, start), min(last, end))
            made += self._references(seen, blocks[0].start)
            made += blocks
            seen = blocks[-1].end
        made += self._references(seen, end)
        return made

    def _tops_between(self, start: int, end: int) -> Iterator[Top]:
        """What was found between two positions; a run may go on over several sections."""
        tops = self._found.tops
        first = bisect_left(tops, start, key=_start_of)
        if first and tops[first - 1][0] == RUN and tops[first - 1][2] > start:
            first -= 1
        for index in range(first, len(tops)):
            if tops[index][1] >= end:
                return
            yield tops[index]

    @cached_property
    def _headings(self) -> dict[int, Heading]:
        """The headings, by where they start."""
        return {heading.start: heading for heading in self._found.headings}

    def _of_run(self, start: int, end: int) -> list[Block]:
        """The blocks of a run of plain blocks: all start at the start of their line."""
        made: list[Block] = []
        base, text, inside = self._base, self._source.text, self._inside
        append, new = made.append, tuple.__new__  # twice as fast as the class itself
        for tag, first, last in blocks_in(self._text, start - base, end - base):
            block_start, block_end = first + base, last + base - 1
            if text[block_end - 1] in BLANK or text[block_end] not in BLANK:
                block_end = block_start + len(text[block_start : last + base].rstrip(BLANK))
            if tag == "Paragraph":
                append(new(Block, ("paragraph", block_start, block_end, 0, "", ())))
            elif tag == "Heading":
                heading = self._headings[block_start]
                append(new(Block, ("heading", block_start, block_end, heading.level, heading.title, ())))
            elif tag == "CodeBlock":
                append(new(Block, ("code", block_start, block_end, 0, self._fence_info(block_start), ())))
            elif tag == "List":
                append(new(Block, ("list", block_start, block_end, 0, "", inside.plain_items)))
            elif tag == "BlockQuote":
                append(new(Block, ("quote", block_start, block_end, 0, "", inside)))
            else:
                made += self._told_apart(tag, first, last)
        return made

    def _told_apart(self, tag: str, start: int, end: int) -> list[Block]:
        """Bullets may be several lists, and lines of pipes a table or text: ask the parser, unless it is plain."""
        base = self._base
        if tag == "Bullets" and _is_one_list(self._text[start:end]):
            block_end = base + start + len(self._source.text[base + start : base + end].rstrip(BLANK))
            return [Block("list", base + start, block_end, 0, "", self._inside.plain_items)]
        tops = _parsed(self._text, start, end, base)
        return [block for top in tops for block in self._reported(*top)]

    def _reported(self, tag: str, start: int, end: int) -> list[Block]:
        """A block that the parser has reported; a paragraph may hold a table that it has not seen."""
        text = self._source.text
        start = line_start(text, start)
        if tag == "Paragraph":
            table = interrupting_table(text, start, end)
            parts = [("paragraph", start, table)] if table > start else []
            parts += [("table", table, end)] if table < end else []
            return [self._block(kind, first, last) for kind, first, last in parts]
        if tag == "Heading":
            heading = self._headings[start]
            return [self._block("heading", start, end, heading.level, heading.title)]
        kind = KINDS[tag]
        block = self._block(kind, start, end, info=self._fence_info(start) if kind == "code" else "")
        if kind == "list" and "]:" in text[start:end]:
            # The parser counts definitions that follow a list to the list.
            return [self._block(kind, start, block.children[-1].end)]
        return [block]

    def _block(self, kind: str, start: int, end: int, level: int = 0, info: str = "") -> Block:
        end = start + len(self._source.text[start:end].rstrip(BLANK))
        return Block(kind, start, end, level, info, self._inside if kind in CONTAINERS else ())  # type: ignore[arg-type]

    def _references(self, start: int, end: int) -> Iterator[Block]:
        """Text between two blocks: the parser reports no event for reference definitions. Plain text is a paragraph."""
        text = self._source.text
        if text[start:end].strip(BLANK):
            first = _LEADING_BLANK_LINES.match(text, start, end)
            kind = "reference" if self._source.syntax == "markdown" else "paragraph"
            yield self._block(kind, first.end() if first else start, end)

    def _fence_info(self, start: int) -> str:
        match = _FENCE_INFO.match(self._source.text, start)
        return match.group(1).strip(BLANK) if match else ""


def _is_one_list(lines: str) -> bool:
    """Whether all items have the same marker; another marker starts another list."""
    return len({line[0] for line in lines.split("\n") if line and line[0] in "-*+"}) == 1


def _parsed(text: str, start: int, end: int, base: int) -> Iterator[Top]:
    """What the parser says of a part of ``text`` that holds nothing but whole blocks."""
    last = -1
    for event, place in events_of(text[start:end]):
        if place["start"] >= last:
            tag, _ = opened(event)
            if tag in KINDS:
                last = place["end"]
                yield tag, base + start + place["start"], base + start + last
