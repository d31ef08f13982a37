"""Pieces into chunk records: everything that is known of a chunk is put together here. Before: split/.

Chunks ask for their fields when somebody reads them. What belongs together is filled in together, and what one pass
over the document tells of all chunks is found out for all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from quire.config import Options
from quire.counter import TokenCounter, adds_up, estimated
from quire.crumbs import Breadcrumbs, keep
from quire.finish.embed import headings_in, lacking
from quire.finish.place import Places, metadata, node_types, positions
from quire.model import Document
from quire.normalize import normalized
from quire.offsets import utf8_length
from quire.pieces import Piece
from quire.record import Chunk, SourcePosition, TokenStats

Held = dict[str, Any]
"""The fields of a chunk, by name, as far as they are known."""


def assemble(
    document: Document, pieces: Sequence[Piece], counter: TokenCounter, options: Options, *, started: float
) -> list[Chunk]:
    """A chunk for each of ``pieces``, in order."""
    times = time.perf_counter() - started, time.time()
    return Chunk.filled_by(_Fields(document, pieces, counter, options, times), len(pieces))


class _Fields:
    """The fields of the chunks of a document, made when they are asked for."""

    def __init__(
        self,
        document: Document,
        pieces: Sequence[Piece],
        counter: TokenCounter,
        options: Options,
        times: tuple[float, float],
    ) -> None:
        """``times`` are how long it took to cut the document, and when that was."""
        self._document = document
        self._pieces = pieces
        self._counter = counter
        self._options = options
        self._times = times
        self._cap = options.cap
        self._is_bounded = adds_up(counter)  # no text has more tokens than bytes
        self._crumbs = Breadcrumbs(document, counter, options)
        self._sizes: dict[int, int] = {}
        self._prefix_sizes: dict[str, int] = {}
        self._places: Places | None = None
        self._positions: Callable[[int], SourcePosition] | None = None
        self._node_types: list[tuple[str, ...]] = []

    def __call__(self, held: Held, name: str | None) -> None:
        """Fill in a field of the chunk that holds its ``chunk_number``, and what is found out with it; None: all."""
        for each in _ALL if name is None else (name,):
            if each not in held:
                _FILLING.get(each, _Fields.place)(self, held)

    def written(self, held: Held) -> None:
        """Its text to show."""
        piece = self._pieces[held["chunk_number"]]
        overlap = piece.overlap
        text = self._text(piece.start if overlap is None else overlap, piece.end)
        held["overlap_chars"] = 0 if overlap is None else len(text) - len(self._text(piece.start, piece.end))
        held["original_text"] = f"{piece.before}{text}{piece.after}" if piece.before or piece.after else text

    def embedded(self, held: Held) -> None:
        """Its text to embed."""
        if "original_text" not in held:
            self.written(held)
        piece = self._pieces[held["chunk_number"]]
        prefix = self._prefix(piece, held)
        held["embed_text"] = prefix + held["original_text"]
        held["added_chars"] = len(prefix) + len(piece.before) + len(piece.after) + held["overlap_chars"]

    def token_stats(self, held: Held) -> None:
        """How large it is. Texts that were not asked for are not kept: those of all chunks are twice the document."""
        texts = held
        if "embed_text" not in held:
            texts = held.copy()
            self.embedded(texts)
        text, whole = texts["original_text"], texts["embed_text"]
        tokens = self._tokens(texts)
        prefix = whole[: len(whole) - len(text)]
        held["token_stats"] = TokenStats.of(tokens, estimated(text), self._embed_tokens(prefix, whole, tokens))

    def place(self, held: Held) -> None:
        """What it is called and which headings are above it."""
        places = self._places
        if places is None:
            shared = metadata(self._document, self._options, *self._times)
            places = self._places = Places(self._document, self._pieces, self._options, shared)
        places.put(held, self._crumbs.titles(self._pieces[held["chunk_number"]].section))

    def source_position(self, held: Held) -> None:
        """Where it stands."""
        if self._positions is None:
            self._positions = positions(self._document.text, self._pieces)
        held["source_position"] = self._positions(held["chunk_number"])

    def node_types(self, held: Held) -> None:
        """The kinds of block in it."""
        if not self._node_types:
            self._node_types = node_types(self._document, self._pieces)
        held["node_types"] = self._node_types[held["chunk_number"]]

    def contained_headings(self, held: Held) -> None:
        """The headings in it."""
        first, last = headings_in(self._document, self._pieces[held["chunk_number"]])
        held["contained_headings"] = tuple([each.title for each in self._document.sections[first:last]])

    def _text(self, start: int, end: int) -> str:
        if self._options.normalize:
            return normalized(self._document, start, end)
        return self._document.text[start:end]

    def _size(self, number: int) -> int:
        """How many tokens a piece has, found out once."""
        known = self._sizes.get(number)
        if known is None:
            known = self._sizes[number] = self._pieces[number].tokens
        return known

    def _tokens(self, held: Held) -> int:
        """How many tokens its text has; what splitting has counted is taken where that is what is shown."""
        number: int = held["chunk_number"]
        is_as_cut = not held["overlap_chars"] and (not self._options.normalize or self._is_verbatim(number, held))
        return self._size(number) if is_as_cut else self._counter.count(held["original_text"])

    def _is_verbatim(self, number: int, held: Held) -> bool:
        piece = self._pieces[number]
        return bool(
            held["original_text"] == f"{piece.before}{self._document.text[piece.start : piece.end]}{piece.after}"
        )

    def _embed_tokens(self, prefix: str, whole: str, tokens: int) -> int:
        """How many tokens a text of so many has with a prefix; where counts add up, only the prefix is counted."""
        if not prefix:
            return tokens
        if not self._counter.cuts_cleanly(whole, len(prefix)):
            return self._counter.count(whole)
        known = self._prefix_sizes.get(prefix)
        if known is None:
            known = self._counter.count(prefix)
            keep(self._prefix_sizes, prefix, known)
        return known + tokens

    def _prefix(self, piece: Piece, held: Held) -> str:
        """The breadcrumb with the blank line below it."""
        mode = self._options.breadcrumb_mode
        if mode == "none":
            return ""
        section: int | None = piece.section
        if mode == "conditional" and self._options.strategy != "tree":
            section = lacking(self._document, self._crumbs, piece, partial(self._is_short, held))
        prefix = "" if section is None else self._crumbs.prefix(section)
        return prefix if self._has_room(prefix, held) else ""

    def _is_short(self, held: Held) -> bool:
        limit, overlap = self._options.short, held["overlap_chars"]
        if not overlap:
            piece = self._pieces[held["chunk_number"]]
            if piece.before or piece.after:
                return piece.own_tokens(self._document.text, self._counter.count) < limit
            return self._size(held["chunk_number"]) < limit
        count, text = self._counter.count, held["original_text"]
        return count(text[overlap:]) < limit + count(text[:overlap])

    def _has_room(self, prefix: str, held: Held) -> bool:
        """Whether a prefix stays within the cap; splitting keeps room for it, but not where a block is too large."""
        cap = self._cap
        # Sentences are repeated only where there is room for the prefix too.
        if cap is None or not prefix or held["overlap_chars"]:
            return True
        tokens = self._tokens(held)
        if self._is_bounded and tokens + utf8_length(prefix) <= cap:
            return True  # the usual case, seen without counting the prefix
        return not tokens <= cap < self._embed_tokens(prefix, prefix + held["original_text"], tokens)


_ALL = ("embed_text", "token_stats", "id", "source_position", "node_types", "contained_headings")
"""The fields to ask for in order to have all of them."""
_FILLING: Mapping[str, Callable[[_Fields, Held], None]] = MappingProxyType(
    {
        "original_text": _Fields.written,
        "overlap_chars": _Fields.written,
        "embed_text": _Fields.embedded,
        "added_chars": _Fields.embedded,
        "token_stats": _Fields.token_stats,
        "source_position": _Fields.source_position,
        "node_types": _Fields.node_types,
        "contained_headings": _Fields.contained_headings,
    }
)
"""What fills in which field; all others are part of the place."""
