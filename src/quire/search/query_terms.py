"""The terms of a query: how many it may have, and those that a section makes for ``--like``.

Further terms are ignored, so that no query takes long.
"""

from collections import Counter

import msgspec

from quire.index.engine.analysis import word_terms
from quire.index.engine.corrections import Dictionary
from quire.index.engine.function_words import is_function_word
from quire.index.engine.normalization import normalize
from quire.index.engine.snapshot import Snapshot
from quire.patterns import pattern
from quire.query.query_tree import TEXT_FIELDS, Not, Phrase, Query, Word

MAX_TERMS = 64  # each word of a name or phrase is a term; in Chinese and Japanese each character
PREFIX_TERMS = 16  # a word with ``*`` counts as so many terms, as it stands for many words

_TERM = pattern(r"[A-Z]*+[^\W\d_A-Z]++|[A-Z]++|\d++")
_WORD = pattern(r"[^\W\d_]{3,40}")
_MAX_WORDS = 12  # the words that a section is searched by
_MAX_READ = 20_000  # how many characters of a long section are read
_IN_TITLE = 3  # how often a word of the title counts

Limited = tuple[Query | None, int, int]  # what remains of a query, how many terms that has, how many were ignored


def within_limit(query: Query | None, text: str) -> tuple[Query | None, int]:
    """The query within ``MAX_TERMS``, and the number of ignored terms. ``text`` is the query as typed."""
    if query is None or (len(text) <= MAX_TERMS and text.isascii() and "*" not in text):  # a term has a character
        return query, 0
    kept, _, ignored = _limited(query, MAX_TERMS)
    return kept, ignored


def _limited(query: Query, room: int) -> Limited:
    if isinstance(query, Word | Phrase):
        return _limited_leaf(query, room)
    if isinstance(query, Not):  # kept whole or dropped: a part of it would exclude more than was meant
        _, used, ignored = _limited(query.item, room)
        return (None, 0, used + ignored) if ignored else (query, used, 0)
    kept: dict[int, Query] = {}
    all_used = all_ignored = 0
    # Exclusions come last: alone they mean nothing.
    for at in sorted(range(len(query.items)), key=lambda at: isinstance(query.items[at], Not)):
        item, used, ignored = _limited(query.items[at], room - all_used)
        all_used, all_ignored = all_used + used, all_ignored + ignored
        if item is not None:
            kept[at] = item
    if len(kept) < 2:
        return next(iter(kept.values()), None), all_used, all_ignored
    return msgspec.structs.replace(query, items=tuple(kept[at] for at in sorted(kept))), all_used, all_ignored


def _limited_leaf(leaf: Word | Phrase, room: int) -> Limited:
    text = normalize(leaf.text)
    ends = [term.end() for term in _TERM.finditer(text)] or [len(text)]
    is_prefix = isinstance(leaf, Word) and leaf.prefix
    count = (len(ends) if leaf.field in (None, *TEXT_FIELDS) else 1) + (PREFIX_TERMS - 1) * is_prefix
    if count <= room:
        return leaf, count, 0
    if is_prefix or not room:
        return None, 0, count
    return msgspec.structs.replace(leaf, text=text[: ends[room - 1]]), room, count - room


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
