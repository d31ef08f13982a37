"""Qdrant: collections in a folder, or on a server. The metadata of a collection has its mark; ids are UUIDs.

A collection cannot be renamed, so one that can be replaced has a name made of its mark, and an alias.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from os import environ
from typing import Any

from quire.errors import MissingExtraError
from quire.stores.mirror import batched
from quire.stores.store import Row, uuid_of

try:
    import numpy as np
    from qdrant_client import QdrantClient, models
    from qdrant_client.http.exceptions import ApiException
except ImportError as error:
    raise MissingExtraError("qdrant", error.name) from error

ERRORS: tuple[type[Exception], ...] = (ApiException, ValueError, OSError, RuntimeError)
KEY_VARIABLE = "QDRANT_API_KEY"
_MARK = "quire.generation"
_PAGE = 1000
_INDEXED = ("document", "content_hash", "source_path", "header_path", "tags")


class QdrantStore:
    """Collections of one server or folder."""

    errors = ERRORS

    def __init__(self, place: str, name: str, target: str) -> None:
        self.target = target
        self._is_server = place.startswith(("http://", "https://"))
        self._client = (
            QdrantClient(url=place, api_key=environ.get(KEY_VARIABLE)) if self._is_server else QdrantClient(path=place)
        )

    def mark(self, name: str) -> str | None:
        """The mark of a collection or alias; None if there is none."""
        if not self._client.collection_exists(name):
            return None
        return str((self._client.get_collection(name).config.metadata or {}).get(_MARK, ""))

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        """Make an empty collection; one with vectors gets an alias."""
        self.drop(name)
        base = name.partition("__")[0]
        collection = f"{base}__{hashlib.blake2b(mark.encode(), digest_size=6).hexdigest()}" if size else name
        self._client.delete_collection(collection)
        vectors = models.VectorParams(size=size or 1, distance=models.Distance.COSINE)
        self._client.create_collection(collection, vectors_config=vectors, metadata={_MARK: mark})
        for field in _INDEXED if self._is_server and size else ():
            self._client.create_payload_index(collection, field, models.PayloadSchemaType.KEYWORD)
        if size:
            self._set_alias(name, collection)

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        """Add rows; unless they are new, replace those with the same ids."""
        points = (
            models.PointStruct(
                id=uuid_of(row.id),
                vector=[1.0] if row.vector is None else row.vector.tolist(),
                payload=dict(row.columns),
            )
            for row in rows
        )
        for some in batched(points, _PAGE):
            self._client.upsert(name, some)

    def find(self, name: str, columns: Sequence[str], column: str, values: Sequence[str]) -> Iterable[tuple[Any, ...]]:
        """Some columns of the rows that have one of these values."""
        with_vectors, offset = "vector" in columns, None
        where = models.Filter(must=[_is(column, values)])
        while True:
            points, offset = self._client.scroll(
                name, scroll_filter=where, limit=_PAGE, offset=offset, with_vectors=with_vectors
            )
            for point in points:
                row = {**point.payload, "vector": np.asarray(point.vector, dtype=np.float32) if with_vectors else None}
                yield tuple(row[column_name] for column_name in columns)
            if offset is None:
                return

    def delete(self, name: str, column: str, values: Sequence[str], except_column: str, kept: Sequence[str]) -> None:
        """Delete rows."""
        must = [_is(column, values)] if column else None
        where = models.Filter(must=must, must_not=[_is(except_column, kept)] if kept else None)
        self._client.delete(name, models.FilterSelector(filter=where))

    def publish(self, name: str, following: str) -> None:
        """Give a collection the alias of another one, in one step, and remove all that have none."""
        if not following:
            return
        self._set_alias(name, self._aliases()[following], _no_alias(following))
        base = name.partition("__")[0]
        for other in self._client.get_collections().collections:
            if other.name.startswith(f"{base}__") and other.name not in self._aliases().values():
                mark = self._client.get_collection(other.name).config.metadata or {}
                if _MARK in mark and not other.name.endswith("__quire"):
                    self._client.delete_collection(other.name)

    def drop(self, name: str) -> None:
        """Remove a collection and its alias."""
        self._client.delete_collection(self._aliases().get(name, name))

    def close(self) -> None:
        """Release the files of a folder."""
        self._client.close()

    def _aliases(self) -> dict[str, str]:
        return {alias.alias_name: alias.collection_name for alias in self._client.get_aliases().aliases}

    def _set_alias(self, name: str, collection: str, *others: Any) -> None:
        """Make ``name`` an alias of a collection, in one step."""
        alias = models.CreateAlias(collection_name=collection, alias_name=name)
        old = [_no_alias(name)] if name in self._aliases() else []
        self._client.update_collection_aliases([*old, models.CreateAliasOperation(create_alias=alias), *others])


def _no_alias(name: str) -> Any:
    return models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name))


def _is(column: str, values: Sequence[str]) -> Any:
    """A condition for points with one of these values."""
    return models.FieldCondition(key=column, match=models.MatchAny(any=list(values)))


connect = QdrantStore
