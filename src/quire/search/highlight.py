"""Finds the positions of a query's words in a text.

A word is a sequence of letters, digits and marks; in scripts without spaces each character is one. camelCase names are
compared as a whole and part by part, so that ``tokens`` is found in ``rotateTokens``.

Stemming keeps the beginning of a word, so only words are analysed that start as one of the wanted terms can. Words with
a known beginning are found by ``str.find``, which is ten times as fast as ``re``; if only the first letter is known, by
a pattern that starts with one set of characters. Phrases are followed from their first term on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, islice, takewhile
from operator import itemgetter, le
from typing import NamedTuple

from quire.index.engine.normalization import ALONE, ASCII, CLUSTERS, EMOJI, SIGNS, humps
from quire.model import Span

_EMOJI = re.compile(f"[{EMOJI}]")
_SIGNED = r"[A-Za-z](?:\+\+|#)"
"""``C++`` and ``C#`` are words."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_HUMP = r"(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z])|(?<=[0-9][a-z])|(?<=[A-Za-z][0-9])"
"""After the first character of a part of a camelCase name."""
_PART = re.compile(rf"[\s\S](?:{_HUMP})")
_HAS_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")

Terms = Callable[[str], Sequence[str]]
"""A word to its terms. If the word starts with an ASCII letter or digit, so do they."""
Beginnings = Callable[[str], Sequence[str]]
"""A term, or its beginning, to the possible beginnings of ASCII words that have it."""
StartAndEnd = tuple[int, int]  # a span before it is a ``Span``: tuples are sorted much faster


class Word(NamedTuple):
    """A word, or a part of a camelCase name."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)

    def parts(self) -> list[Word]:
        """The parts of a camelCase name; any other word as it is."""
        if not _HAS_HUMPS.search(self.text):
            return [self]
        parts: list[Word] = []
        at = 0
        for part in humps(self.text).split():
            at = self.text.index(part, at)
            parts.append(Word(part, self.start + at))
            at += len(part)
        return parts


class Use(Enum):
    """Whether a word is wanted."""

    NONE = "none"
    WANTED = "wanted"  # as a whole
    OPEN = "open"  # depends on its context: a part of it may be wanted, or a phrase that starts with it


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

    def words_from(self, at: int) -> Iterator[Word]:
        """All words from a position on."""
        return (Word(found[0], found.start()) for found in self._word.finditer(self._text, at))

    def with_beginnings(
        self, beginnings: Collection[str], uses: Mapping[str, Use]
    ) -> tuple[list[StartAndEnd], list[Word]]:
        """The spans of wanted words and the words to be checked, among those that have one of some beginnings.

        Beginnings are in ASCII and lower case, and the case of words does not matter; a part of a name may have one,
        too. Words beyond ASCII are included if their first letter is not ASCII or is that of a beginning. Nothing is
        in order, and a word may occur twice.
        """
        found = _Found([], [], uses)
        letters = frozenset(each for each in beginnings if len(each) == 1)
        if letters:
            self._with_first_letters(_starts_with("".join(sorted(letters)), self._marks), found)
        for beginning in beginnings:
            if beginning[0] not in letters:
                self._with_beginning(beginning, found)
        if self._marks is not None:
            self._beyond_ascii({each[0] for each in beginnings}, found)
        return found.wanted, found.others

    def _with_first_letters(self, starts: re.Pattern[str], found: _Found) -> None:
        for each in starts.finditer(self._text):
            if found.uses[each[0]] is not Use.NONE and (
                word := self._word.match(self._text, self._start(each.start()))
            ):
                found.add(word[0], word.start())

    def _with_beginning(self, beginning: str, found: _Found) -> None:
        """A tight loop: nearly all words with several letters in common are wanted, often hundreds."""
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
                end = self._add_around(at, found)
            at = find(beginning, end)

    def _add_around(self, at: int, found: _Found) -> int:
        """Add the word around a position inside it, if a part starts there; return where to go on.

        A word is added once for all its parts: a name may have thousands.
        """
        if _PART.match(self._text, at) and (word := self._word.match(self._text, self._start(at))):
            found.add(word[0], word.start())
            return max(word.end(), at + 1)
        return at + 1

    @cached_property
    def _lower(self) -> str:
        """The text in lower case with the same length: one character would become two."""
        return self._text.replace("\u0130", "I").lower()

    def _start(self, at: int) -> int:
        """The start of the word around a position."""
        while at and self._letter.match(self._text, at - 1):
            at -= 1
        return at

    def _beyond_ascii(self, letters: Container[str], found: _Found) -> None:
        text, letter, end = self._text, self._letter, 0
        for sequence in _BEYOND_ASCII.finditer(text):
            at = sequence.start()
            if at > end and letter.match(text, at):
                at = self._start(at)  # in the middle of a word
            at = max(at, end)
            while at < sequence.end():
                word = self._word.match(text, at)
                if word and ((first := text[at].lower()) in letters or not first.isascii()):
                    found.add(word[0], at)
                at = end = word.end() if word else at + 1


def _marks(text: str) -> str | None:
    """The combining marks in a text, as ``re`` has no class for them; None if all its words are ASCII."""
    if text.isascii():
        return None
    data = text.encode("utf-8", "surrogatepass").translate(None, ASCII)  # three times as fast as a pattern
    characters = set(data.decode("utf-8", "surrogatepass"))
    marks = "".join(sorted(each for each in characters if unicodedata.category(each)[0] == "M"))
    is_plain = not marks and not any(each.isalnum() or _EMOJI.match(each) for each in characters)
    return None if is_plain else marks


def _letter(marks: str | None) -> str:
    """A pattern for a character inside a word; ``marks`` is None if all words are ASCII."""
    if marks is None:
        return "[A-Za-z0-9]"
    letter = rf"[^\W_{ALONE}{CLUSTERS}]"
    return rf"(?:{letter}|[{marks}])" if marks else letter


@lru_cache(maxsize=64)
def _patterns(marks: str | None) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Patterns for a word, for a word that does not start inside another, and for a character inside a word."""
    letter = _letter(marks)
    others = "" if marks is None else rf"[{ALONE}{EMOJI}]|(?=[^\W_])[{CLUSTERS}]{f'[{marks}]*+' if marks else ''}|"
    word = rf"{_SIGNED}|{others}{letter}++"
    return re.compile(word), re.compile(rf"(?<!{letter})(?:{word})"), re.compile(letter)


