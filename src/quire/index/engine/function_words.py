"""Words that say how something is asked, not what it is about: they may be missing where other words are there."""

from __future__ import annotations

from functools import cache, lru_cache

import tantivy

from quire.index.engine.analysis import NONE

_ENGLISH = (
    "a about after all also am an and any are as at be because been being between both but by can cannot could did "
    "difference differences do does doing done during each else ever every explain explained explains few for from "
    "get gets getting had happen happens has have having he her here hers him his how however i if in into is "
    "isn it its itself just let ll may me might mine more most much must my myself need of off on once one only or "
    "other our ours out over own per please re same shall she should so some such tell than that the their theirs "
    "them then there these they this those through to too under until up upon us use used using ve versus very via vs "
    "want wants was way we were what whats when where whether which while who whom whose why will with within would "
    "yet you your yours documentation docs guide guides learn page pages section sections see "
)
"""With words that only say that something is asked (*explain*, *vs*) or that it stands in a document (*guide*, *page*):
links and questions are full of them."""

_BETWEEN = frozenset({"versus", "vs"})
"""Words of asking only where they stand between others: *vs code* is a name."""

_LISTED = (
    *("danish", "dutch", "finnish", "french", "german", "hungarian", "italian", "norwegian", "portuguese"),
    *("russian", "spanish", "swedish"),
)
"""The languages of which the engine has a list."""


def stands_between(word: str) -> bool:
    """Whether a word is one of those that part what is compared."""
    return word.lower() in _BETWEEN


@lru_cache(maxsize=4_096)
def is_function_word(word: str, languages: tuple[str, ...]) -> bool:
    """Whether a word is one in any of the languages. Each phase of a search asks for the same words."""
    stem = word.lower().replace("’", "'").partition("'")[0]
    return any(_is_listed(stem, language) for language in languages if language != NONE)


def _is_listed(word: str, language: str) -> bool:
    if language in _LISTED:
        return bool(word) and not _listing(language).analyze(word)
    return language == "english" and word in _english()


@cache
def _english() -> frozenset[str]:
    return frozenset(_ENGLISH.split())


@cache
def _listing(language: str) -> tantivy.TextAnalyzer:
    """An analyser that lets everything pass but function words."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stopword(language)).build()
