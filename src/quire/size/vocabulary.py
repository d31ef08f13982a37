"""The token ranks and split patterns of OpenAI's encodings, in files that need no loading.

The files in ``vocabularies/`` hold the rank files that OpenAI publishes with tiktoken, laid out for binary search:
reading 2 MB takes a millisecond, building a table of them 50 to 600. ``pack`` made them:

    number of tokens of 1 byte, of 2 bytes … of 128 bytes   4 bytes each, little-endian
    the tokens, by length, then in byte order               joined
    the rank of each, in the same order                     3 bytes each, little-endian
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

FOLDER = Path(__file__).parent / "vocabularies"
NO_RANK = 1 << 32
"""The rank of bytes that are no token."""

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+[\p{L}]++|[\p{N}]{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
        r"[\s]++$|[\s]*[\r\n]|[\s]+(?![^\s])|[\s]",
        "o200k_base": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"[\p{N}]{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|[\s]*[\r\n]+|[\s]+(?![^\s])|[\s]+",
    }
)
r"""tiktoken's own; ``\s`` and ``\p{…}`` are always in brackets, so that they can be replaced by ranges."""

_HEADER = struct.Struct("<128I")
_WIDEST = 128
_RANK = 3


class Vocabulary:
    """The tokens of one encoding with their ranks."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._counts = (0, *_HEADER.unpack_from(packed))
        sizes = [width * count for width, count in enumerate(self._counts)]
        self._starts = list(accumulate(sizes, initial=_HEADER.size))
        self._firsts = list(accumulate(self._counts, initial=0))

    def rank(self, token: bytes) -> int:
        """The rank of ``token``, or NO_RANK."""
        width = len(token)
        if width > _WIDEST:
            return NO_RANK
        packed, start, count = self._packed, self._starts[width], self._counts[width]
        at = bisect_left(range(count), token, key=lambda at: packed[start + at * width : start + (at + 1) * width])
        is_token = at < count and packed[start + at * width : start + (at + 1) * width] == token
        return self._rank_at(self._firsts[width] + at) if is_token else NO_RANK

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Every token with its rank."""
        for width in range(1, _WIDEST + 1):
            for number in range(self._counts[width]):
                start = self._starts[width] + number * width
                yield self._packed[start : start + width], self._rank_at(self._firsts[width] + number)

    def _rank_at(self, number: int) -> int:
        start = self._starts[-1] + number * _RANK
        return int.from_bytes(self._packed[start : start + _RANK], "little")


def read(encoding: str) -> Vocabulary:
    """The vocabulary of ``encoding``."""
    return Vocabulary((FOLDER / f"{encoding}.bin").read_bytes())


def pack(ranks: Mapping[bytes, int]) -> bytes:
    """The file for a vocabulary."""
    tokens = sorted(ranks, key=lambda token: (len(token), token))
    counts = [0] * (_WIDEST + 1)
    for token in tokens:
        counts[len(token)] += 1
    return b"".join((_HEADER.pack(*counts[1:]), *tokens, *(ranks[token].to_bytes(_RANK, "little") for token in tokens)))
