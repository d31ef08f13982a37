"""Exact counts for a little text, without loading anything. Neighbours: pieces.py cuts, vocabulary.py ranks.

Byte pair encoding as it is defined, on ranks that are looked up one by one: 2 to 4 MB of ordinary text a second.
A counter has only so much work in it; when that is done, a full engine is the better choice.
"""

from __future__ import annotations

from itertools import pairwise

from quire.size import pieces
from quire.size.vocabulary import Vocabulary, read

LONGEST_PIECE = 400
"""Merging takes quadratic time in a piece's length, so a longer one is left to a full engine."""

_MERGING = 40
"""How much longer it takes to merge a byte of a piece than to look at a character."""

_NO_TOKEN = 1 << 32


class Quick:
    """Counts the tokens of one encoding."""

    def __init__(self, encoding: str, work: int) -> None:
        """Ready to do as much work as looking at ``work`` characters takes."""
        self._encoding = encoding
        self._sizes = _Sizes(read(encoding), work)

    def count(self, text: str) -> int | None:
        """How many tokens ``text`` has; None if that takes a full engine."""
        try:
            self._sizes.spend(len(text))
            cut = pieces.cut(self._encoding, text)
            if cut is None or max(map(len, cut), default=0) > LONGEST_PIECE:
                return None
            return sum(map(self._sizes.__getitem__, cut))
        except _SpentError:
            return None


class _SpentError(Exception):
    """There is no work left to do."""


class _Sizes(dict[str, int]):
    """How many tokens a piece has, found out when first asked for."""

    def __init__(self, vocabulary: Vocabulary, work: int) -> None:
        super().__init__()
        self._ranks = _Ranks(vocabulary)
        self._work = work

    def spend(self, work: int) -> None:
        self._work -= work
        if self._work < 0:
            raise _SpentError

    def __missing__(self, piece: str) -> int:
        token = piece.encode()
        self[piece] = size = 1 if self._ranks[token] != _NO_TOKEN else self._merged(token)
        return size

    def _merged(self, piece: bytes) -> int:
        """The pair of lowest rank, the leftmost of equals, becomes one part, until no pair is a token."""
        self.spend(len(piece) * _MERGING)
        ranks = self._ranks
        parts = [piece[at : at + 1] for at in range(len(piece))]
        pairs = [ranks[left + right] for left, right in pairwise(parts)]
        while pairs and (lowest := min(pairs)) != _NO_TOKEN:
            at = pairs.index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del pairs[at]
            if at:
                pairs[at - 1] = ranks[parts[at - 1] + parts[at]]
            if at < len(pairs):
                pairs[at] = ranks[parts[at] + parts[at + 1]]
        return len(parts)


class _Ranks(dict[bytes, int]):
    """The ranks that were asked for so far; most pairs come again and again."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, token: bytes) -> int:
        rank = self._vocabulary.rank(token)
        self[token] = found = _NO_TOKEN if rank is None else rank
        return found
