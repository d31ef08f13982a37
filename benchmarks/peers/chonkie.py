"""chonkie: RecursiveChunker with rules for Markdown, SentenceChunker, and TokenChunker, which needs a whole tokenizer.

Its Markdown recipe is fetched from a hub, so the rules are written out here, as its own example of custom rules does.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def recursive() -> Split:
    """Headings first, then its default rules."""
    headings = RecursiveLevel(delimiters=[f"\n{'#' * level} " for level in range(1, 7)], include_delim="next")
    rules = RecursiveRules(levels=[headings, *(RecursiveRules().levels or [])])
    return RecursiveChunker(tokenizer=Counted(), chunk_size=CAP, rules=rules).chunk


def sentences() -> Split:
    """Its defaults."""
    return SentenceChunker(tokenizer=count, chunk_size=CAP).chunk


def tokens() -> Split:
    """A chunk every 512 tokens, wherever that is."""
    return TokenChunker(tokenizer=tiktoken.get_encoding("o200k_base"), chunk_size=CAP).chunk


def output(_: str, chunks: list[Any]) -> Output:
    """It gives start and end."""
    return Output([Piece(each.text, each.text, each.start_index, each.end_index) for each in chunks])


_PACKAGES = ("chonkie",)

PEERS = (
    Peer("chonkie, recursive, Markdown rules", _PACKAGES, recursive, output, has_offsets=True),
    Peer("chonkie, sentences", _PACKAGES, sentences, output, has_offsets=True),
    Peer("chonkie, tokens, tiktoken", _PACKAGES, tokens, output, has_offsets=True),
)
