"""More like this: the query that a section's own words make."""

from __future__ import annotations

from collections import Counter

from quire.index.engine.analysis import word_terms
from quire.index.engine.corrections import Dictionary
from quire.index.engine.function_words import is_function_word
from quire.index.engine.snapshot import Snapshot
from quire.patterns import pattern

_WORD = pattern(r"[^\W\d_]{3,40}")
_MAX_WORDS = 12  # the words that a section is searched by
_MAX_READ = 20_000  # how many characters of a long section are read
_IN_TITLE = 3  # how often a word of the title counts


def similar_query(snapshot: Snapshot, titles: str, texts: str, language: str) -> str:
    """The words that tell a section, or a whole document, from others. Empty if it has none."""
    dictionary, spelled = Dictionary(snapshot), dict[str, str]()
    counts: Counter[str] = Counter()
    for text, weight in ((titles[:_MAX_READ], _IN_TITLE), (texts[:_MAX_READ], 1)):
        for word in _WORD.findall(text):
            for term in () if is_function_word(word, (language,)) else word_terms(word.lower(), language)[:1]:
                spelled.setdefault(term, word.lower())
                counts[term] += weight
    best = sorted(counts, key=lambda term: (-min(counts[term], 9) * dictionary.term_rarity(term, language), term))
    return " ".join(spelled[term] for term in best[:_MAX_WORDS])
