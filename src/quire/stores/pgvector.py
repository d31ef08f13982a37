"""PostgreSQL with pgvector: a table of rows. Its comment has its generation.

A new generation replaces the live table in one transaction. A lock keeps two syncs of one table apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quire.errors import BusyError, MissingExtraError
from quire.stores.row import LISTS, NUMBERS, TEXTS, Row
from quire.stores.target import DOCUMENTS, NEXT, Known, foreign, own_tables

try:
    import psycopg
    from pgvector.psycopg import register_vector
    from psycopg import sql
except ImportError as error:
    raise MissingExtraError("pgvector", error.name) from error

ERRORS: tuple[type[Exception], ...] = (psycopg.Error,)
_MARK = "made by quire: "
_COLUMNS = (*TEXTS, *NUMBERS, *LISTS, "vector")
_TYPES = {**dict.fromkeys(TEXTS, "text"), **dict.fromkeys(NUMBERS, "int8"), **dict.fromkeys(LISTS, "text[]")}


class PostgresStore:
    """Tables in the first schema of the connection's search path."""

    errors = ERRORS

    def __init__(self, place: str, name: str, target: str) -> None:
        self.target = target
        self._name = name
        self._connection = psycopg.connect(place, autocommit=True)
        key = f"quire {name}"
        if not self._value("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [key]):
            self._connection.close()
            raise BusyError(target, "another sync is writing to this table", "wait for it")
        self.tables = own_tables(name)
        self._knows_vectors = False

    def generation(self) -> str | None:
        """The live generation."""
        return self.mark(self._name)

    def documents(self, generation: str) -> dict[str, str]:
        """The recorded hash of each document."""
        if self.mark(self._name + DOCUMENTS) is None:
            return {}
        query = self._sql("SELECT document, hash FROM {} WHERE generation = %s", self._name + DOCUMENTS)
        return dict(self._connection.execute(query, [generation]).fetchall())

    def record(self, generation: str, documents: Mapping[str, str | None]) -> None:
        """Record the hashes of documents; None forgets one."""
        name = self._name + DOCUMENTS
        if self.mark(name) is None:
            with self._connection.transaction():
                columns = "generation text, document text, hash text NOT NULL, PRIMARY KEY (generation, document)"
                self._connection.execute(self._sql(f"CREATE TABLE {{}} ({columns})", name))
                self._set_mark(name, "documents")
        insert = self._sql(
            "INSERT INTO {} VALUES (%s, %s, %s) ON CONFLICT (generation, document) DO UPDATE SET hash = excluded.hash",
            name,
        )
        delete = self._sql("DELETE FROM {} WHERE generation = %s AND document = ANY(%s)", name)
        kept = [(generation, each, hash_) for each, hash_ in documents.items() if hash_ is not None]
        gone = [each for each, hash_ in documents.items() if hash_ is None]
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(insert, kept)
            cursor.execute(delete, [generation, gone])

    def known(self, generation: str, hashes: Sequence[str]) -> Iterable[Known]:
        """The rows with one of these content hashes."""
        name = self._home(generation)
        if self.mark(name) is None:
            return []
        self._know_vectors()
        query = "SELECT id, document_hash, content_hash, passage, vector FROM {} WHERE content_hash = ANY(%s)"
        found = self._connection.execute(self._sql(query, name), [list(hashes)], binary=True)
        return [Known(id_, old, content, passage, _array(vector)) for id_, old, content, passage, vector in found]

    def write(self, generation: str, new: Sequence[Row], changed: Sequence[Row]) -> None:
        """Add rows and replace others."""
        name = self._home(generation)
        if self.mark(name) != generation:  # none yet, or another one that was never completed
            self._create(name, generation, len((new or changed)[0].vector))
        self._know_vectors()
        names = sql.SQL(", ").join(map(sql.Identifier, _COLUMNS))
        copy = self._sql("COPY {} ({}) FROM STDIN (FORMAT BINARY)", name, names)
        columns = [each for each in _COLUMNS if each != "id"]
        values = sql.SQL(", ").join(sql.SQL("{} = %s").format(sql.Identifier(each)) for each in columns)
        update = self._sql("UPDATE {} SET {} WHERE id = %s", name, values)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            with cursor.copy(copy) as stream:
                stream.set_types([*_TYPES.values(), "vector"])
                for row in new:
                    stream.write_row([*row.columns_of(_COLUMNS[:-1]), row.vector])
            cursor.executemany(update, [(*row.columns_of(columns[:-1]), row.vector, row.id) for row in changed])

    def delete(self, generation: str, documents: Sequence[str], hashes: Sequence[str]) -> None:
        """Delete the rows of documents, except those with one of these document hashes."""
        name = self._home(generation)
        if self.mark(name) is not None:
            query = "DELETE FROM {} WHERE document = ANY(%s) AND document_hash != ALL(%s)"
            self._connection.execute(self._sql(query, name), [list(documents), list(hashes)])

    def publish(self, generation: str) -> None:
        """Make the generation the live one, and remove all others."""
        following = self._name + NEXT
        with self._connection.transaction():
            if self.mark(following) == generation:
                self._connection.execute(self._sql("DROP TABLE {}", self._name))
                self._connection.execute(
                    self._sql("ALTER TABLE {} RENAME TO {}", following, sql.Identifier(self._name))
                )
            elif self.mark(following) is not None:
                self._connection.execute(self._sql("DROP TABLE {}", following))
            if self.mark(self._name + DOCUMENTS) is not None:
                query = self._sql("DELETE FROM {} WHERE generation != %s", self._name + DOCUMENTS)
                self._connection.execute(query, [generation])

    def drop(self, name: str) -> None:
        """Remove a table."""
        self._connection.execute(self._sql("DROP TABLE IF EXISTS {}", name))

    def close(self) -> None:
        """Close the connection, which releases the lock."""
        self._connection.close()

    def _create(self, name: str, generation: str, size: int) -> None:
        columns = [
            sql.SQL("{} {} NOT NULL").format(sql.Identifier(each), sql.SQL(kind)) for each, kind in _TYPES.items()
        ]
        columns += [sql.SQL("PRIMARY KEY (id)"), sql.SQL("vector vector({}) NOT NULL").format(sql.Literal(size))]
        self._connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        with self._connection.transaction():
            self.drop(name)
            self._connection.execute(self._sql("CREATE TABLE {} ({})", name, sql.SQL(", ").join(columns)))
            for column in ("content_hash", "document"):
                self._connection.execute(self._sql(f"CREATE INDEX ON {{}} ({column})", name))
            self._set_mark(name, generation)

    def _home(self, generation: str) -> str:
        """The table of a generation: the live one, unless that has another."""
        return self._name if self.mark(self._name) in (None, generation) else self._name + NEXT

    def mark(self, name: str) -> str | None:
        """The generation of a table; None if there is no table."""
        if self._value("SELECT to_regclass(%s)", [f'"{name}"']) is None:
            return None
        comment = self._value("SELECT obj_description(to_regclass(%s), 'pg_class')", [f'"{name}"'])
        if not comment or not comment.startswith(_MARK):
            raise foreign(self.target, name)
        return str(comment.removeprefix(_MARK))

    def _set_mark(self, name: str, mark: str) -> None:
        self._connection.execute(self._sql("COMMENT ON TABLE {} IS {}", name, sql.Literal(_MARK + mark)))

    def _know_vectors(self) -> None:
        if not self._knows_vectors:
            register_vector(self._connection)
            self._knows_vectors = True

    def _value(self, query: str, values: list[Any]) -> Any:
        row = self._connection.execute(query, values).fetchone()
        return row[0] if row else None

    def _sql(self, query: str, name: str, *parts: Any) -> Any:
        return sql.SQL(query).format(sql.Identifier(name), *parts)


def _array(vector: Any) -> Any:
    """A vector as an array, in older and newer versions of pgvector."""
    return vector.to_numpy() if hasattr(vector, "to_numpy") else vector


connect = PostgresStore
