"""Answers that fit a number of tokens, as text and as JSON: an agent may be shown either of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

LEAST_TOKENS = 64


class Answer(msgspec.Struct, frozen=True):
    """What a tool returns: the same as text and as a record."""

    text: str
    record: Mapping[str, Any]


class TokenLimit(msgspec.Struct, frozen=True):
    """Maximum tokens of an answer."""

    count: Callable[[str], int]
    most: int

    def used(self, answer: Answer) -> int:
        """The tokens of an answer: of its text or its JSON, whichever has more."""
        return max(self.count(answer.text), self.count(msgspec.json.encode(answer.record).decode()))

    def fits(self, answer: Answer) -> bool:
        """Whether an answer is within the limit."""
        return self.used(answer) <= self.most

    def longest(self, ends: Sequence[int], answer: Callable[[int], Answer]) -> int:
        """The largest of the ``ends``, which are sorted, whose answer fits; 0 if none does."""
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high + 1) // 2
            if self.fits(answer(ends[middle - 1])):
                low = middle
            else:
                high = middle - 1
        return ends[low - 1] if low else 0

    def clipped(self, text: str) -> str:
        """The start of a message, as much as fits."""
        while text and self.count(text) > self.most:
            text = text[: len(text) * 3 // 4]
        return text
