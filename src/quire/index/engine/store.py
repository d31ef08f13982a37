"""The engine's index on disk: a committed state to read, and a writer. Before: ``update``. After: the search.

What the engine says when files are not what they should be becomes an error that names the folder.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import tantivy

from quire.errors import IndexDamagedError, StoreError
from quire.index import files
from quire.index.engine import schema
from quire.index.engine.fields import BLOB, DOC, ID, NODE, POSITION, RECORD
from quire.index.files import FileRecord, FileTable, Settings
from quire.index.folder import remedy
from quire.index.node import Node, decoded, term

_REMEMBERED = 4_096
"""How many nodes a snapshot keeps at hand."""
_SMALL, _LARGE = 15_000_000, 64_000_000
"""The memory of one of the engine's threads: the least that it takes, and what makes few large segments of many
documents."""

_SYSTEM_ERROR = re.compile(r"\(os error ([0-9]{1,5})\)")
"""How the engine quotes the system."""

Key = tantivy.DocAddress
"""Where a node is in a snapshot."""


class Snapshot:
    """One committed state of an index; later commits do not change it. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """The generation that it is a state of."""
        self._nodes: dict[tuple[int, int], Node] = {}
        with _damage_named(folder):
            self.index = _opened(folder)
            self.searcher = self.index.searcher()
            self.schema = self.index.schema
        if self.settings.schema != schema.VERSION:
            reason = "the index was made by another version of quire; run: quire index"
            raise IndexDamagedError(str(folder.parent), reason)
        schema.register(self.index, self.languages)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that there are fields for."""
        return self.settings.languages

    @cached_property
    def settings(self) -> Settings:
        """How the index was made."""
        with _damage_named(self.folder):
            blobs = self._blobs([files.SETTINGS])
            if len(blobs) != 1:
                raise ValueError("its settings are missing")
            return files.decoded_settings(blobs[0])

    @cached_property
    def _files(self) -> dict[str, FileRecord]:
        with _damage_named(self.folder):
            return files.decoded(self._blobs(files.KEYS))

    def files(self) -> FileTable:
        """What is known of the files, by document id."""
        return self._files

    def top(self, query: tantivy.Query, limit: int) -> list[tuple[float, Key]]:
        """The best nodes for a query, the best first."""
        with _damage_named(self.folder):
            return list(self.searcher.search(query, limit, count=False).hits)

    def node(self, key: Key) -> Node:
        """The node at a place."""
        place = (key.segment_ord, key.doc)
        found = self._nodes.get(place)
        if found is None:
            with _damage_named(self.folder):
                found = decoded(self.searcher.doc(key)[NODE][0])
            if len(self._nodes) >= _REMEMBERED:
                self._nodes.clear()
            self._nodes[place] = found
        return found

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
        within = tantivy.Query.range_query(self.schema, POSITION, tantivy.FieldType.Unsigned, first, end)
        query = tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, self._is(DOC, term(document_id))), (tantivy.Occur.Must, within)]
        )
        with _damage_named(self.folder):
            hits = self.searcher.search(
                query, end - first + 1, count=False, order_by_field=POSITION, order=tantivy.Order.Asc
            ).hits
        return [self.node(key) for _, key in hits]

    def doc_freq(self, field: str, value: str) -> int:
        """How many nodes have a term in a field."""
        with _damage_named(self.folder):
            return self.searcher.doc_freq(field, value)

    def beginning(self, field: str, start: str) -> list[tuple[str, int]]:
        """The terms of a field that begin so, each with how many nodes have it."""
        with _damage_named(self.folder):
            return list(self.searcher.terms_with_prefix(field, start))

    @property
    def segments(self) -> int:
        """Into how many parts the engine has the index."""
        return self.searcher.num_segments

    def _is(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self.schema, field, value, index_option="basic")

    def _blobs(self, keys: Sequence[str]) -> list[bytes]:
        query = tantivy.Query.term_set_query(self.schema, RECORD, keys)
        hits = self.searcher.search(query, 2 * len(keys), count=False).hits
        return [self.searcher.doc(key)[BLOB][0] for _, key in hits]


class Writer:
    """Changes an index, all at once at ``commit``. One at a time; the caller holds the lock."""

    def __init__(self, folder: Path, languages: tuple[str, ...], *, create: bool = False, threads: int = 1) -> None:
        self._folder = folder
        with _writing(folder):
            if create:
                index = tantivy.Index(schema.build(languages), path=str(folder), reuse=False)
            else:
                index = tantivy.Index.open(str(folder))
            schema.register(index, languages)
            self._schema = index.schema
            heap = _SMALL if threads == 1 else threads * _LARGE
            self._writer = index.writer(heap_size=heap, num_threads=threads)
            # What a killed commit left may have the very name that the next one chooses, and that is an error.
            self._writer.garbage_collect_files()

    def replace(self, document_id: str, nodes: Iterable[dict[str, Any]], *, is_new: bool = False) -> None:
        """Put a document's nodes, as fields, in the place of those that it had."""
        with _writing(self._folder):
            if not is_new:
                self._writer.delete_documents_by_term(DOC, term(document_id))
            for node in nodes:
                self._writer.add_document(tantivy.Document.from_dict(node, self._schema))

    def remove(self, document_id: str) -> None:
        """Take a document's nodes out."""
        with _writing(self._folder):
            self._writer.delete_documents_by_term(DOC, term(document_id))

    def put(self, key: str, blob: bytes | None) -> None:
        """Replace a record that is no node, or with None remove it."""
        with _writing(self._folder):
            self._writer.delete_documents_by_term(RECORD, key)
            if blob is not None:
                self._writer.add_document(tantivy.Document.from_dict({RECORD: key, BLOB: blob}, self._schema))

    def commit(self) -> None:
        """Make all changes, in one step, and let the engine tidy up. Ends the writer."""
        with _writing(self._folder):
            self._writer.commit()
            self._writer.wait_merging_threads()

    def rollback(self) -> None:
        """Forget all changes since the last commit, and the files that were written for them. Ends the writer.

        Its threads have ended then, so that the folder can be removed.
        """
        with _writing(self._folder):
            try:
                self._writer.rollback()
                self._writer.garbage_collect_files()
            finally:
                self._writer.wait_merging_threads()


