"""What went wrong: one verdict on what any tool made of a document. Neighbours: truth.py, align.py; report.py adds up.

Nobody is blamed for white space, nor for text that is in the metadata instead: a heading's title, front matter. Nobody
is blamed for cutting what cannot fit: a table's row that is longer than the cap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from benchmarks.peers.align import align
from benchmarks.peers.record import CAP, Count, Output, Peer, Piece
from benchmarks.peers.truth import Span, Table, Truth, solid, spelled

_FENCE = re.compile(r"^[ \t>*+-]*(?:\d+[.)])?[ \t]*(`{3,}|~{3,})(.*)$")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How often each thing went wrong; None where the tool does not offer it."""

    chunks: int = 0
    """How many chunks there are; nothing wrong with that."""
    lost: int = 0
    """Characters of the document that are in no chunk and in no metadata."""
    lost_places: int = 0
    """In how many places."""
    foreign: int = 0
    """Characters in chunks that are not in the document there, and that the tool does not say it added."""
    foreign_chunks: int = 0
    """In how many chunks."""
    over: int | None = None
    """Chunks over the cap."""
    torn_fences: int = 0
    """Chunks with a part of fenced code that is not itself between fences."""
    cut_rows: int = 0
    """Rows of tables that are in two chunks or more."""
    headless: int = 0
    """Chunks with rows of a table but without its header."""
    hanging: int = 0
    """Chunks that end with a heading, or are nothing else."""
    unindented: int = 0
    """Chunks with code that has lost its indentation."""
    false_headings: int | None = None
    """Titles that are reported as headings and are none."""
    missed_headings: int | None = None
    """Headings that are not reported."""
    offsets: int | None = None
    """Chunks whose offsets are missing, or do not lead to their text."""

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(*(_sum(getattr(self, each.name), getattr(other, each.name)) for each in fields(self)))

    @property
    def defects(self) -> int:
        """All that went wrong, places and chunks counted, not characters."""
        passed = ("chunks", "lost", "foreign")
        return sum(getattr(self, each.name) or 0 for each in fields(self) if each.name not in passed)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def judge(truth: Truth, output: Output, count: Count, peer: Peer) -> Verdict:
    """What ``output`` got wrong about a document; ``count`` is exact."""
    pieces = output.pieces
    body = _body(truth, output)
    spans = align(truth.solid, [piece.own for piece in pieces], body)
    extents = [Span(each[0].start, each[-1].end) if each else Span(0, 0) for each in spans]
    gaps = list(_gaps(truth, pieces, spans, body))
    foreign = [len(solid(piece.own)) - _length(each) for piece, each in zip(pieces, spans, strict=True)]
    titles = {spelled(title) for piece in pieces for title in piece.headings} - {""}
    return Verdict(
        chunks=len(pieces),
        lost=_length(gaps),
        lost_places=len(gaps),
        foreign=sum(foreign),
        foreign_chunks=sum(each > 0 for each in foreign),
        over=sum(count(piece.text) > CAP for piece in pieces) if peer.has_cap else None,
        torn_fences=sum(1 for _ in _torn_fences(truth, pieces, extents)),
        cut_rows=sum(_cut_rows(truth, table, extents, count) for table in truth.tables),
        headless=sum(_headless(truth, table, pieces, extents, count) for table in truth.tables),
        hanging=sum(_hangs(truth, extent) for extent in extents),
        unindented=_unindented(truth, pieces),
        false_headings=_false_headings(truth, titles) if peer.has_headings else None,
        missed_headings=_missed_headings(truth, titles) if peer.has_headings else None,
        offsets=sum(_is_misplaced(truth, piece) for piece in pieces) if peer.has_offsets else None,
    )


def _body(truth: Truth, output: Output) -> int:
    """Where the chunks' text begins: below the front matter if that is told as metadata and is in no chunk."""
    first = solid(output.pieces[0].own) if output.pieces else ""
    is_in_a_chunk = bool(first) and truth.solid.startswith(first[: truth.front.end])
    return 0 if is_in_a_chunk or not _says(output.front, truth.metadata) else truth.front.end


