"""Pieces into chunk records: everything that is known of a chunk is put together here. Before: split/."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from quire import __version__, crumbs
from quire.config import Options
from quire.finish.ids import ids, parent_id
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


def assemble(
    document: Document, pieces: Sequence[Piece], counter: TokenCounter, options: Options, *, started: float
) -> list[Chunk]:
    """A chunk for each of ``pieces``, in order."""
    fill = Fields(document, pieces, counter, options, time.perf_counter() - started, time.time())
    return [Chunk.filled_by(fill, number) for number in range(len(pieces))]


@dataclass(frozen=True)
class Fields:
    """The fields of the chunks of a document, made when they are asked for."""

    document: Document
    pieces: Sequence[Piece]
    counter: TokenCounter
    options: Options
    seconds: float
    """How long it took to cut the document."""
    made_at: float
    """When that was."""

    def __call__(self, number: int, name: str) -> Mapping[str, Any]:
        """The fields of a chunk; those that cost more than the rest together only if asked for."""
        if name == "node_types":
            piece = self.pieces[number]
            return {name: node_types(self.document, piece.start, piece.end)}
        return self._place(number) | self._content(number)

    def _place(self, number: int) -> dict[str, Any]:
        """What it is called and where it stands."""
        document, options, names = self.document, self.options, self._names
        section = self.pieces[number].section
        trail = self._trail(section)
        has_headings = len(document.sections) > 1
        return {
            "id": names[number],
            "parent_id": parent_id(document, section, options),
            "prev_id": names[number - 1] if number else None,
            "next_id": names[number + 1] if number + 1 < len(names) else None,
            "content_type": options.content_type,
            "strategy": options.strategy,
            "file_title": document.title,
            "section_title": trail.titles[-1] if trail.titles else "" if has_headings else document.title,
            "header_path": trail.titles,
            "header_breadcrumb": crumbs.SEPARATOR.join(trail.titles),
            "header_depths": trail.depths,
            "header_slugs": trail.slugs,
            "section_slug": trail.slugs[-1] if trail.slugs else "",
            "breadcrumb": (self._file_name, *trail.titles),
            "position": document.sections[section].position,
            "source_position": self._positions[number],
            "metadata": self._metadata,
        }

    def _content(self, number: int) -> dict[str, Any]:
        """Its text, and how large that is."""
        piece = self.pieces[number]
        text = self.document.text[piece.start : piece.end]
        prefix = self._prefix(piece)
        embed_text = prefix + text
        return {
            "original_text": text,
            "embed_text": embed_text,
            "overlap_chars": 0,
            "added_chars": len(prefix),
            "contained_headings": (),
            "token_stats": TokenStats(
                tokens=piece.tokens,
                estimated_tokens=-(-len(text) // 4),
                embed_tokens=_embed_tokens(self.counter, prefix, embed_text, piece.tokens),
            ),
        }

    def _prefix(self, piece: Piece) -> str:
        """The breadcrumb with the blank line below it; nothing where none is wanted or there is nothing to say."""
        if self.options.breadcrumb_mode == "none":
            return ""
        line = crumbs.full_line(self.document.title, self._trail(piece.section).titles)
        return f"{line}\n\n" if line else ""

    def _trail(self, section: int) -> Trail:
        known = self._trails.get(section)
        if known is None:
            heading = self.document.sections[section]
            above = self._trail(heading.parent or 0)
            slug = heading.slug if self.options.slugs == "ascii" else heading.anchor
            known = Trail((*above.titles, heading.title), (*above.depths, heading.depth), (*above.slugs, slug))
            self._trails[section] = known
        return known

    @cached_property
    def _trails(self) -> dict[int, Trail]:
        return {0: Trail()}

    @cached_property
    def _names(self) -> list[str]:
        return ids(self.document, self.pieces, self.options)

    @cached_property
    def _positions(self) -> list[SourcePosition]:
        return _positions(self.document.text, self.pieces)

    @cached_property
    def _metadata(self) -> Mapping[str, Any]:
        return _metadata(self.document, self.options, self.seconds, self.made_at)

    @cached_property
    def _file_name(self) -> str:
        return PurePosixPath(self.document.path).name if self.document.path is not None else "untitled"


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


def _metadata(document: Document, options: Options, seconds: float, made_at: float) -> Mapping[str, Any]:
    """Shared by all chunks of a document: front matter first, so that quire's own names cannot be taken."""
    pipeline: dict[str, Any] = {"version": __version__}
    metadata = {**document.frontmatter, "chunkingOptions": options.to_dict(), "pipeline": pipeline}
    if document.path is not None:
        metadata["sourceFile"] = document.path
    if options.timestamps:
        metadata["processedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(made_at))
        pipeline["processingTimeMs"] = round(seconds * 1000, 3)
    return MappingProxyType(metadata)


def node_types(document: Document, start: int, end: int) -> tuple[str, ...]:
    """What mdast calls the blocks that stand in a span, each once, in order."""
    blocks = document.blocks
    first = bisect_right(blocks, start, key=lambda block: block.end)
    last = bisect_left(blocks, end, key=lambda block: block.start)
    return tuple(dict.fromkeys(MDAST_NAMES.get(block.kind, block.kind) for block in blocks[first:last]))
