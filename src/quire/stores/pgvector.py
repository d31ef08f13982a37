"""PostgreSQL with pgvector. The comment of a table has its mark. A lock keeps two syncs of one table apart."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

from quire.errors import BusyError
from quire.stores.chunk_rows import Row
from quire.stores.store import Values

ERRORS: tuple[type[Exception], ...] = (psycopg.Error,)
_MARK = "made by quire: "
_TYPES = {str: "text", int: "int8", list: "text[]"}
_INDEXED = ("content_hash", "document")


class _Postgres:
    """Tables in the first schema of the connection's search path."""

    def __init__(self, place: str, name: str, label: str) -> None:
        self._connection = psycopg.connect(place, autocommit=True)
        self.close = self._connection.close
        self._execute("SET lock_timeout = '5s'")  # the server may not know yet that a killed sync is gone
        try:
            self._execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", values=[f"quire {name}"])
        except psycopg.errors.LockNotAvailable as error:
            self.close()
            raise BusyError(label, "another sync is writing to this table", "wait for it") from error
        self._execute("RESET lock_timeout")
        with suppress(psycopg.ProgrammingError):  # the type does not exist before the first sync
            register_vector(self._connection)

    def mark(self, name: str) -> str | None:
        query = "SELECT oid, obj_description(oid, 'pg_class') FROM (SELECT to_regclass(%s) AS oid) AS found"
        ((oid, comment),) = self._execute(query, values=[f'"{name}"'])
        if oid is None:
            return None
        return str(comment.removeprefix(_MARK)) if comment and comment.startswith(_MARK) else ""

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        types = {column: sql.SQL(_TYPES[kind]) for column, kind in columns.items()}
        if size:
            self._execute("CREATE EXTENSION IF NOT EXISTS vector")
            register_vector(self._connection)
            types["vector"] = sql.SQL("vector({})").format(sql.Literal(size))
        lines = [sql.SQL("{} {} NOT NULL").format(sql.Identifier(column), kind) for column, kind in types.items()]
        with self._connection.transaction():
            self._execute("CREATE TABLE {} ({}, PRIMARY KEY (id))", name, sql.SQL(", ").join(lines))
            for column in _INDEXED if size else ():
                self._execute("CREATE INDEX ON {} ({})", name, sql.Identifier(column))
            self._execute("COMMENT ON TABLE {} IS {}", name, sql.Literal(_MARK + mark))

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        types = {column: _TYPES[type(value)] for column, value in rows[0].columns.items()}
        if rows[0].vector is not None:
            types["vector"] = "vector"
        with self._connection.transaction(), self._connection.cursor() as cursor:
            if not is_new:
                self.delete(name, [row.id for row in rows])
            copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(sql.Identifier(name), _listed(types))
            with cursor.copy(copy) as stream:
                stream.set_types([*types.values()])
                for row in rows:
                    stream.write_row([*row.columns.values(), *([row.vector] if "vector" in types else [])])

    def find(self, name: str, columns: Sequence[str], column: str = "", values: Sequence[str] = ()) -> Values:
        where = sql.SQL("WHERE {} = ANY(%s)").format(sql.Identifier(column)) if column else sql.SQL("")
        parameters = [[*values]] if column else None
        rows = self._execute("SELECT {1} FROM {0} {2}", name, _listed(columns), where, values=parameters)
        # Newer versions of pgvector have a class of their own for vectors.
        return [(*row[:-1], row[-1].to_numpy() if hasattr(row[-1], "to_numpy") else row[-1]) for row in rows]

    def delete(self, name: str, ids: Sequence[str]) -> None:
        self._execute("DELETE FROM {} WHERE id = ANY(%s)", name, values=[[*ids]])

    def publish(self, name: str, following: str) -> None:
        if following:
            with self._connection.transaction():
                self.drop(name)
                self._execute("ALTER TABLE {} RENAME TO {}", following, sql.Identifier(name))

    def drop(self, name: str) -> None:
        self._execute("DROP TABLE IF EXISTS {}", name)

    def _execute(self, query: str, name: str = "", *parts: Any, values: Sequence[Any] | None = None) -> Any:
        """Execute a query; ``{}`` stands for the table and then for the parts."""
        composed = sql.SQL(query).format(sql.Identifier(name), *parts)
        return self._connection.execute(composed, values, binary=True)


def _listed(columns: Iterable[str]) -> Any:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


connect = _Postgres
