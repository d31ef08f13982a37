"""The parts of a node's score, for ``--explain``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import tantivy

from quire.index.engine.clauses import ClauseBuilder, QueryContext, all_items
from quire.index.engine.index_schema import FLAGS
from quire.index.engine.snapshot import Address, Snapshot
from quire.query import show
from quire.query.query_tree import Query, leaves


def item_scores(context: QueryContext, snapshot: Snapshot, query: Query, address: Address) -> list[dict[str, Any]]:
    """The score of each item of the query in a node. Their sum is the node's score before normalization."""
    builder, items = ClauseBuilder(context, context.boosts), all_items(query)
    clauses = [(item, builder.build(item)) for item in context.required(items)] + builder.function_words(items)
    scores = [(show(item), _score(snapshot, clause, address)) for item, clause in clauses if clause is not None]
    return [{"item": name, "score": round(score, 3)} for name, score in scores if score]


def word_scores(context: QueryContext, snapshot: Snapshot, query: Query, address: Address) -> list[dict[str, Any]]:
    """The score of each word and phrase in each field of a node, the highest first; they do not add up."""
    scores = [
        {"word": word, "field": name, "score": round(score, 3)}
        for word, name, clause in _words_by_field(context, query)
        if (score := _score(snapshot, clause, address))
    ]
    return sorted(scores, key=lambda row: -row["score"])


def _words_by_field(context: QueryContext, query: Query) -> Iterator[tuple[str, str, tantivy.Query]]:
    for leaf in leaves(query):
        for name, boost in ({leaf.field: 1.0} if leaf.field else context.boosts).items():
            clause = ClauseBuilder(context, {name: boost}, bonus=False).build(leaf) if boost > 0 else None
            if clause is not None:
                yield leaf.text, name, clause
        flag = context.flag(leaf)
        if flag is not None:
            yield leaf.text, FLAGS, flag


def _score(snapshot: Snapshot, query: tantivy.Query, address: Address) -> float:
    try:
        return float(msgspec.json.decode(query.explain(snapshot.searcher, address).to_json())["value"])
    except ValueError:  # the query does not match
        return 0.0
