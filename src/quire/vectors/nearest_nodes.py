"""The nodes whose vectors are nearest to that of a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from quire.embed import Embedder
from quire.index.engine.snapshot import Location, Snapshot
from quire.vectors.vector_folder import VectorFolder


class Nearest(NamedTuple):
    """Nodes near a query, the nearest first."""

    similarity: dict[Location, float]
    """From -1 to 1."""
    usual: float
    """The similarity of a node in the middle, which has nothing to do with the query."""


def nearest_nodes(
    folder: VectorFolder,
    snapshot: Snapshot,
    embedder: Embedder,
    query: str,
    limit: int,
    is_wanted: Callable[[str], bool] | None = None,
) -> Nearest:
    """The ``limit`` nodes nearest to ``query``, of documents whose ids ``is_wanted``.

    A document that has changed since it was embedded has no vectors.
    """
    files = snapshot.files
    usable = [
        (key, each)
        for key, each in folder.table.documents.items()
        if key in files and files[key].digest == each.digest and (is_wanted is None or is_wanted(key))
    ]
    rows = np.fromiter((row for _, each in usable for row in each.rows), dtype=np.int64)
    if not len(rows):
        return Nearest({}, 0.0)
    vector = np.asarray(embedder.embed([query]), dtype=np.float32)[0]
    vector /= np.linalg.norm(vector) or 1.0
    scores = (folder.matrix() @ vector)[rows]
    owners = [(key, position) for key, each in usable for position in each.positions]
    best: dict[Location, float] = {}
    for index in np.argsort(-scores, kind="stable")[: 4 * limit]:
        best.setdefault(owners[index], float(scores[index]))
        if len(best) >= limit:
            break
    return Nearest(best, float(np.median(scores)))


def without_vectors(folder: VectorFolder | None, snapshot: Snapshot) -> int:
    """How many nodes search by meaning does not find."""
    known = folder.table.documents if folder else {}
    return sum(
        record.nodes
        for key, record in snapshot.files.items()
        if not record.failed and (key not in known or known[key].digest != record.digest)
    )
