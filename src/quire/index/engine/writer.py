"""Changes the engine's index on disk. Before: ``update`` tells what. After: ``store`` reads it."""

from __future__ import annotations

from pathlib import Path

import tantivy

from quire.index.engine import schema
from quire.index.engine.fields import BLOB, DOC, NUMBER, RECORD, NodeFields
from quire.index.engine.trouble import writing
from quire.index.node import term

_SMALL, _LARGE = 15_000_000, 64_000_000
"""The memory of one of the engine's threads: the least that it takes, and what makes few large segments of many
documents."""


class Writer:
    """Changes an index, all at once at ``commit``. One at a time; the caller holds the lock."""

    def __init__(self, folder: Path, languages: tuple[str, ...], *, create: bool = False, threads: int = 1) -> None:
        self._folder = folder
        with writing(folder):
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

    def replace(self, document_id: str, number: int, nodes: NodeFields, *, is_new: bool = False) -> None:
        """Put a document's nodes in the place of those that it had; all get its number."""
        with writing(self._folder):
            if not is_new:
                self._writer.delete_documents_by_term(DOC, term(document_id))
            common = tantivy.Document.from_dict({**nodes.common, NUMBER: number}, self._schema)
            for own in nodes.own:
                # The engine copies faster than it reads from Python. Its stubs do not know that it can.
                node = common.__copy__()  # type: ignore[attr-defined]
                node.extend(own, self._schema)
                self._writer.add_document(node)

    def remove(self, document_id: str) -> None:
        """Take a document's nodes out."""
        with writing(self._folder):
            self._writer.delete_documents_by_term(DOC, term(document_id))

    def put(self, key: str, blob: bytes | None) -> None:
        """Replace a record that is no node, or with None remove it."""
        with writing(self._folder):
            self._writer.delete_documents_by_term(RECORD, key)
            if blob is not None:
                self._writer.add_document(tantivy.Document.from_dict({RECORD: key, BLOB: blob}, self._schema))

    def commit(self) -> None:
        """Make all changes, in one step, and let the engine tidy up. Ends the writer."""
        with writing(self._folder):
            self._writer.commit()
            self._writer.wait_merging_threads()

    def rollback(self) -> None:
        """Forget all changes since the last commit, and the files that were written for them. Ends the writer.

        Its threads have ended then, so that the folder can be removed.
        """
        with writing(self._folder):
            try:
                self._writer.rollback()
                self._writer.garbage_collect_files()
            finally:
                self._writer.wait_merging_threads()
