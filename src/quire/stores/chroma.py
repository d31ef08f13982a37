"""Chroma: a collection in a folder, or on a server. Its metadata has its generation.

A new generation takes the name of the live collection once that is deleted; if a sync is killed in between, the next
one goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from quire.errors import MissingExtraError
from quire.stores.row import LISTS, Row, uuid_of
from quire.stores.target import DOCUMENTS, NEXT, Known, batched, foreign, own_tables

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


class ChromaStore:
    """Collections of one database."""

    errors = ERRORS

    def __init__(self, place: str, name: str, target: str) -> None:
        self.target = target
        self._name = name
        self._client = client_of(place)
        self._batch = self._client.get_max_batch_size()
        self._collections: dict[str, Any] = {}
        self.tables = own_tables(name)

    def generation(self) -> str | None:
        """The live generation."""
        return self.mark(self._name)

    def documents(self, generation: str) -> dict[str, str]:
        """The recorded hash of each document."""
        collection = self._collection(self._name + DOCUMENTS)
        if collection is None:
            return {}
        found = collection.get(where={"generation": generation}, include=["metadatas"])["metadatas"]
        return {each["document"]: each["hash"] for each in found}

    def record(self, generation: str, documents: Mapping[str, str | None]) -> None:
        """Record the hashes of documents; None forgets one."""
        collection = self._collection(self._name + DOCUMENTS)
        if collection is None:
            collection = self._create(self._name + DOCUMENTS, "")
        kept = [(name, hash_) for name, hash_ in documents.items() if hash_ is not None]
        for some in batched(kept, self._batch):
            collection.upsert(
                ids=[uuid_of(f"{generation} {name}") for name, _ in some],
                embeddings=np.ones((len(some), 1), dtype=np.float32),
                metadatas=[{"generation": generation, "document": name, "hash": hash_} for name, hash_ in some],
            )
        for gone in batched((name for name, hash_ in documents.items() if hash_ is None), self._batch):
            collection.delete(ids=[uuid_of(f"{generation} {name}") for name in gone])

    def known(self, generation: str, hashes: Sequence[str]) -> Iterable[Known]:
        """The rows with one of these content hashes."""
        collection = self._collection(self._home(generation))
        if collection is None:
            return
        for some in batched(hashes, _MOST_VALUES):
            found = collection.get(where={"content_hash": {"$in": list(some)}}, include=["metadatas", "embeddings"])
            for id_, own, vector in zip(found["ids"], found["metadatas"], found["embeddings"], strict=True):
                yield Known(id_, own["document_hash"], own["content_hash"], own["passage"], vector)

    def write(self, generation: str, new: Sequence[Row], changed: Sequence[Row]) -> None:
        """Add rows and replace others."""
        name = self._home(generation)
        if self.mark(name) not in (None, generation):  # one that was never completed
            self.drop(name)
        collection = self._collection(name) or self._create(name, generation)
        for rows, call in ((new, collection.add), (changed, collection.update)):
            for some in batched(rows, self._batch):
                call(
                    ids=[row.id for row in some],
                    embeddings=np.stack([row.vector for row in some]),
                    documents=[row.columns["text"] for row in some],
                    metadatas=[metadata_of(row) for row in some],
                )

    def delete(self, generation: str, documents: Sequence[str], hashes: Sequence[str]) -> None:
        """Delete the rows of documents, except those with one of these document hashes."""
        collection = self._collection(self._home(generation))
        if collection is None:
            return
        kept = set(hashes)
        for some in batched(documents, _MOST_VALUES):
            found = collection.get(where={"document": {"$in": list(some)}}, include=["metadatas"])
            rows = zip(found["ids"], found["metadatas"], strict=True)
            for gone in batched((id_ for id_, own in rows if own["document_hash"] not in kept), self._batch):
                collection.delete(ids=list(gone))

    def publish(self, generation: str) -> None:
        """Make the generation the live one, and remove all others."""
        following = self._name + NEXT
        if self.mark(following) == generation:
            self.drop(self._name)
            self._collection(following).modify(name=self._name)
            self._collections.clear()
        self.drop(following)
        if records := self._collection(self._name + DOCUMENTS):
            old = records.get(where={"generation": {"$ne": generation}}, include=[])["ids"]
            for some in batched(old, self._batch):
                records.delete(ids=list(some))

    def close(self) -> None:
        """Release the files of a folder."""
        self._client.close()

    def _home(self, generation: str) -> str:
        """The collection of a generation: the live one, unless that has another, or is being replaced."""
        if self.mark(self._name) == generation:
            return self._name
        has_other = self.mark(self._name) is not None or self.mark(self._name + NEXT) == generation
        return self._name + NEXT if has_other else self._name

    def mark(self, name: str) -> str | None:
        """The generation of a collection; None if there is none."""
        collection = self._collection(name)
        if collection is None:
            return None
        mark = (collection.metadata or {}).get(_MARK)
        if mark is None:
            raise foreign(self.target, name)
        return str(mark)

    def _collection(self, name: str) -> Any:
        if name not in self._collections:
            try:
                self._collections[name] = self._client.get_collection(name, embedding_function=None)
            except chromadb.errors.NotFoundError:
                return None
        return self._collections[name]

    def _create(self, name: str, generation: str) -> Any:
        space = {"hnsw": {"space": "cosine"}}
        metadata = {_MARK: generation}
        self._client.create_collection(name, configuration=space, metadata=metadata, embedding_function=None)
        return self._collection(name)

    def drop(self, name: str) -> None:
        """Remove a collection."""
        if self._collection(name) is not None:
            self._client.delete_collection(name)
            self._collections.pop(name)


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
    left_out = {"id", "text", *(name for name in LISTS if not row.columns[name])}
    return {name: value for name, value in row.columns.items() if name not in left_out}


connect = ChromaStore
