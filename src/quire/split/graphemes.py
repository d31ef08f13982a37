"""Where graphemes end: the finest cuts, for words that are too long.

Before: words.py. Positions are ascending and the last one is the end of the
text asked for, so that consecutive ones are spans.

Graphemes are the extended grapheme clusters of Unicode, found by one regular expression. Its table of marks is made
from Python's own when a text first needs it; ASCII never does. The cost is linear: every match takes what it has read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache


def grapheme_ends(text: str, start: int, end: int) -> list[int]:
    """Where graphemes of ``text[start:end]`` end."""
    if start >= end:
        return []
    if not text[start:end].isascii():
        return [match.end() for match in _grapheme().finditer(text, start, end)]
    if text.find("\r\n", start, end) < 0:
        return list(range(start + 1, end + 1))
    return [at for at in range(start + 1, end + 1) if at == end or text[at] != "\n" or text[at - 1] != "\r"]


def between_graphemes(text: str, cuts: Iterable[int], end: int) -> list[int]:
    """Those of ``cuts`` that tear no grapheme, if each follows a space, punctuation or an ideograph."""
    return [cut for cut in cuts if cut == end or not (_is_mark(text[cut]) or text[cut - 1] in _PREPENDED)]


# Numbers and signs that are written below what follows them, or around it.
_PREPENDED_RANGES = (
    (0x600, 0x605), (0x6DD, 0x6DD), (0x70F, 0x70F), (0x890, 0x891), (0x8E2, 0x8E2), (0xD4E, 0xD4E), (0x110BD, 0x110BD),
    (0x110CD, 0x110CD), (0x111C2, 0x111C3), (0x113D1, 0x113D1), (0x1193F, 0x1193F), (0x11941, 0x11941),
    (0x11A84, 0x11A89), (0x11D46, 0x11D46), (0x11F02, 0x11F02),
)  # fmt: skip
_PREPENDED = frozenset(chr(code) for first, last in _PREPENDED_RANGES for code in range(first, last + 1))

# Marks by Unicode's rule for graphemes though not by their category, and the other way round.
_MORE_MARKS = frozenset(
    "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f"
    + "".join(map(chr, (*range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080), *range(0xE0100, 0xE01F0))))
)
_NO_MARKS = frozenset(
    map(
        chr,
        (0x102B, 0x102C, 0x1038, *range(0x1062, 0x1065), *range(0x1067, 0x106E), 0x1083, *range(0x1087, 0x108D), 0x108F,
         *range(0x109A, 0x109D), 0x1A61, 0x1A63, 0x1A64, 0xAA7B, 0xAA7D, 0x11720, 0x11721),
    )
)  # fmt: skip


def _is_mark(char: str) -> bool:
    """Whether a character belongs to the one before it."""
    if char < "\u0300":
        return False
    return char in _MORE_MARKS or (unicodedata.category(char)[0] == "M" and char not in _NO_MARKS)


_CONTROL = (
    "\\x00-\\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff"
    "\U000e01f0-\U000e0fff"
)
_FLAG = "\U0001f1e6-\U0001f1ff"
# Emoji and, for brevity, the symbols between them: it matters only before a joiner.
_PICTURE = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff\U0001fc00-\U0001fffd"
)
# Consonants of the scripts of India and South East Asia, and the signs that join two of them.
_CONSONANT = (
    "\u0915-\u0939\u0958-\u095f\u0978-\u097f\u0995-\u09a8\u09aa-\u09b0\u09b2\u09b6-\u09b9\u09dc\u09dd\u09df\u09f0\u09f1"
    "\u0a95-\u0aa8\u0aaa-\u0ab0\u0ab2\u0ab3\u0ab5-\u0ab9\u0af9\u0b15-\u0b28\u0b2a-\u0b30\u0b32\u0b33\u0b35-\u0b39\u0b5c"
    "\u0b5d\u0b5f\u0b71\u0c15-\u0c28\u0c2a-\u0c39\u0c58-\u0c5a\u0d15-\u0d3a\u1000-\u102a\u103f\u1050-\u1055"
    "\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070\u1075-\u1081\u108e\u1780-\u17b3\u1a20-\u1a54\u1b0b\u1b0c\u1b13-\u1b33"
    "\u1b45-\u1b4c\u1b83-\u1ba0\u1bae\u1baf\u1bbb-\u1bbd\ua989-\ua98b\ua98f-\ua9b2\ua9e0-\ua9e4\ua9e7-\ua9ef"
    "\ua9fa-\ua9fe\uaa60-\uaa6f\uaa71-\uaa73\uaa7a\uaa7e\uaa7f\uaae0-\uaaea\uabc0-\uabda"
)
_LINKER = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6"
# Most characters of most texts; only to be quick.
_PLAIN = r"[ -~\xc0-\u02ff\u3400-\u9fff](?=[\x00-\u02ff\u3400-\u9fff]|\Z)"
# All but the large blocks of ideographs and syllables, which have none.
_WITH_MARKS = (
    (0x300, 0x3400), (0xA660, 0xAC00), (0xFB00, 0x12000), (0x13400, 0x17000), (0x1BC00, 0x20000), (0xE0020, 0xE01F0),
)  # fmt: skip


@cache
def _grapheme() -> re.Pattern[str]:
    """The pattern of a grapheme; it matches every character."""
    marks = [code for first, last in _WITH_MARKS for code in range(first, last) if _is_mark(chr(code))]
    mark = _ranges(marks)
    unjoined = _ranges(code for code in marks if code != 0x200D)
    unlinked = _ranges(code for code in marks if chr(code) not in _LINKER)
    open_syllable = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))
    vowels, tails = "\u1160-\u11a7\ud7b0-\ud7c6", "\u11a8-\u11ff\ud7cb-\ud7fb"
    hangul = (
        rf"[\u1100-\u115f\ua960-\ua97c]*+(?:[{vowels}{open_syllable}][{vowels}]*+|[가-힣])[{tails}]*+"
        rf"|[\u1100-\u115f\ua960-\ua97c]++|[{tails}]++"
    )
    conjunct = rf"[{_CONSONANT}](?:[{unlinked}]*+[{_LINKER}][{mark}]*+[{_CONSONANT}])*+"
    picture = rf"[{_PICTURE}](?:[{unjoined}]*+\u200d[{_PICTURE}])*+"
    core = rf"{hangul}|[{_FLAG}]{{2}}|{conjunct}|{picture}|[^{_CONTROL}]"
    prepended = "".join(sorted(_PREPENDED))
    return re.compile(
        rf"{_PLAIN}|\r\n|[{_CONTROL}]|[{prepended}]*+(?:{core})[{mark}]*+|[{prepended}]++[{mark}]*+", re.DOTALL
    )


def _ranges(codes: Iterable[int]) -> str:
    """The codes as ranges of a character class."""
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)
