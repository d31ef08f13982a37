"""Scores the best nodes again: by how much of a title the query covers, and by how many pages link to the node.

A title that says nothing but the query's words is most likely the answer; one with other words is about more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log1p
from typing import Any, NamedTuple

from msgspec.structs import replace

from quire.index.engine.analysis import spellings
from quire.index.engine.clauses import QueryContext, all_items, is_plain
from quire.index.engine.index_schema import IN_LINKS, PAGE_LINKS
from quire.index.engine.pasted_text import PastedText, find_pasted
from quire.index.engine.snapshot import Match, Snapshot
from quire.query import leaves
from quire.query.query_tree import Query, Word
from quire.search.ranking_settings import SearchSettings

MAX_RESCORED = 100  # how many nodes are scored again
_STUB = 4  # a stub has less than a fourth of the tokens of the average document
_EQUAL = 0.7  # nodes with so much of the best evidence satisfy a query about equally
_BOUND = 4  # how steeply priors fall below that
_FIRST = 1.1  # the score of a body with the whole query, in scores of the best: no two others together have as much
PARTS = ("title", "adjacent", "adjacent_body", "links", "page_links", "verbatim")
"""What the second pass adds to the score of a node: for the part of its title that the query covers, for words that are
adjacent in the query and in its title or in its body, for pages that link to it, for pages that link to any section of
it, and for a body that has the whole query."""


SecondScores = Mapping[tuple[int, int], Sequence[float]]
"""What the second pass added, as ``PARTS``, by document number and position."""


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
            statistics = [context.dictionary.statistics(term, language) for term in first]
            rarities.append(sum([term.rarity for term in statistics if term.fields]))
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
    snapshot: Snapshot,
    context: QueryContext,
    query: Query,
    matches: Sequence[Match],
    *,
    settings: SearchSettings,
    filters: Sequence[Any],
) -> tuple[list[Match], SecondScores]:
    """The nodes, the best first, after the second pass over the best of them; and what it added to their scores."""
    if not matches:
        return [], {}
    pasted = find_pasted(snapshot, context, query, matches, filters) if settings.adjacent_body else PastedText()
    if pasted.verbatim:
        verbatim = {(match.number, match.position): replace(match, score=0.0) for match in pasted.verbatim}
        by_key = {(match.number, match.position): match for match in matches}
        matches = list((verbatim | by_key).values())  # in the order of the first: those with the whole query come first
    best, others = matches[:MAX_RESCORED], matches[MAX_RESCORED:]
    parts = _second_scores(snapshot, context, query, best, settings=settings, pasted=pasted)
    again = [
        Match(match.score + sum(more), match.address, match.number, match.position)
        for match, more in zip(best, parts, strict=True)
    ]
    added = {(match.number, match.position): more for match, more in zip(best, parts, strict=True)}
    return sorted([*again, *others], key=lambda match: -match.score), added


def _second_scores(
    snapshot: Snapshot,
    context: QueryContext,
    query: Query,
    matches: Sequence[Match],
    *,
    settings: SearchSettings,
    pasted: PastedText,
) -> list[list[float]]:
    """What the second pass adds to the score of each node, as ``PARTS``. Nodes with the whole query are the first."""
    words = query_words(context, query)
    languages = {name: tree.language for name, tree in snapshot.settings.trees.items()}
    for_links, for_page_links = words.rarity * settings.in_links, words.rarity * settings.page_links
    stub = min(settings.stub_tokens, snapshot.mean_tokens / _STUB)
    links = snapshot.numbers([match.address for match in matches], IN_LINKS, PAGE_LINKS)
    for_body = settings.adjacent_body * pasted.rarity
    in_bodies = [for_body * pasted.shares.get((match.number, match.position), 0.0) for match in matches]
    evidences = [match.score + in_body for match, in_body in zip(matches, in_bodies, strict=True)]
    enough = _EQUAL * max(evidences)
    outlines, records, any_language = snapshot.outlines, snapshot.records, words.any_language
    scores: list[list[float]] = []
    for match, (to_node, to_page), in_body, evidence in zip(matches, links, in_bodies, evidences, strict=True):
        title = outlines[match.number].titles[match.position]
        for_title = adjacent = 0.0
        if not any_language.isdisjoint(title):
            record = records[match.number]
            language = languages[record.tree]
            rarities, total = context.dictionary.title_rarities(title, language)
            in_query = words.terms[language]
            said = sum([rarity for term, rarity in rarities.items() if term in in_query])
            if said and words.rarity:  # a title of one word among five is worth little more than that word
                for_title = settings.title_coverage * said / total * 2 / (1 / words.rarity + 1 / said)
            if record.tokens < stub:  # a glossary entry has the title, and another page explains it
                for_title *= record.tokens / stub
            if words.pairs[language]:
                pairs = words.pairs[language].intersection(pairwise(title))
                adjacent = sum([rarities[left] + rarities[right] for left, right in pairs])
        # Priors choose between nodes with about the same evidence, and do not lift one that has little.
        bound = 1.0 if evidence >= enough else (evidence / enough) ** _BOUND
        in_links = bound * for_links * log1p(to_node) if to_node else 0.0
        in_page_links = bound * for_page_links * log1p(to_page) if to_page else 0.0
        scores.append([bound * for_title, settings.adjacent * adjacent, in_body, in_links, in_page_links, 0.0])
    if pasted.verbatim:
        sums = [match.score + sum(more) for match, more in zip(matches, scores, strict=True)]
        for more, score in zip(scores[: len(pasted.verbatim)], sums, strict=False):
            more[-1] = _FIRST * max(sums) + score / 10 - score
    return scores
