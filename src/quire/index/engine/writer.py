"""Writes to the engine's index."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import tantivy

from quire.errors import StoreError, is_panic
from quire.index.engine.analysis import NONE, analyser
from quire.index.engine.damage import MAX_SHOWN, text_and_code
from quire.index.engine.node_fields import BLOB, DOC, FIRST, NUMBER, RECORD, NodeFields, build_schema
from quire.output.atomic_file import REMEDY

_SMALL_HEAP, _LARGE_HEAP = 15_000_000, 80_000_000
"""The memory of the engine's threads together: the least that one accepts, and enough for few large segments. A merge
maps eight of them at once, and beyond 64 of two threads, which are 180,000 documents, nearly the whole index."""
_M_ARENA_MAX = -8  # a parameter of glibc: how many heaps threads have; each keeps memory that others cannot use


@contextmanager
def engine_writes(generation: Path) -> Iterator[None]:
    """Turn the engine's errors about files that it cannot write into a ``StoreError`` with advice."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError | OSError) and not is_panic(error):
            raise
        text, code = text_and_code(error)
        what = text[:MAX_SHOWN] if code is None else os.strerror(code)
        if "writer was killed" in text:  # the engine loses the system's error of its thread
            what = "the disk is full, or the size of files is limited"
        advice = f"{REMEDY}; the previous index is unchanged"
        raise StoreError(str(generation.parent), f"cannot be written: {what}", advice) from error


def release_memory() -> None:
    """Give back what threads of other libraries have freed: glibc would keep it."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class Writer:
    """Collects changes; ``commit`` applies them all at once. The caller holds the lock."""

    def __init__(self, folder: Path, languages: tuple[str, ...], *, create: bool = False, threads: int = 1) -> None:
        self._folder = folder
        with suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
        with engine_writes(folder):
            if create:
                index = tantivy.Index(build_schema(languages), path=str(folder), reuse=False)
            else:
                index = tantivy.Index.open(str(folder))
            for language in {*languages, NONE}:  # the engine does not store analysers
                index.register_tokenizer(f"quire_{language}", analyser(language))
            self._schema = index.schema
            heap = _SMALL_HEAP if threads == 1 else _LARGE_HEAP
            self._writer = index.writer(heap_size=heap, num_threads=threads)
            # A killed commit may have left a file with the name that the next commit chooses, which is an error.
            self._writer.garbage_collect_files()

    def replace(self, document_id: str, number: int, nodes: NodeFields, *, is_new: bool = False) -> None:
        """Replace a document's nodes; all get its number."""
        with engine_writes(self._folder):
            if not is_new:
                self._writer.delete_documents_by_term(DOC, document_id)
            if not nodes.own:
                return
            common = tantivy.Document.from_dict({**nodes.common, NUMBER: number}, self._schema)
            for fields in ({**nodes.own[0], FIRST: number}, *nodes.own[1:]):
                # Copying is faster than converting from Python. The engine's stubs lack __copy__.
                node = common.__copy__()  # type: ignore[attr-defined]
                node.extend(fields, self._schema)
                self._writer.add_document(node)

    def put(self, key: str, blob: bytes | None) -> None:
        """Replace a record that is no node; None removes it."""
        with engine_writes(self._folder):
            self._writer.delete_documents_by_term(RECORD, key)
            if blob is not None:
                self._writer.add_document(tantivy.Document.from_dict({RECORD: key, BLOB: blob}, self._schema))

    def commit(self) -> None:
        """Apply all changes in one step and wait for merges. The writer cannot be used afterwards."""
        with engine_writes(self._folder):
            self._writer.commit()
            self._writer.wait_merging_threads()
        release_memory()

    def rollback(self) -> None:
        """Drop all changes and their files, and end the writer's threads, so that the folder can be removed."""
        with engine_writes(self._folder):
            try:
                self._writer.rollback()
                self._writer.garbage_collect_files()
            finally:
                self._writer.wait_merging_threads()
