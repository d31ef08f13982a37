"""How the score of a result and its merging came about, for ``--explain``."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from quire.index.engine.score_parts import item_scores, word_scores
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
        items = item_scores(context, snapshot, query, match.address)
        items += [{"item": name, "score": round(score, 3)} for name, score in zip(PARTS, parts, strict=False) if score]
        if match.number in prepared.weights:
            lost = (score_factor(prepared, match) - 1) * sum([item["score"] for item in items])
            items.append({"item": "weight", "score": round(lost, 3)})
        scores.append(
            {
                "id": node.id,
                "score": round(match.score, 6),  # many small ones may add up
                "items": items,
                "words": word_scores(context, snapshot, query, match.address),
            }
        )
    return {"scores": scores, "merging": [asdict(step) for step in result.trail]}