@lru_cache(maxsize=256)
def _starts_with(letters: str, marks: str | None) -> re.Pattern[str]:
    """A pattern for a word, or the end of a word from one of its parts on, with one of these first letters."""
    letter = _letter(marks)
    return re.compile(rf"[{letters}{letters.upper()}](?:(?<!{letter}[\s\S])|{_HUMP}){letter}*+(?:\+\+|#)?")


_Split = Callable[[Word], Sequence[Word]]


class Wanted(NamedTuple):
    """A word or a phrase to highlight."""

    terms: tuple[str, ...]  # adjacent in the text
    prefix: bool = False  # the last term is only the beginning of one


_span = partial(tuple.__new__, Span)  # makes a ``Span`` three times as fast


class _Token(NamedTuple):
    """A term in the text."""

    term: str
    word: Word


class Highlighter:
    """Finds the words of one query in texts; what it learns about a word is cached."""

    def __init__(self, wanted: Iterable[Wanted], terms: Terms, beginnings: Beginnings) -> None:
        some = [each for each in wanted if each.terms]
        self._terms = cache(terms)
        self._starts = _shortest(start for each in some for start in _starts(each.terms[0], beginnings))
        self._beginnings = tuple({each.terms[0] for each in some if each.prefix and len(each.terms) == 1})
        self._by_first: dict[str, list[Wanted]] = {}
        for each in some:
            self._by_first.setdefault(each.terms[0], []).append(each)
        self._uses = _Uses(self._use)

    def __call__(self, text: str) -> tuple[Span, ...]:
        """The spans of the wanted words in a text, in order and disjoint; a phrase is one span."""
        if not self._by_first:
            return ()
        words = Words(text)
        found, others = words.with_beginnings(self._starts, self._uses)
        for word in others:
            found += self._at(words, word, [word], _whole)
            parts = word.parts()
            if len(parts) > 1:
                found += self._at(words, word, parts, Word.parts)
        found.sort()
        return tuple(map(_span, found if _is_disjoint(found) else _disjoint(found)))

    def _use(self, text: str) -> Use:
        """Whether something wanted can start in a word, or in the end of one from a part on."""
        terms = self._of(text)
        # Most words have no parts.
        parts = [] if text.isascii() and text.isalpha() and text[1:].islower() else humps(text).split()
        tokens = [_Token(term, Word(part, 0)) for part in (text, *parts) for term in self._of(part)]
        if not any(token.term in self._by_first or _begins(token, self._beginnings) for token in tokens):
            return Use.NONE
        if len(terms) != 1 or self._beginnings or len(Word(text, 0).parts()) > 1:
            return Use.OPEN
        found = self._by_first.get(terms[0], ())
        return Use.WANTED if found and all(len(each.terms) == 1 for each in found) else Use.OPEN

    def _at(self, words: Words, word: Word, parts: Sequence[Word], split: _Split) -> Iterator[StartAndEnd]:
        """The spans that start in a word, which is split into ``parts`` as ``split`` splits the words after it."""
        tokens = [_Token(term, part) for part in parts for term in self._of(part.text)]
        for number, token in enumerate(tokens):
            if _begins(token, self._beginnings):
                yield token.word.start, token.word.end
            for each in self._by_first.get(token.term, ()):
                end: int | None = token.word.end
                if len(each.terms) > 1:
                    rest = tokens[number + 1 : number + len(each.terms)]  # not all: a name may have thousands
                    end = _end(each, chain(rest, self._after(words, word, split)))
                if end is not None:
                    yield token.word.start, end

    def _after(self, words: Words, word: Word, split: _Split) -> Iterator[_Token]:
        for following in words.words_from(word.end):
            for part in split(following):
                yield from (_Token(term, part) for term in self._of(part.text))

    def _of(self, word: str) -> Sequence[str]:
        """The terms of a word; ASCII words in lower case, so that fewer are cached."""
        return self._terms(word.lower() if word.isascii() else word)


