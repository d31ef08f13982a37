"""The words of a text, and quickly those among them that can be one of a few. Pure; ``highlight`` compares them.

A word is a run of letters, digits and marks; in scripts without spaces each character is one. Stemming leaves the first
letter of a word as it is, so most words of a text need not be looked at: the pattern that finds the others starts with
one set of characters, which ``re`` finds much faster than words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from quire.index.engine.spelling import humps

_ALONE = (
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Chinese, Japanese and Korean: a character is a word."""
_CLUSTERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer: a letter with its marks is a word."""
_PICTURES = "\u203c\u2049\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff"
"""Each is a word."""
_SIGNED = r"[A-Za-z](?:\+\+|#)"
"""``C++`` and ``C#`` are words."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_IN_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")


class Word(NamedTuple):
    """A word, or a part of a name in humps."""

    text: str
    """As it stands there."""
    start: int
    """Where it starts."""

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)

    def parts(self) -> list[Word]:
        """A name in humps taken apart; any other word as it is."""
        if not _IN_HUMPS.search(self.text):
            return [self]
        parts: list[Word] = []
        at = 0
        for part in humps(self.text).split():
            at = self.text.index(part, at)
            parts.append(Word(part, self.start + at))
            at += len(part)
        return parts


class Words:
    """The words of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._marks = None if text.isascii() else _marks(text)
        self._word, self._letter = _patterns(self._marks)

    def onwards(self, at: int) -> Iterator[Word]:
        """All words from a place on."""
        return (Word(found[0], found.start()) for found in self._word.finditer(self._text, at))

    def starting(self, letters: frozenset[str], of_use: Callable[[str], bool]) -> Iterator[Word]:
        """The words that start with one of these letters and digits of ASCII, or have a part that does.

        Case does not matter. Words that start with other characters are all among them: accents may be left out.
        ``of_use`` is asked about each word, or about it from the part on, and leaves out what is not.
        """
        if letters:
            yield from self._starting(_starts("".join(sorted(letters)), self._marks), of_use)
        if self._marks is not None:
            yield from self._beyond_ascii(of_use)

    def _starting(self, starts: re.Pattern[str], of_use: Callable[[str], bool]) -> Iterator[Word]:
        for found in starts.finditer(self._text):
            if not of_use(found[0]):
                continue
            start = found.start()
            while start and self._letter.match(self._text, start - 1):
                start -= 1  # from a hump to the start of its word
            if word := self._word.match(self._text, start):
                yield Word(word[0], start)

    def _beyond_ascii(self, of_use: Callable[[str], bool]) -> Iterator[Word]:
        text, letter, end = self._text, self._letter, 0
        for run in _BEYOND_ASCII.finditer(text):
            at = max(run.start(), end)
            while at < run.end() and at and letter.match(text, at - 1) and letter.match(text, at):
                at += 1  # the rest of a word that starts before
            while at < run.end():
                word = self._word.match(text, at)
                if word and of_use(word[0]):
                    yield Word(word[0], at)
                at = end = word.end() if word else at + 1


def _marks(text: str) -> str:
    """The marks in a text: ``re`` has no class for them."""
    characters = set("".join(_BEYOND_ASCII.findall(text)))
    return "".join(sorted(each for each in characters if unicodedata.category(each)[0] == "M"))


def _letter(marks: str | None) -> str:
    """A character of a word of several; ``marks`` is None for a text in ASCII."""
    if marks is None:
        return "[A-Za-z0-9]"
    letter = rf"[^\W_{_ALONE}{_CLUSTERS}]"
    return rf"(?:{letter}|[{marks}])" if marks else letter


@lru_cache(maxsize=64)
def _patterns(marks: str | None) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A word, and a character of a word of several."""
    letter = _letter(marks)
    others = (
        "" if marks is None else rf"[{_ALONE}{_PICTURES}]|(?=[^\W_])[{_CLUSTERS}]{f'[{marks}]*+' if marks else ''}|"
    )
    return re.compile(rf"{_SIGNED}|{others}{letter}++"), re.compile(letter)


@lru_cache(maxsize=256)
def _starts(letters: str, marks: str | None) -> re.Pattern[str]:
    """A word that starts with one of these letters, or one from the part on that does."""
    part = r"(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z])|(?<=[0-9][a-z])|(?<=[A-Za-z][0-9])"
    letter = _letter(marks)
    return re.compile(rf"[{letters}{letters.upper()}](?:(?<!{letter}[\s\S])|{part}){letter}*+(?:\+\+|#)?")
