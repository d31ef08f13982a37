"""Qdrant: collections in a folder, or on a server. The metadata of a collection has its mark; ids are UUIDs.

A collection cannot be renamed, so one that can be replaced has a name made of its mark, and an alias.
"""

import hashlib
from collections.abc import Mapping, Sequence
from os import environ
from typing import Any
from uuid import UUID, uuid5

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from quire.stores.chunk_rows import Row
from quire.stores.store import LOG, Values, batched

IS_FOLDER = True
ERRORS: tuple[type[Exception], ...] = (ApiException, ValueError, OSError, RuntimeError)
KEY_VARIABLE = "QDRANT_API_KEY"
_MARK = "quire.generation"
_PAGE = 1000
_INDEXED = ("document", "content_hash", "source_path", "header_path", "tags")
_NAMESPACE = UUID("6f6a1c3e-0f2b-5d0e-9a55-6a1b7c0d4e21")


class _Qdrant:
    def __init__(self, place: str, name: str, label: str) -> None:
        self._is_server = place.startswith(("http://", "https://"))
        self._client = (
            QdrantClient(url=place, api_key=environ.get(KEY_VARIABLE)) if self._is_server else QdrantClient(path=place)
        )
        self._base = f"{name}__"
        self.close = self._client.close

    def mark(self, name: str) -> str | None:
        if not self._client.collection_exists(name):
            return None
        return str((self._client.get_collection(name).config.metadata or {}).get(_MARK, ""))

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        hashed = hashlib.blake2b(mark.encode(), digest_size=6).hexdigest()
        collection = f"{self._base}{hashed}" if size else name
        self._client.delete_collection(collection)
        vectors = models.VectorParams(size=size or 1, distance=models.Distance.COSINE)
        self._client.create_collection(collection, vectors_config=vectors, metadata={_MARK: mark})
        for field in _INDEXED if self._is_server and size else ():
            self._client.create_payload_index(collection, field, models.PayloadSchemaType.KEYWORD)
        if size:
            self._set_alias(name, collection)

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        for some in batched(rows, _PAGE):
            ids, payloads = [_uuid(row.id) for row in some], [dict(row.columns) for row in some]
            vectors = [[1.0] if row.vector is None else row.vector.tolist() for row in some]
            self._client.upsert(name, models.Batch(ids=ids, vectors=vectors, payloads=payloads))

    def find(self, name: str, columns: Sequence[str], column: str = "", values: Sequence[str] = ()) -> Values:
        with_vectors, offset, is_last = "vector" in columns, None, False
        condition = models.FieldCondition(key=column, match=models.MatchAny(any=[*values]))
        where = models.Filter(must=[condition]) if column else None
        while not is_last:
            points, offset = self._client.scroll(name, where, _PAGE, offset=offset, with_vectors=with_vectors)
            is_last = offset is None
            for point in points:
                row = {**point.payload, "vector": np.asarray(point.vector, dtype=np.float32) if with_vectors else None}
                yield tuple(row[column_name] for column_name in columns)

    def delete(self, name: str, ids: Sequence[str]) -> None:
        self._client.delete(name, models.PointIdsList(points=[*map(_uuid, ids)]))

    def publish(self, name: str, following: str) -> None:
        """Give a collection the alias of another one, in one step, and remove all that have none."""
        if not following:
            return
        self._set_alias(name, self._aliases()[following], _no_alias(following))
        kept = {name + LOG, *self._aliases().values()}
        for collection in self._client.get_collections().collections:
            other = collection.name
            if other.startswith(self._base) and other not in kept and self.mark(other):
                self._client.delete_collection(other)

    def drop(self, name: str) -> None:
        self._client.delete_collection(self._aliases().get(name, name))

    def _aliases(self) -> dict[str, str]:
        return {alias.alias_name: alias.collection_name for alias in self._client.get_aliases().aliases}

    def _set_alias(self, name: str, collection: str, *others: Any) -> None:
        """Make ``name`` an alias of a collection, in one step."""
        alias = models.CreateAlias(collection_name=collection, alias_name=name)
        old = [_no_alias(name)] if name in self._aliases() else []
        self._client.update_collection_aliases([*old, models.CreateAliasOperation(create_alias=alias), *others])


def _no_alias(name: str) -> Any:
    return models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name))


def _uuid(id_: str) -> str:
    return str(uuid5(_NAMESPACE, id_))


connect = _Qdrant
