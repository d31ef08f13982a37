"""What counts tokens: the one thing that quire asks of a tokenizer. Made by size/; the strategies and finish/ count."""

from __future__ import annotations

from typing import Protocol

CHARACTERS_A_TOKEN = 4


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """How options, records and messages name it."""

    def count(self, text: str) -> int:
        """How many tokens ``text`` has."""

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """Whether the counts of ``text[:at]`` and ``text[at:]`` are known to add up to that of ``text``."""


def adds_up(counter: TokenCounter) -> bool:
    """Whether counts add up at the starts of lines: so counters do that merge bytes, within pieces of a text.

    Then no text has more tokens than bytes. Of other counters nothing of the kind is known.
    """
    return counter.cuts_cleanly("a\nb", 2)


def estimated(text: str) -> int:
    """A quarter of the characters, rounded up: tokens without a vocabulary."""
    return -(-len(text) // CHARACTERS_A_TOKEN)
