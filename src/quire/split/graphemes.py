"""Where graphemes end: the finest cuts, for words that are too long.

A grapheme is a character with what belongs to it: combining marks, joined emoji and consonants, both halves of a flag.
Positions are ascending and the last one is the end of the text asked for, so that consecutive ones are spans. The table
of marks is made from Python's own when a text first needs it; ASCII never does. The cost is linear.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

_MORE_MARKS = "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"
"""Marks though not by their category: joiners, two vowels, skin tones, tags, variation selectors."""
_HANGUL = "\u1160-\u11ff\ud7b0-\ud7fb"
"""Vowels and last consonants of a syllable, which belong to its first one."""
_PREPENDED = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u1100-\u115f\ua960-\ua97c\U000110bd\U000110cd"
"""Signs around the number that follows them, and the first consonants of a syllable of Hangul."""
_VIRAMAS = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6"
"""Signs that join two consonants."""
_CONSONANTS = "\u0904-\u0939\u0958-\u0d3a\u1000-\u102a\u1780-\u17b3\u1a20-\u1a54\u1b05-\u1b33\ua984-\ua9b2\uaae0-\uaaea"
_CONTROL = "\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
_FLAG = "\U0001f1e6-\U0001f1ff"
_LAST_MARK = 0x20000


def grapheme_ends(text: str, start: int, end: int) -> list[int]:
    """Where graphemes of ``text[start:end]`` end."""
    if text[start:end].isascii() and "\r" not in text[start:end]:
        return list(range(start + 1, end + 1))
    return [match.end() for match in _grapheme().finditer(text, start, end)]


def between_graphemes(text: str, cuts: Iterable[int], end: int) -> list[int]:
    """Those of ``cuts`` that tear no grapheme, if each follows a space, punctuation or an ideograph."""
    joined = _joined()
    return [cut for cut in cuts if cut == end or text[cut] < "\u0300" or not joined.match(text, cut - 1)]


@cache
def _joined() -> re.Pattern[str]:
    """Two characters between which nothing is cut."""
    return re.compile(rf"[\s\S][{_marks()}]|[{_PREPENDED}][^{_CONTROL}]")


@cache
def _grapheme() -> re.Pattern[str]:
    """The pattern of a grapheme; it matches every character."""
    consonant = rf"(?<=[{_VIRAMAS}])[{_CONSONANTS}]"
    more = rf"(?:[{_marks()}{_HANGUL}]|(?<=\u200d)[\u2190-\uffff\U0001f000-\U0001faff]|{consonant})*+"
    return re.compile(
        rf"\r\n|[{_CONTROL}]|[{_FLAG}]{{2}}|[{_PREPENDED}]*+[^{_CONTROL}{_PREPENDED}]{more}|[{_PREPENDED}]++"
    )


@cache
def _marks() -> str:
    """The marks as ranges of a character class."""
    codes = [code for code in range(0x300, _LAST_MARK) if unicodedata.category(chr(code))[0] == "M"]
    firsts = [code for code, before in zip(codes, [0, *codes], strict=False) if code != before + 1]
    lasts = [code for code, after in zip(codes, [*codes[1:], 0], strict=True) if code != after - 1]
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(firsts, lasts, strict=True)) + _MORE_MARKS
