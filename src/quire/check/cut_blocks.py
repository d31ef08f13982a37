"""The law about cut blocks: every part of code has its fences, every part of a table its header. Used by laws.py.

Checks only the blocks in which a chunk starts or ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from quire.model import Block, Document, Note
from quire.offsets import BLANK, line_start
from quire.parsing import inner_blocks
from quire.record import Chunk

_MARKERS = " \t>-+*.)0123456789"
"""Characters that may precede a fence or a row on its line."""
_PREFIX = re.compile(r"[-+*.)0-9> \t]*+(?:\[\^[^\]\s]*+\]:[-+*.)0-9> \t]*+)?+")
_FENCE = re.compile(rf"{_PREFIX.pattern}(`{{3,}}|~{{3,}})")
_INDENTED = re.compile(r" {4}| {0,3}\t")
_LINE_END = re.compile(r"\r\n?|\n")
_TEXT = re.compile(rf"[^{BLANK}]")


def torn_blocks(document: Document, chunks: Sequence[Chunk]) -> Iterator[Note]:
    """A note for each chunk with a part of code or a table that lacks its fence or header."""
    blocks = _Blocks(document)
    for chunk in chunks:
        start, end = chunk.source_position.char_start, chunk.source_position.char_end
        lines = blocks.without_container(start, end, _LINE_END.split(chunk.original_text))
        first, last = blocks.cut_at(start), blocks.cut_at(end)
        if first is not None and not blocks.is_opened(first, start, lines):
            what = "a table without its header" if first.kind == "table" else "code whose fence is not opened again"
            yield first.start, "torn-block", f"chunk {chunk.id} starts with {what}"
        if last is not None and last.kind == "code" and not blocks.is_closed(last, lines[-1]):
            yield last.start, "torn-block", f"chunk {chunk.id} ends with code whose fence is not closed"


class _Blocks:
    """The code and tables of a document, found once per block at document level."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._text = document.text
        self._inside: dict[int, list[Block]] = {}
        self._marks: dict[int, str] = {}
        self._headers: dict[int, tuple[int, list[str]]] = {}

    def cut_at(self, position: int) -> Block | None:
        """The fenced code or the table that has text on both sides of a position."""
        around = [block for block in self._document.blocks_between(position, position + 1) if block.start < position]
        inside = self._code_and_tables(around[-1]) if around else []
        at = bisect_left(inside, position, key=_start_of) - 1
        if at < 0 or position >= inside[at].end:
            return None
        block = inside[at]
        if block.kind == "code" and (_INDENTED.match(self._text, block.start) or not self._mark(block)):
            return None  # indented code, which may show a fence
        return block if _TEXT.search(self._text, block.start, position) else None

    def without_container(self, start: int, end: int, lines: list[str]) -> list[str]:
        """The lines of a chunk without those that open and close again a directive that it is a part of."""
        first, last = (self._document.blocks_between(at, at + 1) for at in (start, end - 1))
        if first and first[0].kind == "directive" and first[0].start < start and len(lines) > 1:
            line_end = _LINE_END.search(self._text, first[0].start, start)
            opening = self._text[first[0].start : line_end.start() if line_end else start]
            lines = lines[1:] if lines[0].strip() == opening.strip() else lines
        if last and last[0].kind == "directive" and end < last[0].end and len(lines) > 1:
            closing = self._text[line_start(self._text, last[0].end, end) : last[0].end]
            is_closing = closing.strip().startswith((":::", "{{", "{%"))
            lines = lines[:-1] if is_closing and lines[-1].strip() == closing.strip() else lines
        return lines

    def is_opened(self, block: Block, start: int, lines: Sequence[str]) -> bool:
        """Whether a chunk with these ``lines``, which starts inside a block, has the block's fence or header.

        If lines of a block are indented less than its first, the marker of its list item is on a line above.
        """
        lines = lines[1:] if len(lines) > 1 and not lines[0].strip(_MARKERS) else lines
        if block.kind == "code":
            fence = _FENCE.match(lines[0])
            return fence is not None and fence[1].startswith(self._mark(block)) and block.info in lines[0]
        body, header = self._header(block)
        return start < body or [_bare(line) for line in lines[:2]] == header

    def is_closed(self, code: Block, line: str) -> bool:
        """Whether the last ``line`` of a chunk that ends inside code closes its fence."""
        mark, marks = self._mark(code), line.strip(" \t>")
        return marks.startswith(mark) and not marks.strip(mark[0])

    def _mark(self, code: Block) -> str:
        """The marks of a fence; empty for indented code."""
        if code.start not in self._marks:
            fence = _FENCE.match(self._text, code.start, code.end)
            self._marks[code.start] = fence[1] if fence else ""
        return self._marks[code.start]

    def _header(self, table: Block) -> tuple[int, list[str]]:
        """Where the rows below the header start, and the header's two lines."""
        if table.start not in self._headers:
            body = next((row.start for row in table.children if not row.level), table.end)
            lines = _LINE_END.split(self._text[table.start : body])[:2]
            self._headers[table.start] = body, [_bare(line) for line in lines]
        return self._headers[table.start]

    def _code_and_tables(self, block: Block) -> list[Block]:
        if block.start not in self._inside:
            whole = block._replace(children=inner_blocks(self._text, block))
            self._inside[block.start] = [block for block in whole.walk() if block.kind in ("code", "table")]
        return self._inside[block.start]


def _start_of(block: Block) -> int:
    return block.start


def _bare(line: str) -> str:
    return line[_PREFIX.match(line).end() :].rstrip(_MARKERS)  # type: ignore[union-attr]  # it matches the empty text too
