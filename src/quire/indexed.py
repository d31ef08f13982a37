"""``quire.Index``: documents in a folder, kept up to date and searchable. ``index`` stores them, ``search`` finds them.

The parser and the writer are loaded only if something has changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from quire.errors import IndexDamagedError, MissingExtraError, NotFoundError, StoreError
from quire.index.changed_files import stale_files
from quire.index.engine import damage
from quire.index.engine.snapshot import Opened, Snapshot, open_snapshot
from quire.index.file_records import DEFAULT_FOLDER, VERSION, FileRecord
from quire.index.folder import Folder, other_version, refuse_file, refuse_foreign_files
from quire.index.node import Node
from quire.index.reports import Status, TreeInfo, Update, better_slugs, tree_info, update_report
from quire.index.section_lookup import find_section
from quire.index.update_plan import Request, UpdatePlan, plan_removal, plan_update, rebuild_reason, with_variables
from quire.options import AUTO_SLUGS
from quire.search import argument_checks as check
from quire.search.conditions import Condition, conditions, matches_path
from quire.search.fusion import Mode, Rerank
from quire.search.hit import Hit, Results
from quire.search.phases import hit_for_node, search
from quire.search.query_terms import similar_query
from quire.search.ranking_settings import SearchSettings
from quire.trees import DEFAULT_LANGUAGE, Reading

if TYPE_CHECKING:
    from quire.embed import Embedder
    from quire.index.read_files import OnProgress
    from quire.vectors.node_vectors import VectorUpdate
    from quire.vectors.vector_search import VectorSearch
    from quire.write.lock import OnWait

Where = str | Sequence[str] | Mapping[str, object] | None
"""Conditions on front matter."""

__all__ = ["Index", "Status", "TreeInfo", "Update"]


class Index:
    """An index in a folder. Any number of threads and processes may search it, also during updates."""

    def __init__(
        self, folder: str | os.PathLike[str], *, settings: SearchSettings | None = None, embedder: object = None
    ) -> None:
        self._folder = Folder(Path(check.path("folder", folder)))
        refuse_file(self._folder.path)
        self._settings = check.search_settings("settings", settings)
        self._lock = Lock()
        self._last: Opened | None = None
        self._closed = False
        self._embedder = embedder
        self._vector_search: VectorSearch | None = None

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str] = DEFAULT_FOLDER,
        *,
        settings: SearchSettings | None = None,
        embedder: object = None,
    ) -> Index:
        """The index in ``folder``; if there is none, the first ``update`` creates it.

        ``embedder`` is the model of its vectors, if ``embed`` was given an object: the index stores the name only.
        """
        return cls(folder, settings=settings, embedder=embedder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the files. The index cannot be used afterwards; ``Index.open`` opens it again."""
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
        slugs: Mapping[str, str] | None = None,
        dialects: Mapping[str, str] | None = None,
        reading: Mapping[str, Reading | Mapping[str, Any]] | None = None,
        wait: float = 10.0,
        on_progress: OnProgress | None = None,
        on_wait: OnWait | None = None,
        jobs: int | None = None,
        rebuild: bool = False,
    ) -> Update:
        """Update ``trees``, folders by name, or without it all trees in the index. Other trees stay.

        ``include`` and ``exclude`` are patterns for the documents of a tree, by its name; ``slugs`` its rule for
        anchors, or ``auto``; ``dialects`` its dialect of Markdown; ``reading`` its ``encoding``, ``errors``,
        ``hidden`` and ``substitutions``, as in quire.toml. Only changed files are read, by ``jobs``
        processes, by default as many as pay off. While another process is updating, ``on_wait`` is called, and after
        ``wait`` seconds a ``BusyError`` is raised. ``rebuild`` rebuilds the whole index. A folder that has other files
        in it, or contains a tree, is refused.
        """
        self._refuse_closed()
        request = Request(
            trees=None if trees is None else check.folders("trees", trees),
            languages=check.by_tree("languages", languages, "german"),
            include=check.patterns("include", include),
            exclude=check.patterns("exclude", exclude),
            slugs=check.by_tree("slugs", slugs, AUTO_SLUGS),
            dialects=check.by_tree("dialects", dialects, "mkdocs"),
            reading=check.readings(reading),
            rebuild=rebuild,
        )
        jobs = check.positive_or_none("jobs", jobs)
        plan_again = partial(plan_update, self._folder, request, self._last)
        carry_out = partial(self._carry_out, plan_again, check.seconds("wait", wait), on_wait, jobs, on_progress)
        try:
            return carry_out()
        except IndexDamagedError:  # met on the way, and remembered: the next plan is to rebuild the index
            return carry_out()

    def remove(self, tree: str, *, wait: float = 10.0, on_wait: OnWait | None = None) -> None:
        """Remove a tree from the index; its documents are not touched."""
        self._refuse_closed()
        refuse_foreign_files(self._folder.path)
        plan_again = partial(plan_removal, self._folder, check.string("tree", tree))
        self._carry_out(plan_again, check.seconds("wait", wait), on_wait)

    def _carry_out(
        self,
        plan_again: Callable[[], UpdatePlan],
        wait: float,
        on_wait: OnWait | None,
        jobs: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> Update:
        started = time.perf_counter()
        plan = plan_again()
        opened: Opened = plan.snapshot, plan.stamp
        if plan.is_needed:
            from quire.index.update import update  # noqa: PLC0415  loads the parser and the tokenizer

            plan, opened = update(
                self._folder, plan, plan_again, jobs=jobs, on_progress=on_progress, wait=wait, on_wait=on_wait
            )
        with self._lock:
            self._last = None if self._closed else opened
        files = opened[0].files if opened[0] is not None else {}
        return update_report(plan, files, time.perf_counter() - started)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        trees: str | Sequence[str] | None = None,
        path: str | Sequence[str] | None = None,
        where: Where = None,
        merge: bool = True,
        every: bool = False,
        explain: bool = False,
        mode: Mode = "words",
    ) -> Results:
        """The sections that match ``query``, the best first, together at most ``max_tokens`` tokens; 0: no limit.

        Texts and breadcrumb lines count; by default there may be 8,000. Each section shows its own text; what is below
        it is shown as long as the answer has at most 2,000 tokens (``max_below`` in the settings), or without a limit.
        Results that score much less than the best are left out and counted, unless ``every`` is true.
        ``trees``, one or more names, ``path``, one or more patterns such as ``guides/**``, and ``where``, one or more
        conditions on front matter such as ``status=draft``, or a dict of values, restrict the search.
        ``mode`` is ``words``, or after ``embed`` also ``meaning`` or ``hybrid``, which is both.
        """
        snapshot, names, patterns = self._snapshot(), check.strings("trees", trees), check.strings("path", path)
        wanted = [] if where is None else conditions("where", where)
        weight = check.meaning_weight(mode, self._settings.meaning)
        find_near = None
        if weight:
            is_whole = names is None and patterns is None and not wanted
            is_wanted = None if is_whole else partial(_is_wanted, snapshot, names, patterns, wanted)
            find_near = self._vectors().finder(snapshot, weight, is_wanted)
        return search(
            snapshot,
            check.string("query", query),
            limit=self._limit(limit),
            max_tokens=check.token_budget("max_tokens", max_tokens, self._settings.max_tokens),
            trees=names,
            paths=patterns,
            where=wanted,
            merge=merge,
            every=every,
            explain=explain,
            settings=self._settings,
            find_near=find_near,
            rerank=self._reranker() if self._settings.rerank else None,
        )

    def _reranker(self) -> Rerank:
        from quire.embed.endpoint import Reranker  # noqa: PLC0415  few searches need it

        return Reranker(self._settings.rerank, self._settings.rerank_model)

    def embed(self, embedder: object = None, *, on_progress: OnProgress | None = None) -> VectorUpdate:
        """Give every section a vector, for search by meaning; only new and changed text is embedded.

        ``embedder`` is ``"wordllama"``, a ``quire.embed.Endpoint``, any object with ``encode`` or ``embed_documents``,
        or a function from texts to vectors; None is the one of the last time. After an update, sections without a
        vector are found by words alone.
        """
        return self._vectors().update(self._snapshot(), embedder, on_progress)

    def embedder(self) -> Embedder:
        """The embedder of its vectors."""
        return self._vectors().embedder()

    def _vectors(self) -> VectorSearch:
        if self._vector_search is None:
            try:
                from quire.vectors.vector_search import VectorSearch  # noqa: PLC0415  loads NumPy
            except ModuleNotFoundError as error:
                missing = MissingExtraError("wordllama", error.name)
                raise missing.advising("run: pip install numpy; the extra wordllama has it and a model") from error

            self._vector_search = VectorSearch(self._folder.path, self._embedder)
        return self._vector_search

    def get(self, name: str, *, children: bool = True, max_tokens: int | None = None) -> Hit:
        """One section by its id, ``PATH#SLUG`` or ``PATH:LINE``, with everything below it or without."""
        snapshot = self._snapshot()
        node = find_section(snapshot, check.string("name", name))
        most = check.token_budget("max_tokens", max_tokens, 0)
        return hit_for_node(snapshot, node if children else node.without_children(), most)

    def similar(
        self,
        name: str = "",
        *,
        text: str = "",
        limit: int | None = None,
        max_tokens: int | None = None,
        trees: str | Sequence[str] | None = None,
        path: str | Sequence[str] | None = None,
        where: Where = None,
    ) -> Results:
        """Sections with the same words as the one called ``name``, in other documents; or with those of a ``text``."""
        snapshot = self._snapshot()
        if text:
            without, words = None, similar_query(snapshot, "", check.string("text", text), DEFAULT_LANGUAGE)
        else:
            node = find_section(snapshot, check.string("name", name))
            nodes = [node] if node.position else snapshot.nodes_of(node.document_id)
            titles, texts = "\n".join(node.title for node in nodes), "\n".join(node.body_text for node in nodes)
            language = snapshot.settings.trees[node.tree].language
            without, words = node.document_id, similar_query(snapshot, titles, texts, language)
        return search(
            snapshot,
            words,
            limit=self._limit(limit),
            max_tokens=check.token_budget("max_tokens", max_tokens, self._settings.max_tokens),
            trees=check.strings("trees", trees),
            paths=check.strings("path", path),
            where=conditions("where", where),
            without=without,
            merge=True,
            settings=self._settings,
        )

    def _limit(self, limit: int | None) -> int:
        return self._settings.limit if limit is None else check.positive("limit", limit)

    def trees(self) -> dict[str, TreeInfo]:
        """The trees of the index by name."""
        snapshot = self._snapshot()
        if not snapshot.tree_infos:
            trees = sorted(snapshot.settings.trees.items())
            snapshot.tree_infos = {name: tree_info(self._folder, snapshot, name, tree) for name, tree in trees}
        return dict(snapshot.tree_infos)

    def documents(self, tree: str | None = None, path: str | Sequence[str] | None = None) -> list[FileRecord]:
        """The records of documents, sorted by tree and path: of one tree, or with a path that matches a pattern."""
        snapshot = self._snapshot()
        if tree is not None:
            check.known_trees("tree", [check.string("tree", tree)], snapshot.settings.trees)
        records = [record for record in snapshot.files.values() if not record.failed and tree in (None, record.tree)]
        patterns = check.strings("path", path)
        if patterns is not None:
            records = [record for record in records if matches_path(record.tree, record.path, patterns)]
        return sorted(records, key=lambda record: (record.tree, record.path))

    def outline(self, document: str) -> list[Node]:
        """The nodes of a document in order, by its id or path."""
        snapshot = self._snapshot()
        return snapshot.nodes_of(find_section(snapshot, check.string("document", document)).document_id)

    def status(self) -> Status:
        """The state of the index. Checks every byte of it and every file of its trees."""
        self._refuse_closed()
        size = sum(file.stat().st_size for file in self._folder.path.rglob("*") if file.is_file())
        version = self._folder.version() or VERSION
        if version != VERSION:
            return Status(version=version, size=size, rebuild=f"it was made by {other_version(version)}")
        try:
            snapshot = self._snapshot()
            self._check_all(snapshot)
            trees = self.trees()
        except IndexDamagedError as error:
            return Status(version=VERSION, size=size, damaged=error.reason)
        settings = snapshot.settings
        stale = stale_files(self._folder.home, settings.trees, snapshot.files)
        current = {name: with_variables(self._folder.home, tree, tree) for name, tree in settings.trees.items()}
        from quire.vectors import vector_files  # noqa: PLC0415  a search by words needs none

        vectors = vector_files.current_folder(self._folder.path)
        table = vector_files.load_table(vectors) if vectors else None
        return Status(
            version=VERSION,
            size=size,
            rebuild=rebuild_reason(settings, current),
            trees=trees,
            segments=snapshot.searcher.num_segments,
            outdated=tuple(sorted((*(task.record.id for task in stale.tasks), *stale.removed))),
            failed=tuple(stale.failed),
            vectors=table.model if table else "",
            without_vectors=vector_files.without_vectors(table, snapshot.files) if table else 0,
            better_slugs=better_slugs(self._folder, settings.trees),
        )

    def _check_all(self, snapshot: Snapshot) -> None:
        """Check every byte."""
        try:
            damage.check(snapshot.folder, self._folder.checked, is_full=True)
        except damage.DamageError as error:
            damage.mark_damaged(snapshot.folder, str(error))
            raise self._folder.damaged(f"the index is damaged ({error})") from error

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(str(self._folder.path), "the index is closed", "open it again with Index.open")

    def _snapshot(self) -> Snapshot:
        """The last commit."""
        with self._lock:
            self._refuse_closed()
            if self._last is None or self._last[1] != self._folder.stamp():
                self._last = None
                self._last = open_snapshot(self._folder)
            snapshot = self._last[0]
        if snapshot is None:
            raise NotFoundError(f"{self._folder.path}: there is no index yet", "run: quire index, or Index.update")
        return snapshot


def _is_wanted(
    snapshot: Snapshot,
    trees: Sequence[str] | None,
    patterns: Sequence[str] | None,
    where: Sequence[Condition],
    record: FileRecord,
) -> bool:
    """Whether a search is restricted to this document, among others, or not at all."""
    is_here = trees is None or record.tree in trees
    is_here = is_here and (patterns is None or matches_path(record.tree, record.path, patterns))
    return is_here and all(wanted.holds(record, snapshot.front_matter[record.id]) for wanted in where)
