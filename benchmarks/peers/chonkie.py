"""chonkie: RecursiveChunker with rules for Markdown, SentenceChunker, and TokenChunker, which needs a whole tokenizer.

Its Markdown recipe is fetched from a hub, so the rules are written out here, as its own example of custom rules does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tiktoken
from chonkie import RecursiveChunker, RecursiveLevel, RecursiveRules, SentenceChunker, TokenChunker
from chonkie.tokenizer import Tokenizer

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split, count


class Counted(Tokenizer):
    """Counts with quire's counter; encodes with tiktoken, for the last rule of RecursiveChunker."""

    def __repr__(self) -> str:
        return "Counted()"

    def tokenize(self, text: str) -> Sequence[int]:
        """Ids, for it has no texts of tokens."""
        return self.encode(text)

    def encode(self, text: str) -> Sequence[int]:
        """As tiktoken does."""
        return tiktoken.get_encoding("o200k_base").encode_ordinary(text)

    def decode(self, tokens: Sequence[int]) -> str:
        """As tiktoken does."""
        return tiktoken.get_encoding("o200k_base").decode(list(tokens))

    def count_tokens(self, text: str) -> int:
        """As all others do here."""
        return count(text)


def encoding() -> tiktoken.Encoding:
    """An encoding of tiktoken, which its documentation passes as ``tokenizer``."""
    return tiktoken.get_encoding("o200k_base")


def recursive(tokenizer: Callable[[], Any]) -> Split:
    """Headings first, then its default rules."""
    headings = RecursiveLevel(delimiters=[f"\n{'#' * level} " for level in range(1, 7)], include_delim="next")
    rules = RecursiveRules(levels=[headings, *(RecursiveRules().levels or [])])
    return RecursiveChunker(tokenizer=tokenizer(), chunk_size=CAP, rules=rules).chunk


def sentences(tokenizer: Callable[[], Any]) -> Split:
    """Its defaults."""
    return SentenceChunker(tokenizer=tokenizer(), chunk_size=CAP).chunk


def tokens() -> Split:
    """A chunk every 512 tokens, wherever that is."""
    return TokenChunker(tokenizer=encoding(), chunk_size=CAP).chunk


def output(_: str, chunks: list[Any]) -> Output:
    """It gives start and end."""
    return Output([Piece(each.text, each.text, each.start_index, each.end_index) for each in chunks])


_PACKAGES = ("chonkie",)

PEERS = (
    Peer(
        "chonkie, recursive, Markdown rules",
        _PACKAGES,
        partial(recursive, encoding),
        output,
        partial(recursive, Counted),
        has_offsets=True,
        note="The fastest that keeps most headings with their text; it knows no headings above, and repeats no fences.",
    ),
    Peer(
        "chonkie, sentences",
        _PACKAGES,
        partial(sentences, encoding),
        output,
        partial(sentences, lambda: count),
        has_offsets=True,
        note="Made for prose: sentences stay whole, code and tables do not.",
    ),
    Peer(
        "chonkie, tokens",
        _PACKAGES,
        tokens,
        output,
        None,
        has_offsets=True,
        note="Chunks of exactly so many tokens, cut anywhere, also within a character.",
    ),
)
