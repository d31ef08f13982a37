"""semchunk: cuts at white space and punctuation, knows no Markdown."""

from __future__ import annotations

import tiktoken
from semchunk import chunkerify

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split, count

Chunks = tuple[list[str], list[tuple[int, int]]]


def make() -> Split:
    """With tiktoken's encoding it makes a function of its own, which forgets with it what was counted."""
    chunker = chunkerify(tiktoken.encoding_for_model("gpt-4o"), CAP)
    return lambda text: chunker(text, offsets=True)


def given() -> Split:
    """It remembers counts by function, so each round gets a function of its own."""
    chunker = chunkerify(lambda text: count(text), CAP)  # noqa: PLW0108 - a new function, on purpose
    return lambda text: chunker(text, offsets=True)


def output(_: str, chunks: Chunks) -> Output:
    """Texts and offsets come side by side."""
    return Output([Piece(text, text, start, end) for text, (start, end) in zip(*chunks, strict=True)])


_NOTE = "The simplest to call; it knows no Markdown, so headings end chunks and code loses its fences."

PEERS = (Peer("semchunk", ("semchunk",), make, output, given, has_offsets=True, note=_NOTE),)
