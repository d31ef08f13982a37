"""Looks up words in the engine's dictionary: does one occur, how may a prefix go on, how is a typing error corrected.

Ranked fields have stems; a correction is a word of the fields ``words`` and ``accented``.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice

import msgspec

from quire.index.engine.analysis import analyser, bare, is_unspaced, spellings, terms, word_terms
from quire.index.engine.function_words import is_function_word
from quire.index.engine.node_fields import ACCENTED, RANKED, WORDS, field
from quire.index.engine.snapshot import Snapshot, rarity
from quire.model.patterns import pattern

_MIN_PREFIX = 3  # a shorter word is no prefix unless a ``*`` says so
_MIN_LENGTH = 4  # shorter words are not corrected: too many words are similar
_MAX_LENGTH = 64  # longer words are not corrected: the number of edits grows with the length
_MAX_CORRECTIONS = 3
_MAX_SCORED = 48  # how many of the words that a prefix stands for are scored

_LETTERS = pattern(r"[^\W\d_]+")


class Completions(msgspec.Struct, frozen=True):
    """The terms that a prefix stands for."""

    frequent: Sequence[str]  # scored, the most frequent first
    others: Sequence[str] = ()  # the rest: maybe thousands, and some only in deleted nodes


class Dictionary:
    """The words of an index. The engine counts deleted nodes, so words are checked to occur in others."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._languages = snapshot.settings.languages
        self._completions: dict[tuple[str, str], Completions] = {}
        self.statistics = snapshot.statistics
        self.idf_factor = snapshot.idf_factor
        self.lookups = 0  # the number of lookups so far

    def rarity(self, name: str, value: str) -> float:
        """The rarity of a term in a field."""
        return rarity(self._snapshot.node_total, self._snapshot.doc_freq((name,), value))

    def is_joined(self, left: str, right: str) -> bool:
        """Whether bodies have two words as one at least as often as apart; a name in humps counts as both."""
        for language in self._languages if left.isalpha() and right.isalpha() else ():
            whole, apart = word_terms(left + right, language), word_terms(f"{left} {right}", language)
            if len(whole) == 1 and "body" in self.statistics(whole[0], language).fields:
                one, two = (self._snapshot.live_freq(field("body", language), *terms) for terms in (whole, apart))
                return 2 * one >= max(two, 1)
        return False

    def _is_live(self, fields: Sequence[str], term: str, count: int) -> bool:
        """Whether a term with this count in some fields occurs in a node that is not deleted."""
        if count > len(fields) * self._snapshot.deleted:
            return True
        return count > 0 and any(self._snapshot.live_freq(name, term) for name in fields)

    def _occurs(self, term: str, fields: Sequence[str]) -> bool:
        self.lookups += 1
        return self._is_live(fields, term, self._snapshot.doc_freq(fields, term))

    def has(self, word: str) -> bool:
        """Whether all terms of one of the word's spellings occur."""
        return any(
            all(self._occurs(term, _fields(language)) for term in spelling.terms)
            for language in self._languages
            for spelling in spellings(word, language)
        )

    def is_prefix(self, word: str) -> bool:
        """Whether other words start with a word that does not occur."""
        is_word = _MIN_PREFIX <= len(word) <= _MAX_LENGTH and _LETTERS.fullmatch(word) and not is_unspaced(word)
        return bool(is_word) and any(self.completions(word, language).frequent for language in self._languages)

    def completions(self, prefix: str, language: str) -> Completions:
        """The terms of words with a prefix, cached: those with the prefix, and shorter stems of words with it."""
        key = prefix, language
        if key not in self._completions:
            typed, with_prefix = bare(prefix), self._snapshot.terms_with_prefix
            counts = with_prefix(_fields(language) if typed else (), typed)
            words = [word for name in ((WORDS, ACCENTED) if typed else ()) for word in with_prefix([name], typed)]
            stems = dict.fromkeys(analyser(language).analyze(" ".join(words)))
            self._snapshot.look_up(stems)
            shorter = [stem for stem in stems if stem not in counts and self._occurs(stem, _fields(language))]
            ordered = sorted(counts, key=lambda term: (-counts[term], term))
            live = (term for term in ordered if self._is_live(_fields(language), term, counts[term]))
            frequent = list(islice(live, _MAX_SCORED))
            others = ordered[ordered.index(frequent[-1]) + 1 :] if frequent else ()
            self._completions[key] = Completions([*shorter[:_MAX_SCORED], *frequent], others)
        return self._completions[key]

    def corrections(self, word: str) -> tuple[str, ...]:
        """For a word that does not occur, words with one edit, the most frequent first; in a name each part."""
        if len(word) > _MAX_LENGTH or self.has(word):
            return ()
        if _LETTERS.fullmatch(word):
            return tuple(self._similar(word))
        corrected = _LETTERS.sub(lambda part: next(iter(self._similar(part[0])), part[0]), word)
        return (corrected,) if corrected != word and self.has(corrected) else ()

    def _similar(self, word: str) -> list[str]:
        """Words with one edit, each stem once; none for a word that is short or occurs."""
        if len(word) < _MIN_LENGTH or is_unspaced(word) or self.has(word):
            return []
        edits = list(dict.fromkeys(_edits(word.lower())))
        singulars = [edit[:-1] for edit in edits if len(edit) > _MIN_LENGTH + 1]
        self._snapshot.look_up(map(bare, (*edits, *singulars)))
        for candidates in (edits, singulars):
            similar: dict[str, tuple[int, str]] = {}  # by stem: its frequency, and the word
            for written in filter(None, map(self._written, candidates)):
                for language in self._languages:
                    stem = " ".join(terms(written, language))
                    similar.setdefault(stem, (-self._snapshot.doc_freq(_fields(language), stem), written))
            if similar:
                ordered = dict.fromkeys(written for _, written in sorted(similar.values()))
                return list(ordered)[:_MAX_CORRECTIONS]
        return []

    def _written(self, word: str) -> str:
        """A word as documents have it, with accents or without; empty for a function word, and if none has it."""
        plain = bare(word)
        if not plain or not self._occurs(plain, (WORDS,)) or is_function_word(word, self._languages):
            return ""
        accented = self._snapshot.terms_with_prefix([ACCENTED], f"{plain} ")
        forms = {term.partition(" ")[2]: count for term, count in accented.items()}
        if word in forms or 2 * sum(forms.values()) < self._snapshot.doc_freq((WORDS,), plain):
            return word if word in forms else plain
        return max(forms, key=lambda form: (forms[form], form))


@cache
def _fields(language: str) -> tuple[str, ...]:
    return tuple(field(name, language) for name in RANKED)


def _edits(word: str) -> Iterator[str]:
    """All texts with one edit: two letters swapped, one inserted, one dropped, one replaced.

    New letters are the lower-case ones in the Unicode blocks of the word's letters.
    """
    blocks = sorted({ord(letter) >> 7 for letter in word})
    characters = [chr(code) for block in blocks for code in range(block << 7, (block + 1) << 7)]
    letters = [letter for letter in characters if letter.isalpha() and letter == letter.lower()]
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    yield from (left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1)
    yield from (left + letter + right for left, right in cuts for letter in letters)
    yield from (left + right[1:] for left, right in cuts if right)
    yield from (left + letter + right[1:] for left, right in cuts if right for letter in letters)
