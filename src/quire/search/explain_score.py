"""How the score of a result and its merging came about, for ``--explain``."""

from typing import Any

import msgspec
from msgspec.structs import asdict

from quire.index.engine.first_pass import ClauseBuilder, all_items
from quire.index.engine.node_fields import FLAGS
from quire.index.engine.snapshot import Address, Snapshot
from quire.model.query_tree import leaves
from quire.search.merge import Merged
from quire.search.query_syntax import show
from quire.search.query_terms import PreparedQuery
from quire.search.ranking import PARTS, score_factor


def explanation(prepared: PreparedQuery, result: Merged) -> dict[str, Any]:
    """The score of every constituent by items and words, and the steps of merging."""
    # The scores of items add up to the node's score before normalization; those of words in fields do not.
    snapshot, context, word_clauses = prepared.snapshot, prepared.context, list[tuple[str, str, Any]]()
    for leaf in leaves(prepared.query):  # the words and phrases of the query in each field
        boosts = {leaf.field: 1.0} if leaf.field else context.boosts
        builders = {name: ClauseBuilder(context, {name: boost}, bonus=False) for name, boost in boosts.items() if boost}
        word_clauses += [(leaf.text, name, builder.build(leaf)) for name, builder in builders.items()]
        word_clauses.append((leaf.text, FLAGS, context.flag(leaf)))
    builder, items = ClauseBuilder(context, context.boosts), all_items(prepared.query)
    built = [(item, builder.build(item)) for item in context.required(items)] + builder.function_words(items)
    item_clauses = [(show(item), clause) for item, clause in built if clause is not None]
    scores = []
    for match in result.constituents:
        parts = [(name, _score(snapshot, clause, match.address)) for name, clause in item_clauses]
        parts += zip(PARTS, prepared.second.get((match.number, match.position), ()), strict=False)
        rows: list[dict[str, Any]] = [{"item": name, "score": round(score, 3)} for name, score in parts if score]
        if match.number in prepared.weights:
            lost = (score_factor(prepared, match) - 1) * sum([row["score"] for row in rows])
            rows.append({"item": "weight", "score": round(lost, 3)})
        words: list[dict[str, Any]] = [
            {"word": word, "field": field, "score": round(score, 3)}
            for word, field, clause in word_clauses
            if clause is not None and (score := _score(snapshot, clause, match.address))
        ]
        [node] = snapshot.nodes([match.address])
        score = round(match.score, 6)  # many small ones may add up
        words.sort(key=lambda row: -row["score"])
        scores.append({"id": node.id, "score": score, "items": rows, "words": words})
    return {"scores": scores, "merging": [asdict(step) for step in result.trail]}


def _score(snapshot: Snapshot, query: Any, address: Address) -> float:
    try:
        return float(msgspec.json.decode(query.explain(snapshot.searcher, address).to_json())["value"])
    except ValueError:  # the query does not match
        return 0.0
