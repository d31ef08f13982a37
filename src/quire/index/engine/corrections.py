"""Looks up words in the engine's dictionary: does one occur, how may a prefix go on, how is a typing error corrected.

A correction is always a word that some document has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, product
from math import log
from typing import NamedTuple
from unicodedata import normalize

import tantivy

from quire.index.engine.analysis import NONE, spellings, terms
from quire.index.engine.function_words import is_function_word
from quire.index.engine.index_schema import RANKED, field
from quire.index.engine.normalization import indexed_texts, is_unspaced
from quire.index.engine.snapshot import Snapshot

_MIN_PREFIX = 3  # a shorter word is no prefix unless a ``*`` says so
_MIN_LENGTH = 4  # shorter words are not corrected: too many words are similar
_MAX_LENGTH = 64
"""Longer words are not corrected, and longer prefixes not stemmed: the cost grows with the length squared."""
_FEW, _MANY = 30, 300
"""In how many nodes the spelling of a stem is looked up: at first, and if the spelling may be rare."""
_NODE_LENGTH = 2_000  # the number of characters that counts as one node, so that fewer large nodes are read
_MAX_CORRECTIONS = 3
_MAX_STATISTICS = 50_000  # of how many terms they are cached
_MAX_SCORED = 48  # how many of the words that a prefix stands for are scored
_MAX_ENDING = 5  # how many letters of a word its stem may lack
_ENDINGS = ("ing", "ings", "ion", "ions", "ión", "ity", "ive", "ment", "ness", "ung")
"""Common endings of more than two letters."""

_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W_]+")


class Completions(NamedTuple):
    """The terms that a prefix stands for."""

    frequent: Sequence[str]  # scored, the most frequent first
    others: Sequence[str] = ()  # the rest: maybe thousands, and some only in deleted nodes


class TermStatistics(NamedTuple):
    """Where a term occurs."""

    fields: frozenset[str]  # the ranked fields that have it
    rarity: float  # the inverse document frequency, as in BM25, in the field in which it is most frequent


class Dictionary:
    """The words of an index. The engine counts deleted nodes, so words are checked to occur in others."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._languages = snapshot.settings.languages
        self._completions: dict[tuple[str, str], Completions] = {}
        self.lookups = 0
        """The number of lookups so far."""

    def frequency(self, term: str, language: str) -> int:
        """The number of nodes with a term, summed over fields."""
        self.lookups += 1
        found = self._snapshot.doc_freq(_fields(language), term)
        if not found or not self._snapshot.deleted:
            return found
        return sum(self._snapshot.live_freq(name, term) for name in _fields(language))

    def occurs(self, term: str, language: str) -> bool:
        """Whether a term occurs. Most terms occur in a body, so that field is checked first."""
        self.lookups += 1
        if not self._snapshot.deleted:
            return bool(self.statistics(term, language).fields)
        return any(
            self._is_live(term, fields, self._snapshot.doc_freq(fields, term))
            for fields in ((field("body", language),), _fields(language))
        )

    def rarity(self, name: str, value: str) -> float:
        """The inverse document frequency of a term, as in BM25."""
        return self._inverse(self._snapshot.doc_freq((name,), value))

    def statistics(self, term: str, language: str) -> TermStatistics:
        """Where a term occurs, cached."""
        key, cached = (term, language), self._snapshot.term_statistics
        found = cached.get(key)
        if found is None:
            if len(cached) >= _MAX_STATISTICS:
                cached.clear()
            counts = [self._snapshot.doc_freq((name,), term) for name in _fields(language)]
            fields = frozenset(name for name, count in zip(RANKED, counts, strict=True) if count)
            found = cached[key] = TermStatistics(fields, self._inverse(max(counts)))
        return found

    def term_rarity(self, term: str, language: str) -> float:
        """The inverse document frequency of a term in the field in which it is most frequent."""
        return self.statistics(term, language).rarity

    def title_rarities(self, title: tuple[str, ...], language: str) -> tuple[Mapping[str, float], float]:
        """The rarity of each term of a title, and their sum, cached."""
        key, cached = (title, language), self._snapshot.title_rarities
        found = cached.get(key)
        if found is None:
            if len(cached) >= _MAX_STATISTICS:
                cached.clear()
            rarities = {term: self.term_rarity(term, language) for term in title}
            found = cached[key] = rarities, sum(rarities.values())
        return found

    def _inverse(self, found: int) -> float:
        return log(1 + (max(self._snapshot.searcher.num_docs - found, 0) + 0.5) / (found + 0.5))

    def _is_live(self, term: str, fields: Sequence[str], count: int) -> bool:
        """Whether a term with this count occurs in a node that is not deleted."""
        if count > len(fields) * self._snapshot.deleted:
            return True
        return count > 0 and any(self._snapshot.live_freq(name, term) for name in fields)

    def has(self, word: str) -> bool:
        """Whether all terms of one of the word's spellings occur."""
        return any(
            all(self.occurs(term, language) for term in spelling.terms)
            for language in self._languages
            for spelling in spellings(word, language)
        )

    def is_prefix(self, word: str) -> bool:
        """Whether other words start with a word that does not occur."""
        return (
            _MIN_PREFIX <= len(word) <= _MAX_LENGTH
            and _LETTERS.fullmatch(word) is not None
            and not is_unspaced(word)
            and any(self._terms_with_prefix("".join(terms(word, NONE)), each).frequent for each in self._languages)
        )

    def corrections(self, word: str) -> tuple[str, ...]:
        """For a word that does not occur, words with one edit, the most frequent first; in a name each part."""
        if len(word) > _MAX_LENGTH or self.has(word):
            return ()
        if _LETTERS.fullmatch(word):
            return tuple(self._similar(word))
        corrected = _LETTERS.sub(lambda part: next(iter(self._similar(part[0])), part[0]), word)
        return (corrected,) if corrected != word and self.has(corrected) else ()

    def words_alike(self, word: str) -> tuple[str, ...]:
        """Words that share the longest beginning with one that does not occur, the most frequent first."""
        typed = "".join(terms(word[:_MAX_LENGTH], NONE)[:1])
        for length in range(len(typed), _MIN_PREFIX - 1, -1):
            found = [
                (term, language)
                for language in self._languages
                for term in self._terms_with_prefix(typed[:length], language).frequent[:_MAX_CORRECTIONS]
            ]
            if found:
                return tuple(dict.fromkeys(self._any_written(*each) for each in found[:_MAX_CORRECTIONS]))
        return ()

    def _any_written(self, term: str, language: str) -> str:
        """A word with this term, as some text has it."""
        words = (word for text in self._texts(term, language, 1) for word in _words(text, _WORD))
        return next((word for word in words if terms(word, language) == [term]), term)

    def completions(self, prefix: str, language: str) -> Completions:
        """The terms of words with a prefix, cached."""
        key = prefix, language
        if key not in self._completions:
            self._completions[key] = self._complete(prefix, language)
        return self._completions[key]

    def _complete(self, prefix: str, language: str) -> Completions:
        """Terms with the prefix, and shorter stems of words with it: ``authenticat`` has ``authent``."""
        typed = "".join(terms(prefix, NONE)[-1:])
        found = self._terms_with_prefix(typed, language)
        if language == NONE or not typed or len(typed) > _MAX_LENGTH or is_unspaced(prefix):
            return found
        words = " ".join(prefix.lower() + ending for ending in _endings(typed))
        stems = [stem for stem in dict.fromkeys(terms(words, language)) if not stem.startswith(typed)]
        stems = [stem for stem in stems if self.occurs(stem, language)]
        if stems or found.frequent:
            return Completions([*stems, *found.frequent], found.others)
        return Completions(self._stems_in_texts(typed, language))

    def _stems_in_texts(self, typed: str, language: str) -> list[str]:
        """Stems that are shorter than the prefix, confirmed by texts that have a word with that prefix."""
        for length in range(len(typed) - 1, max(len(typed) - _MAX_ENDING, _MIN_LENGTH - 1) - 1, -1):
            shorter = self._terms_with_prefix(typed[:length], language).frequent
            stems = [term for term in shorter if typed.startswith(term[:-1])]
            if found := [term for term in stems if self._is_stem_of(term, typed, language)]:
                return found
        return []

    def _is_stem_of(self, term: str, typed: str, language: str) -> bool:
        words = dict.fromkeys(word for text in self._texts(term, language, _FEW) for word in _words(text, _WORD))
        return any("".join(terms(word, NONE)).startswith(typed) and term in terms(word, language) for word in words)

    def _terms_with_prefix(self, prefix: str, language: str) -> Completions:
        counts: dict[str, int] = {}
        for name in _fields(language) if prefix else ():
            for term, count in self._snapshot.terms_with_prefix(name, prefix):
                counts[term] = counts.get(term, 0) + count
        ordered = sorted(counts, key=lambda term: (-counts[term], term))
        live = (term for term in ordered if self._is_live(term, _fields(language), counts[term]))
        frequent = list(islice(live, _MAX_SCORED))
        return Completions(frequent, ordered[ordered.index(frequent[-1]) + 1 :] if frequent else ())

    def _similar(self, word: str) -> list[str]:
        """Words with one edit, each stem once; none for a word that is short or occurs."""
        if len(word) < _MIN_LENGTH or is_unspaced(word) or any(self.frequency(*each) for each in self._stems(word)):
            return []
        edited: dict[tuple[str, str], list[str]] = {}
        for edit in dict.fromkeys(_edits(word.lower())):
            for stem in self._stems(edit) if not is_function_word(edit, self._languages) else ():
                edited.setdefault(stem, []).append(edit)
        counted = sorted((-self.frequency(*stem), stem) for stem in edited)
        stems = [stem for count, stem in counted if count]
        singulars = {stem: [edit[:-1] for edit in edited[stem] if len(edit) > _MIN_LENGTH + 1] for stem in stems}
        for tried, nodes, candidates in ((8, _FEW, edited), (3, _MANY, edited), (3, _FEW, singulars)):
            written = (self._written(stem, candidates[stem], nodes) for stem in stems[:tried])
            if found := list(dict.fromkeys(islice(filter(None, written), _MAX_CORRECTIONS))):
                return found
        return []

    def _written(self, stem: tuple[str, str], candidates: Iterable[str], nodes: int) -> str:
        """The first of some words with this stem that a text has; empty if none does.

        A stem alone is not enough: ``delegant`` has that of ``delegation``, but nobody writes it.
        """
        wanted = [(word, _bare(word)) for word in candidates]
        written = ""
        for text in self._texts(*stem, nodes):
            if not wanted:
                break
            lower = text.lower()
            # This check takes a fifteenth of the time that splitting the text into words takes.
            if lower.isascii() and not any(bare in lower for _, bare in wanted):
                continue
            words = _words(text, _LETTERS)
            plain = {_bare(word): word for word in reversed(words)}
            for at, (candidate, bare) in enumerate(wanted):
                word = candidate if candidate != bare and candidate in words else plain.get(bare, "")
                if terms(word, stem[1]) == [stem[0]] and not is_function_word(word, self._languages):
                    written, wanted = word, wanted[:at]  # the first candidates are the likeliest
                    break
        return written

    def _texts(self, term: str, language: str, nodes: int) -> Iterator[str]:
        """The texts of about so many nodes with a term."""
        left = nodes * _NODE_LENGTH
        for text in self._sample(term, language, nodes):
            yield text
            left -= len(text)
            if left <= 0:
                return

    def _sample(self, term: str, language: str, nodes: int) -> Iterator[str]:
        """All searchable text of the best nodes for a term."""
        schema = self._snapshot.schema
        queries = [tantivy.Query.term_query(schema, field(name, language), term) for name in RANKED]
        seen: set[str] = set()
        for _, address, _ in self._snapshot.ranked(tantivy.Query.disjunction_max_query(queries), nodes):
            [node] = self._snapshot.nodes([address])
            yield " ".join((*node.breadcrumb, node.text, node.path, *node.tags))
            if node.document_id not in seen:
                seen.add(node.document_id)
                [document] = self._snapshot.nodes_of(node.document_id, 0, 0)
                yield document.text[: document.body]

    def _stems(self, word: str) -> Iterator[tuple[str, str]]:
        for language in self._languages:
            for term in terms(word, language)[:1]:
                yield term, language


