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
from typing import TYPE_CHECKING, Self

import msgspec

from quire.errors import IndexDamagedError, MissingExtraError, NotFoundError, StoreError
from quire.index.engine import damage
from quire.index.engine.snapshot import Opened, Snapshot, open_snapshot
from quire.index.file_records import DEFAULT_FOLDER, LINK_FOUND, LINK_LOST, VERSION, FileRecord, FileTable, Tree
from quire.index.folder import Folder, other_version, refuse_file, refuse_foreign_files
from quire.index.node import Node
from quire.index.section_lookup import find_section
from quire.index.update_plan import Request, UpdatePlan, plan_removal, plan_update, rebuild_reason, stale_files
from quire.model import Finding
from quire.options import AUTO_SLUGS
from quire.search import argument_checks as check
from quire.search.build_hits import hit_for_node
from quire.search.fusion import Mode
from quire.search.hit import Hit, Results
from quire.search.path_filter import matches_path
from quire.search.phases import search
from quire.search.ranking_settings import MAX_EXTENDED, SearchSettings
from quire.search.similar import similar_query

if TYPE_CHECKING:
    from quire.index.read_files import OnProgress
    from quire.vectors.meaning import Meaning
    from quire.vectors.node_vectors import VectorUpdate
    from quire.write.lock import OnWait

CLEARLY_BETTER = 1.1
"""How many times as many links another rule for anchors must lead to a section before it is recommended."""
__all__ = ["Index", "Status", "TreeInfo", "Update"]


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """What an update has done."""

    added: int = 0  # new files
    changed: int = 0  # files with new content
    removed: int = 0  # files that are gone
    touched: int = 0  # files with new times and the same content
    unchanged: int = 0  # all other files
    failed: tuple[Finding, ...] = ()  # files that cannot be read, reported at every update; all others are in the index
    rebuilt: str | None = None  # why the whole index was rebuilt; None if it was not, or if it is new
    nodes: int = 0  # the number of nodes in the index
    seconds: float = 0.0  # the duration


class TreeInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A tree of an index."""

    folder: Path  # the folder of its documents
    language: str  # the language of its documents
    files: int  # the number of files, without those that cannot be read
    nodes: int  # the number of nodes
    tokens: int  # the number of tokens
    dialect: str  # its dialect of Markdown; empty if it was not given
    slugs: str  # the rule for anchors, or "auto"
    slug_rule: str  # the rule that is tried first for ``PATH#ANCHOR``: ``slugs``, or what "auto" has chosen
    internal_links: int  # the number of links to documents of the tree, found or not
    resolved_links: int  # how many of them lead to a document


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an index."""

    version: int  # the format version on disk; this quire's if it is unknown
    size: int  # its size in bytes
    damaged: str | None = None  # what is wrong with its files; the fields below are then empty. None if nothing is.
    rebuild: str | None = None
    """Why the next update will rebuild it although nothing is damaged. The fields below are filled only if the format
    version is this quire's."""
    trees: Mapping[str, TreeInfo] = {}  # its trees by name
    segments: int = 0  # the number of engine segments
    outdated: tuple[str, ...] = ()  # the ids of documents that were added, changed or removed since the last update
    failed: tuple[Finding, ...] = ()  # files that cannot be read
    vectors: str = ""  # the model of its vectors; empty if it has none
    without_vectors: int = 0  # the number of nodes that search by meaning does not find
    better_slugs: Mapping[str, str] = {}
    """The rule that "auto" would choose for a tree if the index were rebuilt, if it is clearly better."""


