"""The blocks of a text: plain ones by the line scan, the others by the parser, in one pass."""

from quire.model.dialects import COMMONMARK
from quire.model.document import BlockColumns, Document, Note, Source, findings_at
from quire.model.offsets import BLANK, text_end, trimmed
from quire.model.page_markers import with_whole_sentences
from quire.parsing.containers import container_marks, containers, name_admonitions
from quire.parsing.headings import Headings, document_title, read_headings, section_columns, take_ids_above
from quire.parsing.line_scan import THEMATIC_BREAK, LineScan, scan_lines
from quire.parsing.parser import for_parser, last_item_end, parser_input, top_blocks


def parse_source(source: Source, title: str | None = None) -> Document:
    """Parse ``source``; ``title`` overrides the document's own."""
    if source.syntax == "markdown":
        blocks, headings, notes = document_blocks(source)
    else:
        blocks, headings, notes = BlockColumns([], [], [], {}), Headings([], [], [], [], []), []
        start, end = trimmed(source.text, source.body_start, len(source.text))
        if start < end:
            blocks.add("paragraph", start, end)
    name, note = document_title(source, blocks, headings, title)
    sections, without_text = section_columns(source, blocks, headings, name)
    notes += note + without_text
    findings = (*source.findings, *findings_at(source, sorted(notes))) if notes else source.findings
    return Document(source=source, title=name, findings=findings, block_columns=blocks, section_columns=sections)


def document_blocks(source: Source) -> tuple[BlockColumns, Headings, list[Note]]:
    """The blocks at document level, which cover all text that is not blank; the headings among them; and notes."""
    text, start, malformed = source.text, source.markdown_start, source.malformed_frontmatter
    is_commonmark = source.dialect == COMMONMARK
    body = with_whole_sentences(text, source.markers, start)
    lines, tags, has_admonitions = parser_input(body, is_commonmark=is_commonmark)
    blocks, rest = flat_blocks(text, start, len(text), lines)
    has_containers = tags or rest or "html" in blocks.kinds
    if malformed is not None:
        blocks.kinds.insert(0, "paragraph")
        blocks.starts.insert(0, malformed.start)
        blocks.ends.insert(0, text_end(text, *malformed))
    headings, notes = read_headings(source, blocks)
    dropped = set() if is_commonmark else take_ids_above(text, blocks, headings)
    if has_admonitions:
        name_admonitions(text, blocks)
    if has_containers:
        marks = container_marks(text, start, len(text), rest, tags)
        for first, last, kind, name in containers(text, marks, blocks):
            blocks.kinds[first], blocks.ends[first], blocks.names[first] = kind, blocks.ends[last], name
            dropped.update(range(first + 1, last + 1))
    return _without(blocks, headings, dropped) if dropped else blocks, headings, notes


def _without(blocks: BlockColumns, headings: Headings, dropped: set[int]) -> BlockColumns:
    """``blocks`` without some of them; ``headings`` get their new numbers."""
    kept = [number for number in range(len(blocks.kinds)) if number not in dropped]
    kinds = [blocks.kinds[number] for number in kept]
    starts, ends = ([column[number] for number in kept] for column in (blocks.starts, blocks.ends))
    headings.blocks[:] = [number for number, kind in enumerate(kinds) if kind == "heading"]
    names = {new: blocks.names[old] for new, old in enumerate(kept) if old in blocks.names}
    return BlockColumns(kinds, starts, ends, names)


def flat_blocks(text: str, start: int, end: int, lines: str, *, line_scan: bool = True) -> tuple[BlockColumns, str]:
    """The blocks between two positions before containers are joined, and what the parser has read of ``lines``."""
    scan = scan_lines(lines, start) if line_scan else LineScan(BlockColumns([], [], [], {}), lines, {})
    blocks = _combined(text, start, end, scan) if scan.rest else scan.blocks
    if blocks is None:
        return flat_blocks(text, start, end, lines, line_scan=False)
    return blocks, scan.rest


def _combined(text: str, start: int, end: int, scan: LineScan) -> BlockColumns | None:
    """The plain blocks and the parser's, in order; None if the parser does not confirm every series."""
    blocks = BlockColumns([], [], [], {})
    seen = shift = start
    confirmed = 0
    for kind, first, last in top_blocks(for_parser(scan.rest)):
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
            block_start, block_end = first + shift, min(last + shift, end)
            while block_start > 0 and text[block_start - 1] in " \t":  # the start of its line
                block_start -= 1
            if kind == "list" and "]:" in text[block_start:block_end]:
                items = parser_input(text[block_start:block_end]).lines
                block_end = block_start + last_item_end(for_parser(items))
            _add_references(text, seen, block_start, blocks)
            blocks.add(kind, block_start, text_end(text, block_start, block_end))
        seen = blocks.ends[-1]
    _add_references(text, seen, end, blocks)
    return blocks if confirmed == len(scan.series) else None


def _add_references(text: str, start: int, end: int, blocks: BlockColumns) -> None:
    """Append the text between two blocks: the parser reports no event for reference definitions."""
    if text[start:end].strip(BLANK):
        blocks.add("reference", *trimmed(text, start, end))
