"""The packages that count in bulk. Both give tiktoken's counts and need no network.

toktok-rs is ten times as fast. tiktoken is for systems that toktok-rs has no wheel for, such as Alpine Linux.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from quire.errors import TokenizerError
from quire.offsets import repaired
from quire.size import vocabulary

_Count = Callable[[str], int]

LONGEST_BLANK = 500_000
"""tiktoken overflows its stack between one and two times this many white-space characters in a row."""
_BLANK = re.compile(r"\s++")


def load(encoding: str) -> _Count:
    """A function that counts tokens, from the first engine that is installed. Takes 50 to 600 ms.

    It may refuse text with lone surrogates: ``with_surrogates`` makes it count them.
    """
    for engine in ENGINES.values():
        try:
            return engine(encoding)
        except (ImportError, AttributeError):
            continue
    raise TokenizerError(
        f"counting tokens of {encoding} takes a package that is not installed",
        "run: pip install toktok-rs, or tiktoken where that has no wheel, or count with tokenizer='estimate'",
    )


def _toktok(encoding: str) -> _Count:
    # The public function starts a thread for every call: 30 µs for a line that takes 0.1 µs to count.
    count: _Count = import_module("toktok")._encoding(encoding).count  # noqa: SLF001
    return count


def _tiktoken(encoding: str) -> _Count:
    encode = (
        import_module("tiktoken")
        .Encoding(
            encoding,
            pat_str=vocabulary.PATTERNS[encoding],
            mergeable_ranks=dict(vocabulary.read(encoding).items()),  # tiktoken's own would be downloaded
            special_tokens={},
        )
        .encode_ordinary
    )

    def count(text: str) -> int:
        if len(text) > LONGEST_BLANK and (blank := max(map(len, _BLANK.findall(text)), default=0)) > LONGEST_BLANK:
            problem = f"tiktoken cannot count {blank} characters of white space in a row"
            raise TokenizerError(problem, "run: pip install toktok-rs")
        return len(encode(text))

    return count


def with_surrogates(count: _Count) -> _Count:
    """``count``, also for text with lone surrogates."""

    def safe_count(text: str) -> int:
        try:
            return count(text)
        except UnicodeEncodeError:
            return count(repaired(text))

    return safe_count


ENGINES: Mapping[str, Callable[[str], _Count]] = MappingProxyType({"toktok": _toktok, "tiktoken": _tiktoken})
"""By package, the fastest first."""
