"""Text -> terms, the same way for documents (``schema``), for queries (``words``, ``clauses``) and for marking.

Before: ``spelling``. ``search.answer`` hands it to ``highlight``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

import tantivy

from quire.index.engine.spelling import normal

NONE = "none"
"""The language of a tree whose words are not stemmed."""

LANGUAGES = (
    *("arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian"),
    *("norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish", NONE),
)
"""What a tree's language can be."""

_ACCENTS_SAY_NOTHING = ("arabic", "dutch", "english", "german", "greek", "russian", "tamil", NONE)
"""The languages whose endings are known without the accents of Latin letters. A word is found there without them."""

_LONGEST = 128
"""Words of so many bytes are not indexed: nobody types them, and encoded data is full of them."""
_PERHAPS_LONG = re.compile(r"[^\W_]{32,}")
"""A word that may have so many: a character has four at most."""


def name(language: str) -> str:
    """The name under which the engine knows the analyser of a language."""
    return f"quire_{language}"


@cache
def analyser(language: str) -> tantivy.TextAnalyzer:
    """Cut at all that is no letter and no digit; in lower case, without accents, stemmed.

    In some languages endings are known by their accents: there these go last.
    """
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(_LONGEST)).filter(tantivy.Filter.lowercase())
    if language in _ACCENTS_SAY_NOTHING:
        builder = builder.filter(tantivy.Filter.ascii_fold())
    if language != NONE:
        builder = builder.filter(tantivy.Filter.stemmer(language))
    return (builder if language in _ACCENTS_SAY_NOTHING else builder.filter(tantivy.Filter.ascii_fold())).build()


def terms(text: str, language: str) -> list[str]:
    """The terms of a text, in order. A word that is too long is one as well, which nothing has: it is not left out."""
    text = normal(text)
    return list(_terms(text, language)) if _PERHAPS_LONG.search(text) else analyser(language).analyze(text)


def _terms(text: str, language: str) -> Iterator[str]:
    at = 0
    for word in _PERHAPS_LONG.finditer(text):
        if len(word[0].encode()) >= _LONGEST:
            yield from analyser(language).analyze(text[at : word.start()])
            yield word[0].lower()
            at = word.end()
    yield from analyser(language).analyze(text[at:])


@lru_cache(maxsize=50_000)
def word_terms(word: str, language: str) -> tuple[str, ...]:
    """The terms of one word, remembered: texts repeat their words."""
    return tuple(terms(word, language))


def beginnings(term: str, language: str) -> tuple[str, ...]:
    """With which of these every word in ASCII begins that has a term, or one that begins so. Both are in lower case.

    All stemming leaves the first letter as it is, but for ``g`` in Dutch: ``gelopen`` has the stem of ``lopen``. In
    English it changes no more than an ``e``, ``i`` or ``y`` at the end (``flies``, ``fli``), ``bility`` to ``bl``, and
    short words as ``dying`` to ``die``.
    """
    if language == NONE:
        return (term,)
    if language != "english":
        return (term[0], "g")
    if term.endswith(("bl", "ble")):
        return (term[: term.rindex("b") + 1],)
    if len(term) == len("die") and term.endswith("ie"):
        return (term[0],)
    return (term[:-1] if len(term) > 1 and term[-1] in "eiy" else term,)
