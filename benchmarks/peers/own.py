"""quire: its four strategies. ``tree`` has no cap; it is here because it reads, counts and reports like the others."""

from __future__ import annotations

from functools import partial
from typing import Any

import quire
from benchmarks.peers.record import CAP, Output, Peer, Piece, Split
from benchmarks.peers.truth import solid

OPTIONS: dict[str, dict[str, Any]] = {
    "packed": {"target_tokens": CAP, "max_tokens": CAP},
    "flow": {"max_tokens": CAP},
    "sections": {"max_tokens": CAP},
    "tree": {},
}


def make(strategy: str, tokenizer: object = "o200k_base") -> Split:
    """Cut with this strategy; a chunk has all of its fields from the start."""
    return partial(
        quire.chunk, strategy=strategy, path="a.md", tokenizer=tokenizer, dialect="commonmark", **OPTIONS[strategy]
    )


def output(text: str, chunks: quire.Chunks) -> Output:
    """The chunks for the judge."""
    return Output([_piece(text, chunk) for chunk in chunks], chunks.document.frontmatter)


def _piece(text: str, chunk: quire.Chunk) -> Piece:
    place = chunk.source_position
    return Piece(
        chunk.embed_text,
        _own(text[place.char_start : place.char_end], chunk),
        place.char_start,
        place.char_end,
        (*chunk.header_path, *chunk.contained_headings),
    )


def _own(span: str, chunk: quire.Chunk) -> str:
    """Its text without the overlap, and without the fences and headers around it, of which only the length is told."""
    around = chunk.added_chars - chunk.overlap_chars - (len(chunk.embed_text) - len(chunk.original_text))
    if around and solid(span) in solid(chunk.original_text):
        return span
    return chunk.original_text[chunk.overlap_chars :]


def _peer(strategy: str, **more: Any) -> Peer:
    return Peer(
        f"quire `{strategy}`",
        (quire.DISTRIBUTION,),
        (split := partial(make, strategy)),
        output,
        split,
        has_cap=strategy != "tree",
        has_headings=True,
        has_offsets=True,
        **more,
    )


PEERS = (
    _peer("packed"),
    _peer("flow"),
    _peer("sections", note="A block above the cap stays whole, by design."),
    _peer("tree", note="A section is a chunk, however long, by design."),
)
