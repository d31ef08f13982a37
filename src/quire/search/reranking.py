"""The best results in the order of a reranking model, if ``search.rerank`` names its endpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from quire.index.engine.snapshot import Snapshot
from quire.index.node import Node
from quire.search.merge import Merged

RERANKED = 50
"""How many results the model sees."""
Rerank = Callable[[str, Sequence[str]], Sequence[float]]
"""The scores of texts for a query."""


def reranked(
    snapshot: Snapshot, query: str, results: Sequence[Merged], nodes: Sequence[Node], rerank: Rerank
) -> list[Merged]:
    """The results in the order of their scores by ``rerank``, with the scores that results of these ranks had.

    Scores of models have no common scale, and the cut-off needs one. Equal scores keep their order.
    """
    best = results[:RERANKED]
    texts = [_text(snapshot, result, node) for result, node in zip(best, nodes, strict=True)]
    by_model = rerank(query, texts) if texts else ()
    order = sorted(range(len(best)), key=lambda index: -by_model[index])
    moved = [replace(best[index], score=best[rank].score) for rank, index in enumerate(order)]
    return [*moved, *results[RERANKED:]]


def _text(snapshot: Snapshot, result: Merged, node: Node) -> str:
    """The headings of a result, its own text, and the texts of the sections that matched in it."""
    inside = snapshot.nodes([match.address for match in result.constituents if match.position != result.position])
    return "\n\n".join([" > ".join(node.breadcrumb), node.body_text, *(below.body_text for below in inside)])
