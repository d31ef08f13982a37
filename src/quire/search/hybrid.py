"""Search by words and by meaning together: one score from both."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from quire.index.engine.first_pass import all_items, is_plain
from quire.index.engine.snapshot import Location, Match, Snapshot
from quire.model.query_tree import Group, Query


class VectorMatches(NamedTuple):
    """The nodes nearest to a query by their vectors."""

    similarity: Mapping[Location, float]  # from -1 to 1, the largest first
    baseline: float  # the similarity of a node that has nothing to do with the query
    weight: float  # the part of a score that is the vectors'; the rest is the words'


def is_plain_query(query: Query) -> bool:
    """Whether a query has words alone. One with operators is searched by words: vectors know no operators."""
    return all(is_plain(item) or isinstance(item, Group) for item in all_items(query))


def fused(snapshot: Snapshot, matches: Sequence[Match], best: float, near: VectorMatches) -> list[Match]:
    """The nodes found by words, of which the best has the score ``best``, and by meaning; with scores up to 1."""
    base, matches = near.baseline, matches if near.weight < 1 else []
    scale = max(max(near.similarity.values(), default=1.0) - base, 1e-6)
    meanings = {location: max(similarity - base, 0.0) / scale for location, similarity in near.similarity.items()}
    by_words = {(snapshot.document_id(match.number), match.position): match for match in matches}
    others = snapshot.addresses([location for location in meanings if location not in by_words])
    by_meaning = snapshot.matches_at([(near.weight * meanings[location], others[location]) for location in others])
    both = [
        replace(match, score=(1 - near.weight) * match.score / best + near.weight * meanings.get(location, 0.0))
        for location, match in by_words.items()
    ]
    return sorted([*both, *by_meaning], key=lambda match: -match.score)
