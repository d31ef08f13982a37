r"""Text -> the pieces that the two encodings merge within, as tiktoken cuts them. Neighbour: quick.py counts each.

Python's ``re`` knows no ``\p{L}``, so each class of characters is spelled out, for the characters of a few alphabets:
the smallest of ``ALPHABETS`` that holds the text, because a longer class takes longer to compile. All of these
characters are assigned since Unicode 14, so every Python and every engine agree about them. Text with any other
character has no pieces here; the caller asks a full engine instead.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's White_Space; Python's ``\\s`` has U+001C to U+001F too."""

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
    (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),  # Chinese, Korean
)  # fmt: skip
ALPHABETS = (_ASCII, _WESTERN, _WIDE)

_ALIKE = 0x1000
"""A range this long holds letters without case and nothing else; asking each one would take longer than counting."""

_CLASSES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "letter": frozenset({"Lu", "Ll", "Lt", "Lm", "Lo"}),
        "number": frozenset({"Nd", "Nl", "No"}),
        "upper": frozenset({"Lu", "Lt", "Lm", "Lo", "Mn", "Mc", "Me"}),
        "lower": frozenset({"Ll", "Lm", "Lo", "Mn", "Mc", "Me"}),
    }
)

_PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n%(letter)s%(number)s]?+[%(letter)s]++|[%(number)s]{1,3}+"
        r"| ?[^%(space)s%(letter)s%(number)s]++[\r\n]*+"
        r"|[%(space)s]++\Z|[%(space)s]*[\r\n]|[%(space)s]+(?![^%(space)s])|[%(space)s]",
        "o200k_base": r"[^\r\n%(letter)s%(number)s]?[%(upper)s]*[%(lower)s]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n%(letter)s%(number)s]?[%(upper)s]+[%(lower)s]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[%(number)s]{1,3}"
        r"| ?[^%(space)s%(letter)s%(number)s]+[\r\n/]*"
        r"|[%(space)s]*[\r\n]+|[%(space)s]+(?![^%(space)s])|[%(space)s]+",
    }
)
"""tiktoken's own patterns, with names for the classes."""


def cut(encoding: str, text: str) -> list[str] | None:
    """The pieces of ``text``; None if a character in it is in none of the alphabets."""
    for alphabet in ALPHABETS:
        if not _stranger(alphabet).search(text):
            return _piece(encoding, alphabet).findall(text)
    return None


@cache
def _stranger(alphabet: _Ranges) -> re.Pattern[str]:
    return re.compile(f"[^{_spelled(alphabet)}]")


@cache
def _piece(encoding: str, alphabet: _Ranges) -> re.Pattern[str]:
    classes = {name: _spelled(_of_kinds(alphabet, kinds)) for name, kinds in _CLASSES.items()}
    return re.compile(_PATTERNS[encoding] % (classes | {"space": _SPACE}))


def _of_kinds(alphabet: _Ranges, kinds: frozenset[str]) -> Iterator[tuple[int, int]]:
    for first, last in alphabet:
        if last - first < _ALIKE:
            yield from _joined(code for code in range(first, last + 1) if unicodedata.category(chr(code)) in kinds)
        elif "Lo" in kinds:
            yield first, last


def _joined(codes: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = -1
    for code in codes:
        if code != last + 1:
            if last >= 0:
                yield first, last
            first = code
        last = code
    if last >= 0:
        yield first, last


def _spelled(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
