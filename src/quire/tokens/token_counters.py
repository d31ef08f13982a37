"""A token counter, which counts with any function, and the estimate. encodings.py has the counters of encodings."""

from collections.abc import Callable

CHARACTERS_A_TOKEN = 4
ESTIMATE = "estimate"


class TokenCounter:
    """Counts the tokens of a text, with a function whose counts may not add up."""

    def __init__(self, name: str, count: Callable[[str], int], characters_a_token: int = 0) -> None:
        self.name = name  # in options, records and messages
        self.count = self.count_ascii = count  # how many tokens a text has; the same for ASCII text
        self.characters_a_token = characters_a_token  # by which it divides the length; 0 if it does something else
        self.starts_line: Callable[[str, int], object] = lambda _text, _at: None
        """Tells the most frequent clean cuts, the starts of lines, faster than ``cuts_cleanly``."""

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """Whether the counts of ``text[:at]`` and ``text[at:]`` are known to add up to the count of ``text``."""
        return at in (0, len(text))


def estimated(text: str) -> int:
    """A quarter of the characters, rounded up: 0.75 of the real tokens of Chinese, 0.42 of Japanese, 0.36 of Hindi."""
    return -(-len(text) // CHARACTERS_A_TOKEN)
