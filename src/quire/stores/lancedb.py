"""LanceDB: a table of rows in a folder or in object storage.

A table's schema has its generation in its metadata. A new generation replaces the live table as a new version of it, in
one commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quire.errors import MissingExtraError
from quire.stores.row import LISTS, NUMBERS, TEXTS, Row
from quire.stores.target import DOCUMENTS, NEXT, Known, batched, foreign, own_tables

try:
    import lancedb
    import numpy as np
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("lancedb", error.name) from error

ERRORS: tuple[type[Exception], ...] = (OSError, RuntimeError, ValueError, NotImplementedError)
_MARK = b"quire.generation"
_KNOWN = ["id", "document_hash", "content_hash", "passage", "vector"]
_MOST_FRAGMENTS = 200
_DOCUMENTS = pa.schema([(name, pa.string()) for name in ("generation", "document", "hash")], metadata={_MARK: b""})


class LanceStore:
    """Tables of one database."""

    errors = ERRORS

    def __init__(self, place: str, name: str, target: str) -> None:
        self.target = target
        self._database = lancedb.connect(place)
        self._name = name
        self.tables = own_tables(name)
        self._tables: dict[str, Any] = {}

    def generation(self) -> str | None:
        """The live generation."""
        return self.mark(self._name)

    def documents(self, generation: str) -> dict[str, str]:
        """The recorded hash of each document."""
        if not self._has(self._name + DOCUMENTS):
            return {}
        table = self._table(self._name + DOCUMENTS)
        found = table.search().where(_is("generation", [generation])).select(["document", "hash"]).to_arrow()
        return dict(zip(found["document"].to_pylist(), found["hash"].to_pylist(), strict=True))

    def record(self, generation: str, documents: Mapping[str, str | None]) -> None:
        """Record the hashes of documents; None forgets one."""
        if not self._has(self._name + DOCUMENTS):
            self._database.create_table(self._name + DOCUMENTS, schema=_DOCUMENTS)
        table = self._table(self._name + DOCUMENTS)
        rows = [{"generation": generation, "document": name, "hash": hash_} for name, hash_ in documents.items()]
        kept = pa.Table.from_pylist([row for row in rows if row["hash"] is not None], schema=_DOCUMENTS)
        if kept.num_rows:
            merge = table.merge_insert(["generation", "document"])
            merge.when_matched_update_all().when_not_matched_insert_all().execute(kept)
        for gone in batched((name for name, hash_ in documents.items() if hash_ is None), 500):
            table.delete(f"{_is('generation', [generation])} AND {_is('document', gone)}")
        _compact(table)

    def known(self, generation: str, hashes: Sequence[str]) -> Iterable[Known]:
        """The rows with one of these content hashes."""
        name = self._home(generation)
        if self.mark(name) is None:
            return
        found = self._table(name).search().where(_is("content_hash", hashes)).select(_KNOWN).to_arrow()
        vectors = _array(found["vector"])
        columns = [found[column].to_pylist() for column in _KNOWN[:-1]]
        yield from map(Known, *columns, vectors)

    def write(self, generation: str, new: Sequence[Row], changed: Sequence[Row]) -> None:
        """Add rows and replace others."""
        name = self._home(generation)
        if self.mark(name) != generation:  # none yet, or another one that was never completed
            size = len((new or changed)[0].vector)
            schema = _schema(size).with_metadata({_MARK: generation.encode()})
            mode = "overwrite" if self._has(name) else "create"
            self._tables[name] = self._database.create_table(name, schema=schema, mode=mode)
        table = self._table(name)
        if new:
            table.add(arrow_table(new))
        if changed:
            table.merge_insert("id").when_matched_update_all().execute(arrow_table(changed))

    def delete(self, generation: str, documents: Sequence[str], hashes: Sequence[str]) -> None:
        """Delete the rows of documents, except those with one of these document hashes."""
        name = self._home(generation)
        if self.mark(name) is None:
            return
        kept = f" AND NOT {_is('document_hash', hashes)}" if hashes else ""
        for some in batched(documents, 500):
            self._table(name).delete(f"{_is('document', some)}{kept}")
        _compact(self._table(name))

    def publish(self, generation: str) -> None:
        """Make the generation the live one, and remove all others."""
        following = self._name + NEXT
        if self.mark(following) == generation != self.mark(self._name):
            table = self._table(following)
            self._database.create_table(self._name, table.search().to_batches(), table.schema, mode="overwrite")
            self._tables.clear()
        if self._has(self._name):  # on a full disk LanceDB commits incomplete files without an error; this reads all
            self._table(self._name).count_rows("id != ''")
        self.drop(following)
        if self._has(self._name + DOCUMENTS):
            table = self._table(self._name + DOCUMENTS)
            if table.count_rows(f"NOT {_is('generation', [generation])}"):
                table.delete(f"NOT {_is('generation', [generation])}")
        self._tables.clear()

    def drop(self, name: str) -> None:
        """Remove a table, even if it cannot be read."""
        self._database.drop_table(name, ignore_missing=True)
        self._tables.pop(name, None)

    def close(self) -> None:
        """Nothing is held."""

    def _home(self, generation: str) -> str:
        """The table of a generation: the live one, unless that has another."""
        return self._name if self.mark(self._name) in (None, generation) else self._name + NEXT

    def _has(self, name: str) -> bool:
        try:
            return self._table(name) is not None
        except ValueError as error:
            if "was not found" in str(error):
                return False
            raise

    def mark(self, name: str) -> str | None:
        """The generation of a table; None if there is no table."""
        if not self._has(name):
            return None
        mark = (self._table(name).schema.metadata or {}).get(_MARK)
        if mark is None:
            raise foreign(self.target, name)
        return str(mark.decode())

    def _table(self, name: str) -> Any:
        if name not in self._tables:
            self._tables[name] = self._database.open_table(name)
        return self._tables[name]


def _compact(table: Any) -> None:
    """Join small files and drop old versions, once there are many."""
    if table.stats()["fragment_stats"]["num_fragments"] > _MOST_FRAGMENTS:
        table.optimize()


def _schema(size: int) -> Any:
    columns = [(name, pa.string()) for name in TEXTS]
    columns += [(name, pa.int64()) for name in NUMBERS]
    columns += [(name, pa.list_(pa.string())) for name in LISTS]
    return pa.schema([*columns, ("vector", pa.list_(pa.float32(), size))])


def arrow_table(rows: Sequence[Row]) -> Any:
    """Rows as a table of Arrow."""
    schema = _schema(len(rows[0].vector))
    columns = {name: [row.columns[name] for row in rows] for name in (*TEXTS, *NUMBERS, *LISTS)}
    flat = np.concatenate([row.vector for row in rows])
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), len(rows[0].vector))
    return pa.table({**columns, "vector": vectors}, schema=schema)


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
