"""The sections of indexes in LanceDB: a table of nodes, and one of terms with the number of nodes that have each.

Each write is one commit of one table, so a reader sees a document whole, as it was or as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.index import FTS, Bitmap, BTree
from lancedb.query import BooleanQuery, MatchQuery, Occur, PhraseQuery

from quire.index.engine.index_schema import DOC, FLAGS, ID, IN_LINKS, NODE, OUTLINE, PAGE_LINKS, POSITION, RANKED, TREE
from quire.stores.store import in_list

BODY = "body"
_SEARCHED = (*RANKED, FLAGS)
_TEXTS, _NUMBERS = ("path", "front_matter", "fingerprint"), ("parent", "line", "last_line", "tokens")
NODES = pa.schema(
    [
        *[(name, pa.string()) for name in (ID, DOC, TREE, *_TEXTS, *_SEARCHED)],
        *[(name, pa.int64()) for name in (POSITION, IN_LINKS, PAGE_LINKS, *_NUMBERS)],
        *[(name, pa.binary()) for name in (NODE, OUTLINE, "record")],
        ("lengths", pa.list_(pa.int64())),
    ]
)
TERMS = pa.schema([("owner", pa.string()), ("term", pa.string()), ("value", pa.binary())])
_AS_IT_IS: dict[str, Any] = {
    "base_tokenizer": "whitespace",
    "stem": False,
    "remove_stop_words": False,
    "lower_case": False,
    "ascii_folding": False,
    "max_token_length": None,
}
"""Columns have quire's own terms, with spaces between."""
_FLAG_WEIGHT = 6.0  # of a flag with its dashes


class NodeTables:
    """Both tables at one version, until ``refresh``."""

    def __init__(self, place: str, name: str, *, create: bool) -> None:
        database, names = lancedb.connect(place), (f"{name}__nodes", f"{name}__terms")
        for table, schema in zip(names, (NODES, TERMS), strict=True) if create else ():
            database.create_table(table, schema=schema, exist_ok=True)
        self._nodes: Any
        self._terms: Any
        self._nodes, self._terms = map(database.open_table, names)

    def refresh(self) -> tuple[int, int]:
        """Go to the last versions of the tables, and return them."""
        self._nodes.checkout_latest()
        self._terms.checkout_latest()
        return self._nodes.version, self._terms.version

    # Reading

    def terms(self, condition: str, columns: Sequence[str] = ("term", "value")) -> Iterator[tuple[Any, ...]]:
        """Columns of the rows of terms for a condition in SQL."""
        return _tuples(self._terms.search().where(condition), columns)

    def nodes(self, condition: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Columns of the rows of nodes for a condition in SQL."""
        return _tuples(self._nodes.search().where(condition), columns)

    def rows(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """What a search needs of the nodes with these ids."""
        columns = [DOC, TREE, POSITION, IN_LINKS, PAGE_LINKS, NODE, *_SEARCHED]
        rows: list[dict[str, Any]] = self._nodes.search().where(in_list(ID, ids)).select(columns).to_arrow().to_pylist()
        return rows

    def best(
        self, words: Sequence[str], flags: Sequence[str], boosts: Mapping[str, float], condition: str, limit: int
    ) -> list[tuple[str, str]]:
        """The ids of the best nodes for any of some words, with their documents."""
        weights = {name: boost for name, boost in boosts.items() if boost > 0 and words}
        clauses = [(Occur.SHOULD, MatchQuery(" ".join(words), name, boost=weights[name])) for name in weights]
        clauses += [(Occur.SHOULD, MatchQuery(" ".join(flags), FLAGS, boost=_FLAG_WEIGHT))] if flags else []
        query = self._nodes.search(BooleanQuery(clauses), query_type="fts") if clauses else self._nodes.search()
        return _best(query, condition, limit, [] if not clauses else ["_score"])

    def with_text(self, words: Sequence[str], condition: str, limit: int) -> list[tuple[str, str]]:
        """The ids of nodes with all words in order in their body, with their documents."""
        query = self._nodes.search(PhraseQuery(" ".join(words), BODY), query_type="fts")
        return _best(query, condition, limit, ["_score"])

    # Writing

    def write_terms(self, owners: Iterable[str], rows: Iterable[tuple[str, str, bytes]]) -> None:
        """Replace all terms of some owners."""
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        data = pa.table(dict(zip(TERMS.names, columns, strict=True)), schema=TERMS)
        _merge(self._terms, ["owner", "term"], data, in_list("owner", owners))

    def write_nodes(self, documents: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        """Replace all nodes of some documents."""
        _merge(self._nodes, ID, pa.Table.from_pylist(list(rows), schema=NODES), in_list(DOC, documents))

    def finish(self) -> None:
        """Index new rows. Until then, they are found by reading all of them."""
        columns = {name: FTS(**_AS_IT_IS, with_position=name == BODY) for name in _SEARCHED} | {
            ID: BTree(),
            DOC: BTree(),
            TREE: Bitmap(),
        }
        for table, indexed in ((self._nodes, columns), (self._terms, {"term": BTree()})):
            there = {column for index in table.list_indices() for column in index.columns}
            for column, config in indexed.items():
                if column not in there:
                    table.create_index(column, config=config)
            table.optimize()


def _merge(table: Any, key: Any, data: pa.Table, replaced: str) -> None:
    merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
    merge.when_not_matched_by_source_delete(replaced).execute(data)


def _best(query: Any, condition: str, limit: int, scores: list[str]) -> list[tuple[str, str]]:
    query = query.where(condition, prefilter=True) if condition else query
    rows = query.select([ID, DOC, *scores]).limit(limit).to_arrow()
    return list(zip(rows[ID].to_pylist(), rows[DOC].to_pylist(), strict=True))


def _tuples(query: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    rows = query.select([*columns]).to_arrow()
    return zip(*[rows[column].to_pylist() for column in columns], strict=True)
