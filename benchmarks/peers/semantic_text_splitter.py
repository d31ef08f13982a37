"""semantic-text-splitter: a real parser in Rust. With its own tokenizer, and with quire's counter as a callback."""

from __future__ import annotations

from semantic_text_splitter import MarkdownSplitter

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split, count

Chunks = list[tuple[int, str]]


def own_tokenizer() -> Split:
    """Its tiktoken, with o200k_base."""
    return MarkdownSplitter.from_tiktoken_model("gpt-4o", CAP).chunk_indices


def callback() -> Split:
    """The counter that all are given."""
    return MarkdownSplitter.from_callback(count, CAP).chunk_indices


def output(_: str, chunks: Chunks) -> Output:
    """It gives the place where a chunk starts."""
    return Output([Piece(text, text, start, start + len(text)) for start, text in chunks])


_PACKAGES = ("semantic-text-splitter",)

PEERS = (
    Peer("semantic-text-splitter, own tokenizer", _PACKAGES, own_tokenizer, output, has_offsets=True),
    Peer("semantic-text-splitter, quire's counter", _PACKAGES, callback, output, has_offsets=True),
)
