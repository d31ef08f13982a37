"""LanceDB: tables in a folder or in object storage. The metadata of a table's schema has its mark.

A table cannot be renamed: the rows of the following one become a new version of it, in one commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quire.errors import MissingExtraError
from quire.stores.store import Row

try:
    import lancedb
    import numpy as np
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("lancedb", error.name) from error

ERRORS: tuple[type[Exception], ...] = (OSError, RuntimeError, ValueError, NotImplementedError)
_MARK = b"quire.generation"
_MOST_FRAGMENTS = 200
_TYPES = {str: pa.string(), int: pa.int64(), list: pa.list_(pa.string())}


class LanceStore:
    """Tables of one database."""

    errors = ERRORS

    def __init__(self, place: str, name: str, target: str) -> None:
        self.target = target
        self._database = lancedb.connect(place)
        self._tables: dict[str, Any] = {}
        self._writes = 0

    def mark(self, name: str) -> str | None:
        """The mark of a table; None if there is no table."""
        try:
            schema = self._table(name).schema
        except ValueError as error:
            if "was not found" in str(error):
                return None
            raise
        return str((schema.metadata or {}).get(_MARK, b"").decode())

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        """Make an empty table."""
        vector = [("vector", pa.list_(pa.float32(), size))] if size else []
        schema = pa.schema([*((each, _TYPES[kind]) for each, kind in columns.items()), *vector])
        schema = schema.with_metadata({_MARK: mark.encode()})
        self.drop(name)
        self._tables[name] = self._database.create_table(name, schema=schema)

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        """Add rows; unless they are new, replace those with the same ids."""
        table = self._table(name)
        if is_new:
            table.add(arrow_table(rows, table.schema))
        else:
            merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.execute(arrow_table(rows, table.schema))
        self._writes += 1
        if self._writes % _MOST_FRAGMENTS == 0:
            self._compact()

    def find(self, name: str, columns: Sequence[str], column: str, values: Sequence[str]) -> Iterable[tuple[Any, ...]]:
        """Some columns of the rows that have one of these values."""
        rows = self._table(name).search().where(_is(column, values)).select([*columns]).to_arrow()
        texts = [rows[each].to_pylist() for each in columns if each != "vector"]
        return zip(*texts, *([_array(rows["vector"])] if "vector" in columns else []), strict=True)

    def delete(self, name: str, column: str, values: Sequence[str], except_column: str, kept: Sequence[str]) -> None:
        """Delete rows."""
        conditions = [_is(column, values)] if column else []
        conditions += [f"NOT {_is(except_column, kept)}"] if kept else []
        where, table = " AND ".join(conditions), self._table(name)
        if table.count_rows(where):  # LanceDB makes a new version also if there are none
            table.delete(where)

    def publish(self, name: str, following: str) -> None:
        """Give a table the name of another one. Read all ids: a full disk leaves incomplete files without an error."""
        if following:
            table = self._table(following)
            rows = table.search().to_batches()
            self._tables[name] = self._database.create_table(name, rows, table.schema, mode="overwrite")
            self.drop(following)
        self._table(name).count_rows("id != ''")
        self._compact()

    def drop(self, name: str) -> None:
        """Remove a table, even if it cannot be read."""
        self._database.drop_table(name, ignore_missing=True)
        self._tables.pop(name, None)

    def close(self) -> None:
        """Nothing is held."""

    def _compact(self) -> None:
        """Join small files and drop old versions, once there are many."""
        for table in self._tables.values():
            if table.stats()["fragment_stats"]["num_fragments"] > _MOST_FRAGMENTS:
                table.optimize()

    def _table(self, name: str) -> Any:
        if name not in self._tables:
            self._tables[name] = self._database.open_table(name)
        return self._tables[name]


def arrow_table(rows: Sequence[Row], schema: Any) -> Any:
    """Rows as a table of Arrow."""
    columns = {name: [row.columns[name] for row in rows] for name in schema.names if name != "vector"}
    if rows[0].vector is not None:
        flat = np.concatenate([row.vector for row in rows])
        columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), len(rows[0].vector))
    return pa.table(columns, schema=schema.remove_metadata())


def _array(column: Any) -> Any:
    """The vectors of a column as rows of an array."""
    if not len(column):
        return []
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(column), -1)


def _is(column: str, values: Iterable[str]) -> str:
    """``column IN ('a', 'b')``, in SQL."""
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    return f"{column} IN ({listed})"


connect = LanceStore
