"""The counters ``o200k_base`` and ``cl100k_base``: exactly tiktoken's ``encode_ordinary``. Neighbour: resolve.py.

A full engine counts 60 to 200 MB a second, after 100 to 600 ms of loading; ``quick`` counts 2 to 4 MB a second and
starts at once. So a process counts its first text with the one and, when that has cost a part of a loading, all that
follows with the other. Both are exact: where the change falls makes no difference to any count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from threading import Lock
from types import MappingProxyType

from quire.size import engines
from quire.size.quick import Quick

QUICK_WORK: Mapping[str, int] = MappingProxyType({"o200k_base": 750_000, "cl100k_base": 350_000})
"""How much work ``quick`` does before a full engine pays: 220 and 100 KB of ordinary text, in 90 and 50 ms."""

ENCODINGS = tuple(QUICK_WORK)

_CLEAN: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "o200k_base": re.compile(r"(?<=[\r\n])(?!/)[ \t]{0,64}+\S"),
        "cl100k_base": re.compile(r"(?<=[\r\n])[ \t]{0,64}+\S"),
    }
)
"""The start of a line with text in it.

Both encodings merge within pieces only, and no piece goes past this place. Those that can hold a line end are a run of
white space, which ends after its last line end when text follows, and signs with the line ends behind them, which in
o200k_base go on over slashes. Nor does a piece before this place end elsewhere when the text ends here: white space up
to a line end is the same piece with and without what follows. ``\\S`` leaves out a few more characters than the
encodings' own classes do, which errs on the safe side, as does giving up after 64 characters of indentation.
"""


class EncodingCounter:
    """Counts the tokens of one of OpenAI's encodings."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = Lock()
        self._quick: Quick | None = None
        self._full: Callable[[str], int] | None = None

    def count(self, text: str) -> int:
        """How many tokens ``text`` has; special tokens are ordinary text, lone surrogates U+FFFD."""
        if self._full is not None:
            return self._full(text)
        return self._count_at_first(text)

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """At the start of a line that has text, before a space that follows something, and where nothing is cut off."""
        if not 0 < at < len(text):
            return True
        last, following = text[at - 1], text[at]
        if last == "\n" and ("0" <= following <= "z" or following == "#"):
            return True  # by far the most frequent case
        if following == " " and not last.isspace():
            return True  # no piece goes on over a space that it does not start with
        return _CLEAN[self.name].match(text, at) is not None

    def _count_at_first(self, text: str) -> int:
        with self._lock:
            if self._full is None:
                tokens = self._count_quickly(text)
                if tokens is not None:
                    return tokens
                self._full = engines.load(self.name)
                self._quick = None  # what it remembers is of no more use
            full = self._full
        return full(text)

    def _count_quickly(self, text: str) -> int | None:
        """The count; None once a full engine pays, or if this text takes one."""
        if self._quick is None:
            self._quick = Quick(self.name, QUICK_WORK[self.name])
        return self._quick.count(text)
