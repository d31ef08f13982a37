"""The interface of a token counter, and the names of counters. encodings.py, byte_pairs.py and tokenizers.py count."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Protocol

CHARACTERS_A_TOKEN = 4
ESTIMATE = "estimate"

ENCODINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "o200k_base": ("gpt-5", "gpt-5.1", "gpt-4.5", "gpt-4.1", "gpt-4o", "chatgpt-4o", "o1", "o3", "o4-mini"),
        "cl100k_base": ("gpt-4", "gpt-3.5-turbo", "text-embedding-3", "text-embedding-ada-002"),
    }
)
"""OpenAI's encodings with their models. Variants of a model add a dash and more: ``gpt-4o-mini``."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """Its name in options, records and messages."""

    def count(self, text: str) -> int:
        """How many tokens ``text`` has."""

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """Whether the counts of ``text[:at]`` and ``text[at:]`` are known to add up to the count of ``text``."""


@cache
def encoding_of(model: str) -> str | None:
    """The encoding of an OpenAI model; None if the model is unknown."""
    for encoding, names in ENCODINGS.items():
        if f"{model}-".startswith(tuple(f"{name}-" for name in names)):
            return encoding
    return None


def estimated(text: str) -> int:
    """A quarter of the characters, rounded up: 0.75 of the real tokens of Chinese, 0.42 of Japanese, 0.36 of Hindi."""
    return -(-len(text) // CHARACTERS_A_TOKEN)
