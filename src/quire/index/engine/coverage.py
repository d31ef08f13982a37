"""The share of a query that a node's own title and body satisfy, without titles, paths and front matter above it.

The engine adds it up: every item of the query has a constant score, its part of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import tantivy

from quire.index.engine.clauses import ClauseBuilder, QueryContext, Variant, all_items, best_of, is_plain
from quire.query.query_tree import Either, Not, Phrase, Query, Word

_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
_IN_TEXT, _HEADING_BONUS = 0.99, 0.01  # the share for a query that a node satisfies, and the bonus if its heading does
DIGITS = 5
TOLERANCE = 2 * 10.0**-DIGITS  # shares that differ by less are equal: they are rounded sums of weights
_CLAUSES_PER_QUERY = 24  # clauses are nested, so not too many of them
_TITLE: Mapping[str, float] = {"title": 1.0}
_BODY: Mapping[str, float] = {"body": 1.0}


class Coverage(NamedTuple):
    """Clauses whose scores add up to the share of a query that a node satisfies."""

    text: Sequence[tantivy.Query] = ()  # in its title or body
    heading: Sequence[tantivy.Query] = ()  # in its title

    def __add__(self, other: Coverage) -> Coverage:  # type: ignore[override]  # not as tuples
        return Coverage((*self.text, *other.text), (*self.heading, *other.heading))


def coverage(context: QueryContext, query: Query) -> Coverage:
    """The clauses for a query; none if it searches for no text."""
    return _all(context, all_items(query), 1.0)


def filtered_queries(wanted: Coverage, among: tantivy.Query, documents: tantivy.Query) -> Iterator[tantivy.Query]:
    """Queries whose scores add up to the share, for the nodes of a filter.

    ``documents`` matches those that get no heading bonus: the title of a document is about everything in it.
    """
    sections = tantivy.Query.boolean_query([(_MUST, among), (_NOT, documents)])
    for first in range(0, max(map(len, wanted)), _CLAUSES_PER_QUERY):
        some = slice(first, first + _CLAUSES_PER_QUERY)
        text, heading = _nested(among, wanted.text[some]), _nested(sections, wanted.heading[some])
        bonus = tantivy.Query.boost_query(heading, _HEADING_BONUS)
        yield tantivy.Query.boolean_query([(_MUST, tantivy.Query.boost_query(text, _IN_TEXT)), (_SHOULD, bonus)])


def _nested(among: tantivy.Query, clauses: Sequence[tantivy.Query]) -> tantivy.Query:
    """The clauses are nested, so the engine looks up each only where the filter matches.

    Side by side, it would go through all matches of each.
    """
    query = tantivy.Query.const_score_query(among, 0.0)
    for clause in clauses:
        query = tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, clause)])
    return query


def _all(context: QueryContext, items: Sequence[Query], weight: float) -> Coverage:
    required = [item for item in context.required(items) if _searches_text(item)]
    total = sum(map(_weight, required))
    shares = [_item(context, item, weight * _weight(item) / total) for item in required if total]
    return sum(shares, start=Coverage())


def _item(context: QueryContext, item: Query, weight: float) -> Coverage:
    if isinstance(item, Either):
        return _best([_item(context, each, weight) for each in item.items])
    if not isinstance(item, Word | Phrase):
        return _all(context, all_items(item), weight)
    flag = context.flag(item)
    if flag is None:
        return _leaf(context, item, weight)
    # A command-line flag counts in full only with its dashes.
    return _leaf(context, item, weight / 2) + Coverage((_constant([flag], weight / 2),))


def _leaf(context: QueryContext, item: Word | Phrase, weight: float) -> Coverage:
    titles, bodies = (ClauseBuilder(context, boosts, bonus=False) for boosts in (_TITLE, _BODY))
    if not is_plain(item):
        return _in_title_or_body(titles.build(item), bodies.build(item), weight)
    variants = list(titles.variants(item))
    whole = [variant for variant in variants if len(variant.groups) == 1]
    found = [_in_title_or_body(titles.any_variant(whole), bodies.any_variant(whole), weight)]
    found += [_name(titles, bodies, variant, weight) for variant in variants if len(variant.groups) > 1]
    return _best([each for each in found if each.text])


def _in_title_or_body(title: tantivy.Query | None, body: tantivy.Query | None, weight: float) -> Coverage:
    found = [query for query in (title, body) if query is not None]
    return (
        Coverage((_constant(found, weight),), (_constant([title], weight),) if title is not None else ())
        if found
        else Coverage()
    )


def _name(titles: ClauseBuilder, bodies: ClauseBuilder, variant: Variant, weight: float) -> Coverage:
    """The parts of a name, which may be apart or missing. The heading must have all of them."""
    parts = [[variant._replace(groups=[group])] for group in variant.groups]
    shares = [
        _in_title_or_body(titles.any_variant(part), bodies.any_variant(part), weight / len(parts)) for part in parts
    ]
    headings = [query for part in parts if (query := titles.any_variant(part)) is not None]
    whole = tantivy.Query.boolean_query([(_MUST, query) for query in headings])
    return Coverage(sum(shares, start=Coverage()).text, (_constant([whole], weight),))


def _best(alternatives: Sequence[Coverage]) -> Coverage:
    if len(alternatives) < 2:
        return next(iter(alternatives), Coverage())
    text, heading = ([_sum(clauses) for clauses in each if clauses] for each in zip(*alternatives, strict=True))
    return Coverage(*((best,) if (best := best_of(each, 0.0)) is not None else () for each in (text, heading)))


def _sum(clauses: Sequence[tantivy.Query]) -> tantivy.Query:
    return clauses[0] if len(clauses) == 1 else tantivy.Query.boolean_query([(_SHOULD, each) for each in clauses])


def _constant(queries: Sequence[tantivy.Query], weight: float) -> tantivy.Query:
    """This score for a node that matches one of the queries."""
    return tantivy.Query.const_score_query(_sum(queries), weight)


def _searches_text(item: Query) -> bool:
    """Whether a node's own text can satisfy an item."""
    if isinstance(item, Word | Phrase):
        return item.field in (None, "title", "body")
    return not isinstance(item, Not) and any(_searches_text(each) for each in item.items)


def _weight(item: Query) -> float:
    if isinstance(item, Word | Phrase):
        return item.boost
    return 0.0 if isinstance(item, Not) else max(_weight(each) for each in item.items)
