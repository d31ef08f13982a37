"""Chroma: collections in a folder, or on a server. The metadata of a collection has its mark.

A collection takes the name of another one once that is deleted; if a sync is killed in between, the next one goes on
from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from quire.errors import MissingExtraError
from quire.stores.mirror import batched
from quire.stores.store import Row

try:
    import chromadb
    import numpy as np
    from chromadb.errors import ChromaError
except ImportError as error:
    raise MissingExtraError("chroma", error.name) from error

ERRORS: tuple[type[Exception], ...] = (ChromaError, ValueError, OSError, RuntimeError)
_MARK = "quire.generation"
_MOST_VALUES = 500
"""How many values a filter may have."""
_NO_VECTOR = np.ones(1, dtype=np.float32)


class ChromaStore:
    """Collections of one database."""

    errors = ERRORS

    def __init__(self, place: str, name: str, target: str) -> None:
        self.target = target
        self._client = client_of(place)
        self._batch = self._client.get_max_batch_size()
        self._collections: dict[str, Any] = {}

    def mark(self, name: str) -> str | None:
        """The mark of a collection; None if there is none."""
        try:
            collection = self._collection(name)
        except chromadb.errors.NotFoundError:
            return None
        return str((collection.metadata or {}).get(_MARK, ""))

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        """Make an empty collection."""
        self.drop(name)
        space = {"hnsw": {"space": "cosine"}}
        self._client.create_collection(name, configuration=space, metadata={_MARK: mark}, embedding_function=None)

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        """Add rows; unless they are new, replace those with the same ids."""
        collection = self._collection(name)
        for some in batched(rows, self._batch):
            (collection.add if is_new else collection.upsert)(
                ids=[row.id for row in some],
                embeddings=np.stack([_NO_VECTOR if row.vector is None else row.vector for row in some]),
                documents=[row.columns.get("text", "") for row in some],
                metadatas=[metadata_of(row) for row in some],
            )

    def find(self, name: str, columns: Sequence[str], column: str, values: Sequence[str]) -> Iterable[tuple[Any, ...]]:
        """Some columns of the rows that have one of these values."""
        include = ["metadatas", "embeddings"] if "vector" in columns else ["metadatas"]
        for answer in self._answers(name, column, values, include):
            vectors = answer["embeddings"] if "vector" in columns else [None] * len(answer["ids"])
            for id_, metadata, vector in zip(answer["ids"], answer["metadatas"], vectors, strict=True):
                row = {**metadata, "id": id_, "vector": vector}
                yield tuple(row[column_name] for column_name in columns)

    def delete(self, name: str, column: str, values: Sequence[str], except_column: str, kept: Sequence[str]) -> None:
        """Delete rows."""
        kept_values = set(kept)
        for answer in self._answers(name, column, values, ["metadatas"]):
            rows = zip(answer["ids"], answer["metadatas"], strict=True)
            gone = (id_ for id_, metadata in rows if not kept_values or metadata[except_column] not in kept_values)
            for some in batched(gone, self._batch):
                self._collection(name).delete(ids=list(some))

    def publish(self, name: str, following: str) -> None:
        """Give a collection the name of another one."""
        if following:
            self.drop(name)
            self._collection(following).modify(name=name)
            self._collections.clear()

    def drop(self, name: str) -> None:
        """Remove a collection."""
        self._collections.pop(name, None)
        try:
            self._client.delete_collection(name)
        except chromadb.errors.NotFoundError:
            return

    def close(self) -> None:
        """Release the files of a folder."""
        self._client.close()

    def _collection(self, name: str) -> Any:
        if name not in self._collections:
            self._collections[name] = self._client.get_collection(name, embedding_function=None)
        return self._collections[name]

    def _answers(self, name: str, column: str, values: Sequence[str], include: list[str]) -> Iterable[Any]:
        collection = self._collection(name)
        if not column:
            yield collection.get(include=include)
        elif column == "id":
            yield collection.get(ids=list(values), include=include)
        else:
            for some in batched(values, _MOST_VALUES):
                yield collection.get(where={column: {"$in": some}}, include=include)


def client_of(place: str) -> Any:
    """A client for a folder or a URL."""
    settings = chromadb.Settings(anonymized_telemetry=False)
    url = urlsplit(place)
    if url.scheme not in ("http", "https"):
        return chromadb.PersistentClient(place, settings=settings)
    is_secure = url.scheme == "https"
    port = url.port or (443 if is_secure else 8000)
    return chromadb.HttpClient(url.hostname or "", port, ssl=is_secure, settings=settings)


def metadata_of(row: Row) -> dict[str, Any]:
    """The columns; Chroma has the text and the id elsewhere, and takes no empty lists."""
    return {name: value for name, value in row.columns.items() if name not in ("id", "text") and value != []}


connect = ChromaStore
