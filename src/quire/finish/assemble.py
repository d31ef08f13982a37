"""Pieces into chunk records: every field of every chunk, made in one pass over the pieces."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from types import MappingProxyType
from typing import Any, NamedTuple

from quire import __version__, breadcrumbs
from quire.counter import CHARACTERS_A_TOKEN
from quire.finish.embed_text import line_above
from quire.finish.ids import document_id, node_id
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
    lists, blocks = document.section_columns, document.block_columns
    anchors, headings = section_anchors(document, options.slugs), _Headings(document, sizer, options)
    names: list[str | None] = [None, *_ids(document, pieces, options), None]
    path, document_title, content_type = document.path, document.title, options.content_type
    metadata, file_name = _metadata(document, options, started), _file_name(path)
    is_tree, strategy = options.strategy == "tree", options.strategy
    is_whole = strategy == "packed" and len(pieces) == 1  # one chunk is known by its file name alone
    node_types: dict[tuple[str, ...], tuple[str, ...]] = {}
    chunks: list[Chunk] = []
    for number, (piece, position) in enumerate(zip(pieces, _positions(document.text, pieces), strict=True)):
        start, end, section, tokens, before, behind, overlap_start = piece
        text, overlap = sizer.text_of(start, end), 0
        if before or behind:
            text = f"{before}{text}{behind}"
        if overlap_start is not None:
            own, text = len(text), f"{sizer.text_of(overlap_start, end)}{behind}"
            overlap = len(text) - own
        first = bisect_left(lists.starts, start, 1)
        last = bisect_left(lists.starts, end, first)
        kinds = tuple(dict.fromkeys(blocks.kinds[bisect_right(blocks.ends, start) : bisect_left(blocks.starts, end)]))
        if kinds not in node_types:
            node_types[kinds] = tuple([MDAST_NAMES.get(kind, kind) for kind in kinds])
        title = lists.titles[first] if first < last else None
        line = line_above(document, piece, sizer, options, title, kinds, text[:overlap])
        embed_tokens = sizer.size_below(line, piece, text) if line else tokens
        if embed_tokens > sizer.cap and tokens <= sizer.cap:  # a block that stays whole leaves no room
            line, embed_tokens = "", tokens
        heading = headings.of(section)
        name = names[number + 1] or ""
        chunks.append(
            Chunk(
                id=name,
                parent_id=heading.parent_id,
                node_id=name if is_tree else heading.node_id,
                chunk_number=number,
                content_type=content_type,
                source_path=path,
                embed_text=line + text if line else text,
                original_text=text,
                file_title=document_title,
                section_title=heading.section_title,
                header_path=heading.path,
                header_breadcrumb=heading.breadcrumb_text,
                header_depths=heading.depths,
                header_slugs=heading.slugs,
                section_slug=heading.slugs[-1] if heading.slugs else "",
                source_position=position,
                token_stats=TokenStats(tokens, -(-len(text) // CHARACTERS_A_TOKEN), embed_tokens),
                prev_id=names[number],
                next_id=names[number + 2],
                node_types=node_types[kinds],
                metadata=metadata,
                strategy=strategy,
                overlap_chars=overlap,
                added_chars=len(line) + len(before) + len(behind) + overlap,
                breadcrumb=(file_name,) if is_whole else heading.breadcrumb,
                contained_headings=tuple(lists.titles[first:last]),
                contained_slugs=tuple(anchors[first:last]),
                position=heading.position,
            )
        )
    return chunks


class _Headings:
    """The fields that the chunks of a section share, made once for each section."""

    def __init__(self, document: Document, sizer: Sizer, options: Options) -> None:
        self._document, self._options, self._breadcrumbs = document, options, sizer.breadcrumbs
        self._anchors = section_anchors(document, options.slugs)
        self._document_id, self._file_name = document_id(document, options), _file_name(document.path)
        self._known: dict[int, _Heading] = {}

    def of(self, section: int) -> _Heading:
        """The fields of a section."""
        return self._known.get(section) or self._made(section)

    def _made(self, section: int) -> _Heading:
        document, options, lists = self._document, self._options, self._document.section_columns
        titles, parent, is_tree = self._breadcrumbs.titles(section), lists.parents[section], options.strategy == "tree"
        depths: tuple[int, ...] = ()
        slugs: tuple[str, ...] = ()
        if section:
            above = self.of(parent)
            depths, slugs = (*above.depths, lists.depths[section]), (*above.slugs, self._anchors[section])
        parent_id: str | None = self._document_id
        if is_tree:
            parent_id = self.of(parent).node_id if section else None
        made = self._known[section] = _Heading(
            parent_id,
            node_id(document, section, options),
            titles[-1] if titles else "" if len(lists.starts) > 1 else document.title,
            titles,
            breadcrumbs.SEPARATOR.join(titles),
            depths,
            slugs,
            (self._file_name, *titles),
            lists.positions[section] if is_tree else None,
        )
        return made


def _ids(document: Document, pieces: Sequence[Piece], options: Options) -> list[str]:
    """The id of each chunk: in the tree strategy that of its node, else the document's with a number."""
    if options.strategy == "tree":
        return [node_id(document, piece.section, options) for piece in pieces]
    name = document_id(document, options)
    return [f"{name}::ch{number}" for number in range(len(pieces))]


def _positions(text: str, pieces: Sequence[Piece]) -> Iterator[SourcePosition]:
    """Where each piece is, in one pass over the text."""
    edges = [edge for piece in pieces for edge in piece[:2]]
    last_characters = [edge - odd for edge, odd in zip(edges, cycle((0, 1)), strict=False)]
    in_bytes, in_lines, total = bytes_at(text, edges), lines_at(text, last_characters), len(text)
    for at in range(0, len(edges), 2):
        lines = in_lines[at], in_lines[at + 1]
        yield SourcePosition(edges[at], edges[at + 1], total, in_bytes[at], in_bytes[at + 1], *lines)


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
