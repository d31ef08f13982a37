"""Pieces into chunk records: every field of every chunk, made in one pass over the pieces."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from quire import __version__, breadcrumbs
from quire.counter import estimated
from quire.finish.embed_text import prefix_of
from quire.finish.ids import document_id, ids, node_id
from quire.model import OWN_METADATA, UNTITLED, Document, Piece
from quire.offsets import bytes_at, lines_at
from quire.options import Options
from quire.parsing.slugs import section_anchors
from quire.record import Chunk, SourcePosition, TokenStats
from quire.size.sizer import Sizer

MDAST_NAMES: Mapping[str, str] = {
    "quote": "blockquote",
    "footnote": "footnoteDefinition",
    "rule": "thematicBreak",
    "reference": "definition",
    "directive": "containerDirective",
}
"""mdast's names for kinds of block, where they differ from quire's."""


class _Heading(NamedTuple):
    """The fields that all chunks of one section share."""

    parent_id: str | None
    node_id: str
    section_title: str
    path: tuple[str, ...]
    breadcrumb_text: str
    depths: tuple[int, ...]
    slugs: tuple[str, ...]
    breadcrumb: tuple[str, ...]
    position: int | None


def assemble(
    document: Document, pieces: Sequence[Piece], sizer: Sizer, options: Options, *, started: float
) -> list[Chunk]:
    """A chunk for each of ``pieces``, in order."""
    names: list[str | None] = [None, *ids(document, pieces, options), None]
    metadata = _metadata(document, options, started)
    positions, kinds = _positions(document.text, pieces), _kinds(document, pieces)
    heading, section = None, -1
    shared: dict[str, str] = {}
    node_types: dict[tuple[str, ...], tuple[str, ...]] = {}
    starts, sections = document.section_columns.starts, document.sections
    anchors = section_anchors(document, options.slugs)
    source_path, file_name = document.path, _file_name(document.path)
    is_tree = options.strategy == "tree"
    is_whole = options.strategy == "packed" and len(pieces) == 1  # one chunk is known by its file name alone
    chunks: list[Chunk] = []
    for number, (piece, position, kinds_in_it) in enumerate(zip(pieces, positions, kinds, strict=True)):
        if heading is None or section != piece.section:  # pieces of one section mostly follow each other
            section = piece.section
            heading = _heading(document, sizer, options, section, anchors, shared)
        name = names[number + 1] or ""
        first, last = bisect_left(starts, piece.start, 1), bisect_left(starts, piece.end, 1)
        text, overlap = _text(sizer, piece)
        span = (piece.start if piece.overlap_start is None else piece.overlap_start, piece.end)
        tokens = sizer.embedded_size(*span, piece.prefix, piece.suffix)
        contained = sections[first:last]
        if kinds_in_it not in node_types:
            node_types[kinds_in_it] = tuple([MDAST_NAMES.get(kind, kind) for kind in kinds_in_it])
        prefix = prefix_of(
            document,
            piece,
            sizer,
            options,
            contained=contained,
            kinds=kinds_in_it,
            overlap=text[:overlap],
            tokens=tokens,
        )
        embed_text, embed_tokens = prefix + text, tokens
        if prefix:
            embed_tokens = sizer.embedded_size(*span, prefix + piece.prefix, piece.suffix)
        if embed_tokens > sizer.cap and prefix and tokens <= sizer.cap:  # a block that stays whole leaves no room
            prefix, embed_text, embed_tokens = "", text, tokens
        chunks.append(
            Chunk(
                id=name,
                parent_id=heading.parent_id,
                node_id=name if is_tree else heading.node_id,
                chunk_number=number,
                content_type=options.content_type,
                source_path=source_path,
                embed_text=embed_text,
                original_text=text,
                file_title=document.title,
                section_title=heading.section_title,
                header_path=heading.path,
                header_breadcrumb=heading.breadcrumb_text,
                header_depths=heading.depths,
                header_slugs=heading.slugs,
                section_slug=heading.slugs[-1] if heading.slugs else "",
                source_position=position,
                token_stats=TokenStats(tokens, estimated(text), embed_tokens),
                prev_id=names[number],
                next_id=names[number + 2],
                node_types=node_types[kinds_in_it],
                metadata=metadata,
                strategy=options.strategy,
                overlap_chars=overlap,
                added_chars=len(prefix) + len(piece.prefix) + len(piece.suffix) + overlap,
                breadcrumb=(file_name,) if is_whole else heading.breadcrumb,
                contained_headings=tuple([each.title for each in contained]),
                contained_slugs=tuple(anchors[first:last]),
                position=heading.position,
            )
        )
    return chunks


def _heading(  # noqa: PLR0917
    document: Document, sizer: Sizer, options: Options, number: int, anchors: Sequence[str], shared: dict[str, str]
) -> _Heading:
    """The fields that the chunks of a section share. ``shared`` keeps one object for equal ids."""
    section, titles = document.sections[number], sizer.breadcrumbs.titles(number)
    path = document.path_to(section)
    is_tree = options.strategy == "tree"
    parent_id: str | None = document_id(document, options)
    if is_tree:
        parent_id = None if section.parent is None else node_id(document, section.parent, options)
    return _Heading(
        parent_id if parent_id is None else shared.setdefault(parent_id, parent_id),
        node_id(document, number, options),
        titles[-1] if titles else "" if len(document.sections) > 1 else document.title,
        titles,
        breadcrumbs.SEPARATOR.join(titles),
        tuple([each.depth for each in path]),
        tuple([anchors[each.number] for each in path]),
        (_file_name(document.path), *titles),
        section.position if is_tree else None,
    )


def _text(sizer: Sizer, piece: Piece) -> tuple[str, int]:
    """The text to show, and how many characters at its start are overlap."""
    own = sizer.embedded_text(piece.start, piece.end)
    if piece.overlap_start is None:
        return f"{piece.prefix}{own}{piece.suffix}", 0
    longer = sizer.embedded_text(piece.overlap_start, piece.end)
    return f"{longer}{piece.suffix}", len(longer) - len(own)


def _positions(text: str, pieces: Sequence[Piece]) -> list[SourcePosition]:
    """Where each piece is, in one pass over the text."""
    edges: list[int] = []
    ends: list[int] = []
    for piece in pieces:
        start, end = piece.start, piece.end
        edges += (start, end)
        ends += (start, end - 1 if end > start else start)
    in_bytes, in_lines, total = bytes_at(text, edges), lines_at(text, ends), len(text)
    return [
        SourcePosition(edges[at], edges[at + 1], total, in_bytes[at], in_bytes[at + 1], in_lines[at], in_lines[at + 1])
        for at in range(0, len(edges), 2)
    ]


def _kinds(document: Document, pieces: Sequence[Piece]) -> list[tuple[str, ...]]:
    """The kinds of the blocks in each piece, each once, in order; pieces and blocks are in document order."""
    blocks, size = document.blocks, len(document.blocks)
    made: list[tuple[str, ...]] = []
    first = 0
    for piece in pieces:
        start, end = piece.start, piece.end
        while first < size and blocks[first][2] <= start:
            first += 1
        found: dict[str, None] = {}
        last = first
        while last < size and blocks[last][1] < end:
            found[blocks[last][0]] = None
            last += 1
        made.append(tuple(found))
        first = max(first, last - 1)
    return made


def _metadata(document: Document, options: Options, started: float) -> Mapping[str, Any]:
    """Front matter without quire's own names, then the source file, the options and quire's version."""
    pipeline: dict[str, Any] = {"version": __version__}
    made = dict(document.source.metadata)
    for name in OWN_METADATA:
        made.pop(name, None)
    made |= {"chunkingOptions": options.to_dict(), "pipeline": pipeline}
    if document.path is not None:
        made["sourceFile"] = document.path
    if options.timestamps:
        made["processedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        pipeline["processingTimeMs"] = round((time.perf_counter() - started) * 1000, 3)
    return MappingProxyType(made)


def _file_name(path: str | None) -> str:
    """The last part of a path."""
    return UNTITLED if path is None else path.rstrip("/").removesuffix("/.").rpartition("/")[2]
