"""tiktoken: the reference, 6 to 20 MB a second. Neighbours: engines.py, vocabulary.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType

from quire.errors import TokenizerError
from quire.size import vocabulary

LONGEST_BLANK = 500_000
"""tiktoken's stack ends between this many characters of white space in a row and twice as many, and panics."""

_BLANK = re.compile(r"\s++")

PATTERNS = MappingProxyType(
    {
        "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
        r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "o200k_base": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    }
)
"""tiktoken's own; it would give them only together with a vocabulary that it downloads."""


def load(encoding: str) -> Callable[[str], int]:
    """A function that counts tokens of ``encoding``."""
    from tiktoken import Encoding  # noqa: PLC0415 - heavy

    ranks = dict(vocabulary.read(encoding).items())
    # No special tokens: here they are ordinary text.
    reference = Encoding(encoding, pat_str=PATTERNS[encoding], mergeable_ranks=ranks, special_tokens={})

    def count(text: str) -> int:
        if len(text) > LONGEST_BLANK:
            _refuse_long_blanks(text)
        return len(reference.encode_ordinary(text))

    return count


def _refuse_long_blanks(text: str) -> None:
    for blank in _BLANK.finditer(text):
        if blank.end() - blank.start() > LONGEST_BLANK:
            problem = f"tiktoken cannot count {blank.end() - blank.start()} characters of white space in a row"
            raise TokenizerError(problem, "run: pip install toktok-rs")
