"""How a text is spelled before the engine cuts it into words, in documents and in queries. Pure.

The engine cuts at everything that is no letter and no digit. What it would tear apart or leave out is spelled with
letters here: ``C++``, emoji, and scripts without spaces, of which each character becomes a word.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

_SHARP = re.compile(r"#(?<=[A-Za-z]#)(?<![A-Za-z0-9_][A-Za-z]#)(?![A-Za-z0-9+#])")
_PLUSPLUS = re.compile(r"\+\+(?<=[A-Za-z]\+\+)(?<![A-Za-z0-9_][A-Za-z]\+\+)(?![A-Za-z0-9+#])")
"""What makes one letter the name of a language: ``F#``, ``C++``. What starts with one character is found at once."""
_HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?=[A-Z][a-z]))")
"""Where the second hump of a name starts, or a later one."""
_KINDS = bytes(
    ord("A" if chr(byte).isupper() else "a" if chr(byte).isalnum() else ".") if byte < 128 else ord(".")
    for byte in range(256)
)
"""What each character of ASCII is: a capital, another letter or a digit, or neither."""
_HUMPED = (b"aA", b"AAa")
"""The kinds of characters that a name in humps has somewhere; so has ``SHA1``, which is none."""
_PARTS = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+")

_FLAG = re.compile(r"--(?<![A-Za-z0-9_-]--)[A-Za-z][A-Za-z0-9]*+(?:[-_.][A-Za-z0-9]++)*+")
"""A flag of a command: ``--no-cache``."""

ALONE = (
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Chinese, Japanese and Korean, for a set in a pattern: each character is a word."""
_CLUSTERED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
CLUSTERS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _CLUSTERED)
"""Thai and Lao, Burmese, Khmer, for a set in a pattern: a letter with the marks on it is a word."""
_MARKED = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f\u0386\u0388-\u0390\u03aa-\u03b0\u03ca-\u03ce\u1f00-\u1fff"
)
"""Accents, Hebrew points, Arabic and Syriac vowels, and Greek letters with accents, for a set in a pattern.

There are some other characters between them.
"""
PICTURES = "\u203c\u2049\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff"
"""Emoji, for a set in a pattern: each is a word."""
SIGNS = {"++": "plusplus", "#": "sharp"}
"""How the signs of ``C++`` and ``C#`` are spelled."""
ASCII = bytes(range(128))
"""Left out of a text in UTF-8, they leave it readable."""
_USUAL = 64
"""Longer names are rare, and not worth remembering."""


def normal(text: str) -> str:
    """A text as the engine takes it."""
    if not text.isascii():
        # The engine makes a small i with a dot above of the Turkish İ, and that is another letter to it than i.
        text = unicodedata.normalize("NFKC", text).replace("\u0130", "I").replace("i\u0307", "i")
        beyond = _beyond_ascii(text)
        text = _marked().sub(_unmarked, text) if _marked().search(beyond) else text
        text = _unspaced().sub(_apart, text) if _any_unspaced().search(beyond) else text
    if "#" in text:
        text = _SHARP.sub(SIGNS["#"], text)
    # One character is found at once, two are looked for from each on.
    return _PLUSPLUS.sub(SIGNS["++"], text) if "+" in text and "++" in text else text


def spellings(text: str) -> list[str]:
    """What is indexed of a text: itself, and the parts of each name that is written in humps (``HTTPServer``)."""
    text = normal(text)
    names = _perhaps_in_humps(text)
    parts = {_told(name) if len(name) <= _USUAL else _parts_of(name) for name in names} - {""} if names else ()
    return [text, *sorted(parts)]


def flags(text: str) -> list[str]:
    """The flags of commands in a text, each once: the engine knows no dashes, and ``--from`` is more than *from*."""
    return sorted({flag.lower() for flag in _FLAG.findall(text)}) if "--" in text else []


def humps(word: str) -> str:
    """The parts of a name in humps, with spaces between: ``HTTPServer`` -> ``HTTP Server``."""
    return " ".join(_PARTS.findall(word))


def is_unspaced(text: str) -> bool:
    """Whether a text has characters that are words by themselves, so that a word is a phrase of them."""
    return not text.isascii() and _any_unspaced().search(unicodedata.normalize("NFKC", text)) is not None


def _beyond_ascii(text: str) -> str:
    """What of a text is not ASCII. Most is, and bytes are left out five times as fast as a pattern goes on."""
    return text.encode("utf-8", "replace").translate(None, ASCII).decode()


def _perhaps_in_humps(text: str) -> set[str]:
    """The words of letters and digits, all of ASCII, that may be names in humps: none of those is missing.

    A pattern would stop at each capital. Text that is made of three characters only is searched in half the time.
    """
    kinds = text.encode("ascii", "replace").translate(_KINDS)
    names: set[str] = set()
    for humped in _HUMPED:
        at = kinds.find(humped)
        while at >= 0:
            end = kinds.find(b".", at)
            end = len(kinds) if end < 0 else end
            names.add(text[kinds.rfind(b".", 0, at) + 1 : end])
            at = kinds.find(humped, end)
    return names


def _parts_of(name: str) -> str:
    """The parts of a name in humps, with spaces between; empty for any other."""
    parts = humps(name) if _HUMP.search(name) else ""
    return parts if " " in parts else ""


_told = lru_cache(maxsize=16_384)(_parts_of)
"""As ``_parts_of``, remembered: texts repeat their names."""


def _apart(found: re.Match[str]) -> str:
    character = found[0]
    return f" emoji{ord(character):x} " if found.lastgroup == "picture" else f" {character} "


def _unmarked(found: re.Match[str]) -> str:
    """A letter without its marks, or nothing for a mark."""
    return "".join(each for each in unicodedata.normalize("NFD", found[0]) if not unicodedata.combining(each))


@cache
def _marked() -> re.Pattern[str]:
    """What has marks that make no other letter of one; the engine cuts words at them.

    It leaves out those of Latin letters itself, after stemming if they tell endings apart; of letters as ``й`` they
    are a part.
    """
    return re.compile(f"[{_MARKED}]")


@cache
def _any_unspaced() -> re.Pattern[str]:
    # It takes a fortieth of the time of a whole command to compile, and most text has no use for it.
    return re.compile(f"[{ALONE}{PICTURES}{CLUSTERS}]")


@cache
def _unspaced() -> re.Pattern[str]:
    letters: list[str] = []
    marks: list[str] = []
    for first, last in _CLUSTERED:
        for character in map(chr, range(first, last + 1)):
            (marks if unicodedata.category(character).startswith("M") else letters).append(character)
    cluster = f"[{''.join(letters)}][{''.join(marks)}]*"
    return re.compile(f"[{ALONE}]|{cluster}|(?P<picture>[{PICTURES}])")
