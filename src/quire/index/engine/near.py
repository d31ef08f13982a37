"""Words that are near another: by a letter, by an ending. Pure.

Used by ``dictionary``, which knows which of them occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

_ENDINGS = ("ing", "ings", "ion", "ions", "ión", "ity", "ive", "ment", "ness", "ung")
"""What many words end with, of more than two letters."""


def edits(word: str) -> Iterator[str]:
    """Everything that is one letter away: two swapped, one replaced, one left out, one too many."""
    letters = alphabet(word)
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    yield from (left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1)
    yield from (left + letter + right for left, right in cuts for letter in letters)
    yield from (left + right[1:] for left, right in cuts if right)
    yield from (left + letter + right[1:] for left, right in cuts if right for letter in letters)


def endings(word: str) -> list[str]:
    """With what a word may go on: nothing, a letter of its script, in ASCII two, or an ending that many words have.

    Other scripts have so many letters that to stem all pairs would take longer than the search.
    """
    letters = alphabet(word)
    return ["", *letters, *(map("".join, product(letters, repeat=2)) if word.isascii() else ()), *_ENDINGS]


def alphabet(word: str) -> list[str]:
    """The letters that stand near those of a word in Unicode: those of its script."""
    blocks = sorted({ord(letter) >> 7 for letter in word})
    near = (chr(code) for block in blocks for code in range(block << 7, (block + 1) << 7))
    return [letter for letter in near if letter.isalpha() and letter == letter.lower()]