class Index:
    """An index in a folder. Any number of threads and processes may search it, also during updates."""

    def __init__(self, folder: str | os.PathLike[str], *, settings: SearchSettings | None = None) -> None:
        self._folder = Folder(Path(check.path("folder", folder)))
        refuse_file(self._folder.path)
        self._settings = check.search_settings("settings", settings)
        self._lock = Lock()
        self._last: Opened | None = None
        self._closed = False
        self._meaning: Meaning | None = None

    @classmethod
    def open(cls, folder: str | os.PathLike[str] = DEFAULT_FOLDER, *, settings: SearchSettings | None = None) -> Index:
        """The index in ``folder``; if there is none, the first ``update`` creates it."""
        return cls(folder, settings=settings)

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
        wait: float = 10.0,
        on_progress: OnProgress | None = None,
        on_wait: OnWait | None = None,
        jobs: int | None = None,
        rebuild: bool = False,
    ) -> Update:
        """Update ``trees``, folders by name, or without it all trees in the index. Other trees stay.

        ``include`` and ``exclude`` are patterns for the documents of a tree, by its name; ``slugs`` its rule for
        anchors, or ``auto``; ``dialects`` its dialect of Markdown. Only changed files are read, by ``jobs``
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
        return _update_report(plan, files, time.perf_counter() - started)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        trees: str | Sequence[str] | None = None,
        path: str | Sequence[str] | None = None,
        merge: bool = True,
        every: bool = False,
        explain: bool = False,
        mode: Mode = "words",
        around: Callable[[Hit], int] | None = None,
    ) -> Results:
        """The sections that match ``query``, the best first, together at most ``max_tokens`` tokens; 0: no limit.

        Each shows its own text, then as much below it as fits. By default an answer has at most 8,000 tokens, and shows
        what is below a section only up to 2,000.
        Results that score much less than the best are left out and counted, unless ``every`` is true.
        ``trees``, one or more names, and ``path``, one or more patterns such as ``guides/**``, restrict the search.
        ``mode`` is ``words``, or after ``embed`` also ``meaning`` or ``hybrid``, which is both.
        ``around`` returns how many tokens the caller shows around a hit, besides its breadcrumb line; they count, too.
        """
        snapshot, names, patterns = self._snapshot(), check.strings("trees", trees), check.strings("path", path)
        weight = check.meaning_weight(mode, self._settings.meaning)
        find_near = None
        if weight:
            is_whole = names is None and patterns is None
            wanted = None if is_whole else partial(_is_wanted, names, patterns)
            find_near = self._vectors().finder(snapshot, weight, wanted)
        return search(
            snapshot,
            check.string("query", query),
            limit=check.positive("limit", limit),
            max_tokens=check.token_budget("max_tokens", max_tokens),
            max_extended=MAX_EXTENDED if max_tokens is None else None,
            trees=names,
            paths=patterns,
            merge=merge,
            every=every,
            explain=explain,
            settings=self._settings,
            around=around,
            find_near=find_near,
        )

    def embed(self, embedder: object = None, *, on_progress: OnProgress | None = None) -> VectorUpdate:
        """Give every section a vector, for search by meaning; only new and changed text is embedded.

        ``embedder`` is ``"wordllama"``, ``"minilm"``, a ``quire.embed.Endpoint``, or a function from texts to vectors;
        None is the one of the last time. After an update, sections without a vector are found by words alone.
        """
        return self._vectors().update(self._snapshot(), embedder, on_progress)

    def embedder(self) -> str:
        """The name of the embedder of its vectors: ``wordllama``, ``minilm``; empty for any other."""
        return self._vectors().embedder_name

    def _vectors(self) -> Meaning:
        if self._meaning is None:
            try:
                from quire.vectors.meaning import Meaning  # noqa: PLC0415  loads NumPy
            except ModuleNotFoundError as error:
                raise MissingExtraError("wordllama", error.name) from error

            self._meaning = Meaning(self._folder.path)
        return self._meaning

    def get(self, name: str, *, children: bool = True, max_tokens: int | None = None) -> Hit:
        """One section by its id, ``PATH#SLUG`` or ``PATH:LINE``, with everything below it or without."""
        snapshot = self._snapshot()
        node = find_section(snapshot, check.string("name", name))
        most = check.token_budget("max_tokens", max_tokens or 0)
        return hit_for_node(snapshot, node if children else node.without_children(), most)

    def similar(
        self,
        name: str,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        trees: str | Sequence[str] | None = None,
        path: str | Sequence[str] | None = None,
    ) -> Results:
        """Sections with the same words as the one called ``name``, in other documents."""
        snapshot = self._snapshot()
        node = find_section(snapshot, check.string("name", name))
        return search(
            snapshot,
            similar_query(snapshot, node),
            limit=check.positive("limit", limit),
            max_tokens=check.token_budget("max_tokens", max_tokens),
            max_extended=MAX_EXTENDED if max_tokens is None else None,
            trees=check.strings("trees", trees),
            paths=check.strings("path", path),
            without=node.document_id,
            merge=True,
            settings=self._settings,
        )

    def trees(self) -> dict[str, TreeInfo]:
        """The trees of the index by name."""
        snapshot = self._snapshot()
        if not snapshot.tree_infos:
            trees = sorted(snapshot.settings.trees.items())
            snapshot.tree_infos = {name: _tree_info(self._folder, snapshot, name, tree) for name, tree in trees}
        return dict(snapshot.tree_infos)

    def documents(self, tree: str | None = None, path: str | Sequence[str] | None = None) -> list[FileRecord]:
        """The records of documents, sorted by tree and path: of one tree, or with a path that matches a pattern."""
        snapshot = self._snapshot()
        if tree is not None:
            check.known_trees("tree", [check.string("tree", tree)], snapshot.settings.trees)
        found = [each for each in snapshot.files.values() if not each.failed and tree in (None, each.tree)]
        patterns = check.strings("path", path)
        if patterns is not None:
            found = [each for each in found if matches_path(each.tree, each.path, patterns)]
        return sorted(found, key=lambda each: (each.tree, each.path))

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
        from quire.vectors import vector_files  # noqa: PLC0415  a search by words needs none

        vectors = vector_files.current_folder(self._folder.path)
        table = vector_files.load_table(vectors) if vectors else None
        return Status(
            version=VERSION,
            size=size,
            rebuild=rebuild_reason(settings, settings.trees),
            trees=trees,
            segments=snapshot.searcher.num_segments,
            outdated=tuple(sorted((*(task.record.id for task in stale.tasks), *stale.removed))),
            failed=tuple(stale.failed),
            vectors=table.model if table else "",
            without_vectors=vector_files.without_vectors(table, snapshot.files) if table else 0,
            better_slugs=_better_slugs(self._folder, settings.trees),
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


def _is_wanted(trees: Sequence[str] | None, patterns: Sequence[str] | None, record: FileRecord) -> bool:
    """Whether a search is restricted to this document, among others, or not at all."""
    is_in_tree = trees is None or record.tree in trees
    return is_in_tree and (patterns is None or matches_path(record.tree, record.path, patterns))


def _update_report(plan: UpdatePlan, files: FileTable, seconds: float) -> Update:
    """What an update has done, from its plan and the new file records."""
    stale = plan.stale
    readable = [task.record.id for task in stale.tasks if not files[task.record.id].failed]
    changed = sum(name in plan.known for name in readable)
    unreadable = [(task, files[task.record.id]) for task in stale.tasks if files[task.record.id].failed]
    failed = [finding for task, record in unreadable for finding in record.findings(os.fsdecode(task.file))]
    return Update(
        added=len(readable) - changed,
        changed=changed,
        removed=len(stale.removed),
        touched=stale.touched,
        unchanged=stale.unchanged,
        failed=(*stale.failed, *failed),
        rebuilt=plan.rebuild_reason,
        nodes=sum([record.nodes for record in files.values()]),
        seconds=seconds,
    )


def _better_slugs(folder: Folder, trees: Mapping[str, Tree]) -> dict[str, str]:
    """The rules by which clearly more links lead to a section than by the chosen ones."""
    automatic = {name: tree for name, tree in trees.items() if tree.slugs == AUTO_SLUGS}
    if not automatic:
        return {}
    from quire.index.update import tree_slugs  # noqa: PLC0415  loads the parser

    choices = {name: tree_slugs(folder.home, tree) for name, tree in automatic.items()}
    return {
        name: choice.rule
        for name, choice in choices.items()
        if choice.found[choice.rule] > CLEARLY_BETTER * choice.found[trees[name].slug_rule]
    }


def _tree_info(folder: Folder, snapshot: Snapshot, name: str, tree: Tree) -> TreeInfo:
    records = [record for record in snapshot.files.values() if record.tree == name and not record.failed]
    signs = snapshot.signs(name)
    return TreeInfo(
        folder=folder.home / os.fsdecode(tree.folder),
        language=tree.language,
        files=len(records),
        nodes=sum(record.nodes for record in records),
        tokens=sum(record.tokens for record in records),
        dialect=tree.dialect,
        slugs=tree.slugs,
        slug_rule=tree.slug_rule,
        internal_links=signs.get(LINK_FOUND, 0) + signs.get(LINK_LOST, 0),
        resolved_links=signs.get(LINK_FOUND, 0),
    )
