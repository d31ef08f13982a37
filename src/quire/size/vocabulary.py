"""The rank of a token, looked up in a file that needs no loading. quick.py asks, tiktoken_engine.py reads all.

The files in ``vocabularies/`` hold the rank files that OpenAI publishes with tiktoken, laid out for binary search:
reading 2 MB takes a millisecond, while every package builds tables for 50 to 600 ms first. ``pack`` made them, and a
test makes them again from the originals.

    number of tokens of 1 byte, of 2 bytes ... of 128 bytes   4 bytes each, little-endian
    the tokens, by length, then in byte order                 joined
    the rank of each, in the same order                       3 bytes each, little-endian
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path

WIDEST = 128
"""The longest token of either encoding, in bytes."""

FOLDER = Path(__file__).parent / "vocabularies"

_COUNT = 4
_RANK = 3


class Vocabulary:
    """The tokens of one encoding, with their ranks."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._counts = _counts(packed)
        sizes = [width * count for width, count in enumerate(self._counts)]
        self._starts = list(accumulate(sizes, initial=_COUNT * WIDEST))
        self._firsts = list(accumulate(self._counts, initial=0))

    def rank(self, token: bytes) -> int | None:
        """The rank of ``token``; None if there is no such token."""
        width = len(token)
        if width > WIDEST:
            return None
        packed, start, count = self._packed, self._starts[width], self._counts[width]
        place = bisect_left(range(count), token, key=lambda at: packed[start + at * width : start + (at + 1) * width])
        if place == count or packed[start + place * width : start + (place + 1) * width] != token:
            return None
        return self._rank_at(self._firsts[width] + place)

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Every token with its rank."""
        index = 0
        for width, count in enumerate(self._counts):
            for start in range(self._starts[width], self._starts[width] + width * count, width or 1):
                yield self._packed[start : start + width], self._rank_at(index)
                index += 1

    def _rank_at(self, index: int) -> int:
        start = self._starts[-1] + index * _RANK
        return int.from_bytes(self._packed[start : start + _RANK], "little")


def read(name: str) -> Vocabulary:
    """The vocabulary of the encoding ``name``."""
    return Vocabulary((FOLDER / f"{name}.bin").read_bytes())


def pack(ranks: Mapping[bytes, int]) -> bytes:
    """The file for a vocabulary."""
    tokens = sorted(ranks, key=lambda token: (len(token), token))
    counts = [0] * (WIDEST + 1)
    for token in tokens:
        counts[len(token)] += 1
    header = (count.to_bytes(_COUNT, "little") for count in counts[1:])
    return b"".join((*header, *tokens, *(ranks[token].to_bytes(_RANK, "little") for token in tokens)))


def _counts(packed: bytes) -> list[int]:
    header = range(0, _COUNT * WIDEST, _COUNT)
    return [0, *(int.from_bytes(packed[at : at + _COUNT], "little") for at in header)]
