"""Whether code and tables that were cut are whole in every piece: a fence that is opened and closed, a header.

A law of its own, asked by check.py. Looks only at blocks in which a chunk starts or ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quire.model import BLANK, Block, Document
from quire.record import Chunk

_MARKERS = " \t>-+*.)0123456789"
"""What may stand before a fence or a row on its line."""

Torn = tuple[str, int, str]
"""A code, where the block starts, and a sentence."""


def torn(document: Document, chunks: Sequence[Chunk]) -> Iterator[Torn]:
    """Code and tables that are cut, and lack something in a chunk."""
    for chunk in chunks:
        start, end = chunk.source_position.char_start, chunk.source_position.char_end
        lines = chunk.original_text.splitlines() or [""]
        first, last = _cut_at(document, start), _cut_at(document, end)
        if first is not None and not _is_opened(document.text, first, start, lines):
            what = "a table without its header" if first.kind == "table" else "code whose fence is not opened again"
            yield "torn-block", first.start, f"chunk {chunk.id} starts with {what}"
        if last is not None and last.kind == "code" and not _is_closed(document.text, last, lines[-1]):
            yield "torn-block", last.start, f"chunk {chunk.id} ends with code whose fence is not closed"


def _cut_at(document: Document, position: int) -> Block | None:
    """The fenced code or the table that has text on both sides of a position."""
    blocks: Sequence[Block] = document.blocks_between(position, position + 1)
    while block := next((each for each in blocks if each.start < position < each.end), None):
        if block.kind in ("code", "table"):
            is_inside = document.text[block.start : position].strip(BLANK)
            return block if is_inside and (block.kind == "table" or _mark(document.text, block)) else None
        blocks = block.children
    return None


def _mark(text: str, code: Block) -> str:
    """The marks of a fence; none for code that is only indented."""
    line = text[code.start : code.end].partition("\n")[0].lstrip(_MARKERS)
    marks = line[: len(line) - len(line.lstrip(line[:1]))]
    return marks if marks[:3] in ("```", "~~~") else ""


def _is_opened(text: str, block: Block, start: int, lines: Sequence[str]) -> bool:
    if block.kind == "code":
        return lines[0].lstrip(_MARKERS).rstrip(BLANK).startswith(_mark(text, block)) and block.info in lines[0]
    body = next((row.start for row in block.children if not row.level), block.end)
    header = [_bare(line) for line in text[block.start : body].splitlines()][:2]
    return start < body or [_bare(line) for line in lines[:2]] == header


def _bare(line: str) -> str:
    return line.strip(_MARKERS)


def _is_closed(text: str, code: Block, line: str) -> bool:
    mark = _mark(text, code)
    marks = line.strip(" \t>")
    return marks.startswith(mark) and not marks.strip(mark[0])
