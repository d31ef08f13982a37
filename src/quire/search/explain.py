"""How the score of a result and its merging came about, for ``--explain``."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import asdict

from quire.index.engine.clauses import ClauseBuilder, QueryContext, all_items
from quire.index.engine.index_schema import FLAGS
from quire.index.engine.snapshot import Address, Snapshot
from quire.query import show
from quire.query.query_tree import Query, leaves
from quire.search.matching_nodes import PreparedQuery, score_factor
from quire.search.merge import Merged
from quire.search.second_pass import PARTS


def explanation(prepared: PreparedQuery, result: Merged) -> dict[str, Any]:
    """The score of every constituent by items and words, and the steps of merging."""
    snapshot, context, query = prepared.snapshot, prepared.context, prepared.query
    matches = result.constituents
    nodes = snapshot.nodes([match.address for match in matches])
    scores = []
    for match, node in zip(matches, nodes, strict=True):
        parts = prepared.second.get((match.number, match.position), ())
        items = _item_scores(context, snapshot, query, match.address)
        items += [{"item": name, "score": round(score, 3)} for name, score in zip(PARTS, parts, strict=False) if score]
        if match.number in prepared.weights:
            lost = (score_factor(prepared, match) - 1) * sum([item["score"] for item in items])
            items.append({"item": "weight", "score": round(lost, 3)})
        scores.append(
            {
                "id": node.id,
                "score": round(match.score, 6),  # many small ones may add up
                "items": items,
                "words": _word_scores(context, snapshot, query, match.address),
            }
        )
    return {"scores": scores, "merging": [asdict(step) for step in result.trail]}


def _item_scores(context: QueryContext, snapshot: Snapshot, query: Query, address: Address) -> list[dict[str, Any]]:
    """The score of each item of the query in a node. Their sum is the node's score before normalization."""
    builder, items = ClauseBuilder(context, context.boosts), all_items(query)
    clauses = [(item, builder.build(item)) for item in context.required(items)] + builder.function_words(items)
    scores = [(show(item), _score(snapshot, clause, address)) for item, clause in clauses if clause is not None]
    return [{"item": name, "score": round(score, 3)} for name, score in scores if score]


def _word_scores(context: QueryContext, snapshot: Snapshot, query: Query, address: Address) -> list[dict[str, Any]]:
    """The score of each word and phrase in each field of a node, the highest first; they do not add up."""
    scores = [
        {"word": word, "field": name, "score": round(score, 3)}
        for word, name, clause in _words_by_field(context, query)
        if (score := _score(snapshot, clause, address))
    ]
    return sorted(scores, key=lambda row: -row["score"])


def _words_by_field(context: QueryContext, query: Query) -> Iterator[tuple[str, str, Any]]:
    for leaf in leaves(query):
        for name, boost in ({leaf.field: 1.0} if leaf.field else context.boosts).items():
            clause = ClauseBuilder(context, {name: boost}, bonus=False).build(leaf) if boost > 0 else None
            if clause is not None:
                yield leaf.text, name, clause
        flag = context.flag(leaf)
        if flag is not None:
            yield leaf.text, FLAGS, flag


def _score(snapshot: Snapshot, query: Any, address: Address) -> float:
    try:
        return float(msgspec.json.decode(query.explain(snapshot.searcher, address).to_json())["value"])
    except ValueError:  # the query does not match
        return 0.0
