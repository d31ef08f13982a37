"""Search by meaning in an index: its vectors, kept in step, and its embedder, loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from quire.embed import Embedder, resolve
from quire.errors import StoreError
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import FileRecord
from quire.search.fusion import Near
from quire.vectors.nearest_nodes import NodeVectors
from quire.vectors.node_vectors import VectorUpdate, update_vectors
from quire.vectors.vector_files import table_time
from quire.vectors.vector_folder import VectorFolder, current_vectors


class Meaning:
    """The vectors of an index."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._embedder: Embedder | None = None
        self._last: tuple[Snapshot, int, VectorFolder, NodeVectors] | None = None

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

    def _of(self, snapshot: Snapshot) -> tuple[VectorFolder, NodeVectors]:
        """The vectors of a snapshot, kept until it or their table changes."""
        changed = table_time(self._index)
        if self._last is None or self._last[0] is not snapshot or self._last[1] != changed:
            folder = self._vectors()
            self._last = snapshot, changed, folder, NodeVectors(folder, snapshot)
        return self._last[2], self._last[3]

    @property
    def embedder_name(self) -> str:
        """How ``embed.resolve`` finds the embedder; empty for one that was given as an object."""
        return self._vectors().table.embedder

    def _vectors(self) -> VectorFolder:
        vectors = current_vectors(self._index)
        if vectors is None:
            raise StoreError(str(self._index), "has no vectors", "run: quire index --vectors wordllama, or Index.embed")
        return vectors

    def _known_embedder(self, vectors: VectorFolder) -> Embedder:
        table = vectors.table
        if self._embedder is None or (self._embedder.name, self._embedder.version) != (table.model, table.version):
            if not table.embedder:
                raise StoreError(
                    str(self._index),
                    f"its vectors are those of {table.model}",
                    "call Index.embed with that embedder first",
                )
            self._embedder = resolve(table.embedder)
        return self._embedder
