"""Each store read through its own client, without quire: all rows, and the ids of rows that a filter finds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KINDS = ("lancedb", "pgvector", "chroma", "qdrant")
PACKAGES = {"lancedb": "lancedb", "pgvector": "psycopg", "chroma": "chromadb", "qdrant": "qdrant_client"}


@dataclass(frozen=True)
class Place:
    """A store of one test."""

    kind: str
    place: str
    """A folder, or a URL of PostgreSQL."""
    name: str

    @property
    def target(self) -> str:
        return f"{self.kind}:{self.place}#{self.name}"

    def rows(self, name: str = "") -> list[dict[str, Any]]:
        """The rows of a table, as dicts with ``vector``; none if there is no table."""
        with self.client() as client:
            return ROWS[self.kind](client, name or self.name)

    def tables(self) -> set[str]:
        with self.client() as client:
            return TABLES[self.kind](client)

    def filtered(self, column: str, value: str) -> set[str]:
        """The chunk ids of rows whose column has this value, or whose list contains it."""
        with self.client() as client:
            return FILTERED[self.kind](client, self.name, column, value)

    @contextmanager
    def client(self) -> Iterator[Any]:
        client = CLIENTS[self.kind](self.place)
        try:
            yield client
        finally:
            if hasattr(client, "close"):
                client.close()

    def remove(self) -> None:
        if self.kind == "pgvector":
            with self.client() as client:
                for table in self.tables():
                    if table.startswith(self.name):
                        client.execute(f'DROP TABLE "{table}"')
        else:
            shutil.rmtree(self.place, ignore_errors=True)


LISTS = ("header_path", "tags")


def _lance(place: str) -> Any:
    import lancedb

    return lancedb.connect(place)


def _lance_rows(client: Any, name: str) -> list[dict[str, Any]]:
    return client.open_table(name).to_arrow().to_pylist() if name in _lance_tables(client) else []


def _lance_tables(client: Any) -> set[str]:
    return set(client.list_tables().tables)


def _lance_filtered(client: Any, name: str, column: str, value: str) -> set[str]:
    where = f"array_has({column}, '{value}')" if column in LISTS else f"{column} = '{value}'"
    return {row["chunk_id"] for row in client.open_table(name).search().where(where).to_list()}


def _postgres(place: str) -> Any:
    import psycopg
    from pgvector.psycopg import register_vector

    connection = psycopg.connect(place, autocommit=True)
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    register_vector(connection)
    return connection


def _postgres_rows(client: Any, name: str) -> list[dict[str, Any]]:
    if name not in _postgres_tables(client):
        return []
    cursor = client.execute(f'SELECT * FROM "{name}"')
    names = [each.name for each in cursor.description]
    rows = [dict(zip(names, row, strict=True)) for row in cursor]
    return [{**row, "vector": _list(row["vector"])} if "vector" in row else row for row in rows]


def _list(vector: Any) -> list[float]:
    return list(vector.to_list() if hasattr(vector, "to_list") else vector)


def _postgres_tables(client: Any) -> set[str]:
    return {name for (name,) in client.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}


def _postgres_filtered(client: Any, name: str, column: str, value: str) -> set[str]:
    where = f"%s = ANY({column})" if column in LISTS else f"{column} = %s"
    return {id_ for (id_,) in client.execute(f'SELECT chunk_id FROM "{name}" WHERE {where}', [value])}


def _chroma(place: str) -> Any:
    import chromadb

    return chromadb.PersistentClient(place, settings=chromadb.Settings(anonymized_telemetry=False))


def _chroma_rows(client: Any, name: str) -> list[dict[str, Any]]:
    if name not in _chroma_tables(client):
        return []
    found = client.get_collection(name, embedding_function=None).get(include=["metadatas", "documents", "embeddings"])
    each = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
    return [
        {"header_path": [], "tags": [], **own, "id": id_, "text": text, "vector": list(vector)}
        for id_, text, own, vector in each
    ]


def _chroma_tables(client: Any) -> set[str]:
    return {each.name for each in client.list_collections()}


def _chroma_filtered(client: Any, name: str, column: str, value: str) -> set[str]:
    where = {column: {"$contains": value}} if column in LISTS else {column: value}
    found = client.get_collection(name, embedding_function=None).get(where=where)
    return {own["chunk_id"] for own in found["metadatas"]}


def _qdrant(place: str) -> Any:
    from qdrant_client import QdrantClient

    return QdrantClient(path=place)


def _qdrant_rows(client: Any, name: str) -> list[dict[str, Any]]:
    if not client.collection_exists(name):
        return []
    found, _ = client.scroll(name, limit=100_000, with_vectors=True)
    return [{**each.payload, "vector": each.vector, "uuid": each.id} for each in found]


def _qdrant_tables(client: Any) -> set[str]:
    aliases = {each.alias_name for each in client.get_aliases().aliases}
    return aliases | {each.name for each in client.get_collections().collections}


def _qdrant_filtered(client: Any, name: str, column: str, value: str) -> set[str]:
    from qdrant_client import models

    match = models.FieldCondition(key=column, match=models.MatchValue(value=value))
    found, _ = client.scroll(name, scroll_filter=models.Filter(must=[match]), limit=1000)
    return {each.payload["chunk_id"] for each in found}


CLIENTS = {"lancedb": _lance, "pgvector": _postgres, "chroma": _chroma, "qdrant": _qdrant}
ROWS = {"lancedb": _lance_rows, "pgvector": _postgres_rows, "chroma": _chroma_rows, "qdrant": _qdrant_rows}
TABLES = {"lancedb": _lance_tables, "pgvector": _postgres_tables, "chroma": _chroma_tables, "qdrant": _qdrant_tables}
FILTERED = {
    "lancedb": _lance_filtered, "pgvector": _postgres_filtered, "chroma": _chroma_filtered, "qdrant": _qdrant_filtered,
}  # fmt: skip


def is_folder(place: Place) -> bool:
    return place.kind != "pgvector" and Path(place.place).is_dir()
