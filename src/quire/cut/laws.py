"""The laws: what must be true of the chunks of a document. ``quire verify`` checks them; so do the tests.

Each law is a function. It trusts nothing that a strategy computed: chunks may also come from a file.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from quire.model.breadcrumbs import Breadcrumbs
from quire.model.chunk_record import Chunk
from quire.model.document import Block, Document, Finding, Note, findings_at
from quire.model.offsets import BLANK, LINE_END, bytes_at, line_start, lines_at
from quire.model.options import build
from quire.model.page_markers import without_markers
from quire.model.substitutions import substitute
from quire.parsing.nested_blocks import inner_blocks
from quire.tokens.token_counters import TokenCounter, estimated

_MARKERS = " \t>-+*.)0123456789"  # characters that may precede a fence or a row on its line
_PREFIX = re.compile(r"[-+*.)0-9> \t]*+(?:\[\^[^\]\s]*+\]:[-+*.)0-9> \t]*+)?+")
_FENCE = re.compile(rf"{_PREFIX.pattern}(`{{3,}}|~{{3,}})")
_INDENTED = re.compile(r" {4}| {0,3}\t")


class Case(NamedTuple):
    """A document, its chunks, and how they were made."""

    document: Document
    chunks: Sequence[Chunk]
    normalized: Callable[[int, int], str]  # normalises a span
    counter: TokenCounter | None  # the one that the chunks were made with; None if unknown: counts are not checked
    findings: Sequence[Finding] | None  # those of the chunks: text that the guard dropped is not lost; None if unknown

    @property
    def strategy(self) -> str:
        """The strategy of the chunks; empty if there are none."""
        return self.chunks[0].strategy if self.chunks else ""


def violations(case: Case) -> list[Finding]:
    """What breaks a law, in document order."""
    size = len(case.document.text)
    notes = [(min(max(at, 0), size), code, message) for law in _LAWS for at, code, message in law(case)]
    return findings_at(case.document.source, sorted(notes, key=itemgetter(0)))


def _spans_are_sound(case: Case) -> Iterator[Note]:
    """Spans are in the text, ordered and disjoint."""
    size = len(case.document.text)
    for before, chunk in zip([None, *case.chunks], case.chunks, strict=False):
        start, end = chunk.source_position.char_start, chunk.source_position.char_end
        if not 0 <= start < end <= size:
            yield start, "impossible-span", f"chunk {chunk.id} claims characters {start} to {end} of {size}"
        if before and (overlap := before.source_position.char_end - start) > 0:
            message = f"chunk {chunk.id} starts {overlap} characters before {before.id} ends"
            yield start, "overlapping-spans", message


def _nothing_lost(case: Case) -> Iterator[Note]:
    """Every character of the body that is not blank is in a chunk, or in a heading that is a title in ``tree``."""
    document = case.document
    covered = [(chunk.source_position.char_start, chunk.source_position.char_end) for chunk in case.chunks]
    in_tree = case.strategy == "tree"
    if in_tree:
        covered += [(section.start, section.body_start) for section in document.sections[1:]]
    dropped = sorted(finding.line for finding in case.findings or () if finding.code.startswith("guard-dropped-"))
    seen = document.source.text_start if in_tree else document.source.body_start
    lost: list[tuple[int, int, str]] = []
    for start, end in [*sorted(covered), (len(document.text), len(document.text))]:
        gap = document.text[seen:start]
        if text := gap.strip(BLANK):
            lost.append((seen, seen + len(gap) - len(gap.lstrip(BLANK)), text))
        seen = max(seen, end)
    lines = lines_at(document.text, [position for first, position, _ in lost for position in (first, position)])
    for (_, position, text), first, last in zip(lost, lines[::2], lines[1::2], strict=True):
        at = bisect_left(dropped, first)  # dropped text may start with blank lines
        if at == len(dropped) or dropped[at] > last:
            excerpt = text if len(text) <= 40 else f"{text[:39]}…"
            yield position, "lost-text", f"{len(text)} characters are in no chunk, from {excerpt!r} on"


def _titles_are_kept(case: Case) -> Iterator[Note]:
    """In the tree, every heading with text below it is in some chunk's heading path."""
    if case.strategy != "tree":
        return
    shown = {chunk.header_path[:depth] for chunk in case.chunks for depth in range(1, len(chunk.header_path) + 1)}
    for section in case.document.nodes[1:]:
        if tuple(above.title for above in case.document.path_to(section)) not in shown:
            yield section.start, "lost-heading", f"heading {section.title!r} is in no chunk's heading path"


