"""Text for a terminal: how wide it is, and nothing in it that steers the terminal. Pure; ``output`` writes it."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category, east_asian_width

_REPLACED = "\ufffd"
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""The characters that turn the direction of all that follows them."""

_VISIBLE = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    ord("\t"): "    ",
    0x7F: "\u2421",
    **{0xDC00 + byte: f"%{byte:02X}" for byte in range(0x80, 0x100)},
    **dict.fromkeys((*range(0x80, 0xA0), 0x2028, 0x2029, *_DIRECTIONS), _REPLACED),
}
"""A picture for each control character; bytes of names that are no text as the index writes them."""


def visible(text: str) -> str:
    """``text`` in one line, with control characters as pictures: an escape sequence in a document stays text."""
    return text if text.isascii() and text.isprintable() else text.translate(_VISIBLE)


def width(text: str) -> int:
    """How many columns ``text`` takes: two for wide characters, none for marks."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def clip(text: str, room: int) -> str:
    """``text``, shortened with an ellipsis to ``room`` columns at most."""
    if width(text) <= room:
        return text
    taken = 0
    for index, char in enumerate(text):
        taken += _columns(char)
        if taken >= room:
            return text[:index] + "…"
    return text


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(char) in ("W", "F") else 1
