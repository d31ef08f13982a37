"""The interface of a token counter, and the estimate. encodings.py, byte_pairs.py and tokenizers.py count."""

from typing import Protocol

CHARACTERS_A_TOKEN = 4
ESTIMATE = "estimate"


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
    """A quarter of the characters, rounded up: 0.75 of the real tokens of Chinese, 0.42 of Japanese, 0.36 of Hindi."""
    return -(-len(text) // CHARACTERS_A_TOKEN)
