"""Models in a search: one score from the words and the vectors; reranking, if ``search.rerank`` names an endpoint."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from quire.index.engine.clauses import all_items, is_plain
from quire.index.engine.snapshot import Location, Match, Snapshot
from quire.index.node import Node
from quire.query.query_tree import Group, Query
from quire.search.merge import Merged

Mode = Literal["words", "meaning", "hybrid"]
RERANKED = 50
"""How many results the model sees."""
Rerank = Callable[[str, Sequence[str]], Sequence[float]]
"""The scores of texts for a query."""


class Near(NamedTuple):
    """The nodes nearest to a query by their vectors."""

    similarity: Mapping[Location, float]
    """From -1 to 1, the largest first."""
    baseline: float
    """The similarity of a node that has nothing to do with the query."""
    weight: float
    """The part of a score that is the vectors'; the rest is the words'."""


def is_plain_query(query: Query) -> bool:
    """Whether a query has words alone. One with operators is searched by words: vectors know no operators."""
    return all(is_plain(item) or isinstance(item, Group) for item in all_items(query))


def fused(snapshot: Snapshot, matches: Sequence[Match], near: Near) -> list[Match]:
    """The nodes found by words and by meaning, the best first, with scores up to 1."""
    best = matches[0].score if matches and matches[0].score > 0 else 1.0
    largest = max(near.similarity.values(), default=1.0)
    scale = max(largest - near.baseline, 1e-6)
    meanings = {
        location: max(similarity - near.baseline, 0.0) / scale for location, similarity in near.similarity.items()
    }
    by_words = {(snapshot.document_ids[match.number], match.position): match for match in matches}
    others = snapshot.addresses([location for location in meanings if location not in by_words])
    by_meaning = snapshot.matches_at([(near.weight * meanings[location], others[location]) for location in others])
    both = [
        replace(match, score=(1 - near.weight) * match.score / best + near.weight * meanings.get(location, 0.0))
        for location, match in by_words.items()
    ]
    return sorted([*both, *by_meaning], key=lambda match: -match.score)


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
