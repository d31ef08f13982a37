"""semchunk: cuts at white space and punctuation, knows no Markdown."""

from __future__ import annotations

from semchunk import chunkerify

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split, count

Chunks = tuple[list[str], list[tuple[int, int]]]


def make() -> Split:
    """It remembers counts by function, so each round gets a function of its own."""
    chunker = chunkerify(lambda text: count(text), CAP)  # noqa: PLW0108 - a new function, on purpose
    return lambda text: chunker(text, offsets=True)


def output(_: str, chunks: Chunks) -> Output:
    """Texts and offsets come side by side."""
    return Output([Piece(text, text, start, end) for text, (start, end) in zip(*chunks, strict=True)])


PEERS = (Peer("semchunk", ("semchunk",), make, output, has_offsets=True),)
