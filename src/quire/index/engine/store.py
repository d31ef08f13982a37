"""The engine's index on disk: a committed state to read. Before: ``writer`` has written it. After: the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, cast

import tantivy

from quire.errors import IndexDamagedError
from quire.index import files
from quire.index.engine import schema
from quire.index.engine.fields import BLOB, DOC, ID, NODE, NUMBER, POSITION, RECORD, TREE
from quire.index.engine.links import index_in
from quire.index.engine.trouble import damage_named
from quire.index.files import FileRecord, FileTable, Settings
from quire.index.node import Node, decoded, term
from quire.index.outline import Outline, Spot

_REMEMBERED = 4_096
"""How many nodes, and outlines of documents, a snapshot keeps at hand."""
_FEW = 100
"""Up to so many nodes of a document are looked at to find some."""

Key = tantivy.DocAddress
"""Where a node is in a snapshot."""
Scored = tuple[float, Key]
"""What a node scores, and where it is."""
Place = tuple[str, int]
"""A document and a position in it."""


class _Range(NamedTuple):
    """Some nodes of a document, from one position to another."""

    record: FileRecord
    first: int
    last: int


class Snapshot:
    """One committed state of an index; later commits do not change it. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """The generation that it is a state of."""
        self._nodes: dict[tuple[int, int], Node] = {}
        self._outlines: dict[int, Outline] = {}
        with damage_named(folder):
            self.index = index_in(folder)
            self.searcher = self.index.searcher()
            self.schema = self.index.schema
        if self.settings.schema != schema.VERSION:
            problem = "the index was made by another version of quire"
            raise IndexDamagedError(str(folder.parent), problem, "run: quire index")
        schema.register(self.index, self.languages)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that there are fields for."""
        return self.settings.languages

    @cached_property
    def settings(self) -> Settings:
        """How the index was made."""
        with damage_named(self.folder):
            blobs = self._blobs([files.SETTINGS])
            if len(blobs) != 1:
                raise ValueError("its settings are missing")
            return files.decoded_settings(blobs[0])

    @cached_property
    def _files(self) -> dict[str, FileRecord]:
        with damage_named(self.folder):
            return files.decoded(self._blobs(files.KEYS))

    def files(self) -> FileTable:
        """What is known of the files, by document id."""
        return self._files

    def size(self, documents: Iterable[str]) -> int:
        """How many nodes some documents have."""
        return sum([self._files[document].nodes for document in documents])

    def top(self, query: tantivy.Query, limit: int) -> list[Scored]:
        """The best nodes for a query, the best first. No more are asked for than there are: the engine makes room."""
        with damage_named(self.folder):
            return list(self.searcher.search(query, min(limit, self.searcher.num_docs), count=False).hits)

    def node(self, key: Key) -> Node:
        """The node at a place."""
        return self.nodes([key])[0]

    def nodes(self, keys: Iterable[Key]) -> list[Node]:
        """The nodes at some places."""
        with damage_named(self.folder):
            return [self._node(key) for key in keys]

    def _node(self, key: Key) -> Node:
        return self._nodes.get((key.segment_ord, key.doc)) or self._read(key)

    def _read(self, key: Key) -> Node:
        if len(self._nodes) >= _REMEMBERED:
            self._nodes.clear()
        self._nodes[key.segment_ord, key.doc] = read = decoded(self.searcher.doc(key)[NODE][0])
        return read

    def numbers(self, keys: Sequence[Key]) -> list[int]:
        """The numbers of the documents of some nodes; no node is read for it."""
        with damage_named(self.folder):
            return cast("list[int]", self.searcher.fast_field_values(NUMBER, list(keys)))

    def positions(self, keys: Sequence[Key]) -> list[int]:
        """The positions of some nodes in their documents; no node is read for it."""
        with damage_named(self.folder):
            return cast("list[int]", self.searcher.fast_field_values(POSITION, list(keys)))

    def spots(self, keys: Sequence[Key], numbers: Sequence[int] | None = None) -> list[Spot]:
        """Where some nodes stand; no node is read for it. ``numbers`` are those of their documents, if known."""
        numbers, positions = self.numbers(keys) if numbers is None else numbers, self.positions(keys)
        with damage_named(self.folder):
            outlines = {number: self._outline(number) for number in set(numbers)}
            return [outlines[number].spot(position) for number, position in zip(numbers, positions, strict=True)]

    def _outline(self, number: int) -> Outline:
        """The outline of a document, which is asked for again and again during a search."""
        found = self._outlines.get(number)
        if found is None:
            if len(self._outlines) >= _REMEMBERED:
                self._outlines.clear()
            self._outlines[number] = found = Outline(self._by_number[number])
        return found

    def sections(
        self, places: Iterable[Place], *, whole: bool, keys: Mapping[Place, Key] = MappingProxyType({})
    ) -> list[list[Node]]:
        """The nodes at some positions of documents, each with those below it if they are wanted ``whole``, in order.

        ``keys`` are those of nodes that were found before. All others are looked for at once, which takes a fraction
        of the time.
        """
        wanted = [self._section(self._files[document_id], position, whole=whole) for document_id, position in places]
        alone = [keys.get((each.record.id, each.first)) if each.first == each.last else None for each in wanted]
        others = self._looked_for([each for each, key in zip(wanted, alone, strict=True) if key is None])
        with damage_named(self.folder):
            return [[self._node(each) for each in ([key] if key is not None else next(others))] for key in alone]

    def _section(self, record: FileRecord, position: int, *, whole: bool) -> _Range:
        return _Range(record, position, self._outline(record.number).last(position) if whole else position)

    def _looked_for(self, wanted: Sequence[_Range]) -> Iterator[list[Key]]:
        """The nodes of each range, in order."""
        if not wanted:
            return
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, self._in_or_near(each)) for each in wanted])
        keys = [key for _, key in self.top(query, sum(each.record.nodes for each in wanted))]
        by_number: dict[int, list[tuple[int, Key]]] = {}
        for key, number, position in zip(keys, self.numbers(keys), self.positions(keys), strict=True):
            by_number.setdefault(number, []).append((position, key))
        for inside in by_number.values():
            inside.sort(key=itemgetter(0))
        for record, first, last in wanted:
            yield [key for position, key in by_number[record.number] if first <= position <= last]

    def get(self, node_id: str) -> Node | None:
        """The node with an id."""
        hits = self.top(self._is(ID, term(node_id)), 1)
        return self.node(hits[0][1]) if hits else None

    def nodes_of(self, document_id: str, first: int = 0, last: int | None = None) -> list[Node]:
        """The nodes of a document from one position to another, both included, in order."""
        known = self._files.get(document_id)
        if known is None or not known.nodes:
            return []
        end = known.nodes - 1 if last is None else min(last, known.nodes - 1)
        if end < first:
            return []
        with damage_named(self.folder):
            hits = self.searcher.search(
                self._in(document_id, first, end),
                end - first + 1,
                count=False,
                order_by_field=POSITION,
                order=tantivy.Order.Asc,
            ).hits
        return self.nodes(key for _, key in hits)

    def doc_freq(self, fields: Iterable[str], value: str) -> int:
        """How many nodes have a term in each of some fields, added up; among them ``deleted`` ones."""
        with damage_named(self.folder):
            return sum([self.searcher.doc_freq(field, value) for field in fields])

    @property
    def count(self) -> int:
        """How many nodes there are, and a few records that are none."""
        return self.searcher.num_docs

    @cached_property
    def deleted(self) -> int:
        """How many nodes that were replaced or removed ``doc_freq`` and ``beginning`` still count."""
        with damage_named(self.folder):
            written = sum([count for _, count in self.searcher.terms_with_prefix(TREE, "")])
        return written - self.size(self._files)

    def living(self, field: str, value: str) -> int:
        """How many nodes that are still there have a term in a field."""
        with damage_named(self.folder):
            # The engine's stubs do not know that it tells this.
            return cast("int", self.searcher.search(self._is(field, value), 1).count)  # type: ignore[attr-defined]

    def beginning(self, field: str, start: str) -> list[tuple[str, int]]:
        """The terms of a field that begin so, each with how many nodes have it; among them ``deleted`` ones."""
        with damage_named(self.folder):
            return list(self.searcher.terms_with_prefix(field, start))

    @cached_property
    def _by_number(self) -> dict[int, FileRecord]:
        return {record.number: record for record in self._files.values()}

    @property
    def segments(self) -> int:
        """Into how many parts the engine has the index."""
        return self.searcher.num_segments

    def _in(self, document_id: str, first: int, last: int) -> tantivy.Query:
        within = tantivy.Query.range_query(self.schema, POSITION, tantivy.FieldType.Unsigned, first, last)
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, self._is(DOC, term(document_id))), (tantivy.Occur.Must, within)]
        )

    def _in_or_near(self, wanted: _Range) -> tantivy.Query:
        """The nodes of a range, or all of a document that has few: they are found faster without it."""
        record, first, last = wanted
        few = record.nodes <= _FEW
        return self._is(DOC, term(record.id)) if few else self._in(record.id, first, last)

    def _is(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self.schema, field, value, index_option="basic")

    def _blobs(self, keys: Sequence[str]) -> list[bytes]:
        query = tantivy.Query.term_set_query(self.schema, RECORD, keys)
        hits = self.searcher.search(query, 2 * len(keys), count=False).hits
        return [self.searcher.doc(key)[BLOB][0] for _, key in hits]
