"""Any callable as a counter. Neighbour: resolve.py."""

from __future__ import annotations

from collections.abc import Callable

from quire.errors import TokenizerError
from quire.size.remembered import remembered


class CallableCounter:
    """Counts with a function of the user's, and does not believe every answer."""

    def __init__(self, function: Callable[[str], int]) -> None:
        self._function = function
        self._known = remembered(self._asked)
        self.name = name_of(function)

    def count(self, text: str) -> int:
        """What the function says; nothing has no tokens, whoever counts."""
        return self._known(text) if text else 0

    def _asked(self, text: str) -> int:
        tokens: object = self._function(text)
        if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0:
            return tokens
        raise TokenizerError(
            f"tokenizer {self.name} returned {tokens!r:.80} for a text of {len(text)} characters",
            "it must return the number of tokens, an int that is not negative",
        )

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """Only where nothing is cut off: how the function's counts add up is not known."""
        return at in (0, len(text))


def name_of(thing: object) -> str:
    """A name for a function or an object: where it was defined. Never an address, which differs from run to run."""
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{getattr(named, '__qualname__', '')}"
