"""How a text is spelled before the engine cuts it into words, in documents and in queries. Pure.

The engine cuts at everything that is no letter and no digit. What it would tear apart or leave out is spelled with
letters here: ``C++``, emoji, and scripts without spaces, of which each character becomes a word.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_SHARP = re.compile(r"#(?<=[A-Za-z]#)(?<![A-Za-z0-9_][A-Za-z]#)(?![A-Za-z0-9+#])")
_PLUSPLUS = re.compile(r"\+\+(?<=[A-Za-z]\+\+)(?<![A-Za-z0-9_][A-Za-z]\+\+)(?![A-Za-z0-9+#])")
"""What makes one letter the name of a language: ``F#``, ``C++``. What starts with one character is found at once."""
_HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?=[A-Z][a-z]))[A-Za-z0-9]*")
"""From the second hump of a name on. It starts with one set of characters, which is found ten times as fast."""
_PARTS = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+")

_CHARACTERS = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_MORE_CHARACTERS = "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
_PICTURES = "\u203c\u2049\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff"
_CLUSTERED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
"""Thai and Lao, Burmese, Khmer: a letter and the marks on it are one character."""
_ANY_UNSPACED = re.compile(
    f"[{_CHARACTERS}{_MORE_CHARACTERS}{_PICTURES}{''.join(f'{chr(first)}-{chr(last)}' for first, last in _CLUSTERED)}]"
)


def normal(text: str) -> str:
    """A text as the engine takes it."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        # One set of characters is found much faster than the pattern that takes them apart.
        text = _unspaced().sub(_apart, text) if _ANY_UNSPACED.search(text) else text
    if "#" in text:
        text = _SHARP.sub("sharp", text)
    return _PLUSPLUS.sub("plusplus", text) if "++" in text else text


def spellings(text: str) -> list[str]:
    """What is indexed of a text: itself, and the parts of each name that is written in humps (``HTTPServer``)."""
    text = normal(text)
    names = _names_in_humps(text)
    return [text, *sorted({part for name in names if " " in (part := humps(name))})] if names else [text]


def humps(word: str) -> str:
    """The parts of a name in humps, with spaces between: ``HTTPServer`` -> ``HTTP Server``."""
    return " ".join(_PARTS.findall(word))


def is_unspaced(text: str) -> bool:
    """Whether a text has characters that are words by themselves, so that a word is a phrase of them."""
    return not text.isascii() and _ANY_UNSPACED.search(unicodedata.normalize("NFKC", text)) is not None


def _names_in_humps(text: str) -> set[str]:
    names: set[str] = set()
    for found in _HUMP.finditer(text):
        start = found.start()
        while start and text[start - 1].isascii() and text[start - 1].isalnum():
            start -= 1
        names.add(text[start : found.end()])
    return names


def _apart(found: re.Match[str]) -> str:
    character = found[0]
    return f" emoji{ord(character):x} " if found.lastgroup == "picture" else f" {character} "


@cache
def _unspaced() -> re.Pattern[str]:
    letters: list[str] = []
    marks: list[str] = []
    for first, last in _CLUSTERED:
        for character in map(chr, range(first, last + 1)):
            (marks if unicodedata.category(character).startswith("M") else letters).append(character)
    cluster = f"[{''.join(letters)}][{''.join(marks)}]*"
    return re.compile(f"[{_CHARACTERS}{_MORE_CHARACTERS}]|{cluster}|(?P<picture>[{_PICTURES}])")
