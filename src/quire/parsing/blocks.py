"""The blocks of a document: plain ones by the line scan, the others by the parser, in one pass."""

from __future__ import annotations

from collections.abc import Container

from quire.dialects import COMMONMARK
from quire.model import Block, Kind, Note, Source
from quire.offsets import BLANK, text_end, trimmed
from quire.parsing.containers import has_containers, hidden_headings, join_containers
from quire.parsing.events import last_item_end, top_blocks
from quire.parsing.heading_ids import ids_end
from quire.parsing.line_scan import THEMATIC_BREAK, LineScan, fence_info, scan_lines
from quire.parsing.parser_input import ascii_lines, mark_tables
from quire.parsing.site_generators import ADMONITION_MARKS, has_closing_tag
from quire.parsing.titles import ids_above, set_titles


def document_blocks(source: Source) -> tuple[list[Block], list[Note]]:
    """The blocks at document level, in order, and notes about them. Together they cover all text that is not blank."""
    text = source.text
    if source.syntax != "markdown":
        start, end = trimmed(text, source.body_start, len(text))
        return [Block("paragraph", start, end)] if start < end else [], []
    is_commonmark = source.dialect == COMMONMARK
    blocks, rest = flat_blocks(text, source.markdown_start, len(text), is_commonmark=is_commonmark)
    lists = [number for number, block in enumerate(blocks) if block[0] == "list"]
    for number in lists:
        if text.startswith(ADMONITION_MARKS, blocks[number][1]):
            blocks[number] = _as_admonition(text, blocks[number])
    ids = None if is_commonmark else ids_above(text, blocks)
    notes = set_titles(text, blocks, ids)
    if ids:
        blocks = _with_ids_above(text, blocks, ids)
    # Plain blocks open no container, except for HTML.
    may_open = rest or any(block[0] == "html" for block in blocks) or has_closing_tag(text)
    if may_open and has_containers(rest, text):
        blocks = join_containers(text, blocks)
    if source.opaque is not None:
        blocks.insert(0, Block("paragraph", source.opaque.start, text_end(text, *source.opaque)))
    return blocks, notes


def flat_blocks(
    text: str, start: int, end: int, *, line_scan: bool = True, is_commonmark: bool = False
) -> tuple[list[Block], str]:
    """The blocks between two positions before containers are joined, and the lines that the parser has read.

    Headings have their text with markup. Without ``line_scan``, the parser reads everything; the result is the same.
    """
    lines = ascii_lines(text[start:end], is_commonmark=is_commonmark)
    scan = scan_lines(text, lines, start) if line_scan else LineScan([], lines, {})
    blocks = _combined(text, start, end, scan) if scan.rest else scan.blocks
    if blocks is None:
        return flat_blocks(text, start, end, line_scan=False, is_commonmark=is_commonmark)
    if "$$" in scan.rest:  # plain blocks open no math
        for number in hidden_headings(text, blocks):
            blocks[number] = Block("paragraph", *blocks[number].span)
    return blocks, scan.rest


def _combined(text: str, start: int, end: int, scan: LineScan) -> list[Block] | None:
    """The plain blocks and the parser's, in order; None if the parser does not confirm every series."""
    blocks: list[Block] = []
    seen = shift = start
    confirmed = 0
    for kind, first, last, level in top_blocks(mark_tables(scan.rest)):
        series = scan.series.get(first) if kind == "rule" else None
        if series is not None:
            found = scan.blocks[series[0]]
            shift = series[1] - first - len(THEMATIC_BREAK)
            confirmed += 1
        else:
            found = [_parsed_block(text, kind, first + shift, min(last + shift, end), level)]
        blocks += _references(text, seen, found[0].start)
        blocks += found
        seen = found[-1].end
    blocks += _references(text, seen, end)
    return blocks if confirmed == len(scan.series) else None


def _parsed_block(text: str, kind: Kind, start: int, end: int, level: int) -> Block:
    """A block that the parser has reported."""
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    if kind == "list" and "]:" in text[start:end]:
        end = start + last_item_end(mark_tables(ascii_lines(text[start:end])))
    end = text_end(text, start, end)
    info = fence_info(text, start) if kind == "code" else ""
    if kind == "heading":
        info = text[start:end].lstrip(" \t").lstrip("#").strip(BLANK)
    return Block(kind, start, end, level, info)


def _with_ids_above(text: str, blocks: list[Block], headings: Container[int]) -> list[Block]:
    """``blocks`` with each of ``headings`` together with the lines above it, if they only give it an id."""
    found: list[Block] = []
    for number, block in enumerate(blocks):
        if number in headings and ids_end(text, found[-1].start, found[-1].end) == found[-1].end:
            found[-1] = block._replace(start=found[-1].start)
        else:
            found.append(block)
    return found


def _as_admonition(text: str, block: Block) -> Block:
    """An admonition or a group of tabs of MkDocs, which the parser has seen as a list, as a directive."""
    line = text[block.start : block.end].partition("\n")[0].split()
    return Block("directive", block.start, block.end, 0, line[1] if line[0] != "===" and len(line) > 1 else "tab")


def _references(text: str, start: int, end: int) -> list[Block]:
    """The text between two blocks: the parser reports no event for reference definitions."""
    first, last = trimmed(text, start, end)
    return [Block("reference", first, last)] if first < last else []
