"""Scores the best nodes again: by how much of a title the query covers, and by how many pages link to the node.

A title that says nothing but the query's words is most likely the answer; one with other words is about more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log1p
from typing import NamedTuple

from quire.index.engine.analysis import spellings
from quire.index.engine.clauses import QueryContext, all_items, is_plain
from quire.index.engine.index_schema import IN_LINKS, PAGE_LINKS
from quire.index.engine.snapshot import Match, Snapshot
from quire.query import leaves
from quire.query.query_tree import Query, Word
from quire.search.ranking_settings import SearchSettings

MAX_RESCORED = 100  # how many nodes are scored again
_STUB = 4  # a stub has less than a fourth of the tokens of the average document
PARTS = ("title", "adjacent", "links", "page_links")
"""What the second pass adds to the score of a node: for the part of its title that the query covers, for words that are
adjacent in the query and in its title, for pages that link to it, and for pages that link to any section of it."""


class QueryWords(NamedTuple):
    """The words of a query."""

    terms: Mapping[str, frozenset[str]]  # by language
    pairs: Mapping[str, frozenset[tuple[str, str]]]  # adjacent terms, by language
    rarity: float  # of all of them together, without function words
    any_language: frozenset[str]  # the terms of all languages


def query_words(context: QueryContext, query: Query) -> QueryWords:
    """The words that a query looks for anywhere or in titles."""
    terms_by_language: dict[str, set[str]] = {language: set() for language in context.languages}
    rarity = 0.0
    words = [(leaf, context.is_optional(leaf)) for leaf in leaves(query) if leaf.field in (None, "title")]
    is_optional_query = all(context.is_optional(leaf) for leaf in leaves(query))
    for leaf, is_optional in words:
        if is_optional and not is_optional_query:
            continue
        texts = context.corrections.get(leaf.text, (leaf.text,))
        rarities = []
        for language in context.languages:
            readings = [spellings(text, language) for text in texts]
            terms_by_language[language].update(
                [term for reading in readings for spelling in reading for term in spelling.terms]
            )
            first = [term for spelling in readings[0][:1] for term in spelling.terms]
            rarities.append(sum([context.dictionary.term_rarity(term, language) for term in first]))
        rarity += 0.0 if is_optional else max(rarities, default=0.0)
    return QueryWords(
        {language: frozenset(terms) for language, terms in terms_by_language.items()},
        {language: frozenset(_adjacent_terms(context, query, language)) for language in context.languages},
        rarity,
        frozenset().union(*terms_by_language.values()),
    )


def _adjacent_terms(context: QueryContext, query: Query, language: str) -> Iterator[tuple[str, str]]:
    """The terms of words that are adjacent in the query, apart from function words."""
    for left, right in pairwise(context.required(all_items(query))):
        if is_plain(left) and is_plain(right):
            before, after = _first_terms(context, left, language), _first_terms(context, right, language)
            if before and after:
                yield before[-1], after[0]


def _first_terms(context: QueryContext, word: Word, language: str) -> tuple[str, ...]:
    return next((spelling.terms for spelling in spellings(context.corrected(word)[0], language)), ())


def rescored(
    snapshot: Snapshot, context: QueryContext, query: Query, matches: Sequence[Match], settings: SearchSettings
) -> list[Match]:
    """The nodes, the best first, after the second pass over the best of them."""
    if not matches:
        return []
    best, others = matches[:MAX_RESCORED], matches[MAX_RESCORED:]
    scores = second_scores(snapshot, context, query_words(context, query), best, settings)
    again = [
        Match(match.score + sum(more), match.address, match.number, match.position)
        for match, more in zip(best, scores, strict=True)
    ]
    return sorted([*again, *others], key=lambda match: -match.score)


def second_scores(
    snapshot: Snapshot, context: QueryContext, words: QueryWords, matches: Sequence[Match], settings: SearchSettings
) -> list[tuple[float, ...]]:
    """What the second pass adds to the score of each node, as ``PARTS``."""
    languages = {name: tree.language for name, tree in snapshot.settings.trees.items()}
    for_title, for_links = words.rarity * settings.title_coverage, words.rarity * settings.in_links
    for_page_links = words.rarity * settings.page_links
    stub = min(settings.stub_tokens, snapshot.mean_tokens / _STUB)
    links = snapshot.numbers([match.address for match in matches], IN_LINKS, PAGE_LINKS)
    outlines, records, any_language = snapshot.outlines, snapshot.records, words.any_language
    scores: list[tuple[float, ...]] = []
    for match, (to_node, to_page) in zip(matches, links, strict=True):
        title = outlines[match.number].titles[match.position]
        share = adjacent = 0.0
        if not any_language.isdisjoint(title):
            record = records[match.number]
            language = languages[record.tree]
            rarities, total = context.dictionary.title_rarities(title, language)
            in_query = words.terms[language]
            share = sum([rarity for term, rarity in rarities.items() if term in in_query]) / total
            if record.tokens < stub:  # a glossary entry has the title, and another page explains it
                share *= record.tokens / stub
            if words.pairs[language]:
                pairs = words.pairs[language].intersection(pairwise(title))
                adjacent = sum([rarities[left] + rarities[right] for left, right in pairs])
        in_links = for_links * log1p(to_node) if to_node else 0.0
        in_page_links = for_page_links * log1p(to_page) if to_page else 0.0
        scores.append((for_title * share, settings.adjacent * adjacent, in_links, in_page_links))
    return scores
