"""LanceDB: tables in a folder or in object storage. The metadata of a table's schema has its mark.

A table cannot be renamed: the rows of the following one become a new version of it, in one commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa

from quire.stores.store import Row, Values, in_list

IS_FOLDER = True
ERRORS: tuple[type[Exception], ...] = (OSError, RuntimeError, ValueError, NotImplementedError)
_MARK = b"quire.generation"
_MOST_FRAGMENTS = 200
_TYPES = {str: pa.string(), int: pa.int64(), list: pa.list_(pa.string())}


class _Lance:
    def __init__(self, place: str, name: str, label: str) -> None:
        self._place, self._database = place, lancedb.connect(place)
        self._tables: dict[str, Any] = {}
        self._writes = 0

    def mark(self, name: str) -> str | None:
        try:
            schema = self._table(name).schema
        except ValueError as error:
            if "was not found" in str(error):
                return None
            raise
        return str((schema.metadata or {}).get(_MARK, b"").decode())

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        vector = [("vector", pa.list_(pa.float32(), size))] if size else []
        schema = pa.schema([*((column, _TYPES[kind]) for column, kind in columns.items()), *vector])
        self._database.create_table(name, schema=schema.with_metadata({_MARK: mark.encode()}))

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        table = self._table(name)
        columns = {column: [row.columns[column] for row in rows] for column in table.schema.names if column != "vector"}
        if rows[0].vector is not None:
            flat = np.concatenate([row.vector for row in rows])
            columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), len(rows[0].vector))
        data = pa.table(columns, schema=table.schema.remove_metadata())
        if is_new:
            table.add(data)
        else:
            table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(data)
        self._writes += 1
        if self._writes % _MOST_FRAGMENTS == 0:
            self._compact()

    def find(self, name: str, columns: Sequence[str], column: str = "", values: Sequence[str] = ()) -> Values:
        query = self._table(name).search().select([*columns])
        rows = (query.where(in_list(column, values)) if column else query).to_arrow()
        values_by_column = [rows[column_name].to_pylist() for column_name in columns if column_name != "vector"]
        if "vector" in columns:
            flat = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
            values_by_column.append(flat.reshape(len(rows), -1) if len(rows) else [])
        return zip(*values_by_column, strict=True)

    def delete(self, name: str, ids: Sequence[str]) -> None:
        self._table(name).delete(in_list("id", ids))

    def publish(self, name: str, following: str) -> None:
        if following:
            table = self._table(following)
            rows = table.search().to_batches()
            self._tables[name] = self._database.create_table(name, rows, table.schema, mode="overwrite")
            self.drop(following)
        self._table(name).count_rows("id != ''")  # reads all ids: a full disk leaves incomplete files without an error
        self._compact()

    def drop(self, name: str) -> None:
        self._database.drop_table(name, ignore_missing=True)
        self._tables.pop(name, None)

    def nodes(self, name: str) -> Any:
        """The tables of sections, which are made if they are missing."""
        return open_nodes(self._place, name, create=True)

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


connect = _Lance


def open_nodes(place: str, name: str, *, create: bool = False) -> Any:
    """The tables of sections; None if they do not exist."""
    from quire.stores.lancedb_nodes import NodeTables  # noqa: PLC0415  vectors do not need it

    if not create and "://" not in place and not Path(place).exists():
        return None  # connecting would make the folder
    try:
        return NodeTables(place, name, create=create)
    except ValueError as error:
        if "was not found" in str(error):
            return None
        raise