def _length(spans: Sequence[Span]) -> int:
    return sum(span.end - span.start for span in spans)


def _gaps(truth: Truth, pieces: Sequence[Piece], spans: Sequence[tuple[Span, ...]], body: int) -> Iterator[Span]:
    """The places whose text is nowhere."""
    covered = [span for each in spans for span in each]
    titles = {spelled(title) for piece in pieces for title in piece.headings}
    covered += [heading.span for heading in truth.headings if heading.titles & titles]
    at = body
    for span in sorted(covered):
        if span.start > at:
            yield Span(at, span.start)
        at = max(at, span.end)
    if at < len(truth.solid):
        yield Span(at, len(truth.solid))


def _says(told: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Whether all of the front matter is told, whatever types its values were given."""
    return all(_same(told.get(str(key)), value) for key, value in metadata.items())


def _same(told: Any, value: Any) -> bool:
    if isinstance(value, Mapping):
        return isinstance(told, Mapping) and _says(told, value)
    if isinstance(value, list):
        return isinstance(told, list | tuple) and len(told) == len(value) and all(map(_same, told, value))
    return told == value or solid(str(told)) == solid(str(value))


def _torn_fences(truth: Truth, pieces: Sequence[Piece], extents: Sequence[Span]) -> Iterator[Piece]:
    for fence in truth.fences:
        for piece, extent in zip(pieces, extents, strict=True):
            start, end = max(extent.start, fence.span.start), min(extent.end, fence.span.end)
            if start < end and (start, end) != fence.span:
                code = truth.solid[max(start, fence.code.start) : min(end, fence.code.end)]
                if not any(code in each for each in _fenced(piece.text)):
                    yield piece


def _fenced(text: str) -> Iterator[str]:
    """What stands between two fences, solid; containers are looked through."""
    opening, inside = "", ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not opening:
            if found:
                opening, inside = found[1], ""
        elif found and found[1].startswith(opening) and not found[2].strip():
            yield inside
            opening = ""
        else:
            inside += solid(line)


def _cut_rows(truth: Truth, table: Table, extents: Sequence[Span], count: Count) -> int:
    rows = (*table.rows, table.head)
    cut = [row for row in rows if sum(_overlap(row, extent) > 0 for extent in extents) > 1]
    return sum(count(truth.solid[row.start : row.end]) <= CAP for row in cut)


def _headless(truth: Truth, table: Table, pieces: Sequence[Piece], extents: Sequence[Span], count: Count) -> int:
    head = truth.solid[table.head.start : table.head.end]
    missing = 0
    for piece, extent in zip(pieces, extents, strict=True):
        rows = [row for row in table.rows if _overlap(row, extent)]
        if rows and head not in solid(piece.text):
            least = head + truth.solid[rows[0].start : rows[0].end]
            missing += count(least) <= CAP
    return missing


def _overlap(one: Span, other: Span) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def _hangs(truth: Truth, extent: Span) -> bool:
    """Whether it ends with a heading; the last thing in a document may be one."""
    last = extent.end - 1
    return last >= extent.start and any(
        heading.is_section and heading.span.start <= last < heading.span.end < len(truth.solid)
        for heading in truth.headings
    )


def _unindented(truth: Truth, pieces: Sequence[Piece]) -> int:
    """How many chunks have a line of code that stands in no chunk with its indentation."""
    chunks = [{line.rstrip().expandtabs(4) for line in piece.text.split("\n")} for piece in pieces]
    there = set().union(*chunks)
    lost = {line.lstrip() for code in truth.code_lines if (line := code.expandtabs(4)) not in there}
    return sum(not lost.isdisjoint(map(str.lstrip, lines)) for lines in chunks)


def _false_headings(truth: Truth, titles: set[str]) -> int:
    return len(titles - {title for heading in truth.headings for title in heading.titles})


def _missed_headings(truth: Truth, titles: set[str]) -> int:
    return sum(heading.is_section and not heading.titles & {*titles, ""} for heading in truth.headings)


def _is_misplaced(truth: Truth, piece: Piece) -> bool:
    if piece.start is None or piece.end is None:
        return True
    return solid(truth.text[piece.start : piece.end]) != solid(piece.own)
