"""semantic-text-splitter: a real parser in Rust, and tiktoken's port to Rust."""

from __future__ import annotations

from semantic_text_splitter import MarkdownSplitter

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split, count

Chunks = list[tuple[int, str]]


def make() -> Split:
    """Its tiktoken, with o200k_base."""
    return MarkdownSplitter.from_tiktoken_model("gpt-4o", CAP).chunk_indices


def given() -> Split:
    """The counter that all are given."""
    return MarkdownSplitter.from_callback(count, CAP).chunk_indices


def output(_: str, chunks: Chunks) -> Output:
    """It gives the place where a chunk starts."""
    return Output([Piece(text, text, start, start + len(text)) for start, text in chunks])


_NAME = "semantic-text-splitter"
_NOTE = "It parses Markdown and has exact positions; it repeats no fences or headers and knows no headings above."

PEERS = (Peer(_NAME, (_NAME,), make, output, given, has_offsets=True, note=_NOTE),)
