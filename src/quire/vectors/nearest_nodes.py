"""The nodes whose vectors are nearest to that of a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quire.embed import Embedder
from quire.index.engine.snapshot import Location, Snapshot
from quire.index.file_records import FileRecord
from quire.search.fusion import Near
from quire.vectors.vector_folder import VectorFolder

_LIMIT = 100
"""How many nodes are found by meaning."""
_PASSAGES = 4
"""A node may have several vectors, so this many times as many are looked at."""


class NodeVectors:
    """The vectors of a snapshot's nodes. A document that has changed since it was embedded has none."""

    def __init__(self, folder: VectorFolder, snapshot: Snapshot) -> None:
        files = snapshot.files
        known = folder.table.documents.items()
        usable = [(files[key], each) for key, each in known if key in files and files[key].digest == each.digest]
        self._records = [record for record, _ in usable]
        self._rows = np.fromiter((row for _, each in usable for row in each.rows), dtype=np.int64)
        self._positions = [position for _, each in usable for position in each.positions]
        self._documents: Any = np.repeat(np.arange(len(usable)), [len(each.rows) for _, each in usable])
        self._matrix = folder.matrix()

    def nearest(
        self, embedder: Embedder, query: str, *, weight: float, is_wanted: Callable[[FileRecord], bool] | None
    ) -> Near:
        """The nodes nearest to ``query``, of documents that are wanted."""
        scores = self._scores(embedder, query)
        if is_wanted is not None and len(scores):
            wanted = np.array([is_wanted(record) for record in self._records])
            scores = np.where(wanted[self._documents], scores, -2.0)
        if not len(scores) or scores.max() < -1.5:
            return Near({}, 0.0, weight)
        count = min(_PASSAGES * _LIMIT, len(scores))
        first = np.argpartition(-scores, count - 1)[:count]
        best: dict[Location, float] = {}
        for index in first[np.argsort(-scores[first], kind="stable")]:
            if scores[index] > -1.5 and len(best) < _LIMIT:
                location = self._records[self._documents[index]].id, self._positions[index]
                best.setdefault(location, float(scores[index]))
        return Near(best, float(np.median(scores[scores > -1.5])), weight)

    def _scores(self, embedder: Embedder, query: str) -> Any:
        if not len(self._rows):
            return np.zeros(0, dtype=np.float32)
        vector = np.asarray(embedder.embed([query]), dtype=np.float32)[0]
        vector /= np.linalg.norm(vector) or 1.0
        scores: Any = (self._matrix @ vector)[self._rows]
        return scores
