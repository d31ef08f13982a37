"""Search by meaning as well: one score from that of the words and that of the vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from quire.index.engine.clauses import all_items, is_plain
from quire.index.engine.snapshot import Location, Ranked, Snapshot
from quire.query.query_tree import All, Query

Mode = Literal["words", "meaning", "hybrid"]


class Near(NamedTuple):
    """The nodes nearest to a query by their vectors."""

    similarity: Mapping[Location, float]
    """From -1 to 1, the largest first."""
    usual: float
    """The similarity of a node that has nothing to do with the query."""
    weight: float
    """The part of a score that is the vectors'; the rest is the words'."""


def is_plain_query(query: Query) -> bool:
    """Whether a query has words alone. One with operators is searched by words: vectors know no operators."""
    return all(is_plain(item) or isinstance(item, All) for item in all_items(query))


def fused(snapshot: Snapshot, top: Sequence[Ranked], near: Near) -> list[Ranked]:
    """The nodes found by words and by meaning, the best first, with scores up to 1."""
    best = top[0][0] if top and top[0][0] > 0 else 1.0
    largest = max(near.similarity.values(), default=1.0)
    scale = max(largest - near.usual, 1e-6)
    meanings = {location: max(each - near.usual, 0.0) / scale for location, each in near.similarity.items()}
    words = {
        (snapshot.record(node_key[0]).id, node_key[1]): (score, address, node_key) for score, address, node_key in top
    }
    both = [
        ((1 - near.weight) * score / best + near.weight * meanings.get(location, 0.0), address, node_key)
        for location, (score, address, node_key) in words.items()
    ]
    others = snapshot.addresses([location for location in meanings if location not in words])
    node_keys = snapshot.node_keys(list(others.values()))
    both += [
        (near.weight * meanings[location], address, node_key)
        for (location, address), node_key in zip(others.items(), node_keys, strict=True)
    ]
    return sorted(both, key=lambda each: -each[0])
