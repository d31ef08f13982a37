"""Scores the best nodes again: by how much of a title the query covers, and by how many pages link to the node.

A title that says nothing but the query's words is most likely the answer; one with other words is about more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p
from operator import itemgetter
from typing import NamedTuple

from quire.index.engine.analysis import spellings
from quire.index.engine.clauses import QueryContext
from quire.index.engine.index_schema import IN_LINKS
from quire.index.engine.snapshot import Address, Scored, Snapshot
from quire.query import leaves
from quire.query.query_tree import Query
from quire.search.ranking_settings import SearchSettings

MAX_RESCORED = 100  # how many nodes are scored again
_STUB = 4  # a stub has less than a fourth of the tokens of the average document


class QueryWords(NamedTuple):
    """The words of a query."""

    terms: Mapping[str, frozenset[str]]  # by language
    rarity: float  # of all of them together, without function words


def query_words(context: QueryContext, query: Query) -> QueryWords:
    """The words that a query looks for anywhere or in titles."""
    found: dict[str, set[str]] = {language: set() for language in context.languages}
    rarity = 0.0
    is_optional_query = all(context.is_optional(leaf) for leaf in leaves(query))
    for leaf in leaves(query):
        if leaf.field not in (None, "title") or (context.is_optional(leaf) and not is_optional_query):
            continue
        texts = context.corrections.get(leaf.text, (leaf.text,))
        rarities = []
        for language in context.languages:
            terms = [term for text in texts for each in spellings(text, language) for term in each.terms]
            found[language].update(terms)
            first = [term for each in spellings(texts[0], language)[:1] for term in each.terms]
            rarities.append(sum([context.dictionary.term_rarity(term, language) for term in first]))
        rarity += 0.0 if context.is_optional(leaf) else max(rarities, default=0.0)
    return QueryWords({language: frozenset(terms) for language, terms in found.items()}, rarity)


def rescored(
    snapshot: Snapshot, context: QueryContext, query: Query, found: Sequence[Scored], settings: SearchSettings
) -> list[Scored]:
    """The nodes, the best first, after the second pass over the best of them."""
    if not (settings.title_coverage or settings.in_links) or not found:
        return list(found)
    words = query_words(context, query)
    best, others = found[:MAX_RESCORED], found[MAX_RESCORED:]
    bonuses = second_scores(snapshot, context, words, [address for _, address in best], settings)
    again = [(score + title + links, address) for (score, address), (title, links) in zip(best, bonuses, strict=True)]
    return sorted([*again, *others], key=itemgetter(0), reverse=True)


def second_scores(
    snapshot: Snapshot, context: QueryContext, words: QueryWords, addresses: Sequence[Address], settings: SearchSettings
) -> list[tuple[float, float]]:
    """What the second pass adds to the score of each node: for its title, and for links to it."""
    rarities, by_language = context.dictionary.title_rarities, words.terms
    for_title, for_links = words.rarity * settings.title_coverage, words.rarity * settings.in_links
    scores = []
    links = snapshot.numbers(addresses, IN_LINKS)
    stub = min(settings.stub_tokens, snapshot.mean_tokens / _STUB)
    for (title, language, tokens), count in zip(snapshot.titles(addresses), links, strict=True):
        share = _share(rarities(title, language), by_language[language]) if title else 0.0
        if tokens < stub:  # a glossary entry has the title, and another page explains it
            share *= tokens / stub
        scores.append((for_title * share, for_links * log1p(count) if count else 0.0))
    return scores


def _share(title: Mapping[str, float], wanted: frozenset[str]) -> float:
    """The part of a title that a query covers; rare words count more."""
    found = wanted.intersection(title)
    return sum([title[term] for term in found]) / sum(title.values()) if found else 0.0
