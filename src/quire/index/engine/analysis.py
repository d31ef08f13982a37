"""Text to terms, the same way for documents, queries and highlighting; and the spellings of a word in a query."""

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple, get_args

import tantivy

from quire.index.engine.normalization import humps, is_unspaced, normalize
from quire.patterns import pattern
from quire.trees import Language

NONE = "none"  # the language of a tree whose words are not stemmed

LANGUAGES = get_args(Language)
"""The languages that a tree can have."""

_FOLD_FIRST = ("arabic", "dutch", "english", "german", "greek", "russian", "tamil", NONE)
"""Languages whose stemmers do not need the accents of Latin letters; accents are removed before stemming."""

_MAX_WORD_BYTES = 128  # longer words are not indexed: nobody types them, and encoded data is full of them
_MAYBE_TOO_LONG = pattern(r"[^\W_]{32,}")  # a character has at most four bytes

_VERSION = pattern(r"v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_HYPHENATED = pattern(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_APOSTROPHE = pattern(r"(?<=\w)['’]\w{1,2}\b|\b\w{1,2}['’](?=\w)")


@cache
def analyser(language: str) -> tantivy.TextAnalyzer:
    """Splits at everything but letters and digits; lower case, without accents, stemmed."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(_MAX_WORD_BYTES)).filter(tantivy.Filter.lowercase())
    if language in _FOLD_FIRST:
        builder = builder.filter(tantivy.Filter.ascii_fold())
    if language != NONE:
        builder = builder.filter(tantivy.Filter.stemmer(language))
    return (builder if language in _FOLD_FIRST else builder.filter(tantivy.Filter.ascii_fold())).build()


def terms(text: str, language: str) -> list[str]:
    """The terms of a text in order. A word that is too long to be indexed is a term, too, which matches nothing."""
    text, result, at = normalize(text), list[str](), 0
    analyze = analyser(language).analyze
    for word in _MAYBE_TOO_LONG.finditer(text):
        if len(word[0].encode()) >= _MAX_WORD_BYTES:
            result += [*analyze(text[at : word.start()]), word[0].lower()]
            at = word.end()
    return result + analyze(text[at:])


@lru_cache(maxsize=50_000)
def word_terms(word: str, language: str) -> tuple[str, ...]:
    """The terms of one word, cached."""
    return tuple(terms(word, language))


def bare(word: str) -> str:
    """A word in lower case without accents."""
    return word.lower() if word.isascii() else "".join(word_terms(word, NONE))


class Spelling(NamedTuple):
    """One way to spell a word."""

    terms: tuple[str, ...]
    tight: bool = False  # the terms must be adjacent


@lru_cache(maxsize=4_096)
def spellings(word: str, language: str) -> tuple[Spelling, ...]:
    """The spellings of a word: as typed, split at its humps, a version with and without ``v``, without hyphens."""
    word = _APOSTROPHE.sub("", word) or word
    if version := _VERSION.fullmatch(word):
        result = [Spelling(tuple(terms(f"{lead}{version[1]}", language)), tight=True) for lead in ("", "v")]
    else:
        result = [Spelling(tuple(terms(word, language)))]
        parts = tuple(terms(humps(normalize(word)), language)) if word.isascii() else ()
        result += [Spelling(parts)] if len(parts) > len(result[0].terms) else []
    if _HYPHENATED.fullmatch(word):
        result.append(Spelling(tuple(terms(word.replace("-", ""), language))))
    return tuple(spelling for spelling in dict.fromkeys(result) if spelling.terms)


@lru_cache(maxsize=4_096)
def adjacent_terms(spelling: Spelling) -> tuple[tuple[str, ...], ...]:
    """Groups of terms that must be adjacent: all of them, or those of consecutive characters without spaces."""
    if spelling.tight:
        return (spelling.terms,)
    groups: list[tuple[str, ...]] = []
    was_unspaced = False
    for term in spelling.terms:
        unspaced = is_unspaced(term)
        if unspaced and was_unspaced:
            groups[-1] += (term,)
        else:
            groups.append((term,))
        was_unspaced = unspaced
    return tuple(groups)


@lru_cache(maxsize=4_096)
def term_pairs(group: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Each two adjacent terms: what a partial match may have of a group."""
    return (group,) if len(group) < 3 else tuple(pairwise(group))
