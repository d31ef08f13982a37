"""LanceDB: tables in a folder or in object storage. The metadata of a table's schema has its mark.

A table cannot be renamed: the rows of the following one become a new version of it, in one commit. ``NodeTables`` has
the sections of indexes: each write is one commit, so a reader sees a document whole, as it was or as it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, Bitmap, BTree
from lancedb.query import BooleanQuery, MatchQuery, Occur, PhraseQuery

from quire.index.engine import node_fields as schema
from quire.index.engine.node_fields import DOC, FLAGS, ID, RANKED, TREE
from quire.stores.chunk_rows import Row
from quire.stores.store import SUMMARY, Values, in_list

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
        table = _unless_missing(self._table, name)
        return None if table is None else str((table.schema.metadata or {}).get(_MARK, b"").decode())

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        vector = [("vector", pa.list_(pa.float32(), size))] if size else []
        made = pa.schema([*((column, _TYPES[kind]) for column, kind in columns.items()), *vector])
        self._database.create_table(name, schema=made.with_metadata({_MARK: mark.encode()}))

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

    def nodes(self, name: str) -> "NodeTables":
        """The tables of sections, which are made if they are missing."""
        return NodeTables(self._place, name, create=True)

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


def _unless_missing(table: Callable[..., Any], *values: str) -> Any:
    try:
        return table(*values)
    except ValueError as error:
        if "was not found" not in str(error):
            raise
    return None


# Sections

_BODY = "body"
_SEARCHED = (*RANKED, FLAGS)
_TEXTS, _NUMBERS = ("path", "front_matter", "fingerprint"), ("parent", "line", "last_line", "tokens")
_COUNTED = (schema.POSITION, schema.IN_LINKS, schema.PAGE_LINKS)
_NODES = pa.schema(
    [
        *[(name, pa.string()) for name in (ID, DOC, TREE, *_TEXTS, *_SEARCHED)],
        *[(name, pa.int64()) for name in (*_COUNTED, *_NUMBERS)],
        *[(name, pa.binary()) for name in (schema.NODE, schema.OUTLINE, schema.BLOB, "record")],
        ("lengths", pa.list_(pa.int64())),
    ]
)
_TERMS = pa.schema([("owner", pa.string()), ("term", pa.string()), ("value", pa.binary())])
_AS_IT_IS: dict[str, Any] = dict.fromkeys(("stem", "remove_stop_words", "lower_case", "ascii_folding"), False)
_AS_IT_IS |= {"base_tokenizer": "whitespace", "max_token_length": None}  # columns have quire's terms
_INDEXED: dict[str, Any] = {name: FTS(with_position=name == _BODY, **_AS_IT_IS) for name in _SEARCHED}
_INDEXED |= {ID: BTree(), DOC: BTree(), TREE: Bitmap()}
_INDEXED_TERMS: dict[str, Any] = {"term": BTree()}
_FLAG_WEIGHT = 6.0  # of a flag with its dashes


def open_nodes(place: str, name: str) -> "NodeTables | None":
    """The tables of sections; None if they do not exist."""
    is_there = "://" in place or Path(place).exists()  # connecting would make the folder
    tables: NodeTables | None = _unless_missing(NodeTables, place, name) if is_there else None
    return tables


class NodeTables:
    """A table of nodes, and one of terms with the number of nodes that have each: at one version until ``refresh``."""

    def __init__(self, place: str, name: str, *, create: bool = False) -> None:
        database, schemas = lancedb.connect(place), {f"{name}__nodes": _NODES, f"{name}__terms": _TERMS}
        for table, made in schemas.items() if create else ():
            known = _unless_missing(database.open_table, table)
            if known is None or known.schema.names == made.names:
                database.create_table(table, schema=made, exist_ok=True)
            else:  # that of another version
                database.create_table(table, schema=made, mode="overwrite")
        self._nodes: Any = database.open_table(f"{name}__nodes")
        self._terms: Any = database.open_table(f"{name}__terms")

    def refresh(self) -> tuple[int, int]:
        """Go to the last versions of the tables, and return them."""
        self._nodes.checkout_latest()
        self._terms.checkout_latest()
        return self._nodes.version, self._terms.version

    def terms(self, condition: str, columns: Sequence[str] = ("term", "value")) -> Iterator[tuple[Any, ...]]:
        """Columns of the rows of terms for a condition in SQL."""
        return _tuples(self._terms.search().where(condition), columns)

    def summaries(self) -> Iterator[tuple[Any, ...]]:
        """The encoded summaries, each after its trees, which are joined by commas."""
        return self.terms(f"term = '{SUMMARY}'", ("owner", "value"))

    def nodes(self, condition: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Columns of the rows of nodes for a condition in SQL."""
        return _tuples(self._nodes.search().where(condition), columns)

    def rows(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """What a search needs of the nodes with these ids."""
        columns = [DOC, TREE, *_COUNTED, schema.NODE, *_SEARCHED]
        return list(self._nodes.search().where(in_list(ID, ids)).select(columns).to_arrow().to_pylist())

    def best(
        self, words: Sequence[str], flags: Sequence[str], boosts: Mapping[str, float], condition: str, limit: int
    ) -> list[tuple[str, str]]:
        """The ids of the best nodes for any of some words, with their documents."""
        weights = {name: boost for name, boost in boosts.items() if boost > 0 and words}
        clauses = [(Occur.SHOULD, MatchQuery(" ".join(words), name, boost=weights[name])) for name in weights]
        clauses += [(Occur.SHOULD, MatchQuery(" ".join(flags), FLAGS, boost=_FLAG_WEIGHT))] if flags else []
        return self._best(BooleanQuery(clauses) if clauses else None, condition, limit)

    def with_text(self, words: Sequence[str], condition: str, limit: int) -> list[tuple[str, str]]:
        """The ids of nodes with all words in order in their body, with their documents."""
        return self._best(PhraseQuery(" ".join(words), _BODY), condition, limit)

    def _best(self, query: Any, condition: str, limit: int) -> list[tuple[str, str]]:
        found = self._nodes.search(query, query_type="fts") if query else self._nodes.search()
        found = found.where(condition, prefilter=True) if condition else found
        return [
            (id_, document) for id_, document, *_ in _tuples(found.limit(limit), (ID, DOC, *["_score"] * bool(query)))
        ]

    def write_terms(self, owners: Iterable[str], rows: Iterable[tuple[str, str, bytes]]) -> None:
        """Replace all terms of some owners."""
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        data = pa.table(dict(zip(_TERMS.names, columns, strict=True)), schema=_TERMS)
        _merge(self._terms, ["owner", "term"], data, in_list("owner", owners))

    def write_nodes(self, documents: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        """Replace all nodes of some documents."""
        _merge(self._nodes, ID, pa.Table.from_pylist(list(rows), schema=_NODES), in_list(DOC, documents))

    def is_finished(self) -> bool:
        """Whether all rows are indexed."""
        for table, indexed in ((self._nodes, _INDEXED), (self._terms, _INDEXED_TERMS)):
            names = {column: index.name for index in table.list_indices() for column in index.columns}
            if indexed.keys() - names or any(table.index_stats(name).num_unindexed_rows for name in names.values()):
                return False
        return True

    def finish(self) -> None:
        """Index new rows. Until then, they are found by reading all of them."""
        for table, indexed in ((self._nodes, _INDEXED), (self._terms, _INDEXED_TERMS)):
            there = {column for index in table.list_indices() for column in index.columns}
            for column in sorted(indexed.keys() - there):
                table.create_index(column, config=indexed[column])
            table.optimize()


def _merge(table: Any, key: Any, data: pa.Table, replaced: str) -> None:
    merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
    merge.when_not_matched_by_source_delete(replaced).execute(data)


def _tuples(query: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    rows = query.select([*columns]).to_arrow()
    return zip(*[rows[column].to_pylist() for column in columns], strict=True)
