"""``quire.match_ranges``: where the words of a query are in the text of a hit.

camelCase names are compared as a whole and part by part, so that ``tokens`` is found in ``rotateTokens``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple
from unicodedata import category

from quire.errors import invalid_value
from quire.index.engine.analysis import ALONE, CLUSTERS, EMOJI, adjacent_terms, humps, spellings, term_pairs, word_terms
from quire.index.engine.first_pass import LONG_QUERY, all_items
from quire.index.engine.function_words import is_function_word
from quire.index.engine.pasted_text import long_text
from quire.model.document import Span
from quire.model.patterns import pattern
from quire.model.query_tree import Phrase, Query, Word, leaves
from quire.model.validation import check
from quire.search.hit import Hit
from quire.search.query_syntax import parse

Corrections = Mapping[str, Sequence[str]]
_SIGNED = r"[A-Za-z](?:\+\+|#)"  # ``C++`` and ``C#`` are words
_ASCII_WORD = pattern(rf"{_SIGNED}|[A-Za-z0-9]++")
_MAX_NAME = 10_000  # a longer sequence of letters is data, and is not split into parts
_DROPPED = "g"  # stemmers keep the first letter, but the Dutch one turns ``gelopen`` into ``lop``


def match_ranges(hit: Hit, query: str, corrections: Corrections | None = None) -> tuple[Span, ...]:
    """The spans of the query's words in ``hit.text``, in order. ``corrections`` are those of the results."""
    if not isinstance(hit, Hit):
        raise invalid_value("hit", hit, "it must be a result of a search")
    check("query", query, str)
    return highlighter(parse(query), hit.language, corrections or {})(hit.text)


def highlighter(query: Query | None, language: str, corrections: Corrections, *, every: bool = True) -> "Highlighter":
    """Finds the scoring words of a query in texts of a language; without ``every``, no function words beside others."""
    # The function words of a long query score only where they are adjacent to the same words.
    searched = [leaf for leaf in (leaves(query) if query else ()) if leaf.field in (None, "title", "body")]
    pairs = pairwise(word_terms(long_text(query), language)) if query else ()
    marked = searched
    if query and (not every or len(all_items(query)) >= LONG_QUERY):
        marked = [leaf for leaf in searched if isinstance(leaf, Phrase) or not is_function_word(leaf.text, (language,))]
    wanted = dict.fromkeys(target for leaf in marked or searched for target in _wanted(leaf, language, corrections))
    joined = [Wanted(word_terms(left.text + right.text, language)) for left, right in pairwise(marked)]
    return Highlighter([*wanted, *map(Wanted, pairs), *joined], partial(word_terms, language=language))


class Wanted(NamedTuple):
    """A word or a phrase to highlight."""

    terms: tuple[str, ...]  # adjacent in the text
    prefix: bool = False  # the last term is only the beginning of one


def _wanted(leaf: Word | Phrase, language: str, corrections: Corrections) -> Iterator[Wanted]:
    if isinstance(leaf, Phrase):
        yield Wanted(word_terms(leaf.text, language))
        yield from (Wanted(spelling.terms) for spelling in spellings(leaf.text, language)[:1])
        yield from (Wanted(word_terms(word, language)) for word in corrections.get(leaf.text, ()))
        return
    for text in corrections.get(leaf.text, (leaf.text,)) if leaf.field is None else (leaf.text,):
        if leaf.prefix or (text.endswith("*") and text != leaf.text):
            yield from (Wanted(spelling.terms, prefix=True) for spelling in spellings(text.rstrip("*"), "none")[:1])
            continue
        yield Wanted(word_terms(text, language))  # ``don't`` is found by ``don``, but highlighted whole
        for spelling in spellings(text, language):
            yield Wanted(spelling.terms)
            # Two adjacent characters of a script without spaces are a match.
            yield from (Wanted(pair) for group in adjacent_terms(spelling) for pair in term_pairs(group))


class _Token(NamedTuple):
    term: str  # in the text
    text: str  # the word or part of a name, in lower case
    start: int
    end: int
    word: int = 0  # the number of its word in the text


