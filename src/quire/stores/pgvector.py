"""PostgreSQL with pgvector. The comment of a table has its mark. A lock keeps two syncs of one table apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quire.errors import BusyError, MissingExtraError
from quire.stores.store import Row

try:
    import psycopg
    from pgvector.psycopg import register_vector
    from psycopg import sql
except ImportError as error:
    raise MissingExtraError("pgvector", error.name) from error

ERRORS: tuple[type[Exception], ...] = (psycopg.Error,)
_MARK = "made by quire: "
_TYPES = {str: "text", int: "int8", list: "text[]"}
_INDEXED = ("content_hash", "document")


class PostgresStore:
    """Tables in the first schema of the connection's search path."""

    errors = ERRORS

    def __init__(self, place: str, name: str, target: str) -> None:
        self.target = target
        self._connection = psycopg.connect(place, autocommit=True)
        self._connection.execute("SET lock_timeout = '5s'")  # the server may not know yet that a killed sync is gone
        try:
            self._connection.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [f"quire {name}"])
        except psycopg.errors.LockNotAvailable as error:
            self._connection.close()
            raise BusyError(target, "another sync is writing to this table", "wait for it") from error
        self._connection.execute("RESET lock_timeout")
        self._knows_vectors = False

    def mark(self, name: str) -> str | None:
        """The mark of a table; None if there is no table."""
        if self._value("SELECT to_regclass(%s)", [f'"{name}"']) is None:
            return None
        comment = self._value("SELECT obj_description(to_regclass(%s), 'pg_class')", [f'"{name}"'])
        return str(comment.removeprefix(_MARK)) if comment and comment.startswith(_MARK) else ""

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        """Make an empty table, with indexes for what a sync looks for."""
        types = {each: sql.SQL(_TYPES[kind]) for each, kind in columns.items()}
        if size:
            self._connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            types["vector"] = sql.SQL("vector({})").format(sql.Literal(size))
        lines = [sql.SQL("{} {} NOT NULL").format(sql.Identifier(each), kind) for each, kind in types.items()]
        with self._connection.transaction():
            self.drop(name)
            self._execute("CREATE TABLE {} ({}, PRIMARY KEY (id))", name, sql.SQL(", ").join(lines))
            for column in _INDEXED if size else ():
                self._execute("CREATE INDEX ON {} ({})", name, sql.Identifier(column))
            self._execute("COMMENT ON TABLE {} IS {}", name, sql.Literal(_MARK + mark))

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        """Add rows; unless they are new, replace those with the same ids."""
        types = {each: _TYPES[type(value)] for each, value in rows[0].columns.items()}
        if rows[0].vector is not None:
            self._know_vectors()
            types["vector"] = "vector"
        names = sql.SQL(", ").join(map(sql.Identifier, types))
        copy = self._sql("COPY {} ({}) FROM STDIN (FORMAT BINARY)", name, names)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            if not is_new:
                cursor.execute(self._sql("DELETE FROM {} WHERE id = ANY(%s)", name), [[row.id for row in rows]])
            with cursor.copy(copy) as stream:
                stream.set_types([*types.values()])
                for row in rows:
                    stream.write_row([*row.columns.values(), *([row.vector] if "vector" in types else [])])

    def find(self, name: str, columns: Sequence[str], column: str, values: Sequence[str]) -> Iterable[tuple[Any, ...]]:
        """Some columns of the rows that have one of these values."""
        if "vector" in columns:
            self._know_vectors()
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        query = self._sql("SELECT {1} FROM {0} WHERE {2} = ANY(%s)", name, names, sql.Identifier(column))
        found = self._connection.execute(query, [list(values)], binary=True)
        return [(*row[:-1], _array(row[-1])) for row in found]

    def delete(self, name: str, column: str, values: Sequence[str], except_column: str, kept: Sequence[str]) -> None:
        """Delete rows."""
        conditions = [("{} = ANY(%s)", column, values)] if column else []
        conditions += [("{} != ALL(%s)", except_column, kept)] if kept else []
        where = sql.SQL(" AND ").join(sql.SQL(text).format(sql.Identifier(each)) for text, each, _ in conditions)
        query = self._sql("DELETE FROM {} WHERE {}", name, where)
        self._connection.execute(query, [list(some) for *_, some in conditions])

    def publish(self, name: str, following: str) -> None:
        """Give a table the name of another one, in one transaction."""
        if not following:
            return
        with self._connection.transaction():
            self.drop(name)
            self._execute("ALTER TABLE {} RENAME TO {}", following, sql.Identifier(name))

    def drop(self, name: str) -> None:
        """Remove a table."""
        self._execute("DROP TABLE IF EXISTS {}", name)

    def close(self) -> None:
        """Close the connection, which releases the lock."""
        self._connection.close()

    def _know_vectors(self) -> None:
        if not self._knows_vectors:
            register_vector(self._connection)
            self._knows_vectors = True

    def _value(self, query: str, values: list[Any]) -> Any:
        row = self._connection.execute(query, values).fetchone()
        return row[0] if row else None

    def _execute(self, query: str, name: str, *parts: Any) -> None:
        self._connection.execute(self._sql(query, name, *parts))

    def _sql(self, query: str, name: str, *parts: Any) -> Any:
        return sql.SQL(query).format(sql.Identifier(name), *parts)


def _array(value: Any) -> Any:
    """A value; a vector as an array, in older and newer versions of pgvector."""
    return value.to_numpy() if hasattr(value, "to_numpy") else value


connect = PostgresStore
