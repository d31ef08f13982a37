"""The blocks of a text: plain ones by the line scan, the others by the parser, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from quire.dialects import COMMONMARK
from quire.model import BlockColumns, Kind, Note, Source
from quire.offsets import BLANK, text_end, trimmed
from quire.parsing.containers import MATH, container_marks, containers, hidden_headings
from quire.parsing.events import last_item_end, top_blocks
from quire.parsing.heading_ids import id_above, ids_end
from quire.parsing.line_scan import THEMATIC_BREAK, LineScan, scan_lines
from quire.parsing.parser_input import mark_tables, parser_input
from quire.parsing.site_generators import ADMONITION_MARKS
from quire.parsing.titles import Headings, read_headings


def document_blocks(source: Source) -> tuple[BlockColumns, Headings, list[Note]]:
    """The blocks at document level, which cover all text that is not blank; the headings among them; and notes."""
    text = source.text
    if source.syntax != "markdown":
        start, end = trimmed(text, source.body_start, len(text))
        blocks = BlockColumns(["paragraph"], [start], [end], {}) if start < end else BlockColumns([], [], [], {})
        return blocks, Headings([], [], [], []), []
    is_commonmark = source.dialect == COMMONMARK
    flat = flat_blocks(text, source.markdown_start, len(text), is_commonmark=is_commonmark)
    blocks = flat.blocks
    if source.malformed_frontmatter is not None:
        blocks.kinds.insert(0, "code")  # for now: nothing opens in it
        blocks.starts.insert(0, source.malformed_frontmatter.start)
        blocks.ends.insert(0, text_end(text, *source.malformed_frontmatter))
    headings, notes = read_headings(source, blocks)
    dropped = set() if is_commonmark else _take_ids_above(text, blocks, headings)
    if flat.has_admonitions:
        _name_admonitions(text, blocks)
    if flat.container_marks:
        dropped |= _join_containers(text, flat.container_marks, blocks)
    if source.malformed_frontmatter is not None:
        blocks.kinds[0] = "paragraph"
    return _without(blocks, headings, dropped) if dropped else blocks, headings, notes


def _take_ids_above(text: str, blocks: BlockColumns, headings: Headings) -> set[int]:
    """Give headings the ids in the lines above them, and these lines. Returns the blocks that were nothing else."""
    kinds, starts, ends, _ = blocks
    taken: set[int] = set()
    for index, number in enumerate(headings.blocks):
        above = number - 1
        if above >= 0 and text[ends[above] - 1] in ">=" and kinds[above] in ("paragraph", "html"):
            heading_id = id_above(text, starts[above], ends[above])
            headings.ids[index] = headings.ids[index] or heading_id
            if heading_id and ids_end(text, starts[above], ends[above]) == ends[above]:
                starts[number] = starts[above]
                taken.add(above)
    return taken


def _name_admonitions(text: str, blocks: BlockColumns) -> None:
    """Make directives of the admonitions and tabs of MkDocs, which the parser has seen as lists."""
    kinds, starts, ends, names = blocks
    for number, kind in enumerate(kinds):
        if kind == "list" and text.startswith(ADMONITION_MARKS, starts[number]):
            mark, *words = text[starts[number] : ends[number]].partition("\n")[0].split()
            kinds[number], names[number] = "directive", words[0] if words and mark != "===" else "tab"


def _join_containers(text: str, marks: Sequence[str], blocks: BlockColumns) -> set[int]:
    """Make the first block of each container all of it. Returns the others that it had."""
    kinds, starts, ends, names = blocks
    joined: set[int] = set()
    for first, last, kind, name in containers(text, marks, kinds, starts, ends):
        kinds[first], ends[first], names[first] = kind, ends[last], name
        joined.update(range(first + 1, last + 1))
    return joined


def _without(blocks: BlockColumns, headings: Headings, dropped: set[int]) -> BlockColumns:
    """``blocks`` without some of them; ``headings`` get their new numbers."""
    kept = [number for number in range(len(blocks.kinds)) if number not in dropped]
    kinds = [blocks.kinds[number] for number in kept]
    starts, ends = ([column[number] for number in kept] for column in (blocks.starts, blocks.ends))
    headings.blocks[:] = [number for number, kind in enumerate(kinds) if kind == "heading"]
    names = {new: blocks.names[old] for new, old in enumerate(kept) if old in blocks.names}
    return BlockColumns(kinds, starts, ends, names)


class FlatBlocks(NamedTuple):
    """Blocks before containers are joined, and which constructs there may be among them."""

    blocks: BlockColumns
    container_marks: tuple[str, ...]
    has_admonitions: bool


def flat_blocks(text: str, start: int, end: int, *, line_scan: bool = True, is_commonmark: bool = False) -> FlatBlocks:
    """The blocks between two positions. Without ``line_scan`` the parser reads everything; the result is the same."""
    lines, closed_tags, has_admonitions = parser_input(text[start:end], is_commonmark=is_commonmark)
    scan = scan_lines(lines, start) if line_scan else LineScan(BlockColumns([], [], [], {}), lines, {})
    blocks = _combined(text, start, end, scan) if scan.rest else scan.blocks
    if blocks is None:
        return flat_blocks(text, start, end, line_scan=False, is_commonmark=is_commonmark)
    marks = container_marks(text, scan.rest, blocks.kinds, closed_tags)
    if MATH in marks:
        for number in hidden_headings(text, blocks):
            blocks.kinds[number] = "paragraph"
    return FlatBlocks(blocks, marks, has_admonitions)


def _combined(text: str, start: int, end: int, scan: LineScan) -> BlockColumns | None:
    """The plain blocks and the parser's, in order; None if the parser does not confirm every series."""
    blocks = BlockColumns([], [], [], {})
    seen = shift = start
    confirmed = 0
    for kind, first, last in top_blocks(mark_tables(scan.rest)):
        series = scan.series.get(first) if kind == "rule" else None
        if series is not None:
            numbers, series_end = series
            _add_references(text, seen, scan.blocks.starts[numbers.start], blocks)
            blocks.kinds.extend(scan.blocks.kinds[numbers])
            blocks.starts.extend(scan.blocks.starts[numbers])
            blocks.ends.extend(scan.blocks.ends[numbers])
            shift = series_end - first - len(THEMATIC_BREAK)
            confirmed += 1
        else:
            span = _parsed_span(text, kind, first + shift, min(last + shift, end))
            _add_references(text, seen, span[0], blocks)
            blocks.add(kind, *span)
        seen = blocks.ends[-1]
    _add_references(text, seen, end, blocks)
    return blocks if confirmed == len(scan.series) else None


def _parsed_span(text: str, kind: Kind, start: int, end: int) -> tuple[int, int]:
    """The span of a block that the parser has reported, from the start of its line to its last character."""
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    if kind == "list" and "]:" in text[start:end]:
        end = start + last_item_end(mark_tables(parser_input(text[start:end]).lines))
    return start, text_end(text, start, end)


def _add_references(text: str, start: int, end: int, blocks: BlockColumns) -> None:
    """Append the text between two blocks: the parser reports no event for reference definitions."""
    if text[start:end].strip(BLANK):
        blocks.add("reference", *trimmed(text, start, end))
