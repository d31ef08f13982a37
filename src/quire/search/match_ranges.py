"""``quire.match_ranges``: where the words of a query are in the text of a hit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial

from quire.index.engine.analysis import adjacent_terms, beginnings, spellings, term_pairs, word_terms
from quire.index.engine.function_words import is_function_word
from quire.model import Span
from quire.query import leaves, parse
from quire.query.query_tree import Phrase, Query, Word
from quire.search.highlight import Highlighter, Wanted
from quire.search.hit import Hit

Corrections = Mapping[str, Sequence[str]]


def match_ranges(hit: Hit, query: str, corrections: Corrections | None = None) -> tuple[Span, ...]:
    """The spans of the query's words in ``hit.text``, in order. ``corrections`` are those of the results."""
    found = tuple((word, tuple(instead)) for word, instead in (corrections or {}).items())
    return _remembered(query, hit.language, found)(hit.text)


@lru_cache(maxsize=16)
def _remembered(query: str, language: str, corrections: tuple[tuple[str, tuple[str, ...]], ...]) -> Highlighter:
    tree = parse(query)
    return highlighter(tree, language, dict(corrections))


def highlighter(query: Query | None, language: str, corrections: Corrections) -> Highlighter:
    """Finds a query's words in texts of a language: all but function words, or these if there are no others."""
    found = [leaf for leaf in (leaves(query) if query else ()) if leaf.field in (None, "title", "body")]
    marked = [leaf for leaf in found if isinstance(leaf, Phrase) or not is_function_word(leaf.text, (language,))]
    wanted = dict.fromkeys(each for leaf in marked or found for each in _wanted(leaf, language, corrections))
    return Highlighter(wanted, partial(word_terms, language=language), partial(beginnings, language=language))


def _wanted(leaf: Word | Phrase, language: str, corrections: Corrections) -> Iterator[Wanted]:
    if isinstance(leaf, Phrase):
        yield Wanted(word_terms(leaf.text, language))
        yield from (Wanted(spelling.terms) for spelling in spellings(leaf.text, language)[:1])
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
