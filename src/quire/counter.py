"""The interface of a token counter. size/ makes counters from names, files, objects and functions."""

from __future__ import annotations

from typing import Protocol

CHARACTERS_A_TOKEN = 4


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """Its name in options, records and messages."""

    def count(self, text: str) -> int:
        """How many tokens ``text`` has."""

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """Whether the counts of ``text[:at]`` and ``text[at:]`` are known to add up to the count of ``text``."""


def estimated(text: str) -> int:
    """A quarter of the characters, rounded up: an estimate that needs no vocabulary."""
    return -(-len(text) // CHARACTERS_A_TOKEN)
