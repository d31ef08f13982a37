"""Where a query's words stand in a text. Pure: what a word's terms are, the caller knows. After: the surfaces show it.

Only words that start as one of the wanted terms does are analysed; a phrase is followed from its first term on. Names
in humps are looked at whole and part by part, so that ``tokens`` is found in ``rotateTokens``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import NamedTuple

from quire.index.engine.spelling import humps
from quire.model import Span
from quire.search.words import Word, Words

Terms = Callable[[str], Sequence[str]]
"""A word -> the terms under which it is found. Where a word starts with a letter or digit of ASCII, so do they."""

_Cut = Callable[[Word], Sequence[Word]]

_TAKEN_OFF = "g"
"""Words that start so may lose it: in Dutch, ``gelopen`` has the stem of ``lopen``."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A word or a phrase that is looked for."""

    terms: tuple[str, ...]
    """Its terms, as those of the text are made; several must follow each other."""
    prefix: bool = False
    """Whether the last term is only the beginning of one."""


class _Token(NamedTuple):
    """A term in the text."""

    term: str
    word: Word


def ranges(text: str, wanted: Iterable[Wanted], terms: Terms) -> tuple[Span, ...]:
    """Where the wanted words stand, in order and disjoint; a phrase is one range."""
    return Marker(wanted, terms)(text)


class Marker:
    """``ranges`` for one query and several texts: what was found out about a word is remembered."""

    def __init__(self, wanted: Iterable[Wanted], terms: Terms) -> None:
        some = [each for each in wanted if each.terms]
        firsts = {each.terms[0][0] for each in some}
        self._terms = cache(terms)
        self._letters = frozenset(first for first in firsts if first.isascii()) | {_TAKEN_OFF}
        self._beginnings = tuple({each.terms[0] for each in some if each.prefix and len(each.terms) == 1})
        self._by_first: dict[str, list[Wanted]] = {}
        for each in some:
            self._by_first.setdefault(each.terms[0], []).append(each)
        self._of_use = cache(self._can_start)
        self._is_plain = cache(self._is_word)

    def __call__(self, text: str) -> tuple[Span, ...]:
        """Where the wanted words stand in a text."""
        return tuple(_disjoint(sorted(self._found(Words(text))))) if self._by_first else ()

    def _found(self, words: Words) -> Iterator[Span]:
        for word in words.starting(self._letters, self._of_use):
            if self._is_plain(word.text):
                yield Span(word.start, word.end)
                continue
            yield from self._at(words, word, [word], _whole)
            parts = word.parts()
            if len(parts) > 1:
                yield from self._at(words, word, parts, Word.parts)

    def _can_start(self, text: str) -> bool:
        """Whether anything that is wanted can start in a word, or in the end of one from a part of it on."""
        if not self._beginnings and text.isalpha() and text[1:].islower():  # most words have no parts
            return any(term in self._by_first for term in self._of(text))
        tokens = (_Token(term, Word(part, 0)) for part in (text, *humps(text).split()) for term in self._of(part))
        return any(token.term in self._by_first or _begins(token, self._beginnings) for token in tokens)

    def _is_word(self, text: str) -> bool:
        """Whether a word is wanted as it is, and nothing else can start in it: so most are."""
        terms = self._of(text)
        if len(terms) != 1 or self._beginnings or len(Word(text, 0).parts()) > 1:
            return False
        found = self._by_first.get(terms[0])
        return found is not None and all(len(each.terms) == 1 for each in found)

    def _at(self, words: Words, word: Word, parts: Sequence[Word], cut: _Cut) -> Iterator[Span]:
        """What starts in a word, which is cut into these parts as those after it are."""
        tokens = [_Token(term, part) for part in parts for term in self._of(part.text)]
        for number, token in enumerate(tokens):
            if _begins(token, self._beginnings):
                yield Span(token.word.start, token.word.end)
            for each in self._by_first.get(token.term, ()):
                end: int | None = token.word.end
                if len(each.terms) > 1:
                    end = _end(each, chain(tokens[number + 1 :], self._after(words, word, cut)))
                if end is not None:
                    yield Span(token.word.start, end)

    def _after(self, words: Words, word: Word, cut: _Cut) -> Iterator[_Token]:
        for following in words.onwards(word.end):
            for part in cut(following):
                yield from (_Token(term, part) for term in self._of(part.text))

    def _of(self, word: str) -> Sequence[str]:
        """The terms of a word; one in ASCII is asked for in lower case, so that fewer need be remembered."""
        return self._terms(word.lower() if word.isascii() else word)


def _whole(word: Word) -> Sequence[Word]:
    return (word,)


def _end(wanted: Wanted, after: Iterator[_Token]) -> int | None:
    """Where a phrase ends; None if these tokens do not go on as it does after its first term."""
    *between, last = wanted.terms[1:]
    if any(token.term != term for token, term in zip(islice(after, len(between)), between, strict=False)):
        return None
    token = next(after, None)
    if token is None or not (token.term == last or (wanted.prefix and _begins(token, (last,)))):
        return None
    return token.word.end


def _begins(token: _Token, beginnings: tuple[str, ...]) -> bool:
    """A stem may be shorter than what was typed: ``authenticat`` begins ``authentication``, but not its stem."""
    return bool(beginnings) and (token.term.startswith(beginnings) or token.word.text.lower().startswith(beginnings))


def _disjoint(spans: Iterable[Span]) -> Iterator[Span]:
    """Ordered spans with those that overlap made one."""
    last: Span | None = None
    for span in spans:
        if last is not None and span.start < last.end:
            last = Span(last.start, max(last.end, span.end))
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last