def _words(text: str, kind: re.Pattern[str]) -> dict[str, None]:
    """The words of a text without duplicates: as written, then as the engine gets them."""
    texts = dict.fromkeys((normalize("NFKC", text), *indexed_texts(text)))
    return dict.fromkeys(kind.findall(" ".join(texts).lower()))


def _bare(word: str) -> str:
    """A word in lower case without accents."""
    return word if word.isascii() else "".join(terms(word, NONE))


@cache
def _fields(language: str) -> tuple[str, ...]:
    return tuple(field(name, language) for name in RANKED)


def _edits(word: str) -> Iterator[str]:
    """All texts with one edit: two letters swapped, one inserted, one dropped, one replaced."""
    letters = _alphabet(word)
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    yield from (left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1)
    yield from (left + letter + right for left, right in cuts for letter in letters)
    yield from (left + right[1:] for left, right in cuts if right)
    yield from (left + letter + right[1:] for left, right in cuts if right for letter in letters)


def _endings(word: str) -> list[str]:
    """How a word may go on: not at all, with one letter, in ASCII with two, or with a common ending.

    Other scripts have so many letters that stemming all pairs would take longer than the search.
    """
    letters = _alphabet(word)
    return ["", *letters, *(map("".join, product(letters, repeat=2)) if word.isascii() else ()), *_ENDINGS]


def _alphabet(word: str) -> list[str]:
    """The lower-case letters in the Unicode blocks of a word's letters."""
    blocks = sorted({ord(letter) >> 7 for letter in word})
    characters = (chr(code) for block in blocks for code in range(block << 7, (block + 1) << 7))
    return [letter for letter in characters if letter.isalpha() and letter == letter.lower()]
