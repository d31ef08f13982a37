"""Where a query's words stand in a text. Pure: what a word's terms are, the caller knows. After: the surfaces show it.

Only words are analysed that begin as those of one of the wanted terms can; a phrase is followed from its first term on.
Names in humps are looked at whole and part by part, so that ``tokens`` is found in ``rotateTokens``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, islice, takewhile
from operator import itemgetter, le
from typing import NamedTuple

from quire.index.engine.spelling import SIGNS, humps
from quire.model import Span
from quire.search.words import StartAndEnd, Use, Word, Words

Terms = Callable[[str], Sequence[str]]
"""A word -> the terms under which it is found. Where a word starts with a letter or digit of ASCII, so do they."""

Beginnings = Callable[[str], Sequence[str]]
"""A term, or the beginning of one -> what every word in ASCII that has it begins with: with one of these."""

_Cut = Callable[[Word], Sequence[Word]]


class Wanted(NamedTuple):
    """A word or a phrase that is looked for."""

    terms: tuple[str, ...]
    """Its terms, as those of the text are made; several must follow each other."""
    prefix: bool = False
    """Whether the last term is only the beginning of one."""


_span = partial(tuple.__new__, Span)
"""A span of its start and end, in a third of the time that ``Span`` takes."""


class _Token(NamedTuple):
    """A term in the text."""

    term: str
    word: Word


class Marker:
    """Finds the words of one query in several texts: what was found out about a word is remembered."""

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
        """Where the wanted words stand in a text, in order and disjoint; a phrase is one range."""
        if not self._by_first:
            return ()
        words = Words(text)
        found, others = words.starting(self._starts, self._uses)
        for word in others:
            found += self._at(words, word, [word], _whole)
            parts = word.parts()
            if len(parts) > 1:
                found += self._at(words, word, parts, Word.parts)
        found.sort()
        return tuple(map(_span, found if _is_disjoint(found) else _disjoint(found)))

    def _use(self, text: str) -> Use:
        """Whether anything that is wanted can start in a word, or in the end of one from a part of it on."""
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

    def _at(self, words: Words, word: Word, parts: Sequence[Word], cut: _Cut) -> Iterator[StartAndEnd]:
        """What starts in a word, which is cut into these parts as those after it are."""
        tokens = [_Token(term, part) for part in parts for term in self._of(part.text)]
        for number, token in enumerate(tokens):
            if _begins(token, self._beginnings):
                yield token.word.start, token.word.end
            for each in self._by_first.get(token.term, ()):
                end: int | None = token.word.end
                if len(each.terms) > 1:
                    rest = tokens[number + 1 : number + len(each.terms)]  # no more of them: a name may have thousands
                    end = _end(each, chain(rest, self._after(words, word, cut)))
                if end is not None:
                    yield token.word.start, end

    def _after(self, words: Words, word: Word, cut: _Cut) -> Iterator[_Token]:
        for following in words.onwards(word.end):
            for part in cut(following):
                yield from (_Token(term, part) for term in self._of(part.text))

    def _of(self, word: str) -> Sequence[str]:
        """The terms of a word; one in ASCII is asked for in lower case, so that fewer need be remembered."""
        return self._terms(word.lower() if word.isascii() else word)


class _Uses(dict[str, Use]):
    """What words are, each found out once."""

    def __init__(self, use: Callable[[str], Use]) -> None:
        self._use = use

    def __missing__(self, text: str) -> Use:
        self[text] = use = self._use(text)
        return use


def _starts(term: str, beginnings: Beginnings) -> Iterator[str]:
    """What words in ASCII that have a term begin with; for one that is not, what it begins with of it."""
    ascii_part = term if term.isascii() else "".join(takewhile(str.isascii, term))
    if ascii_part:
        yield from beginnings(ascii_part)
    yield from (term[0] + sign for sign, name in SIGNS.items() if len(term) > 1 and name.startswith(term[1:]))


def _shortest(beginnings: Iterable[str]) -> tuple[str, ...]:
    """Those that do not begin with another."""
    kept: list[str] = []
    for each in sorted(set(beginnings)):
        if not kept or not each.startswith(kept[-1]):
            kept.append(each)
    return tuple(kept)


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


def _is_disjoint(spans: Sequence[StartAndEnd]) -> bool:
    """Whether none of some ordered spans overlaps the next. All in C: there may be hundreds."""
    return all(map(le, map(itemgetter(1), spans), map(itemgetter(0), islice(spans, 1, None))))


def _disjoint(spans: Iterable[StartAndEnd]) -> Iterator[StartAndEnd]:
    """Ordered spans with those that overlap made one."""
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