def _nothing_altered(case: Case) -> Iterator[Note]:
    """A chunk's text is that of its span; text around it is recorded as added."""
    for chunk in case.chunks:
        start, end = chunk.source_position.char_start, chunk.source_position.char_end
        is_normalized = _options(chunk).get("normalize")
        text = case.normalized(start, end) if is_normalized else case.document.text[start:end]
        most = chunk.added_chars if chunk.strategy == "flow" else 0  # the others repeat no sentences
        source = case.document.source
        with_values = without_markers(substitute(chunk.original_text, source.substitutions), source.page_marker)
        added = len(chunk.embed_prefix + chunk.original_text) - len(text)
        if text not in chunk.original_text:
            yield start, "altered-text", f"the text of chunk {chunk.id} is not that of its span"
        elif chunk.embed_text[len(chunk.embed_prefix) :] not in (chunk.original_text, with_values):
            yield start, "altered-text", f"embed_text of chunk {chunk.id} does not end with its text"
        elif chunk.added_chars != added or not 0 <= chunk.overlap_chars <= most:
            yield start, "unrecorded-text", f"chunk {chunk.id} has text that is not recorded as added"


def _what_fits_is_not_cut(case: Case) -> Iterator[Note]:
    """``packed`` and ``flow`` make one chunk of a document that fits the cap; with several nodes, ``join_tokens``."""
    document, blocks = case.document, case.document.block_columns
    if case.counter is None or case.strategy not in ("packed", "flow") or len(case.chunks) < 2 or not blocks.starts:
        return
    values = dict(_options(case.chunks[0]))
    options, start, end = build(values.pop("strategy"), values), blocks.starts[0], blocks.ends[-1]
    section_of = document.enclosing_section if case.strategy == "packed" else document.first_section
    breadcrumbs, section = Breadcrumbs(document, case.counter.line_count, options), section_of(start, end)
    titles = document.section_columns.titles[1:2] if options.breadcrumb_mode == "conditional" else []
    line = "" if any(breadcrumbs.repeats(title, section) for title in titles) else breadcrumbs.prefix(section)
    text = case.normalized(start, end) if getattr(options, "normalize", False) else document.text[start:end]
    is_one = sum(node.text_start < node.text_end for node in document.nodes) < 2
    most = options.cap if is_one else getattr(options, "join_tokens", options.cap)
    if case.counter.count(text) <= (most or 0) and case.counter.count(line + text) <= (options.cap or 0):
        yield start, "cut-though-it-fits", f"the document fits the cap, but has {len(case.chunks)} chunks"


def _structure_is_respected(case: Case) -> Iterator[Note]:
    """No chunk ends with a heading or has nothing else, unless only headings follow, or a finding explains it."""
    if case.strategy == "tree":
        return
    document, findings = case.document, case.findings
    last_text = max((block.end for block in document.blocks if block.kind != "heading"), default=0)
    notes: list[Note] = []
    for chunk in case.chunks:
        start, end = chunk.source_position.char_start, chunk.source_position.char_end
        blocks = document.blocks_between(start, end)
        kinds = [block.kind for block in blocks]
        if kinds[-1:] != ["heading"] or start > blocks[-1].start or blocks[-1].end > end:
            continue  # a part of a heading is prose
        last = blocks[-1]
        if findings is None and 4 * (last.end - last.start) > _cap(chunk):
            continue  # it may have been cut as prose
        message = f"chunk {chunk.id} ends with a heading that belongs to other text"
        if end < last_text:
            notes.append((last.start, "heading-at-end", message))
        elif findings is not None and last_text and start <= blocks[0].start and {*kinds} == {"heading"}:
            notes.append((blocks[0].start, "heading-at-end", message))
    yield from _unexplained(case, notes, "heading-too-long", "block-over-cap")


def _unexplained(case: Case, notes: Iterable[Note], *codes: str) -> Iterator[Note]:
    """The notes about lines without a finding whose code ends with one of ``codes``."""
    explained = {finding.line for finding in case.findings or () if finding.code.endswith(codes)}
    in_order = sorted(notes, key=itemgetter(0))
    lines = lines_at(case.document.text, [position for position, _, _ in in_order])
    yield from (note for note, line in zip(in_order, lines, strict=True) if line not in explained)


