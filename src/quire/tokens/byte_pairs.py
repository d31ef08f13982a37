"""Exact token counts in pure Python, for the first texts of a process: 2 to 4 MB a second without any loading.

It declines text with characters of rare alphabets: every Python version and engine must agree about their categories.

The files in ``vocabularies/`` hold the rank files that OpenAI publishes with tiktoken, laid out for binary search:

    number of tokens of 1 byte, of 2 bytes … of 128 bytes   4 bytes each, little-endian
    the tokens, by length, then in byte order               joined
    the rank of each, in the same order                     3 bytes each, little-endian
"""

import re
import struct
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

FOLDER = Path(__file__).parent / "vocabularies"
NO_RANK = 1 << 32  # the rank of bytes that are no token

PATTERNS: Mapping[str, str] = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+[\p{L}]++|[\p{N}]{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
    r"[\s]++$|[\s]*[\r\n]|[\s]+(?![^\s])|[\s]",
    "o200k_base": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[\p{N}]{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|[\s]*[\r\n]+|[\s]+(?![^\s])|[\s]+",
}
r"""tiktoken's own; ``\s`` and ``\p{…}`` are always in brackets, so that they can be replaced by ranges."""

_HEADER = struct.Struct("<128I")
_WIDEST = 128
_RANK = 3

LONGEST_MATCH = 400  # in characters. Merging takes quadratic time, so longer matches are declined.
_MERGE_WORK = 40  # how much longer it takes to merge a byte than to look at a character

_Ranges = tuple[tuple[int, int], ...]

_ASCII: _Ranges = ((0x00, 0x7F),)
_WESTERN: _Ranges = (
    (0x00, 0xFF), (0x2000, 0x2064), (0x20A0, 0x20BF), (0x2100, 0x218B),  # Latin-1, punctuation, currencies, fractions
    (0x2190, 0x2426), (0x2460, 0x28FF),  # arrows, mathematics, boxes, signs, Braille (progress bars)
    (0xFE0F, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFFD, 0xFFFD),  # emoji style, byte order mark, replacement
    (0x1F300, 0x1F64F), (0x1F680, 0x1F6C5), (0x1F7E0, 0x1F7EB), (0x1F900, 0x1F9FF),  # emoji
)  # fmt: skip
_WIDE: _Ranges = (
    *_WESTERN, (0x100, 0x36F), (0x1E00, 0x1EFF), (0x391, 0x3A1), (0x3A3, 0x52F),  # Latin, Greek, Cyrillic
    (0x5D0, 0x5EA), (0x620, 0x6FF), (0x900, 0x97F), (0xE01, 0xE3A), (0xE3F, 0xE5B),  # Hebrew, Arabic, Hindi, Thai
    (0x3000, 0x303F), (0x3041, 0x3096), (0x3099, 0x30FF), (0xFF01, 0xFF60),  # Japanese, full width
    (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),  # Chinese, Korean: nothing but letters without case
)  # fmt: skip
ALPHABETS = (_ASCII, _WESTERN, _WIDE)  # the smallest first: its patterns compile fastest
_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's White_Space; Python's ``\\s`` also has U+001C to U+001F."""


class BytePairs:
    """Counts the tokens of one encoding, as long as the work does not exceed that for ``work`` plain characters."""

    def __init__(self, encoding: str, work: int) -> None:
        self._encoding = encoding
        self._work = work
        self._rank: Callable[[bytes], int] | None = None
        self._sizes: dict[str, int] = {}

    def count(self, text: str) -> int | None:
        """How many tokens ``text`` has; None if an engine should count it."""
        self._work -= len(text)
        alphabets = (each for each in ALPHABETS if not _other_character(each).search(text))
        if self._work < 0 or (alphabet := next(alphabets, None)) is None:
            return None
        matches = _pattern(self._encoding, alphabet).findall(text)
        if max(map(len, matches), default=0) > LONGEST_MATCH:
            return None
        sizes = self._sizes
        for match in set(matches).difference(sizes):
            size = self._size(match.encode())
            if size is None:
                return None
            sizes[match] = size
        return sum(map(sizes.__getitem__, matches))

    def _size(self, match: bytes) -> int | None:
        rank = self._rank = self._rank or cache(Vocabulary(self._encoding).rank)
        if rank(match) != NO_RANK:
            return 1
        self._work -= len(match) * _MERGE_WORK
        return _merged_size(match, rank) if self._work >= 0 else None


def _merged_size(match: bytes, rank: Callable[[bytes], int]) -> int:
    """Join the pair of the lowest rank, the leftmost of equals, until no pair is a token."""
    parts = [match[at : at + 1] for at in range(len(match))]
    ranks = [rank(left + right) for left, right in pairwise(parts)]
    while ranks and (lowest := min(ranks)) != NO_RANK:
        at = ranks.index(lowest)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        del ranks[at]
        if at:
            ranks[at - 1] = rank(parts[at - 1] + parts[at])
        if at < len(ranks):
            ranks[at] = rank(parts[at] + parts[at + 1])
    return len(parts)


@cache
def _other_character(alphabet: _Ranges) -> re.Pattern[str]:
    ranges = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in alphabet)
    return re.compile(f"[^{ranges}]")


@cache
def _pattern(encoding: str, alphabet: _Ranges) -> re.Pattern[str]:
    r"""The encoding's pattern for Python's ``re``, which knows no ``\p{L}``."""
    classes = {r"\s": _SPACE, "$": r"\Z"}
    ranges = _categories(alphabet)

    def spelled(name: re.Match[str]) -> str:
        return classes.get(name[0]) or "".join(span for kind, span in ranges if kind.startswith(name[1]))

    return re.compile(re.sub(r"\\p\{(\w+)\}|\\s|\$", spelled, PATTERNS[encoding]))


@cache
def _categories(alphabet: _Ranges) -> list[tuple[str, str]]:
    """Ranges of characters of the same category, each with the category and spelled for a regular expression."""
    spans: list[list[str]] = []
    for first, last in alphabet:
        if last - first > 0x1000:
            spans.append(["Lo", chr(first), chr(last)])
            continue
        for char in map(chr, range(first, last + 1)):
            category = unicodedata.category(char)
            if spans and spans[-1][0] == category and ord(spans[-1][2]) == ord(char) - 1:
                spans[-1][2] = char
            else:
                spans.append([category, char, char])
    return [(category, f"{re.escape(first)}-{re.escape(last)}") for category, first, last in spans]


class Vocabulary:
    """The tokens of one encoding with their ranks."""

    def __init__(self, encoding: str) -> None:
        self._packed = (FOLDER / f"{encoding}.bin").read_bytes()
        self._counts = (0, *_HEADER.unpack_from(self._packed))
        sizes = [width * count for width, count in enumerate(self._counts)]
        self._starts = list(accumulate(sizes, initial=_HEADER.size))
        self._firsts = list(accumulate(self._counts, initial=0))

    def rank(self, token: bytes) -> int:
        """The rank of ``token``, or NO_RANK."""
        width = len(token)
        if width > _WIDEST:
            return NO_RANK
        packed, start, count = self._packed, self._starts[width], self._counts[width]
        at = bisect_left(range(count), token, key=lambda at: packed[start + at * width : start + (at + 1) * width])
        is_token = at < count and packed[start + at * width : start + (at + 1) * width] == token
        return self._rank_at(self._firsts[width] + at) if is_token else NO_RANK

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Every token with its rank."""
        for width in range(1, _WIDEST + 1):
            for number in range(self._counts[width]):
                start = self._starts[width] + number * width
                yield self._packed[start : start + width], self._rank_at(self._firsts[width] + number)

    def _rank_at(self, number: int) -> int:
        start = self._starts[-1] + number * _RANK
        return int.from_bytes(self._packed[start : start + _RANK], "little")
