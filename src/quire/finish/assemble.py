"""Pieces into chunk records: everything that is known of a chunk is put together here. Before: split/."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from quire import __version__, crumbs
from quire.config import Options
from quire.finish import embed
from quire.finish.ids import ids, parent_id
from quire.finish.normalize import normalized
from quire.model import Document, Piece, TokenCounter
from quire.offsets import bytes_at, lines_at
from quire.record import Chunk, SourcePosition, TokenStats

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
            "position": document.sections[section].position if options.strategy == "tree" else None,
            "source_position": self._positions[number],
            "metadata": self._metadata,
        }

    def _content(self, number: int) -> dict[str, Any]:
        """Its text, and how large that is."""
        piece = self.pieces[number]
        own = self._text(piece.start, piece.end)
        text = self._text(piece.start if piece.overlap is None else piece.overlap, piece.end)
        overlap_chars = len(text) - len(own)
        original = f"{piece.before}{text}{piece.after}"
        tokens = self._tokens(piece, original)
        prefix, embed_tokens = self._prefix(number, original, tokens, overlap_chars)
        return {
            "original_text": original,
            "embed_text": prefix + original,
            "overlap_chars": overlap_chars,
            "added_chars": len(prefix) + len(original) - len(own),
            "contained_headings": self._contained_headings(piece),
            "token_stats": TokenStats(
                tokens=tokens, estimated_tokens=-(-len(original) // 4), embed_tokens=embed_tokens
            ),
        }

    def _text(self, start: int, end: int) -> str:
        if self.options.normalize:
            return normalized(self.document, start, end)
        return self.document.text[start:end]

    def _tokens(self, piece: Piece, original: str) -> int:
        if piece.overlap is None and not self.options.normalize:
            return piece.tokens
        return self.counter.count(original)

    def _contained_headings(self, piece: Piece) -> tuple[str, ...]:
        sections, starts = self.document.sections, self.document.section_starts
        first, last = bisect_left(starts, piece.start, lo=1), bisect_left(starts, piece.end, lo=1)
        return tuple(section.title for section in sections[first:last])

    def _prefix(self, number: int, original: str, tokens: int, overlap_chars: int) -> tuple[str, int]:
        """The breadcrumb with the blank line below it, and the tokens of both together with the text."""
        piece, mode = self.pieces[number], self.options.breadcrumb_mode
        titles = self._trail(piece.section).titles
        full = self._fitted(titles) if mode != "none" else ""
        if mode == "conditional" and self.options.strategy != "tree":
            title = "" if titles and titles[0] == self.document.title else self._fitted(())
            full = embed.line_above(mode, full, title, self._looked_at(piece, original, overlap_chars))
        prefix = f"{full}\n\n" if full else ""
        embed_tokens = _embed_tokens(self.counter, prefix, prefix + original, tokens)
        if prefix and self.options.cap is not None and tokens <= self.options.cap < embed_tokens:
            return "", tokens  # no room is left for it
        return prefix, embed_tokens

    def _fitted(self, titles: tuple[str, ...], title: str | None = None) -> str:
        """The full line, short enough for the cap."""
        cap, title = self.options.cap, self.document.title if title is None else title
        if cap is None:
            return crumbs.full_line(title, titles)
        return crumbs.fitted(title, titles, cap // 2, self.counter.count)[0]

    def _looked_at(self, piece: Piece, original: str, overlap_chars: int) -> embed.Content:
        blocks = self.document.blocks_between(piece.start, piece.end)
        first = blocks[0] if blocks else None
        starts_with_heading = first is not None and first.kind == "heading" and first.start >= piece.start
        own_tokens = self.counter.count(original[overlap_chars:]) if overlap_chars else piece.tokens
        limit = self.options.short
        if overlap_chars:
            limit += self.counter.count(original[:overlap_chars])
        return embed.Content(
            frozenset(block.kind for block in blocks),
            own_tokens < limit,
            self._fitted((first.info,), title="") if first is not None and starts_with_heading else None,
        )

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
    kinds = (block.kind for block in document.blocks_between(start, end))
    return tuple(dict.fromkeys(MDAST_NAMES.get(kind, kind) for kind in kinds))
