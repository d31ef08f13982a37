"""The index behind the server: brought up to date while calls come, and confined to the served documents.

Answers come from the index alone, and only documents of the served trees get into it. No path in a request is ever
opened, so nothing outside can be read, whatever a request names.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from quire.errors import BusyError, IndexDamagedError, NotFoundError, QuireError, StoreError
from quire.index.file_records import FileRecord
from quire.index.node import Node
from quire.indexed import Index, TreeInfo, Update
from quire.model import Finding
from quire.search.hit import Hit, Results
from quire.search.path_filter import literal_pattern, matches_path

WHOLE = 1_000_000_000
"""A token limit that nothing reaches."""
_CHECK_EVERY = 1.0
"""Files are looked at once in so many seconds while calls come."""
_PATIENCE = 3600.0
"""Seconds to wait for another process if there is no index to answer from."""
_NO_DOCUMENT = "/:"
"""A pattern that matches no document."""
_ID = re.compile(r"[^\s:]+:[^\s#,]+(?:#[^\s,]+)?")
_FILE_NAME = re.compile(r"[^/\\:#]+(?:#.*|:[0-9]+)?")
_LONGEST_NAME = 200
"""How much of a name an error repeats."""


class ServedTree(msgspec.Struct, frozen=True, kw_only=True):
    """A tree, or files and folders of it, with its options from quire.toml."""

    folder: Path
    paths: tuple[str, ...] = ()  # the files and folders that are served; none: the whole tree
    options: Mapping[str, Any] = {}  # ``language``, ``include`` and ``exclude`` of a configured tree

    def has(self, path: str) -> bool:
        """Whether a document is served."""
        return not self.paths or any(path == each or path.startswith(f"{each}/") for each in self.paths)


class ServedIndex:
    """An index and the trees that are served. Any thread may use it."""

    def __init__(self, index: Index, trees: Mapping[str, ServedTree]) -> None:
        self._index = index
        self._trees = dict(trees)
        self._lock = Lock()
        self._checked = -_CHECK_EVERY
        self.failed: tuple[Finding, ...] = ()
        """Files that could not be read at the last update."""
        self.note = ""
        """Why answers may be outdated; empty if they are not."""

    def refresh(self, on_progress: Callable[[int, int, str], None] | None = None) -> None:
        """Bring the index up to date, unless that was done less than a second ago."""
        with self._lock:
            started = time.monotonic()
            if started >= self._checked + _CHECK_EVERY or not self.trees():
                self._refresh(on_progress)
                self._checked = started

    def _refresh(self, on_progress: Callable[[int, int, str], None] | None) -> None:
        present = {name: tree for name, tree in self._trees.items() if tree.folder.exists()}
        missing = [f"{name} ({tree.folder})" for name, tree in self._trees.items() if name not in present]
        if not present:
            raise QuireError(f"the folder does not exist: {', '.join(missing)}", "restore it, or restart the server")
        self.note = f"missing: {', '.join(missing)}" if missing else ""
        try:
            done = self._update(present, 0.0, on_progress)
        except (BusyError, StoreError) as error:
            if self.trees():
                self.note = f"the index may be outdated: {error.problem}"
                return
            done = self._update(present, _PATIENCE, on_progress)
        self.failed = done.failed

    def _update(
        self, trees: Mapping[str, ServedTree], wait: float, on_progress: Callable[[int, int, str], None] | None
    ) -> Update:
        return self._index.update(
            {name: tree.folder for name, tree in trees.items()},
            languages=_options(trees, "language"),
            include=_options(trees, "include"),
            exclude=_options(trees, "exclude"),
            wait=wait,
            on_progress=on_progress,
        )

    @property
    def folders(self) -> dict[str, Path]:
        """The served trees with their folders."""
        return {name: tree.folder for name, tree in self._trees.items()}

    def trees(self) -> Mapping[str, TreeInfo]:
        """The served trees that exist; none if the index cannot be read. ``refresh`` is not needed before."""
        try:
            infos = self._index.trees()
        except (NotFoundError, IndexDamagedError):
            return {}
        return {name: infos[name] for name, tree in self._trees.items() if name in infos and tree.folder.exists()}

    def documents(self, path: str = "") -> list[FileRecord]:
        """The served documents: all, or those of a tree, a folder, a path or a pattern."""
        patterns, trees = _patterns(path), self.trees()
        return [
            each
            for each in self._index.documents()
            if each.tree in trees
            and self._trees[each.tree].has(each.path)
            and (not path or path.rstrip(":/") == each.tree or matches_path(each.tree, each.path, patterns))
        ]

    def _is_served(self, tree: str, path: str) -> bool:
        return tree in self.trees() and self._trees[tree].has(path)

    def search(self, query: str, *, limit: int, max_tokens: int, tree: str = "", path: str = "") -> Results:
        """As ``Index.search``, in the served documents."""
        if tree and tree not in self.trees():
            raise NotFoundError(f"there is no tree {tree}", f"the trees are {', '.join(self.trees())}")
        names = [tree] if tree else list(self.trees())
        patterns = None
        if path or any(self._trees[name].paths for name in names):
            found = [each for each in self.documents(path) if each.tree in names]
            patterns = [f"{each.tree}:{literal_pattern(each.path)}" for each in found] or [_NO_DOCUMENT]
        if path and patterns == [_NO_DOCUMENT]:
            raise NotFoundError(f"no document matches {path}", "outline lists folders and documents")
        return self._index.search(query, limit=limit, max_tokens=max_tokens, trees=names, path=patterns)

    def get(self, name: str, *, children: bool = True, max_tokens: int = WHOLE) -> Hit:
        """As ``Index.get``, for the served documents; ``name`` may be a path from the current folder, too."""
        error = NotFoundError("")
        names = self._names(name)
        for each in names:
            try:
                hit = self._index.get(each, children=children, max_tokens=max_tokens)
            except NotFoundError as reason:
                error = reason
                if len(reason.near) == 1 and len(names) == 1 and _FILE_NAME.fullmatch(name):
                    names += reason.near  # the only document with this file name
                continue
            if self._is_served(hit.tree, hit.path):
                return hit
        similar = [each for each in _ID.findall(error.advice) if self._is_served(*each.split("#")[0].split(":", 1))]
        advice = f"similar: {' '.join(similar)}" if similar else "search finds ids, outline lists documents"
        raise NotFoundError(f"{name[:_LONGEST_NAME]}: not in the index", advice)

    def _names(self, name: str) -> list[str]:
        """A name as it is, and as an id if it is a path from the current folder."""
        names, path = [name], name.removeprefix("./")
        for tree, folder in self.folders.items():
            with suppress(ValueError):  # another drive
                lead = f"{os.path.relpath(folder)}/".replace(os.sep, "/")
                names += [f"{tree}:{path.removeprefix(lead)}"] if path.startswith(lead) else []
        return names

    def outline(self, document_id: str) -> Sequence[Node]:
        """The nodes of a document."""
        return self._index.outline(document_id)


def _options(trees: Mapping[str, ServedTree], name: str) -> dict[str, Any]:
    return {tree: each.options[name] for tree, each in trees.items() if name in each.options}


def _patterns(path: str) -> list[str]:
    """Patterns for a path or glob; a trailing slash or ``TREE:`` in front are allowed."""
    tree, mark, rest = path.rstrip("/").rpartition(":")
    return [f"{tree}{mark}{rest}", f"{tree}{mark}/{rest.lstrip('/')}"]
