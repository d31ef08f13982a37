"""The documents that the page may read: those that were found in the given paths, and no other file.

A request names a document by a key of this table, never by a path, so nothing outside can be read, whatever a request
names. Links inside the folders are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from quire import read
from quire.errors import InputError, NotFoundError
from quire.index.folder import is_inside
from quire.model import Finding
from quire.read.discover import Found

MOST_LISTED = 500
"""The most entries in one list; the filter finds the others."""
MOST_BYTES = 16_000_000
"""The largest document that the page shows."""


class ServedDocuments:
    """A table of documents, filled again by each ``refresh``."""

    def __init__(self, find: Callable[[], Sequence[Found]]) -> None:
        self._find = find
        self._table: dict[str, Found] = {}
        self._folders: dict[str, tuple[dict[str, int], list[str]]] = {}
        self._by_file: dict[str, str] = {}
        self.refresh()

    def refresh(self) -> None:
        """Look for documents again."""
        found = self._find()
        labels = _labels(dict.fromkeys(each.root for each in found))
        table = {_joined(labels[each.root], each): each for each in found}
        self._table, self._folders = table, _folders(table)
        self._by_file = {os.path.abspath(each.file): key for key, each in table.items()}  # noqa: PTH100

    def __len__(self) -> int:
        return len(self._table)

    def first(self) -> str | None:
        """The document to open first: a README or index near the top, else the first one."""
        start = (key for key in self._table if Path(key).stem.lower() in ("readme", "index", "_index"))
        return min(start, key=lambda key: (key.count("/"), key), default=next(iter(self._table), None))

    def get(self, key: str) -> Found:
        """A document by its key."""
        found = self._table.get(key)
        if found is None:
            raise NotFoundError(f"{key[:200]!r}: no such document", "choose one in the list")
        return found

    def key_of(self, file: str) -> str | None:
        """The key of a file, if it is one of the documents."""
        return self._by_file.get(os.path.abspath(file))  # noqa: PTH100  links stay as named

    def text(self, key: str) -> tuple[str, tuple[Finding, ...]]:
        """The text of a document, and the findings of decoding it."""
        found = self.get(key)
        if not is_inside(os.path.realpath(found.file), os.path.realpath(found.root)):
            raise InputError(key, "leads out of the given folders", "it became a link; start quire web again")
        if found.file.stat().st_size > MOST_BYTES:
            raise InputError(key, f"larger than {MOST_BYTES // 1_000_000} MB", "use quire chunk")
        return read.read_file(found.file, key, "replace")

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


def _labels(roots: Sequence[str] | dict[str, None]) -> dict[str, str]:
    """A short name for each of the given paths, all different."""
    labels: dict[str, str] = {}
    for root in roots:
        name = label = os.path.basename(os.path.abspath(root)) or "documents"  # noqa: PTH100, PTH119
        number = 2
        while label in labels.values():
            label, number = f"{name}-{number}", number + 1
        labels[root] = label
    return labels


def _joined(label: str, found: Found) -> str:
    return label if Path(found.root).is_file() else f"{label}/{found.path}"


def _folders(keys: Sequence[str] | dict[str, Found]) -> dict[str, tuple[dict[str, int], list[str]]]:
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