def _cut_blocks_are_whole(case: Case) -> Iterator[Note]:
    """Every part of code has its fences and every part of a table its header, unless a finding explains it."""
    if case.findings is None or case.strategy == "tree":
        return
    blocks = _Blocks(case.document)
    notes: list[Note] = []
    for chunk in case.chunks:
        start, end = chunk.source_position.char_start, chunk.source_position.char_end
        lines = blocks.without_container(start, end, LINE_END.split(chunk.original_text))
        first, last = blocks.cut_at(start), blocks.cut_at(end)
        if first is not None and not blocks.is_opened(first, start, lines):
            what = "a table without its header" if first.kind == "table" else "code whose fence is not opened again"
            notes.append((first.start, "torn-block", f"chunk {chunk.id} starts with {what}"))
        if last is not None and last.kind == "code":
            mark, marks = blocks.mark(last), lines[-1].strip(" \t>")
            if not marks.startswith(mark) or marks.strip(mark[0]):
                notes.append((last.start, "torn-block", f"chunk {chunk.id} ends with code whose fence is not closed"))
    yield from _unexplained(case, notes, "-left-out")


class _Blocks:
    """The code and tables of a document, found once per block at document level."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._text = document.text
        self._inside: dict[int, list[Block]] = {}

    def cut_at(self, position: int) -> Block | None:
        """The fenced code or the table that has text on both sides of a position."""
        around = [block for block in self._document.blocks_between(position, position + 1) if block.start < position]
        inside = self._code_and_tables(around[-1]) if around else []
        at = bisect_left(inside, position, key=attrgetter("start")) - 1
        if at < 0 or position >= inside[at].end:
            return None
        block = inside[at]
        if block.kind == "code" and (_INDENTED.match(self._text, block.start) or not self.mark(block)):
            return None  # indented code, which may show a fence
        return block if self._text[block.start : position].strip(BLANK) else None

    def without_container(self, start: int, end: int, lines: list[str]) -> list[str]:
        """The lines of a chunk without those that open and close again a directive that it is a part of."""
        first, last = (self._document.blocks_between(at, at + 1) for at in (start, end - 1))
        if first and first[0].kind == "directive" and first[0].start < start and len(lines) > 1:
            line_end = LINE_END.search(self._text, first[0].start, start)
            opening = self._text[first[0].start : line_end.start() if line_end else start]
            lines = lines[1:] if lines[0].strip() == opening.strip() else lines
        if last and last[0].kind == "directive" and end < last[0].end and len(lines) > 1:
            closing = self._text[line_start(self._text, last[0].end, end) : last[0].end]
            is_closing = closing.strip().startswith((":::", "{{", "{%"))
            lines = lines[:-1] if is_closing and lines[-1].strip() == closing.strip() else lines
        return lines

    def is_opened(self, block: Block, start: int, lines: Sequence[str]) -> bool:
        """Whether a chunk with these ``lines``, which starts inside a block, has the block's fence or header."""
        # If lines of a block are indented less than its first, the marker of its list item is on a line above.
        lines = lines[1:] if len(lines) > 1 and not lines[0].strip(_MARKERS) else lines
        if block.kind == "code":
            fence = _FENCE.match(lines[0])
            return fence is not None and fence[1].startswith(self.mark(block)) and block.info in lines[0]
        body = next((row.start for row in block.children if not row.level), block.end)
        header = LINE_END.split(self._text[block.start : body])[:2]
        return start < body or [*map(_bare, lines[:2])] == [*map(_bare, header)]

    def mark(self, code: Block) -> str:
        """The marks of a fence; empty for indented code."""
        fence = _FENCE.match(self._text, code.start, code.end)
        return fence[1] if fence else ""

    def _code_and_tables(self, block: Block) -> list[Block]:
        if block.start not in self._inside:
            whole = block._replace(children=inner_blocks(self._text, block))
            self._inside[block.start] = [block for block in whole.walk() if block.kind in ("code", "table")]
        return self._inside[block.start]


def _bare(line: str) -> str:
    return line[_PREFIX.match(line).end() :].rstrip(_MARKERS)  # type: ignore[union-attr]  # it matches the empty text too