def _opened(folder: Path) -> tantivy.Index:
    if os.access(folder, os.W_OK):
        index = tantivy.Index.open(str(folder))
        index.config_reader("manual", 0)
        return index
    # The engine insists on a lock file. In a folder of links it can have one; it maps the files at once, so the links
    # may go again.
    with tempfile.TemporaryDirectory(prefix="quire-") as links:
        for file in folder.iterdir():
            if not file.name.endswith(".lock"):
                (Path(links) / file.name).symlink_to(file.absolute())
        index = tantivy.Index.open(links)
        index.config_reader("manual", 0)
        return index


@contextmanager
def _damage_named(folder: Path) -> Iterator[None]:
    """Turn what the engine says of files that it cannot read into an error that names the index."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError | OSError | LookupError) and not _is_panic(error):
            raise
        reason = f"the index is damaged ({_line(error)}); run: quire index"
        raise IndexDamagedError(str(folder.parent), reason) from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError | OSError) and not _is_panic(error):
            raise
        raise StoreError(str(folder.parent), f"{_unwritten(_line(error))}; what it held before stays") from error


def _is_panic(error: BaseException) -> bool:
    """Whether the engine has given up: its own kind of exception, which no module has."""
    return type(error).__module__ == "pyo3_runtime"


def _unwritten(said: str) -> str:
    """Why nothing could be written and what to do, by what the engine says."""
    number = _SYSTEM_ERROR.search(said)
    code = int(number[1]) if number else None
    what = f"cannot be written: {os.strerror(code)}" if code is not None else f"cannot be written ({said})"
    if "writer was killed" in said:  # which loses what the system said to its thread
        return "cannot be written: there is no room, or files may not get so large; make room and run again"
    return f"{what}; {remedy(code)}"


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
