"""Pieces into chunk records: everything that is known of a chunk is put together here. Before: split/."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from quire import __version__, crumbs
from quire.config import Options
from quire.finish.ids import ids, parent_ids
from quire.model import Chunk, Document, Piece, SourcePosition, TokenCounter, TokenStats
from quire.offsets import bytes_at, lines_at

MDAST_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "quote": "blockquote",
        "footnote": "footnoteDefinition",
        "rule": "thematicBreak",
        "reference": "definition",
        "directive": "containerDirective",
    }
)
"""mdast's names for kinds of block, where they are not the same."""


class Trail(NamedTuple):
    """The headings that lead to a section."""

    titles: tuple[str, ...] = ()
    depths: tuple[int, ...] = ()
    slugs: tuple[str, ...] = ()
    breadcrumb: str = ""


def assemble(
    document: Document, pieces: Sequence[Piece], counter: TokenCounter, options: Options, *, started: float
) -> list[Chunk]:
    """A chunk for each of ``pieces``, in order."""
    names = ids(document, pieces, options)
    parents = parent_ids(document, pieces, options)
    before, after = [None, *names[:-1]], [*names[1:], None]
    positions = _positions(document.text, pieces)
    trails = _Trails(document, options)
    metadata = _metadata(document, options, started)
    file_name = PurePosixPath(document.path).name if document.path is not None else "untitled"
    no_headings = len(document.sections) == 1
    chunks: list[Chunk] = []
    for number, piece in enumerate(pieces):
        trail = trails.to(piece.section)
        text = document.text[piece.start : piece.end]
        prefix = "" if options.breadcrumb_mode == "none" or not trail.breadcrumb else f"{trail.breadcrumb}\n\n"
        embed_text = prefix + text
        chunks.append(
            Chunk(
                id=names[number],
                parent_id=parents[number],
                chunk_number=number,
                content_type=options.content_type,
                embed_text=embed_text,
                original_text=text,
                file_title=document.title,
                section_title=trail.titles[-1] if trail.titles else document.title if no_headings else "",
                header_path=trail.titles,
                header_breadcrumb=crumbs.SEPARATOR.join(trail.titles),
                header_depths=trail.depths,
                header_slugs=trail.slugs,
                section_slug=trail.slugs[-1] if trail.slugs else "",
                source_position=positions[number],
                token_stats=TokenStats(
                    tokens=piece.tokens,
                    estimated_tokens=-(-len(text) // 4),
                    embed_tokens=_embed_tokens(counter, prefix, embed_text, piece.tokens),
                ),
                prev_id=before[number],
                next_id=after[number],
                metadata=metadata,
                strategy=options.strategy,
                added_chars=len(prefix),
                breadcrumb=(file_name, *trail.titles),
                position=document.sections[piece.section].position,
                kinds=partial(node_types, document, piece.start, piece.end),
            )
        )
    return chunks


class _Trails:
    """The trail to each section, made from its parent's."""

    def __init__(self, document: Document, options: Options) -> None:
        self._document = document
        self._ascii = options.slugs == "ascii"
        self._known = {0: Trail(breadcrumb=crumbs.full_line(document.title, ()))}

    def to(self, index: int) -> Trail:
        known = self._known.get(index)
        if known is None:
            section = self._document.sections[index]
            above = self.to(section.parent or 0)
            titles = (*above.titles, section.title)
            known = Trail(
                titles,
                (*above.depths, section.depth),
                (*above.slugs, section.slug if self._ascii else section.anchor),
                crumbs.full_line(self._document.title, titles),
            )
            self._known[index] = known
        return known


def _embed_tokens(counter: TokenCounter, prefix: str, embed_text: str, tokens: int) -> int:
    if not prefix:
        return tokens
    if counter.cuts_cleanly(embed_text, len(prefix)):
        return counter.count(prefix) + tokens
    return counter.count(embed_text)


def _positions(text: str, pieces: Sequence[Piece]) -> list[SourcePosition]:
    edges = list(chain.from_iterable((piece.start, piece.end) for piece in pieces))
    in_bytes = bytes_at(text, edges)
    in_lines = lines_at(text, chain.from_iterable((piece.start, max(piece.start, piece.end - 1)) for piece in pieces))
    return [
        SourcePosition(
            char_start=piece.start,
            char_end=piece.end,
            total_chars=len(text),
            byte_start=in_bytes[2 * number],
            byte_end=in_bytes[2 * number + 1],
            start_line=in_lines[2 * number],
            end_line=in_lines[2 * number + 1],
        )
        for number, piece in enumerate(pieces)
    ]


def _metadata(document: Document, options: Options, started: float) -> Mapping[str, Any]:
    """Shared by all chunks of a document: front matter first, so that quire's own names cannot be taken."""
    pipeline: dict[str, Any] = {"version": __version__}
    metadata = {**document.frontmatter, "chunkingOptions": options.to_dict(), "pipeline": pipeline}
    if document.path is not None:
        metadata["sourceFile"] = document.path
    if options.timestamps:
        metadata["processedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        pipeline["processingTimeMs"] = round((time.perf_counter() - started) * 1000, 3)
    return MappingProxyType(metadata)


def node_types(document: Document, start: int, end: int) -> tuple[str, ...]:
    """What mdast calls the blocks that stand in a span, each once, in order."""
    blocks = document.blocks
    first = bisect_right(blocks, start, key=lambda block: block.end)
    last = bisect_left(blocks, end, key=lambda block: block.start)
    return tuple(dict.fromkeys(MDAST_NAMES.get(block.kind, block.kind) for block in blocks[first:last]))