def _positions_agree(case: Case) -> Iterator[Note]:
    """Characters, bytes and lines agree."""
    document, chunks = case.document, case.chunks
    size, places = len(document.text), [chunk.source_position for chunk in chunks]
    edges = sorted({edge for place in places for edge in (place.char_start, place.char_end) if 0 <= edge <= size})
    in_bytes = dict(zip(edges, bytes_at(document.text, edges), strict=True))
    characters = sorted({max(0, edge - back) for edge in edges for back in (0, 1)})
    in_lines = dict(zip(characters, lines_at(document.text, characters), strict=True))
    for chunk, place in zip(chunks, places, strict=True):
        start, end, last = place.char_start, place.char_end, max(place.char_start, place.char_end - 1)
        expected = (in_bytes.get(start), in_bytes.get(end), in_lines.get(start), in_lines.get(last), size)
        stated = (place.byte_start, place.byte_end, place.start_line, place.end_line, place.total_chars)
        if stated != expected:
            message = f"chunk {chunk.id} states bytes, lines and size {stated}, but its characters are at {expected}"
            yield place.char_start, "wrong-position", message


def _headings_are_right(case: Case) -> Iterator[Note]:
    """A chunk's heading path is that of a section that contains the start of its text."""
    document = case.document
    for chunk in case.chunks:
        position = chunk.source_position.char_start
        if chunk.strategy != "tree":  # headings without text do not count
            position, _ = document.text_between(position, chunk.source_position.char_end)
        section = document.sections[max(document.section_at(position), 0)]
        titles = tuple(above.title for above in document.path_to(section))
        is_exact = chunk.strategy == "flow" or (chunk.strategy == "tree" and section.position is not None)
        if chunk.header_path != (titles if is_exact else titles[: len(chunk.header_path)]):
            place = " > ".join(titles) or "no heading"
            yield position, "wrong-headings", f"chunk {chunk.id} is under {place}, not {chunk.header_breadcrumb!r}"


def _links_hold(case: Case) -> Iterator[Note]:
    """Ids are unique, numbers count up, and ``prev_id`` and ``next_id`` name the neighbours."""
    seen: set[str] = set()
    ids = [None, *(chunk.id for chunk in case.chunks), None]
    for number, chunk in enumerate(case.chunks):
        start = chunk.source_position.char_start
        if chunk.id in seen:
            yield start, "duplicate-id", f"two chunks have the id {chunk.id}"
        seen.add(chunk.id)
        if chunk.chunk_number != number:
            yield start, "wrong-number", f"chunk {chunk.id} has number {chunk.chunk_number}, but is number {number}"
        if (chunk.prev_id, chunk.next_id) != (ids[number], ids[number + 2]):
            yield start, "broken-link", f"prev_id or next_id of chunk {chunk.id} is wrong"


def _tokens(case: Case) -> Iterator[Note]:
    """Stated counts are right, and none exceeds the cap but that of a block that ``sections`` keeps whole."""
    if case.counter is None:
        return
    count = case.counter.count
    for chunk in case.chunks:
        place, stats = chunk.source_position, chunk.token_stats
        counted = (count(chunk.original_text), estimated(chunk.original_text), count(chunk.embed_text))
        stated = (stats.tokens, stats.estimated_tokens, stats.embed_tokens)
        if stated != counted:
            message = f"chunk {chunk.id} states {stated} tokens, but {case.counter.name} counts {counted}"
            yield place.char_start, "wrong-count", message
        if 0 < _cap(chunk) < counted[2]:
            blocks = case.document.blocks_between(place.char_start, place.char_end)
            if chunk.strategy != "sections" or sum(block.kind != "heading" for block in blocks) > 1:
                message = f"chunk {chunk.id} has more than {_cap(chunk)} tokens to embed"
                yield place.char_start, "over-cap", message


def _cap(chunk: Chunk) -> int:
    """The cap of a chunk; 0 for none."""
    return _options(chunk).get("max_tokens") or 0


def _options(chunk: Chunk) -> Any:
    return chunk.metadata.get("chunkingOptions", {})


_LAWS: tuple[Callable[[Case], Iterator[Note]], ...] = (
    _spans_are_sound,
    _titles_are_kept,
    _positions_agree,
    _headings_are_right,
    _links_hold,
    _nothing_lost,
    _structure_is_respected,
    _cut_blocks_are_whole,
    _nothing_altered,
    _tokens,
    _what_fits_is_not_cut,
)