class _Uses(dict[str, Use]):
    """Uses of words, each computed once."""

    def __init__(self, use: Callable[[str], Use]) -> None:
        self._use = use

    def __missing__(self, text: str) -> Use:
        self[text] = use = self._use(text)
        return use


def _starts(term: str, beginnings: Beginnings) -> Iterator[str]:
    """The possible beginnings of ASCII words with a term; if it is not ASCII, of its first ASCII letters."""
    ascii_part = term if term.isascii() else "".join(takewhile(str.isascii, term))
    if ascii_part:
        yield from beginnings(ascii_part)
    yield from (term[0] + sign for sign, name in SIGNS.items() if len(term) > 1 and name.startswith(term[1:]))


def _shortest(beginnings: Iterable[str]) -> tuple[str, ...]:
    """Without those that start with another."""
    kept: list[str] = []
    for each in sorted(set(beginnings)):
        if not kept or not each.startswith(kept[-1]):
            kept.append(each)
    return tuple(kept)


def _whole(word: Word) -> Sequence[Word]:
    return (word,)


def _end(wanted: Wanted, after: Iterator[_Token]) -> int | None:
    """The end of a phrase; None if the tokens after its first term are not the phrase's."""
    *between, last = wanted.terms[1:]
    if any(token.term != term for token, term in zip(islice(after, len(between)), between, strict=False)):
        return None
    token = next(after, None)
    if token is None or not (token.term == last or (wanted.prefix and _begins(token, (last,)))):
        return None
    return token.word.end


def _begins(token: _Token, beginnings: tuple[str, ...]) -> bool:
    """Whether a word or its term has one of these prefixes: the stem may be shorter than what was typed."""
    return bool(beginnings) and (token.term.startswith(beginnings) or token.word.text.lower().startswith(beginnings))


def _is_disjoint(spans: Sequence[StartAndEnd]) -> bool:
    """Whether no ordered span overlaps the next. All in C, as there may be hundreds."""
    return all(map(le, map(itemgetter(1), spans), map(itemgetter(0), islice(spans, 1, None))))


def _disjoint(spans: Iterable[StartAndEnd]) -> Iterator[StartAndEnd]:
    """Ordered spans with overlapping ones joined."""
    last_start, last_end = -1, -1
    for start, end in spans:
        if start < last_end:
            last_end = max(last_end, end)
            continue
        if last_end >= 0:
            yield last_start, last_end
        last_start, last_end = start, end
    if last_end >= 0:
        yield last_start, last_end
