"""The words of a text, and quickly those among them that can be one of a few. Pure; ``highlight`` compares them.

A word is a run of letters, digits and marks; in scripts without spaces each character is one. Stemming leaves the
beginning of a word as it is, so most words of a text need not be looked at. What begins with some letters is found by
``str.find``, ten times as fast as by ``re``; where only one letter is known, by a pattern that starts with one set of
characters, which ``re`` finds much faster than words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Container, Iterator, Mapping
from enum import Enum
from functools import cached_property, lru_cache
from typing import NamedTuple

from quire.index.engine.spelling import ALONE, ASCII, CLUSTERS, PICTURES, humps

_PICTURE = re.compile(f"[{PICTURES}]")
_SIGNED = r"[A-Za-z](?:\+\+|#)"
"""``C++`` and ``C#`` are words."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_HUMP = r"(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z])|(?<=[0-9][a-z])|(?<=[A-Za-z][0-9])"
"""Where, after its first character, a part of a name in humps has begun."""
_PART = re.compile(rf"[\s\S](?:{_HUMP})")
_IN_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")


StartAndEnd = tuple[int, int]
"""A span that is one only in the end: hundreds of them are sorted much faster so."""


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


class Use(Enum):
    """What a word is to whoever looks for some."""

    NONE = "none"
    """Nothing."""
    WANTED = "wanted"
    """It is wanted, as a whole and for nothing else."""
    OPEN = "open"
    """That must be looked at where it stands: a part of it may be wanted, or it with what follows."""


class _Found(NamedTuple):
    wanted: list[StartAndEnd]
    others: list[Word]
    uses: Mapping[str, Use]

    def add(self, text: str, at: int) -> None:
        use = self.uses[text]
        if use is Use.WANTED:
            self.wanted.append((at, at + len(text)))
        elif use is Use.OPEN:
            self.others.append(Word(text, at))


class Words:
    """The words of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._marks = _marks(text)
        self._word, self._whole, self._letter = _patterns(self._marks)

    def onwards(self, at: int) -> Iterator[Word]:
        """All words from a place on."""
        return (Word(found[0], found.start()) for found in self._word.finditer(self._text, at))

    def starting(self, beginnings: Collection[str], uses: Mapping[str, Use]) -> tuple[list[StartAndEnd], list[Word]]:
        """Among the words that begin so, or have a part that does: where those that are wanted stand, and the others.

        Beginnings are in ASCII, lower case; the case of the words does not matter. Of those that are not in ASCII, all
        are looked at whose first letter is not, or is that of a beginning: accents may be left out. ``uses`` is asked
        about each word, or about it from the part on. Nothing is in order, and a word may be there twice.
        """
        found = _Found([], [], uses)
        letters = frozenset(each for each in beginnings if len(each) == 1)
        if letters:
            self._starting(_starts("".join(sorted(letters)), self._marks), found)
        for beginning in beginnings:
            if beginning[0] not in letters:
                self._beginning(beginning, found)
        if self._marks is not None:
            self._beyond_ascii({each[0] for each in beginnings}, found)
        return found.wanted, found.others

    def _starting(self, starts: re.Pattern[str], found: _Found) -> None:
        for each in starts.finditer(self._text):
            if found.uses[each[0]] is not Use.NONE and (
                word := self._word.match(self._text, self._start(each.start()))
            ):
                found.add(word[0], word.start())

    def _beginning(self, beginning: str, found: _Found) -> None:
        """Of the words that begin with several letters nearly all are wanted, often hundreds: this is kept short."""
        text, find, match = self._text, self._lower.find, self._whole.match
        uses, append, wanted = found.uses, found.wanted.append, Use.WANTED
        at = find(beginning)
        while at >= 0:
            if word := match(text, at):
                start_and_end = word.span()
                if uses[word[0]] is wanted:
                    append(start_and_end)
                else:
                    found.add(word[0], at)
                end = start_and_end[1]
            else:
                end = self._part(at, found)
            at = find(beginning, end)

    def _part(self, at: int, found: _Found) -> int:
        """A place inside a word, where a part of it may begin; and where to look on.

        A word is looked at once, with all of its parts: a name may have thousands of them.
        """
        if _PART.match(self._text, at) and (word := self._word.match(self._text, self._start(at))):
            found.add(word[0], word.start())
            return max(word.end(), at + 1)
        return at + 1

    @cached_property
    def _lower(self) -> str:
        """The text in lower case, each character in its place: one of all would become two."""
        return self._text.replace("\u0130", "I").lower()

    def _start(self, at: int) -> int:
        """Where the word starts that a place is in."""
        while at and self._letter.match(self._text, at - 1):
            at -= 1
        return at

    def _beyond_ascii(self, letters: Container[str], found: _Found) -> None:
        text, letter, end = self._text, self._letter, 0
        for run in _BEYOND_ASCII.finditer(text):
            at = run.start()
            if at > end and letter.match(text, at):
                at = self._start(at)  # in the middle of a word
            at = max(at, end)
            while at < run.end():
                word = self._word.match(text, at)
                if word and ((first := text[at].lower()) in letters or not first.isascii()):
                    found.add(word[0], at)
                at = end = word.end() if word else at + 1


def _marks(text: str) -> str | None:
    """The marks in a text: ``re`` has no class for them. None for one whose words are all in ASCII."""
    if text.isascii():
        return None
    data = text.encode("utf-8", "surrogatepass").translate(None, ASCII)  # a third of the time of a pattern
    characters = set(data.decode("utf-8", "surrogatepass"))
    marks = "".join(sorted(each for each in characters if unicodedata.category(each)[0] == "M"))
    is_plain = not marks and not any(each.isalnum() or _PICTURE.match(each) for each in characters)
    return None if is_plain else marks


def _letter(marks: str | None) -> str:
    """A character of a word of several; ``marks`` is None where all words are in ASCII."""
    if marks is None:
        return "[A-Za-z0-9]"
    letter = rf"[^\W_{ALONE}{CLUSTERS}]"
    return rf"(?:{letter}|[{marks}])" if marks else letter


@lru_cache(maxsize=64)
def _patterns(marks: str | None) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A word, one that does not start inside another, and a character of a word of several."""
    letter = _letter(marks)
    others = "" if marks is None else rf"[{ALONE}{PICTURES}]|(?=[^\W_])[{CLUSTERS}]{f'[{marks}]*+' if marks else ''}|"
    word = rf"{_SIGNED}|{others}{letter}++"
    return re.compile(word), re.compile(rf"(?<!{letter})(?:{word})"), re.compile(letter)


@lru_cache(maxsize=256)
def _starts(letters: str, marks: str | None) -> re.Pattern[str]:
    """A word that starts with one of these letters, or one from the part on that does."""
    letter = _letter(marks)
    return re.compile(rf"[{letters}{letters.upper()}](?:(?<!{letter}[\s\S])|{_HUMP}){letter}*+(?:\+\+|#)?")
