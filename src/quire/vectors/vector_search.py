"""Search by meaning: the vectors of an index, and the nodes whose vectors are nearest to that of a query."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from quire.embed import Embedder, query_vector, resolve
from quire.errors import StoreError
from quire.index.engine.snapshot import Location, Snapshot
from quire.index.file_records import FileRecord
from quire.search.fusion import Near
from quire.vectors.node_vectors import VectorFolder, VectorUpdate, update_vectors
from quire.vectors.vector_files import Table, current_folder, table_time

_LIMIT = 100
"""How many nodes are found by meaning."""
_PASSAGES = 4
"""A node may have several vectors, so this many times as many are looked at."""


class VectorSearch:
    """The vectors of an index."""

    def __init__(self, index: Path, embedder: object = None) -> None:
        self._index = index
        self._configured = embedder
        self._embedder: Embedder | None = None
        self._last: tuple[Snapshot, int, VectorFolder, _NodeVectors] | None = None

    def update(
        self, snapshot: Snapshot, embedder: object, on_progress: Callable[[int, int, str], None] | None = None
    ) -> VectorUpdate:
        """Give every node its vector; None is the embedder of the last time."""
        self._embedder = self._known_embedder(self._vectors()) if embedder is None else resolve(embedder)
        name = embedder if isinstance(embedder, str) else ""
        self._last = None
        return update_vectors(self._index, snapshot, self._embedder, name=name, on_progress=on_progress)

    def finder(
        self, snapshot: Snapshot, weight: float, is_wanted: Callable[[FileRecord], bool] | None
    ) -> Callable[[str], Near]:
        """A function that finds the nodes nearest to a query."""
        folder, vectors = self._of(snapshot)
        return partial(vectors.nearest, self._known_embedder(folder), weight=weight, is_wanted=is_wanted)

    def _of(self, snapshot: Snapshot) -> tuple[VectorFolder, _NodeVectors]:
        """The vectors of a snapshot, kept until it or their table changes."""
        changed = table_time(self._index)
        if self._last is None or self._last[0] is not snapshot or self._last[1] != changed:
            folder = self._vectors()
            self._last = snapshot, changed, folder, _NodeVectors(folder, snapshot)
        return self._last[2], self._last[3]

    def embedder(self) -> Embedder:
        """The embedder of the vectors."""
        return self._known_embedder(self._vectors())

    def _vectors(self) -> VectorFolder:
        folder = current_folder(self._index)
        vectors = VectorFolder.load(folder) if folder else None
        if vectors is None:
            raise StoreError(str(self._index), "has no vectors", "run: quire index --vectors, or Index.embed")
        return vectors

    def _known_embedder(self, vectors: VectorFolder) -> Embedder:
        """The embedder that was used last, else the one that the table names, else the configured one."""
        table = vectors.table
        if self._embedder is None or not _is_of(table, self._embedder):
            configured = table.embedder or self._configured
            embedder = None if configured is None else resolve(configured)
            if embedder is None or not (table.embedder or _is_of(table, embedder)):
                problem = f"its vectors are those of {' '.join(filter(None, [table.model, table.version]))}"
                advice = "name this model: --endpoint and --model, [embed] in your own quire.toml, or Index.open"
                raise StoreError(str(self._index), problem, advice)
            self._embedder = embedder
        return self._embedder


def _is_of(table: Table, embedder: Embedder) -> bool:
    return (embedder.name, embedder.version) == (table.model, table.version)


class _NodeVectors:
    """The vectors of a snapshot's nodes. A document that has changed since it was embedded has none."""

    def __init__(self, folder: VectorFolder, snapshot: Snapshot) -> None:
        files = snapshot.files
        documents = folder.table.documents.items()
        usable = [
            (files[key], vectors) for key, vectors in documents if key in files and files[key].digest == vectors.digest
        ]
        self._records = [record for record, _ in usable]
        self._rows = np.fromiter((row for _, vectors in usable for row in vectors.rows), dtype=np.int64)
        self._positions = [position for _, vectors in usable for position in vectors.positions]
        self._documents: Any = np.repeat(np.arange(len(usable)), [len(vectors.rows) for _, vectors in usable])
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
        vector = np.asarray(query_vector(embedder, query), dtype=np.float32)
        vector /= np.linalg.norm(vector) or 1.0
        scores: Any = (self._matrix @ vector)[self._rows]
        return scores
