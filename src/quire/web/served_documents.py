"""The documents that the page may read: those that were found in the given paths, and no other file.

A request names a document by a key of this table, never by a path, so nothing outside can be read, whatever a request
names. Links inside the folders are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from quire import read
from quire.errors import InputError, NotFoundError
from quire.index.file_records import storable
from quire.index.folder import is_inside
from quire.model import Finding
from quire.read.discover import Found

MOST_LISTED = 500
"""The most entries in one list; the filter finds the others."""
MOST_BYTES = 16_000_000
"""The largest document that the page shows."""
_STARTS = ("readme.", "index.", "_index.")
"""How the names of documents begin that introduce a folder."""


class ServedDocuments:
    """A table of documents, filled again by each ``refresh``."""

    def __init__(self, find: Callable[[], Sequence[Found]]) -> None:
        self._find = find
        self._table: dict[str, Found] = {}
        self._folders: dict[str, tuple[dict[str, int], list[str]]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Look for documents again."""
        documents = self._find()
        labels = _labels(dict.fromkeys(document.root for document in documents))
        files = {root for root in labels if Path(root).is_file()}
        self._table = {}
        for document in documents:
            label = labels[document.root]
            self._table[storable(label if document.root in files else f"{label}/{document.path}")] = document
        self._folders = _folders(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def first(self) -> str | None:
        """The document to open first: a README or index near the top, else the first one."""
        starts = [key for key in self._table if key.rpartition("/")[2].lower().startswith(_STARTS)]
        return min(starts, key=lambda key: (key.count("/"), key), default=next(iter(self._table), None))

    def get(self, key: str) -> Found:
        """A document by its key."""
        document = self._table.get(key)
        if document is None:
            raise NotFoundError(f"{key[:200]!r}: no such document", "choose one in the list")
        return document

    def keys_of(self, files: Iterable[str]) -> dict[str, str]:
        """The keys of files, as the index names them, of those that are documents."""
        wanted = {os.path.abspath(file): file for file in files}  # noqa: PTH100  links stay as named
        names = {os.path.basename(path) for path in wanted}  # noqa: PTH119
        same_name = {key: entry.file for key, entry in self._table.items() if storable(entry.file.name) in names}
        keys = {storable(os.path.abspath(file)): key for key, file in same_name.items()}  # noqa: PTH100
        return {file: keys[path] for path, file in wanted.items() if path in keys}

    def text(self, key: str) -> tuple[str, tuple[Finding, ...]]:
        """The text of a document, and the findings of decoding it."""
        document = self.get(key)
        if not is_inside(os.path.realpath(document.file), os.path.realpath(document.root)):
            raise InputError(key, "leads out of the given folders", "it became a link; start quire web again")
        if document.file.stat().st_size > MOST_BYTES:
            raise InputError(key, f"larger than {MOST_BYTES // 1_000_000} MB", "use quire chunk")
        return read.read_file(document.file, key, "replace")

    def listing(self, folder: str) -> dict[str, Any]:
        """The folders, with their numbers of documents, and the documents of one folder."""
        folders, documents = self._folders.get(folder, ({}, []))
        return {
            "folders": sorted(folders.items())[:MOST_LISTED],
            "documents": documents[:MOST_LISTED],
            "more": max(len(folders) - MOST_LISTED, 0) + max(len(documents) - MOST_LISTED, 0),
        }

    def matching(self, text: str) -> dict[str, Any]:
        """The documents whose keys contain all of the words."""
        words = text.lower().split()
        keys = [key for key in self._table if all(word in key.lower() for word in words)]
        return {"documents": keys[:MOST_LISTED], "more": max(len(keys) - MOST_LISTED, 0)}


def _labels(roots: Iterable[str]) -> dict[str, str]:
    """A short name for each of the given paths, all different."""
    labels: dict[str, str] = {}
    for root in roots:
        name = label = os.path.basename(os.path.abspath(root)) or "documents"  # noqa: PTH100, PTH119
        number = 2
        while label in labels.values():
            label, number = f"{name}-{number}", number + 1
        labels[root] = label
    return labels


def _folders(keys: Iterable[str]) -> dict[str, tuple[dict[str, int], list[str]]]:
    """For each folder the numbers of documents in the folders below it, and its own documents."""
    folders: dict[str, tuple[dict[str, int], list[str]]] = {"": ({}, [])}
    for key in keys:
        *above, name = key.split("/")
        path = ""
        for part in above:
            counts = folders[path][0]
            counts[part] = counts.get(part, 0) + 1
            path = f"{path}/{part}" if path else part
            folders.setdefault(path, ({}, []))
        folders[path][1].append(name)
    return folders
