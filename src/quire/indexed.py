"""``quire.Index``: documents in a folder, kept up to date, searched. Thin: ``index`` keeps them, ``search`` finds them.

What parses and counts is loaded when something has changed; what searches, when somebody searches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self

from quire.errors import IndexDamagedError, NotFoundError, StoreError
from quire.index.engine import damage
from quire.index.engine.store import Snapshot
from quire.index.files import NAME, VERSION, FileRecord
from quire.index.folder import CHECKED, Folder, Stamp, another
from quire.index.goal import Request, difference, folder_of, places_of
from quire.index.info import Status, TreeInfo
from quire.index.node import Node
from quire.index.opening import opened
from quire.index.plan import plan
from quire.index.reader import readings
from quire.index.room import refuse_file, refuse_others
from quire.index.update import OnProgress, Update, remove, update
from quire.search import asked
from quire.search.records import Hit, Results, hit_of
from quire.search.settings import SearchSettings

if TYPE_CHECKING:  # most uses write nothing
    from quire.write.lock import OnWait

__all__ = ["Index", "Status", "TreeInfo", "Update"]


class Index:
    """An index in a folder. Any number of threads and processes may search it, whatever is being updated."""

    def __init__(self, folder: str | os.PathLike[str], *, settings: SearchSettings | None = None) -> None:
        self._folder = Folder(Path(asked.path("folder", folder)))
        refuse_file(self._folder.path)
        self._settings = asked.search_settings("settings", settings)
        self._lock = Lock()
        self._last: tuple[Snapshot | None, Stamp] | None = None
        self._closed = False

    @classmethod
    def open(cls, folder: str | os.PathLike[str] = NAME, *, settings: SearchSettings | None = None) -> Index:
        """The index in ``folder``; if there is none yet, the first ``update`` makes it."""
        return cls(folder, settings=settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files. After it the index cannot be used; ``Index.open`` opens it again."""
        with self._lock:
            self._last = None
            self._closed = True

    def update(
        self,
        trees: Mapping[str, str | os.PathLike[str]] | None = None,
        *,
        languages: Mapping[str, str] | None = None,
        include: Mapping[str, str | Sequence[str]] | None = None,
        exclude: Mapping[str, str | Sequence[str]] | None = None,
        wait: float = 10.0,
        on_progress: OnProgress | None = None,
        on_wait: OnWait | None = None,
        jobs: int | None = None,
        rebuild: bool = False,
    ) -> Update:
        """Bring ``trees``, folders by name, up to date; without it, those that the index knows. Other trees stay.

        ``include`` and ``exclude`` are patterns for the documents of a tree, by its name. Only what changed is read. If
        another process is updating, ``on_wait`` is told, and after ``wait`` seconds there is a ``BusyError``. ``jobs``
        is the number of processes that read; by default as many as pay. With ``rebuild`` the index is made anew. A
        folder that has other files in it, or that a tree is in, is refused.
        """
        self._refuse_closed()
        request = Request(
            trees=None if trees is None else asked.folders("trees", trees),
            languages=asked.languages("languages", languages),
            include=asked.patterns("include", include),
            exclude=asked.patterns("exclude", exclude),
            rebuild=rebuild,
        )
        reads = readings(None if jobs is None else asked.number("jobs", jobs), on_progress)
        return update(self._folder, request, reads, wait=asked.seconds("wait", wait), on_wait=on_wait)

    def remove(self, tree: str, *, wait: float = 10.0, on_wait: OnWait | None = None) -> None:
        """Take a tree out of the index; its documents are not touched."""
        self._refuse_closed()
        refuse_others(self._folder.path)
        remove(self._folder, asked.text("tree", tree), wait=asked.seconds("wait", wait), on_wait=on_wait)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        trees: str | Sequence[str] | None = None,
        path: str | Sequence[str] | None = None,
        merge: bool = True,
        explain: bool = False,
        around: Callable[[Hit], int] | None = None,
    ) -> Results:
        """The sections that answer ``query``, the best first; together at most ``max_tokens`` tokens of text.

        ``trees``, one or more names, and ``path``, one or more patterns such as ``guides/**``, say where to look.
        ``around`` tells how many tokens are shown around a hit, besides its breadcrumb line, and counts them, too.
        """
        from quire.search import phases  # noqa: PLC0415  an update searches nothing

        return phases.search(
            self._snapshot(),
            asked.text("query", query),
            limit=asked.number("limit", limit),
            max_tokens=None if max_tokens is None else asked.number("max_tokens", max_tokens),
            trees=asked.texts("trees", trees),
            paths=asked.texts("path", path),
            merge=merge,
            explain=explain,
            settings=self._settings,
            around=around,
        )

    def get(self, name: str, *, children: bool = True, max_tokens: int | None = None) -> Hit:
        """One section with all below it, or without: by its id, ``PATH#SLUG`` or ``PATH:LINE``."""
        from quire.index.find import find  # noqa: PLC0415  not every use gets

        snapshot = self._snapshot()
        node = find(snapshot, asked.text("name", name))
        most = None if max_tokens is None else asked.number("max_tokens", max_tokens)
        return _hit(snapshot, node if children else node.alone(), most)

    def trees(self) -> dict[str, TreeInfo]:
        """The trees of the index by name."""
        snapshot = self._snapshot()
        files: dict[str, list[FileRecord]] = {name: [] for name in snapshot.settings.trees}
        for record in snapshot.files().values():
            if not record.failed:
                files[record.tree].append(record)
        return {
            name: TreeInfo(
                folder=folder_of(self._folder, tree),
                language=tree.language,
                files=len(files[name]),
                nodes=sum(record.nodes for record in files[name]),
                tokens=sum(record.tokens for record in files[name]),
            )
            for name, tree in sorted(snapshot.settings.trees.items())
        }

    def documents(self, tree: str | None = None, path: str | Sequence[str] | None = None) -> list[FileRecord]:
        """What is known of the documents, by tree and path; of one tree, or of those whose path fits a pattern."""
        snapshot = self._snapshot()
        if tree is not None:
            asked.known("tree", [asked.text("tree", tree)], snapshot.settings.trees)
        found = [each for each in snapshot.files().values() if not each.failed and tree in (None, each.tree)]
        if path is not None:
            from quire.search.places import fits  # noqa: PLC0415  with a pattern only

            patterns = asked.texts("path", path) or []
            found = [each for each in found if fits(each.tree, each.path, patterns)]
        return sorted(found, key=lambda each: (each.tree, each.path))

    def outline(self, document: str) -> list[Node]:
        """The nodes of a document, in order, by its id or its path."""
        from quire.index.find import find  # noqa: PLC0415  not every use gets

        snapshot = self._snapshot()
        return snapshot.nodes_of(find(snapshot, asked.text("document", document)).document_id)

    def status(self) -> Status:
        """How the index is: every byte of it is checked, and every tree is looked at."""
        self._refuse_closed()
        size = sum(file.stat().st_size for file in self._folder.path.rglob("*") if file.is_file())
        version = self._folder.version() or VERSION
        if version != VERSION:
            return Status(version=version, size=size, rebuild=f"it was made by {another(version)}")
        try:
            snapshot = self._snapshot()
            self._check(snapshot)
            trees = self.trees()
        except IndexDamagedError as error:
            return Status(version=VERSION, size=size, damaged=error.reason)
        made = plan(places_of(self._folder, snapshot.settings.trees), snapshot.files())
        return Status(
            version=VERSION,
            size=size,
            rebuild=difference(snapshot.settings, snapshot.settings.trees),
            trees=trees,
            segments=snapshot.segments,
            outdated=tuple(sorted((*(task.id for task in made.tasks), *made.removed))),
            failed=tuple(made.failed),
        )

    def _check(self, snapshot: Snapshot) -> None:
        """Look at every byte. What was seen whole before is forgotten, so that the next update sees it, too."""
        try:
            damage.check(snapshot.folder)
        except damage.DamageError as error:
            with suppress(OSError):
                (self._folder.path / CHECKED).unlink()
            raise self._folder.damaged(f"the index is damaged ({error})") from error

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(str(self._folder.path), "the index is closed", "open it again with Index.open")

    def _snapshot(self) -> Snapshot:
        """The last commit; a newer one than before if there is one."""
        with self._lock:
            self._refuse_closed()
            if self._last is None or self._last[1] != self._folder.stamp():
                self._last = None
                self._last = opened(self._folder)
            snapshot = self._last[0]
        if snapshot is None:
            raise NotFoundError(f"{self._folder.path}: there is no index yet", "run: quire index, or Index.update")
        return snapshot


def _hit(snapshot: Snapshot, node: Node, max_tokens: int | None) -> Hit:
    """A node that was asked for by its name, as an answer."""
    from quire.search.context import NOTHING, ToGive, fit  # noqa: PLC0415  not every use gets

    [given] = fit([ToGive(node, (node.position,))], snapshot.nodes_of, max_tokens=max_tokens, worth=1)
    return hit_of(node, given or NOTHING, constituents=(node.id,))
