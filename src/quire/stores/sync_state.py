"""What a store has of some documents: its rows, and a log of documents. The same for every store.

A store keeps generations apart: rows made with one model and version. The live one has the name that the user gave; a
new one is written beside it, and replaces it when it is complete. The log is only appended to: each entry has the
hashes of some documents with their stamps, and a later entry counts more than an earlier one. So an entry costs the
same however many documents there are. A log with many entries is written anew when a sync is complete. Entries count as
long as the table of their generation exists.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from quire.embed.embedder import Embedder
from quire.output.chunk_json import to_json
from quire.stores.chunk_rows import COLUMNS, LAYOUT, Row
from quire.stores.store import LOG, NEXT, Store, batched

UNFINISHED = ""  # the recorded hash of a document while it may have rows that are missing or old

_LOG_COLUMNS = {"id": str, "generation": str, "number": int, "entries": str}
_LOG_MARK = "log 1"
_PER_ENTRY = 5_000  # how many documents an entry has
_MOST_ENTRIES = 100  # how many more than needed a log may have before it is written anew
_DOCUMENTS, _IDS = 500, 5_000  # how many documents are looked up, and how many rows are deleted, at a time


class SyncState:
    """One generation of one table."""

    def __init__(self, store: Store, name: str, embedder: Embedder) -> None:
        version = f" {embedder.version}" if embedder.version else ""
        model = f"{embedder.name}{version}, window {embedder.window}, rows "
        self.generation = f"{model}{LAYOUT}"  # what rows depend on, besides the documents
        self._store, self._name, self._log = store, name, name + LOG
        self.live = store.mark(name)  # the generation that has the user's name
        has_next = store.mark(name + NEXT) == self.generation
        is_new = self.live != self.generation and (self.live is not None or has_next)
        self._table = name + NEXT if is_new else name
        self.has_table = has_next if is_new else self.live is not None
        self._same_vectors = name if is_new and (self.live or "").startswith(model) else ""
        """The table of an earlier layout with vectors of the same model."""
        self.documents: dict[str, str | None] = {}  # what is recorded of each document; None for one that is gone
        self.replaced: dict[str, str | None] = {}  # the same of the generation that this one replaces, if it is new
        self.roots: dict[str, str] = {}  # where the documents of each content type come from
        self._entries: list[str] = []  # the ids of the log's entries for this generation
        self._lost: list[str] = []  # those for an earlier table of this generation, which is gone
        self._others: list[str] = []  # those for other generations
        self._following = 0  # the number of the log's next entry
        self._read_log()
        self.is_first = not self.documents  # whether this generation has no rows yet
        self.has_vectors = not self.is_first or bool(self._same_vectors)  # whether an earlier sync may have left some

    def _read_log(self) -> None:
        self._has_log = self._store.mark(self._log) == _LOG_MARK
        columns = ("generation", "number", "id", "entries")
        entries = self._store.find(self._log, columns) if self._has_log else ()
        for generation, number, id_, text in sorted(entries, key=lambda row: (row[0] == self.generation, row[1])):
            self._following = max(self._following, number + 1)
            is_own = generation == self.generation
            if is_own and not self.has_table:
                self._lost.append(id_)
                continue
            (self._entries if is_own else self._others).append(id_)
            if is_own or generation == self.live:
                entry = msgspec.json.decode(text)
                (self.documents if is_own else self.replaced).update(entry["documents"])
                self.roots |= entry["roots"]
        self.documents, self.replaced = _without_gone(self.documents), _without_gone(self.replaced)

    def record(self, documents: Mapping[str, str | None], roots: Mapping[str, str] | None = None) -> None:
        """Append what is known of documents to the log; None forgets one."""
        if not self._has_log:
            self._store.drop(self._log)
            self._store.create(self._log, _LOG_MARK, _LOG_COLUMNS, 0)
            self._has_log = True
        self._forget(self._lost)  # before there is a table again, for which they would count
        self._lost = []
        self.documents |= documents
        self.roots |= roots or {}
        for some in batched(documents.items(), _PER_ENTRY) if documents else [[]]:
            id_ = f"{self.generation} {self._following:09}"
            entries = to_json({"documents": dict(some), "roots": self.roots}).decode()
            columns = {"id": id_, "generation": self.generation, "number": self._following, "entries": entries}
            self._store.write(self._log, [Row(columns)], is_new=True)
            self._entries.append(id_)
            self._following += 1

    def vectors(self, hashes: Sequence[str]) -> dict[tuple[str, int], Any]:
        """The vectors of these content hashes, by content hash and passage."""
        tables = [self._same_vectors, self._table if self.has_table else ""]
        columns = ("content_hash", "passage", "vector")
        return {
            (content, passage): vector
            for table in filter(None, tables if hashes else ())
            for content, passage, vector in self._store.find(table, columns, "content_hash", hashes)
        }

    def write(self, rows: Sequence[Row]) -> None:
        """Add rows, and replace those with the same ids."""
        if not self.has_table:
            self.create(len(rows[0].vector))
        self._store.write(self._table, rows, is_new=self.is_first)

    def create(self, size: int) -> None:
        """Make the table, for vectors of ``size`` numbers."""
        self._store.drop(self._table)
        self._store.create(self._table, self.generation, COLUMNS, size)
        self.has_table = True

    def delete(self, documents: Mapping[str, str | None]) -> None:
        """Delete the rows of documents, except those with the hash of theirs."""
        for names in batched(documents, _DOCUMENTS) if self.has_table else ():
            rows = self._store.find(self._table, ("id", "document", "document_hash"), "document", names)
            stale = [id_ for id_, name, hash_ in rows if hash_ != documents[name]]
            for ids in batched(stale, _IDS):
                self._store.delete(self._table, ids)

    def publish(self) -> None:
        """Make the generation the live one, forget all others, and shorten a long log."""
        is_new = self.has_table and self._table != self._name
        if not is_new and self._store.mark(self._name + NEXT) is not None:
            self._store.drop(self._name + NEXT)
        if self.has_table:
            self._store.publish(self._name, self._table if is_new else "")
        obsolete, documents = self._others, _without_gone(self.documents)
        if len(self._entries) > _MOST_ENTRIES + len(documents) // _PER_ENTRY:
            obsolete = [*obsolete, *self._entries]
            self.record(documents)
        self._forget(obsolete)

    def _forget(self, entries: Sequence[str]) -> None:
        for ids in batched(entries, _IDS):
            self._store.delete(self._log, ids)


def _without_gone(documents: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: hash_ for name, hash_ in documents.items() if hash_ is not None}
