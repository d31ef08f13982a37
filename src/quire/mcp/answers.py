"""The answers of tools, whose text and JSON fit a number of tokens; cursors for the rest of a long text."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from quire.errors import OptionError
from quire.model.offsets import line_starts
from quire.workspace.workspace import Workspace

DEFAULT_TOKENS = 2_000
"""Maximum tokens of an answer; with more, agents paid more and found hardly more (benchmarks/results/agents.md)."""
LEAST_TOKENS = 64
_LONGEST_TOKEN = 32  # characters per token that are tried at first


class Answer(Struct, frozen=True):
    """What a tool returns: the same as text and as a record."""

    text: str
    record: Mapping[str, Any]


class TokenLimit(Struct, frozen=True):
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
        number = bisect_left(ends, True, key=lambda end: not self.fits(answer(end)))
        return ends[number - 1] if number else 0

    def part(self, text: str, start: int, answers: Sequence[Callable[[int], Answer]]) -> Answer:
        """The longest part of a text from ``start`` on that fits, to its end or to that of a line if possible.

        ``answers`` make an answer of the end of the part; each adds less to the text than the one before.
        """
        last = min(len(text), start + self.most * _LONGEST_TOKEN)
        ends = [end for end in line_starts(text[:last]) if end > start]
        for answer in answers:
            if self.fits(answer(len(text))):
                return answer(len(text))
            if end := self.longest(ends, answer) or self.longest(range(start + 1, last + 1), answer):
                return answer(end)
        raise OptionError(f"max_tokens={self.most} is too small", "give it more")

    def clipped(self, text: str) -> str:
        """The start of a message, as much as fits."""
        while text and self.count(text) > self.most:
            text = text[: len(text) * 3 // 4]
        return text


class Service(Struct, frozen=True):
    """What the tools answer from; ``max_tokens`` is the limit where a call has none."""

    workspace: Workspace
    count: Callable[[str], int]
    max_tokens: int

    def limit(self, max_tokens: int | None = None) -> TokenLimit:
        """The limit of a call."""
        return TokenLimit(self.count, max_tokens or self.max_tokens)


def cursor_at(text: str, end: int) -> str:
    """The cursor for the rest of a text; empty if there is none."""
    return f"{end}-{crc32(text.encode()):08x}" if end < len(text) else ""


def offset_of(cursor: str, text: str | None = None) -> int:
    """The number in a cursor; of a section's text, it also tells whether that is still the same."""
    if not cursor:
        return 0
    number, _, stamp = cursor.partition("-")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise OptionError(f"cursor={cursor[:40]!r} is invalid", "take it from the last answer")
    if text is not None and (stamp != f"{crc32(text.encode()):08x}" or int(number) > len(text)):
        raise OptionError("the section has changed since the last answer", "leave out the cursor")
    return int(number)
