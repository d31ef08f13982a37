"""The share of a query that a node's own title and body satisfy, without titles, paths and front matter above it.

The engine adds it up: every item of the query has a constant score, its part of the whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import tantivy

from quire.index.engine.clauses import ClauseBuilder, QueryContext, Variant, all_items, best_of, is_plain, one_of
from quire.index.engine.index_schema import DOC, NUMBER, POSITION
from quire.index.engine.snapshot import Snapshot
from quire.query.query_tree import Either, Not, Phrase, Query, Word

_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
_IN_TEXT, _HEADING_BONUS = 0.99, 0.01  # the share for a query that a node satisfies, and the bonus if its heading does
_DIGITS = 5
TOLERANCE = 2 * 10.0**-_DIGITS  # shares that differ by less are equal: they are rounded sums of weights
_TITLE: Mapping[str, float] = {"title": 1.0}
_BODY: Mapping[str, float] = {"body": 1.0}

Clauses = Sequence[tantivy.Query]  # their scores add up


class _Share(NamedTuple):
    """What a part of a query scores in a node that satisfies it."""

    text: Clauses = ()  # in its title or body
    heading: Clauses = ()  # in its title


def own_shares(
    snapshot: Snapshot, context: QueryContext, query: Query, numbers: Iterable[int]
) -> dict[tuple[int, int], float]:
    """The shares of the nodes of some documents, by document number and position; none if it searches for no text.

    A document gets no bonus for its heading: the title of a document is about everything in it.
    """
    shares = _all(context, all_items(query), 1.0)
    if not shares.text:
        return {}
    is_document = (_NOT, tantivy.Query.term_query(context.schema, POSITION, 0))
    headings = [tantivy.Query.boolean_query([(_MUST, clause), is_document]) for clause in shares.heading]
    scores = scores_inside(snapshot, numbers, [*shares.text, *headings])
    return {key: round(score, _DIGITS) for key, score in scores.items()}


def scores_inside(snapshot: Snapshot, numbers: Iterable[int], clauses: Clauses) -> dict[tuple[int, int], float]:
    """The scores of all nodes of some documents, by document number and position.

    Nested, the engine looks up each clause only where the filter matches. Side by side, it would go through all matches
    of each.
    """
    documents = [snapshot.document_ids[number] for number in numbers]
    query = tantivy.Query.const_score_query(one_of(snapshot.schema, DOC, documents), 0.0)
    for clause in clauses:
        query = tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, clause)])
    hits = snapshot.top(query, snapshot.node_count(documents))
    keys = snapshot.numbers([address for _, address in hits], NUMBER, POSITION)
    return {(number, position): score for (number, position), (score, _) in zip(keys, hits, strict=True)}


def _all(context: QueryContext, items: Sequence[Query], weight: float) -> _Share:
    required = [item for item in context.required(items) if _searches_text(item)]
    total = sum([_weight(item) for item in required])
    return _added([_item(context, item, weight * _weight(item) / total) for item in required if total])


def _item(context: QueryContext, item: Query, weight: float) -> _Share:
    if isinstance(item, Either):
        return _best([_item(context, alternative, weight) for alternative in item.items])
    if not isinstance(item, Word | Phrase):
        return _all(context, all_items(item), weight)
    flag = context.flag(item)
    if flag is None:
        return _leaf(context, item, weight)
    # A command-line flag counts in full only with its dashes.
    return _added([_leaf(context, item, weight / 2), _Share([_constant([flag], _IN_TEXT * weight / 2)])])


def _leaf(context: QueryContext, item: Word | Phrase, weight: float) -> _Share:
    titles, bodies = (ClauseBuilder(context, boosts, bonus=False) for boosts in (_TITLE, _BODY))
    if not is_plain(item):
        return _in_title_or_body(titles.build(item), bodies.build(item), weight)
    variants = list(titles.variants(item))
    whole = [variant for variant in variants if len(variant.groups) == 1]
    shares = [_in_title_or_body(titles.any_variant(whole), bodies.any_variant(whole), weight)]
    shares += [_name(titles, bodies, variant, weight) for variant in variants if len(variant.groups) > 1]
    return _best([share for share in shares if share.text])


def _in_title_or_body(title: tantivy.Query | None, body: tantivy.Query | None, weight: float) -> _Share:
    queries = [query for query in (title, body) if query is not None]
    text = [_constant(queries, _IN_TEXT * weight)] if queries else []
    return _Share(text, [_constant([title], _HEADING_BONUS * weight)] if title is not None else [])


def _name(titles: ClauseBuilder, bodies: ClauseBuilder, variant: Variant, weight: float) -> _Share:
    """The parts of a name, which may be apart or missing. The heading must have all of them."""
    parts = [[variant._replace(groups=[group])] for group in variant.groups]
    in_titles = [titles.any_variant(part) for part in parts]
    shares = [
        _in_title_or_body(title, bodies.any_variant(part), weight / len(parts))
        for title, part in zip(in_titles, parts, strict=True)
    ]
    whole = tantivy.Query.boolean_query([(_MUST, query) for query in in_titles if query is not None])
    return _Share(_added(shares).text, [_constant([whole], _HEADING_BONUS * weight)])


def _added(shares: Sequence[_Share]) -> _Share:
    text = [clause for share in shares for clause in share.text]
    return _Share(text, [clause for share in shares for clause in share.heading])


def _best(alternatives: Sequence[_Share]) -> _Share:
    if len(alternatives) < 2:
        return alternatives[0] if alternatives else _Share()
    text, heading = ([_sum(clauses) for clauses in column if clauses] for column in zip(*alternatives, strict=True))
    return _Share(*([best] if (best := best_of(clauses, 0.0)) is not None else [] for clauses in (text, heading)))


def _sum(clauses: Clauses) -> tantivy.Query:
    return clauses[0] if len(clauses) == 1 else tantivy.Query.boolean_query([(_SHOULD, clause) for clause in clauses])


def _constant(queries: Clauses, weight: float) -> tantivy.Query:
    """This score for a node that matches one of the queries."""
    return tantivy.Query.const_score_query(_sum(queries), weight)


def _searches_text(item: Query) -> bool:
    """Whether a node's own text can satisfy an item."""
    if isinstance(item, Word | Phrase):
        return item.field in (None, "title", "body")
    return not isinstance(item, Not) and any(_searches_text(inner) for inner in item.items)


def _weight(item: Query) -> float:
    if isinstance(item, Word | Phrase):
        return item.boost
    return 0.0 if isinstance(item, Not) else max(_weight(inner) for inner in item.items)
