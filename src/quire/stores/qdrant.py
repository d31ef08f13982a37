"""Qdrant: a collection in a folder, or on a server. Point ids are UUIDs made of the rows' ids.

Each generation is a collection of its own; the name that the user gave is an alias of the live one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import environ
from typing import Any

from quire.errors import MissingExtraError
from quire.stores.row import Row, uuid_of
from quire.stores.target import DOCUMENTS, Known, batched, foreign

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
        self._name = name
        is_server = place.startswith(("http://", "https://"))
        self._client = (
            QdrantClient(url=place, api_key=environ.get(KEY_VARIABLE)) if is_server else QdrantClient(path=place)
        )
        self._is_server = is_server

    def generation(self) -> str | None:
        """The live generation."""
        return self.mark(self._name)

    def documents(self, generation: str) -> dict[str, str]:
        """The recorded hash of each document."""
        if self.mark(self._name + DOCUMENTS) is None:
            return {}
        where = _where(generation=[generation])
        return {each.payload["document"]: each.payload["hash"] for each in self._points(self._name + DOCUMENTS, where)}

    def record(self, generation: str, documents: Mapping[str, str | None]) -> None:
        """Record the hashes of documents; None forgets one."""
        name = self._name + DOCUMENTS
        if self.mark(name) is None:
            self._create(name, "", 1)
        points = [
            models.PointStruct(
                id=uuid_of(f"{generation} {each}"),
                vector=[1.0],
                payload={"generation": generation, "document": each, "hash": hash_},
            )
            for each, hash_ in documents.items()
            if hash_ is not None
        ]
        for some in batched(points, _PAGE):
            self._client.upsert(name, list(some))
        for gone in batched((each for each, hash_ in documents.items() if hash_ is None), _PAGE):
            self._client.delete(name, models.PointIdsList(points=[uuid_of(f"{generation} {each}") for each in gone]))

    def known(self, generation: str, hashes: Sequence[str]) -> Iterable[Known]:
        """The rows with one of these content hashes."""
        if self.mark(self._home(generation)) is None:
            return
        for each in self._points(self._home(generation), _where(content_hash=hashes), with_vectors=True):
            own = each.payload
            vector = np.asarray(each.vector, dtype=np.float32)
            yield Known(own["id"], own["document_hash"], own["content_hash"], own["passage"], vector)

    def write(self, generation: str, new: Sequence[Row], changed: Sequence[Row]) -> None:
        """Add rows and replace others."""
        name = self._home(generation)
        if self.mark(name) is None:
            self._create(name, generation, len((new or changed)[0].vector))
        if self.mark(self._name) is None:
            self._point_alias(name)
        points = [
            models.PointStruct(id=uuid_of(row.id), vector=row.vector.tolist(), payload=dict(row.columns))
            for row in (*new, *changed)
        ]
        for some in batched(points, _PAGE):
            self._client.upsert(name, list(some))

    def delete(self, generation: str, documents: Sequence[str], hashes: Sequence[str]) -> None:
        """Delete the rows of documents, except those with one of these document hashes."""
        name = self._home(generation)
        if self.mark(name) is None:
            return
        where = _where(document=documents)
        where.must_not = _where(document_hash=hashes).must if hashes else None
        self._client.delete(name, models.FilterSelector(filter=where))

    def publish(self, generation: str) -> None:
        """Make the generation the live one, and remove all others."""
        home = self._home(generation)
        if self.mark(home) is not None and self.mark(self._name) != generation:
            self._point_alias(home)
        for each in self.tables:
            if each not in (self._name, home, self._name + DOCUMENTS) and self.mark(each) is not None:
                self.drop(each)
        if self.mark(self._name + DOCUMENTS) is not None:
            others = models.Filter(must_not=_where(generation=[generation]).must)
            self._client.delete(self._name + DOCUMENTS, models.FilterSelector(filter=others))

    def drop(self, name: str) -> None:
        """Remove a collection; an alias goes with its collection."""
        if name != self._name:
            self._client.delete_collection(name)

    def close(self) -> None:
        """Release the files of a folder."""
        self._client.close()

    def _home(self, generation: str) -> str:
        """The collection of a generation."""
        return f"{self._name}__{hashlib.blake2b(generation.encode(), digest_size=6).hexdigest()}"

    @property
    def tables(self) -> list[str]:
        """The alias of the live generation, the collections of all generations, and the records of documents."""
        names = [each.name for each in self._client.get_collections().collections]
        return [self._name, *(each for each in names if each.startswith(f"{self._name}__"))]

    def mark(self, name: str) -> str | None:
        """The generation of a collection or alias; None if there is none."""
        if not self._client.collection_exists(name):
            return None
        mark = (self._client.get_collection(name).config.metadata or {}).get(_MARK)
        if mark is None:
            raise foreign(self.target, name)
        return str(mark)

    def _create(self, name: str, generation: str, size: int) -> None:
        vectors = models.VectorParams(size=size, distance=models.Distance.COSINE)
        self._client.create_collection(name, vectors_config=vectors, metadata={_MARK: generation})
        for field in _INDEXED if self._is_server and generation else ():
            self._client.create_payload_index(name, field, models.PayloadSchemaType.KEYWORD)

    def _point_alias(self, name: str) -> None:
        """Make the user's name an alias of a collection, in one step."""
        old = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self._name))
        new = models.CreateAlias(collection_name=name, alias_name=self._name)
        has_old = self._client.collection_exists(self._name)
        operations = [*([old] if has_old else []), models.CreateAliasOperation(create_alias=new)]
        self._client.update_collection_aliases(operations)

    def _points(self, name: str, where: Any, *, with_vectors: bool = False) -> Iterator[Any]:
        offset = None
        while True:
            found, offset = self._client.scroll(
                name, scroll_filter=where, limit=_PAGE, offset=offset, with_vectors=with_vectors
            )
            yield from found
            if offset is None:
                return


def _where(**fields: Sequence[str]) -> Any:
    """A filter for points whose fields have one of these values."""
    return models.Filter(
        must=[models.FieldCondition(key=key, match=models.MatchAny(any=list(some))) for key, some in fields.items()]
    )


connect = QdrantStore
