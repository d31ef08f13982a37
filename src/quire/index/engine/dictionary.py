"""Which words the index has: whether one occurs, how a beginning goes on, and which words one nearly is.

For ``known`` and the search. Words are looked up in the engine's dictionary: a correction is a word that is there, and
has a proper score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from math import log
from typing import NamedTuple, Protocol
from unicodedata import normalize

from quire.index.engine.analysis import NONE, terms
from quire.index.engine.fields import RANKED, field
from quire.index.engine.function_words import is_function_word
from quire.index.engine.near import edits, endings
from quire.index.engine.spelling import is_unspaced, spellings
from quire.index.engine.words import spelled

_LEAST = 4
"""Shorter words are not corrected: too much is near them."""
_LONGEST = 64
"""Longer words and names neither, nor are beginnings stemmed: what is near is looked up, and that grows with the length
squared."""
_FEW, _MANY = 30, 300
"""In how many nodes it is looked up how a stem is written: at first, and where the form that was meant may be rare."""
_USUAL = 2_000
"""How many characters a node has that counts as one: of larger ones fewer are read."""
_MOST = 3
"""How many corrections a word may have."""
_SCORED = 48
"""How many of the words that a beginning stands for are scored."""
_ENDING = 5
"""How many letters of an ending a stem may lack."""

_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W_]+")


class Completions(NamedTuple):
    """The terms that a beginning stands for."""

    frequent: Sequence[str]
    """Those that are scored, the most frequent first."""
    others: Sequence[str] = ()
    """The rest; there may be thousands, and some may stand in no node that is still there."""


class Terms(Protocol):
    """The terms of an index."""

    @property
    def deleted(self) -> int:
        """How many nodes there are no longer, but are counted still where nothing else is said."""

    @property
    def count(self) -> int:
        """How many nodes there are."""

    def doc_freq(self, fields: Iterable[str], value: str, /) -> int:
        """How many nodes have a term in each of some fields, added up."""

    def living(self, field: str, value: str, /) -> int:
        """How many nodes that are still there have a term in a field."""

    def beginning(self, field: str, start: str, /) -> Sequence[tuple[str, int]]:
        """The terms of a field that begin so, each with how many nodes have it."""


class Dictionary:
    """The words of an index; ``sample`` gives the texts of so many nodes in which a term of a language stands.

    The engine counts nodes that were deleted until it merges their segment. What only these have does not occur.
    """

    def __init__(
        self, terms: Terms, languages: tuple[str, ...], sample: Callable[[str, str, int], Iterable[str]]
    ) -> None:
        self._terms = terms
        self._languages = languages
        self._sample = sample
        self._completions: dict[tuple[str, str], Completions] = {}
        self.looked_up = 0
        """How many words were looked up."""

    def frequency(self, term: str, language: str) -> int:
        """In how many fields of nodes a term occurs."""
        self.looked_up += 1
        found = self._terms.doc_freq(_fields(language), term)
        if not found or not self._terms.deleted:
            return found
        return sum(self._terms.living(name, term) for name in _fields(language))

    def occurs(self, term: str, language: str) -> bool:
        """Whether a term occurs: mostly so in a body, which is looked at first."""
        self.looked_up += 1
        return any(
            self._lives(term, fields, self._terms.doc_freq(fields, term))
            for fields in (_body(language), _fields(language))
        )

    def rarity(self, field: str, value: str) -> float:
        """How much a term tells, as BM25 has it: the less, the more nodes have it."""
        there = self._terms.doc_freq((field,), value)
        return log(1 + (max(self._terms.count - there, 0) + 0.5) / (there + 0.5))

    def _lives(self, term: str, fields: Sequence[str], count: int) -> bool:
        """Whether a term that is counted so often stands in a node that is still there."""
        if count > len(fields) * self._terms.deleted:
            return True
        return count > 0 and any(self._terms.living(name, term) for name in fields)

    def has(self, word: str) -> bool:
        """Whether a word, in one of its spellings, is made of terms that occur."""
        return any(
            all(self.occurs(term, language) for term in spelling.terms)
            for language in self._languages
            for spelling in spelled(word, language)
        )

    def corrections(self, word: str) -> tuple[str, ...]:
        """Words one letter away from one that occurs nowhere, the most frequent first; of a name, its parts."""
        if len(word) > _LONGEST or self.has(word):
            return ()
        if _LETTERS.fullmatch(word):
            return tuple(self._near(word))
        corrected = _LETTERS.sub(lambda part: next(iter(self._near(part[0])), part[0]), word)
        return (corrected,) if corrected != word and self.has(corrected) else ()

    def completions(self, beginning: str, language: str) -> Completions:
        """The terms of words that begin so. Each phase of a search asks for them, so they are remembered."""
        key = beginning, language
        if key not in self._completions:
            self._completions[key] = self._begun(beginning, language)
        return self._completions[key]

    def _begun(self, beginning: str, language: str) -> Completions:
        """Terms that start so, and stems that end earlier of words that do: ``authenticat`` has ``authent``."""
        typed = "".join(terms(beginning, NONE)[-1:])
        found = self._starting(typed, language)
        if language == NONE or not typed or len(typed) > _LONGEST or is_unspaced(beginning):
            return found
        words = " ".join(beginning.lower() + ending for ending in endings(typed))
        stems = [stem for stem in dict.fromkeys(terms(words, language)) if not stem.startswith(typed)]
        stems = [stem for stem in stems if self.occurs(stem, language)]
        if stems or found.frequent:
            return Completions([*stems, *found.frequent], found.others)
        return Completions(self._stems_in_texts(typed, language))

    def _stems_in_texts(self, typed: str, language: str) -> list[str]:
        """The stem of words that start so by a text that has it: it is what they start with, but for a letter."""
        for length in range(len(typed) - 1, max(len(typed) - _ENDING, _LEAST - 1) - 1, -1):
            near = [term for term in self._starting(typed[:length], language).frequent if typed.startswith(term[:-1])]
            if found := [term for term in near if self._is_begun(term, typed, language)]:
                return found
        return []

    def _is_begun(self, term: str, typed: str, language: str) -> bool:
        words = dict.fromkeys(word for text in self._texts(term, language, _FEW) for word in _words(text, _WORD))
        return any("".join(terms(word, NONE)).startswith(typed) and term in terms(word, language) for word in words)

    def _starting(self, beginning: str, language: str) -> Completions:
        counts: dict[str, int] = {}
        for name in _fields(language) if beginning else ():
            for term, count in self._terms.beginning(name, beginning):
                counts[term] = counts.get(term, 0) + count
        ordered = sorted(counts, key=lambda term: (-counts[term], term))
        living = (term for term in ordered if self._lives(term, _fields(language), counts[term]))
        frequent = list(islice(living, _SCORED))
        return Completions(frequent, ordered[ordered.index(frequent[-1]) + 1 :] if frequent else ())

    def _near(self, word: str) -> list[str]:
        """The words next to one, each stem once; none for one that is short, or that occurs."""
        if len(word) < _LEAST or is_unspaced(word) or any(self.frequency(*each) for each in self._stems(word)):
            return []
        edited: dict[tuple[str, str], list[str]] = {}
        for near in dict.fromkeys(edits(word.lower())):
            for stem in self._stems(near) if not is_function_word(near, self._languages) else ():
                edited.setdefault(stem, []).append(near)
        counted = sorted((-self.frequency(*stem), stem) for stem in edited)
        stems = [stem for count, stem in counted if count]
        plurals = {stem: [way[:-1] for way in edited[stem] if len(way) > _LEAST + 1] for stem in stems}
        for tried, nodes, ways in ((8, _FEW, edited), (3, _MANY, edited), (3, _FEW, plurals)):
            written = (self._written(stem, ways[stem], nodes) for stem in stems[:tried])
            if found := list(dict.fromkeys(islice(filter(None, written), _MOST))):
                return found
        return []

    def _written(self, stem: tuple[str, str], ways: Iterable[str], nodes: int) -> str:
        """How some nodes write what is one of the ways to write a stem; empty if none does.

        A stem alone tells little: ``delegant`` has that of ``delegation``, but nobody writes it.
        """
        wanted = [(way, _bare(way)) for way in ways]
        written = ""
        for text in self._texts(*stem, nodes):
            if not wanted:
                break
            lower = text.lower()
            # To see whether any can be there takes a fifteenth of the time that it takes to cut a text into words.
            if lower.isascii() and not any(bare in lower for _, bare in wanted):
                continue
            words = _words(text, _LETTERS)
            plain = {_bare(word): word for word in reversed(words)}
            for at, (way, bare) in enumerate(wanted):
                word = way if way != bare and way in words else plain.get(bare, "")
                if terms(word, stem[1]) == [stem[0]] and not is_function_word(word, self._languages):
                    written, wanted = word, wanted[:at]  # the first ways are the likeliest
                    break
        return written

    def _texts(self, term: str, language: str, nodes: int) -> Iterator[str]:
        """The texts of some nodes in which a term stands, as far as they are read."""
        left = nodes * _USUAL
        for text in self._sample(term, language, nodes):
            yield text
            left -= len(text)
            if left <= 0:
                return

    def _stems(self, word: str) -> Iterator[tuple[str, str]]:
        for language in self._languages:
            for term in terms(word, language)[:1]:
                yield term, language


def _words(text: str, kind: re.Pattern[str]) -> dict[str, None]:
    """The words of a text, each once: with the marks that it has, then as the engine takes it."""
    spelled_out = dict.fromkeys((normalize("NFKC", text), *spellings(text)))
    return dict.fromkeys(kind.findall(" ".join(spelled_out).lower()))


def _bare(word: str) -> str:
    """A word in lower case without its accents."""
    return word if word.isascii() else "".join(terms(word, NONE))


@cache
def _fields(language: str) -> tuple[str, ...]:
    """The fields that words of a language stand in."""
    return tuple(field(name, language) for name in RANKED)


@cache
def _body(language: str) -> tuple[str, ...]:
    """The one of them that has most words."""
    return (field("body", language),)
