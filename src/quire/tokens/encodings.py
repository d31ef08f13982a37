"""The counters ``o200k_base`` and ``cl100k_base``: exactly tiktoken's ``encode_ordinary``, without network.

An engine takes 100 to 600 ms to load. So a process counts its first texts in Python (byte_pairs.py). toktok-rs is ten
times as fast as tiktoken, which is for systems without a wheel of it, such as Alpine Linux.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from threading import Lock

from quire.errors import TokenizerError
from quire.model.offsets import repaired
from quire.tokens import byte_pairs
from quire.tokens.token_counters import Count, TokenCounter

PYTHON_WORK: Mapping[str, int] = {"o200k_base": 750_000, "cl100k_base": 350_000}
"""How much work is done in Python first: 220 and 100 KB of ordinary text, in 90 and 50 ms."""

_CLEAN: Mapping[str, re.Pattern[str]] = {
    "o200k_base": re.compile(r"(?<=[\r\n])(?!/)[ \t]{0,64}+\S"),
    "cl100k_base": re.compile(r"(?<=[\r\n])[ \t]{0,64}+\S"),
}
"""The start of a line that has text.

Both encodings split text by a pattern and merge only within its matches. No match crosses this position: white space
before text ends after its last line end, and so do signs with line ends behind them, except that in o200k_base slashes
may follow. The matches before it are also the same if the text ends here. ``\\S`` and the limit of 64 err on the safe
side.
"""
_SIGNS_AT_LINE_END = re.compile(r"[!-/:-@\[-`{-~]++(?=[\r\n]|\Z)")
"""ASCII punctuation that ends a line. Behind an ASCII letter or digit it begins a match of its own."""
LONGEST_BLANK = 500_000
"""tiktoken overflows its stack between one and two times this many white-space characters in a row."""
_BLANK = re.compile(r"\s++")


class EncodingCounter(TokenCounter):
    """Counts the tokens of one encoding; special tokens are ordinary text, lone surrogates U+FFFD."""

    def __init__(self, name: str) -> None:
        super().__init__(name, self._count_first_texts)
        self.starts_line = _CLEAN[name].match
        self._lock = Lock()
        self._python: byte_pairs.BytePairs | None = byte_pairs.BytePairs(name, PYTHON_WORK[name])

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """At the start of a line that has text, before a space that follows text, and where nothing is cut off.

        Also before the punctuation or the line end that follows an ASCII letter or digit and ends its line.
        """
        if not 0 < at < len(text):
            return True
        last, following = text[at - 1], text[at]
        if following == " ":
            if not last.isspace():
                return True  # a match includes a space at most as its first character
        elif last.isalnum() and last.isascii():
            return following in "\r\n" or _SIGNS_AT_LINE_END.match(text, at) is not None
        return _CLEAN[self.name].match(text, at) is not None

    def _count_first_texts(self, text: str) -> int:
        with self._lock:
            if self._python:  # or another thread has loaded the engine
                if (tokens := self._python.count(text)) is not None:
                    return tokens
                self.count_ascii = load(self.name)
                self.count, self._python = self._count_any_text, None
        return self.count(text)

    def _count_any_text(self, text: str) -> int:
        try:
            return self.count_ascii(text)
        except UnicodeEncodeError:  # lone surrogates
            return self.count_ascii(repaired(text))


def load(encoding: str) -> Count:
    """A function of the first engine that is installed; it may refuse lone surrogates. Takes 50 to 600 ms."""
    for engine in ENGINES.values():
        with suppress(ImportError, AttributeError):
            return engine(encoding)
    raise TokenizerError(
        f"counting tokens of {encoding} takes a package that is not installed",
        "run: pip install toktok-rs, or tiktoken where that has no wheel, or count with tokenizer='estimate'",
    )


def _toktok(encoding: str) -> Count:
    # The public function starts a thread for every call: 30 µs for a line that takes 0.1 µs to count.
    count: Count = import_module("toktok")._encoding(encoding).count  # noqa: SLF001
    return count


def _tiktoken(encoding: str) -> Count:
    pattern, ranks = byte_pairs.PATTERNS[encoding], dict(byte_pairs.Vocabulary(encoding).items())
    # its own ranks are downloaded
    tokenizer = import_module("tiktoken").Encoding(encoding, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    encode = tokenizer.encode_ordinary

    def count(text: str) -> int:
        if len(text) > LONGEST_BLANK and (blank := max(map(len, _BLANK.findall(text)), default=0)) > LONGEST_BLANK:
            problem = f"tiktoken cannot count {blank} characters of white space in a row"
            raise TokenizerError(problem, "run: pip install toktok-rs")
        return len(encode(text))

    return count


ENGINES: Mapping[str, Callable[[str], Count]] = {"toktok": _toktok, "tiktoken": _tiktoken}
"""By package, the fastest first."""