class Highlighter:
    """Finds the words of one query in texts."""

    def __init__(self, wanted: Iterable[Wanted], terms: Callable[[str], Sequence[str]]) -> None:
        targets = [target for target in wanted if target.terms]
        self._terms = terms
        self._prefixes = tuple({target.terms[-1] for target in targets if target.prefix})
        self._one_term_prefixes = [target for target in targets if target.prefix and len(target.terms) == 1]
        self._by_first: dict[str, list[Wanted]] = {}
        for target in targets:
            self._by_first.setdefault(target.terms[0], []).append(target)
        self._wanted_terms = {term for target in targets for term in target.terms}
        self._letters = {term[0] for term in self._wanted_terms} | {_DROPPED}

    def __call__(self, text: str) -> tuple[Span, ...]:
        """The spans of the wanted words in a text, in order and disjoint; a phrase is one span."""
        marks = "" if text.isascii() else "".join(sorted(mark for mark in set(text) if category(mark)[0] == "M"))
        pattern = _ASCII_WORD if text.isascii() else _unicode_word(marks)
        split = {word: tokens for word in set(pattern.findall(text)) if (tokens := self._split_word(word))}
        whole: list[_Token] = []  # as words
        parts: list[_Token] = []  # with names split into their parts
        for number, word in enumerate(pattern.finditer(text) if split else ()):
            if word[0] in split:
                at = word.start()
                for inside, into in zip(split[word[0]], (whole, parts), strict=True):
                    into += [_Token(term, word, at + start, at + end, number) for term, word, start, end, _ in inside]
        joined: list[Span] = []
        for start, end in sorted({*self._matches(whole), *self._matches(parts)}):
            if joined and start < joined[-1].end:
                joined[-1] = Span(joined[-1].start, max(joined[-1].end, end))
            else:
                joined.append(Span(start, end))
        return tuple(joined)

    def _split_word(self, word: str) -> tuple[Sequence[_Token], Sequence[_Token]] | None:
        """The terms of a word, and those of the parts of a name; None if nothing wanted is in it."""
        if word.isascii() and word.islower() and word[0] not in self._letters:
            return None
        names = humps(word).split() if len(word) <= _MAX_NAME and word.isascii() and not word[1:].islower() else []
        whole, parts, at = self._tokens(word, 0), list[_Token](), 0
        for name in names:
            at = word.index(name, at)
            parts += self._tokens(name, at)
            at += len(name)
        parts = parts if len(names) > 1 else whole
        wanted, prefixes = self._wanted_terms, self._prefixes
        is_wanted = any(token.term in wanted or _begins(token, prefixes) for token in (*whole, *parts))
        return (whole, parts) if is_wanted else None

    def _tokens(self, word: str, at: int) -> list[_Token]:
        lower = word.lower()
        return [_Token(term, lower, at, at + len(word)) for term in self._terms(lower if word.isascii() else word)]

    def _matches(self, tokens: Sequence[_Token]) -> Iterator[tuple[int, int]]:
        for number, token in enumerate(tokens):
            for target in (*self._by_first.get(token.term, ()), *self._one_term_prefixes):
                *first, last = target.terms
                following = tokens[number : number + len(target.terms)]
                if (
                    len(following) == len(target.terms)
                    and all(token.term == term for token, term in zip(following, first, strict=False))
                    and all(right.word - left.word <= 1 for left, right in pairwise(following))
                    and (following[-1].term == last or (target.prefix and _begins(following[-1], (last,))))
                ):
                    yield token.start, following[-1].end


def _begins(token: _Token, prefixes: tuple[str, ...]) -> bool:
    """Whether a word or its term has one of these prefixes: the stem may be shorter than what was typed."""
    return bool(prefixes) and (token.term.startswith(prefixes) or token.text.startswith(prefixes))


@lru_cache(maxsize=64)
def _unicode_word(marks: str) -> re.Pattern[str]:
    """A pattern for the words of a text with these combining marks, for which ``re`` has no class."""
    mark = f"|[{marks}]" if marks else ""
    cluster = f"(?=[^\\W_])[{CLUSTERS}]{f'[{marks}]*+' if marks else ''}"
    return re.compile(rf"{_SIGNED}|[{ALONE}{EMOJI}]|{cluster}|(?:[^\W_{ALONE}{CLUSTERS}]{mark})++")
