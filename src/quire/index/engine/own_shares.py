"""How much of the query the best nodes have in their own title and body.

The engine adds shares up: every item of the query has a constant score, its part of the whole.
"""

from collections.abc import Sequence
from functools import reduce

import tantivy

from quire.index.engine import first_pass
from quire.index.engine.first_pass import ClauseBuilder, QueryContext, all_items, any_of, best_of
from quire.index.engine.node_fields import DOC, POSITION
from quire.index.engine.snapshot import Snapshot
from quire.model.query_tree import Either, Phrase, Query, Word, leaves

_IN_TEXT, _HEADING_BONUS = 0.99, 0.01  # the share for a query that a node satisfies, and the bonus if its heading does
_DIGITS = 5
TOLERANCE = 2 * 10.0**-_DIGITS  # shares that differ by less are equal: they are rounded sums of weights

Clauses = list[tantivy.Query]  # their scores add up
Shares = dict[tuple[int, int], float]  # of nodes, by document number and position


def own_shares(snapshot: Snapshot, context: QueryContext, query: Query, numbers: Sequence[int]) -> Shares:
    """The shares of a query that the nodes of some documents satisfy; none if it searches for no text.

    A document gets no bonus for its heading: the title of a document is about everything in it.
    """
    in_text = _all(context, all_items(query), _IN_TEXT, ("title", "body"))
    if not in_text:
        return {}
    is_document = (tantivy.Occur.MustNot, tantivy.Query.term_query(context.schema, POSITION, 0))
    in_heading = _all(context, all_items(query), _HEADING_BONUS, ("title",))
    headings = [tantivy.Query.boolean_query([(tantivy.Occur.Must, clause), is_document]) for clause in in_heading]
    shares = scores_inside(snapshot, numbers, [*in_text, *headings])
    return {key: round(share, _DIGITS) for key, share in shares.items()}


def scores_inside(snapshot: Snapshot, numbers: Sequence[int], clauses: Clauses) -> Shares:
    """The scores of all nodes of some documents.

    Nested, the engine looks up each clause only where the filter matches. Side by side, it would go through all matches
    of each.
    """
    documents = list(map(snapshot.document_id, numbers))
    inside = tantivy.Query.const_score_query(first_pass.one_of(snapshot.schema, DOC, documents), 0.0)
    query = reduce(first_pass.plus, clauses, inside)
    matches = snapshot.matches_at(snapshot.top(query, snapshot.node_count(numbers)))
    return {(match.number, match.position): match.score for match in matches}


def _all(context: QueryContext, items: Sequence[Query], weight: float, fields: Sequence[str]) -> Clauses:
    """Clauses whose scores are together ``weight`` in a node that has all items in one of the fields."""
    wanted = [
        (item, max([leaf.boost for leaf in leaves(item)]))
        for item in context.required(items)
        if any(leaf.field in (None, "title", "body") for leaf in leaves(item))
    ]
    total = sum([boost for _, boost in wanted])
    parts = [_item(context, item, weight * boost / total, fields) for item, boost in wanted if total]
    return [clause for part in parts for clause in part]


def _item(context: QueryContext, item: Query, weight: float, fields: Sequence[str]) -> Clauses:
    if isinstance(item, Either):
        return _best([_item(context, alternative, weight, fields) for alternative in item.items])
    if not isinstance(item, Word | Phrase):
        return _all(context, all_items(item), weight, fields)
    flag = context.flag(item)
    if flag is None:
        return _leaf(context, item, weight, fields)
    # A command-line flag counts in full only with its dashes.
    dashes = _constant(flag, weight / 2) if "body" in fields else []
    return [*_leaf(context, item, weight / 2, fields), *dashes]


def _leaf(context: QueryContext, item: Word | Phrase, weight: float, fields: Sequence[str]) -> Clauses:
    builder = ClauseBuilder(context, dict.fromkeys(fields, 1.0), bonus=False)
    if not first_pass.is_plain(item):
        return _constant(builder.build(item), weight)
    variants = list(builder.variants(item))
    whole = builder.any_variant([variant for variant in variants if len(variant.groups) == 1])
    alternatives = [_constant(whole, weight)]
    for variant in (each for each in variants if len(each.groups) > 1):
        parts = [builder.any_variant([variant._replace(groups=[group])]) for group in variant.groups]
        if "body" in fields:  # the parts of a name may be apart or missing
            alternatives.append([clause for part in parts for clause in _constant(part, weight / len(parts))])
        else:  # a heading must have all of them
            alternatives.append(_constant(first_pass.all_of([part for part in parts if part]), weight))
    return _best(alternatives)


def _best(alternatives: Sequence[Clauses]) -> Clauses:
    return list(filter(None, [best_of([any_of(clauses) for clauses in alternatives if clauses], 0.0)]))


def _constant(query: tantivy.Query | None, weight: float) -> Clauses:
    return [] if query is None else [tantivy.Query.const_score_query(query, weight)]
