"""Chroma: collections in a folder, or on a server. The metadata of a collection has its mark.

A collection takes the name of another one once that is deleted; if a sync is killed in between, the next one goes on
from there.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

import chromadb
import numpy as np
from chromadb.errors import ChromaError, NotFoundError

from quire.stores.chunk_rows import Row
from quire.stores.store import Values, batched

IS_FOLDER = True
ERRORS: tuple[type[Exception], ...] = (ChromaError, ValueError, OSError, RuntimeError)
_MARK = "quire.generation"
_MOST_VALUES = 500  # how many values a filter may have
_NO_VECTOR = np.ones(1, dtype=np.float32)


class _Chroma:
    def __init__(self, place: str, name: str, label: str) -> None:
        settings, url = chromadb.Settings(anonymized_telemetry=False), urlsplit(place)
        if url.scheme in ("http", "https"):
            is_secure = url.scheme == "https"
            port = url.port or (443 if is_secure else 8000)
            self._client = chromadb.HttpClient(url.hostname or "", port, ssl=is_secure, settings=settings)
        else:
            self._client = chromadb.PersistentClient(place, settings=settings)
        self._batch = self._client.get_max_batch_size()
        self._collection = cache(partial(self._client.get_collection, embedding_function=None))
        self.close = self._client.close

    def mark(self, name: str) -> str | None:
        try:
            return str((self._collection(name).metadata or {}).get(_MARK, ""))
        except NotFoundError:
            return None

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        space = {"hnsw": {"space": "cosine"}}
        self._client.create_collection(name, configuration=space, metadata={_MARK: mark}, embedding_function=None)

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        """Metadata are the columns; Chroma has the text and the id elsewhere, and takes no empty lists."""
        collection = self._collection(name)
        for some in batched(rows, self._batch):
            (collection.add if is_new else collection.upsert)(
                ids=[row.id for row in some],
                embeddings=np.stack([_NO_VECTOR if row.vector is None else row.vector for row in some]),
                documents=[row.columns.get("text", "") for row in some],
                metadatas=[
                    {name: value for name, value in row.columns.items() if name not in ("id", "text") and value != []}
                    for row in some
                ],
            )

    def find(self, name: str, columns: Sequence[str], column: str = "", values: Sequence[str] = ()) -> Values:
        include = ["metadatas", "embeddings"] if "vector" in columns else ["metadatas"]
        filters: Iterable[Any] = ({column: {"$in": some}} for some in batched(values, _MOST_VALUES))
        for where in filters if column else [None]:
            answer = self._collection(name).get(where=where, include=include)
            vectors = answer["embeddings"] if "vector" in columns else [None] * len(answer["ids"])
            for id_, metadata, vector in zip(answer["ids"], answer["metadatas"], vectors, strict=True):
                row = {**metadata, "id": id_, "vector": vector}
                yield tuple(row[column_name] for column_name in columns)

    def delete(self, name: str, ids: Sequence[str]) -> None:
        for some in batched(ids, self._batch):
            self._collection(name).delete(ids=some)

    def publish(self, name: str, following: str) -> None:
        if following:
            self.drop(name)
            self._collection(following).modify(name=name)
            self._collection.cache_clear()

    def drop(self, name: str) -> None:
        self._collection.cache_clear()
        with suppress(NotFoundError):
            self._client.delete_collection(name)


connect = _Chroma
