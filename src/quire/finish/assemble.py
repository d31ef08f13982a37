"""Pieces into chunk records: everything that is known of a chunk is put together here. Before: split/."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from quire import __version__, crumbs
from quire.config import Options
from quire.finish import embed
from quire.finish.ids import ids, parent_id
from quire.finish.normalize import normalized
from quire.model import Document, Piece, TokenCounter, adds_up
from quire.offsets import bytes_at, lines_at, utf8_length
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


class Written(NamedTuple):
    """The text of a chunk as it is shown."""

    text: str
    own: int
    """How many characters of it are the chunk's own."""
    overlap: int
    """How many characters at its start repeat the chunk before."""


_TEXT_FIELDS = frozenset({"original_text", "embed_text", "overlap_chars", "added_chars"})


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
        """The fields of a chunk: what is asked for, and what is found out together with it."""
        piece = self.pieces[number]
        if name in _TEXT_FIELDS:
            return self._texts(number)
        if name == "token_stats":
            return {name: self._token_stats(number)}
        if name == "node_types":
            return {name: node_types(self.document, piece.start, piece.end)}
        if name == "contained_headings":
            return {name: self._contained_headings(piece)}
        return self._place(number)

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

    def _texts(self, number: int) -> dict[str, Any]:
        """Its text, to show and to embed."""
        written, prefix = self._whole(number)
        return {
            "original_text": written.text,
            "embed_text": prefix + written.text,
            "overlap_chars": written.overlap,
            "added_chars": len(prefix) + len(written.text) - written.own,
        }

    def _whole(self, number: int) -> tuple[Written, str]:
        """The text of a chunk and its prefix; the last is kept, for fields are asked for one after the other."""
        known = self._last.get(number)
        if known is None:
            written = self._written(self.pieces[number])
            known = written, self._prefix(number, written)
            self._last.clear()
            self._last[number] = known
        return known

    def _written(self, piece: Piece) -> Written:
        overlap = piece.overlap
        own = self._text(piece.start, piece.end)
        text = own if overlap is None else self._text(overlap, piece.end)
        return Written(f"{piece.before}{text}{piece.after}", len(own), len(text) - len(own))

    def _text(self, start: int, end: int) -> str:
        if self.options.normalize:
            return normalized(self.document, start, end)
        return self.document.text[start:end]

    def _token_stats(self, number: int) -> TokenStats:
        written, prefix = self._whole(number)
        tokens = self._tokens(number, written)
        return TokenStats(
            tokens=tokens,
            estimated_tokens=-(-len(written.text) // 4),
            embed_tokens=self._embed_tokens(prefix, written, tokens),
        )

    def _tokens(self, number: int, written: Written) -> int:
        """How many tokens its text has; what splitting has counted is taken where that is what is shown."""
        piece = self.pieces[number]
        is_as_cut = not written.overlap and (not self.options.normalize or self._is_verbatim(piece, written))
        return self._size(number) if is_as_cut else self._count(written.text)

    def _size(self, number: int) -> int:
        """How many tokens a piece has, found out once."""
        known = self._sizes.get(number)
        if known is None:
            known = self._sizes[number] = self.pieces[number].tokens
        return known

    def _embed_tokens(self, prefix: str, written: Written, tokens: int) -> int:
        """How many tokens a text of so many has with a prefix; where counts add up, only the prefix is counted."""
        if not prefix:
            return tokens
        whole = prefix + written.text
        return self._count(prefix) + tokens if self.counter.cuts_cleanly(whole, len(prefix)) else self._count(whole)

    @cached_property
    def _count(self) -> Callable[[str], int]:
        """Counts; the last few answers are remembered, for many chunks have the same prefix."""
        return lru_cache(maxsize=8)(self.counter.count)

    def _is_verbatim(self, piece: Piece, written: Written) -> bool:
        length = len(piece.before) + piece.end - piece.start + len(piece.after)
        return len(written.text) == length and "\r" not in self.document.text

    def _contained_headings(self, piece: Piece) -> tuple[str, ...]:
        first, last = self._headings_in(piece)
        return tuple(section.title for section in self.document.sections[first:last])

    def _headings_in(self, piece: Piece) -> tuple[int, int]:
        """The numbers of the first section whose heading starts in a piece, and one past the last."""
        starts = self.document.section_starts
        return bisect_left(starts, piece.start, lo=1), bisect_left(starts, piece.end, lo=1)

    def _prefix(self, number: int, written: Written) -> str:
        """The breadcrumb with the blank line below it."""
        piece, mode = self.pieces[number], self.options.breadcrumb_mode
        full = self._line(piece.section) if mode != "none" else ""
        if mode == "conditional" and self.options.strategy != "tree":
            titles = self._trail(piece.section).titles
            title = "" if titles and titles[0] == self.document.title else self._line(0)
            full = embed.line_above(full, title, self._looked_at(number, written))
        prefix = f"{full}\n\n" if full else ""
        return prefix if not prefix or self._has_room(number, written, prefix) else ""

    def _has_room(self, number: int, written: Written, prefix: str) -> bool:
        """Whether a prefix stays within the cap; splitting keeps room for it, but not where a block is too large."""
        cap = self.options.cap
        if cap is None or written.overlap:  # sentences are repeated only where there is room for the prefix as well
            return True
        tokens = self._tokens(number, written)
        if self._adds_up and tokens + utf8_length(prefix) <= cap:
            return True  # it has no more tokens than bytes
        return not tokens <= cap < self._embed_tokens(prefix, written, tokens)

    def _line(self, section: int) -> str:
        """The breadcrumb line of a section, short enough for the cap."""
        known = self._lines.get(section)
        if known is None:
            known = self._lines[section] = self._fitted(self.document.title, self._trail(section).titles)
        return known

    def _fitted(self, title: str, titles: tuple[str, ...]) -> str:
        cap = self.options.cap
        line = crumbs.full_line(title, titles)
        if cap is None or (self._adds_up and utf8_length(line) + 2 <= cap // 2):
            return line  # it has no more tokens than bytes
        return crumbs.fitted(title, titles, cap // 2, self.counter.count)[0]

    def _looked_at(self, number: int, written: Written) -> embed.Content:
        piece, sections = self.pieces[number], self.document.sections
        first, last = self._headings_in(piece)
        starts_with_heading = first < last and sections[first].start == piece.start
        in_heading = piece.start < sections[first - 1].body_start and first > 1
        return embed.Content(
            has_heading=first < last or in_heading,
            first_heading=self._fitted("", (sections[first].title,)) if starts_with_heading else None,
            is_short=partial(self._is_short, number, written),
            kinds=lambda: frozenset(block.kind for block in self.document.blocks_between(piece.start, piece.end)),
        )

    def _is_short(self, number: int, written: Written) -> bool:
        limit, text = self.options.short, written.text
        if not written.overlap:
            return self._size(number) < limit
        count = self._count
        return count(text[written.overlap :]) < limit + count(text[: written.overlap])

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
    def _adds_up(self) -> bool:
        return adds_up(self.counter)

    @cached_property
    def _last(self) -> dict[int, tuple[Written, str]]:
        return {}

    @cached_property
    def _sizes(self) -> dict[int, int]:
        return {}

    @cached_property
    def _lines(self) -> dict[int, str]:
        return {}

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
