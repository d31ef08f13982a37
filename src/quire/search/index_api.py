"""``quire.Index``: documents in a folder, kept up to date and searchable."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Self

from msgspec import Meta
from msgspec.structs import replace

from quire.errors import IndexDamagedError, MissingExtraError, NotFoundError, StoreError, invalid_value
from quire.index.changed_files import stale_files
from quire.index.engine import damage
from quire.index.engine.snapshot import Opened, Snapshot, open_snapshot
from quire.index.file_records import DEFAULT_FOLDER, VERSION, FileRecord
from quire.index.folder import Folder, other_version, refuse_file
from quire.index.node import Node
from quire.index.section_lookup import SectionName, find_section, section_url
from quire.index.status import Status, TreeInfo, tree_info
from quire.index.update_plan import Request, Update, UpdatePlan, next_rebuild, plan_removal, plan_update
from quire.model.trees import DEFAULT_LANGUAGE, Reading
from quire.model.validation import check, convert
from quire.search.conditions import Filter, conditions, known_trees
from quire.search.hit import Hit, Results
from quire.search.phases import hit_for_node, search
from quire.search.query_terms import similar_query
from quire.search.search_settings import Mode, SearchSettings
from quire.search.vector_files import current_folder, load_table

if TYPE_CHECKING:
    from quire.embed.embedder import Embedder
    from quire.index.incoming_links import IncomingLink
    from quire.index.read_files import OnProgress
    from quire.output.lock import OnWait
    from quire.search.vector_search import VectorSearch, VectorUpdate

AnyPath = str | os.PathLike[str]
Names = str | Sequence[str] | None  # one or more
Where = str | Sequence[str] | Mapping[str, object] | None  # conditions on front matter

__all__ = ["Index", "Status", "TreeInfo", "Update"]


class Index:
    """An index in a folder. Any number of threads and processes may search it, also during updates."""

    def __init__(self, folder: AnyPath, *, settings: SearchSettings | None = None, embedder: object = None) -> None:
        self._folder, self._embedder = Folder(Path(_path("folder", folder))), embedder
        refuse_file(self._folder.path)
        self._settings = SearchSettings.checked(settings)
        conditions("search.where", self._settings.where.keys())
        self._lock, self._closed = Lock(), False
        self._last: Opened | None = None
        self._vector_search: VectorSearch | None = None

    @classmethod
    def open(
        cls, folder: AnyPath = DEFAULT_FOLDER, *, settings: SearchSettings | None = None, embedder: object = None
    ) -> Self:
        """The index in ``folder``; if there is none, the first ``update`` creates it.

        ``embedder`` is the model of its vectors, if ``embed`` was given an object: the index stores the name only.
        """
        return cls(folder, settings=settings, embedder=embedder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the files. The index cannot be used afterwards; ``Index.open`` opens it again."""
        with self._lock:
            self._last = None
            self._closed = True

    def update(
        self,
        trees: Mapping[str, AnyPath] | None = None,
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

        ``include`` and ``exclude`` are patterns for the documents of a tree, by its name; ``slugs``, ``dialects`` and
        ``reading`` its settings as in quire.toml. Only changed files are read, by ``jobs`` processes, by default as
        many as pay off. While another process is updating, ``on_wait`` is called, and after ``wait`` seconds a
        ``BusyError`` is raised. A folder that has other files in it, or contains a tree, is refused.
        """
        if isinstance(trees, Mapping):
            trees = {tree: _path(f"trees[{tree!r}]", folder) for tree, folder in trees.items()}
        by_tree: dict[str, Any] = {"languages": languages, "include": include, "exclude": exclude, "slugs": slugs}
        by_tree |= {"dialects": dialects, "reading": reading}
        chosen = {name: values or {} for name, values in by_tree.items()}
        request = convert(Request, {"trees": trees, "rebuild": rebuild, **chosen})
        jobs = check("jobs", jobs, Annotated[int, Meta(ge=1)] | None)
        plan_again = partial(plan_update, self._folder, request, self._last)
        carry_out = partial(self._carry_out, plan_again, wait, on_wait, jobs=jobs, on_progress=on_progress)
        try:
            return carry_out()
        except IndexDamagedError:  # met on the way: the next plan checks all files again
            return carry_out()

    def remove(self, tree: str, *, wait: float = 10.0, on_wait: OnWait | None = None) -> None:
        """Remove a tree from the index; its documents are not touched."""
        plan_again = partial(plan_removal, self._folder, check("tree", tree, str))
        self._carry_out(plan_again, wait, on_wait, jobs=None, on_progress=None)

    def _carry_out(
        self, plan_again: Callable[[], UpdatePlan], wait: float, on_wait: OnWait | None, **reading: Any
    ) -> Update:
        self._refuse_closed()
        check("wait", wait, Annotated[float, Meta(ge=0)])
        started, plan = time.perf_counter(), plan_again()
        opened: Opened = plan.snapshot, plan.stamp
        if plan.is_needed:
            from quire.index.update import update  # noqa: PLC0415  loads the parser and the tokenizer

            plan, opened = update(self._folder, plan, plan_again, wait=wait, on_wait=on_wait, **reading)
        with self._lock:
            self._last = None if self._closed else opened
        return plan.report(opened[0], time.perf_counter() - started)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        trees: Names = None,
        path: Names = None,
        where: Where = None,
        without: Names = None,
        merge: bool = True,
        every: bool = False,
        explain: bool = False,
        mode: Mode = "words",
        rerank: str | None = None,
    ) -> Results:
        """The sections that match ``query``, the best first, together at most ``max_tokens`` tokens; 0: no limit.

        By default there may be 8,000. Each section shows its own text; what is below it is shown as long as the answer
        has at most 2,000 tokens. Results that score much less than the best are left out, unless ``every`` is true.
        ``trees``, one or more names, ``path``, one or more patterns such as ``guides/**``, and ``where``, one or more
        conditions on front matter such as ``status=draft``, or a dict of values, restrict the search. ``without`` are
        the ids of documents to leave out.
        ``mode`` is ``words``, or after ``embed`` also ``meaning`` or ``hybrid``, which is both. ``rerank`` is the
        address of an endpoint that ranks the best 50 again, by default that of the settings.
        """
        wanted = Filter.checked(trees, path, where, without)
        settings = self._settings.changed(limit=limit, max_tokens=max_tokens)
        snapshot = self._searched(check("query", query, str), settings, wanted)
        near = ranked = None
        if check("mode", mode, Mode) != "words":
            weight = 1.0 if mode == "meaning" else self._settings.meaning
            near = self._vectors().finder(snapshot, weight, partial(wanted.accepts, snapshot))
        if url := self._settings.rerank if rerank is None else check("rerank", rerank, str):
            from quire.embed.endpoint import Reranker  # noqa: PLC0415  few searches need it

            ranked = Reranker(url, self._settings.rerank_model)
        return search(
            snapshot, query, settings, wanted, find_near=near, rerank=ranked, merge=merge, every=every, explain=explain
        )

    def embed(self, embedder: object = None, *, on_progress: OnProgress | None = None) -> VectorUpdate:
        """Give every section a vector, for search by meaning; only new and changed text is embedded.

        ``embedder`` is what ``quire.embed.resolve`` takes, such as a ``quire.embed.Endpoint`` or ``"wordllama"``; None
        is the one of the last time. After an update, sections without a vector are found by words alone.
        """
        return self._vectors().update(self._snapshot(), embedder, on_progress)

    def embedder(self) -> Embedder:
        """The embedder of its vectors."""
        return self._vectors().embedder()

    def _vectors(self) -> VectorSearch:
        if self._vector_search is None:
            try:
                from quire.search.vector_search import VectorSearch  # noqa: PLC0415  loads NumPy
            except ModuleNotFoundError as error:
                raise MissingExtraError("vectors", error.name) from error
            self._vector_search = VectorSearch(self._folder.path, self._embedder)
        return self._vector_search

    def get(
        self, name: str | SectionName, *, children: bool = True, max_tokens: int | None = None, without: Names = None
    ) -> Hit:
        """One section by its id, ``PATH#SLUG`` or ``PATH:LINE``, with everything below it or without.

        ``without`` are the ids of documents to leave out.
        """
        snapshot = self._snapshot()
        name = name if isinstance(name, SectionName) else check("name", name, str)
        node = find_section(snapshot, name, Filter.checked(without=without).without)
        budget = SearchSettings(max_tokens=0).changed(max_tokens=max_tokens).max_tokens
        return hit_for_node(snapshot, node if children else node.without_children(), budget)

    def similar(
        self,
        name: str = "",
        *,
        text: str = "",
        limit: int | None = None,
        max_tokens: int | None = None,
        trees: Names = None,
        path: Names = None,
        where: Where = None,
        without: Names = None,
    ) -> Results:
        """Sections with the same words as the one called ``name``, in other documents; or with those of a ``text``."""
        snapshot, wanted = self._snapshot(), Filter.checked(trees, path, where, without)
        if text:
            words = similar_query(snapshot, "", check("text", text, str), DEFAULT_LANGUAGE)
        else:
            node = find_section(snapshot, check("name", name, str))
            nodes = [node] if node.position else snapshot.nodes_of(node.document_id)
            titles, texts = "\n".join(node.title for node in nodes), "\n".join(node.body_text for node in nodes)
            words = similar_query(snapshot, titles, texts, snapshot.settings.trees[node.tree].language)
            wanted = replace(wanted, without=wanted.without | {node.document_id})
        settings = self._settings.changed(limit=limit, max_tokens=max_tokens)
        return search(self._searched(words, settings, wanted), words, settings, wanted)

    def url(self, name: str, base_url: str, dialect: str | None = None) -> str:
        """The address of a section on its page, published below ``base_url`` by the rules of a dialect."""
        snapshot = self._snapshot()
        return section_url(snapshot, find_section(snapshot, check("name", name, str)), base_url, dialect)

    def links_to(self, name: str) -> list[IncomingLink]:
        """The links of other documents that lead to a section or below it; for a document, to any of its sections."""
        from quire.index.incoming_links import incoming_links  # noqa: PLC0415  few programs need it

        snapshot = self._snapshot()
        return list(incoming_links(snapshot, find_section(snapshot, check("name", name, str))))

    def orphans(self) -> list[str]:
        """The ids of documents that no other one links to, without the top pages of their trees."""
        from quire.index.incoming_links import orphans  # noqa: PLC0415  few programs need it

        return orphans(self._snapshot())

    def trees(self) -> dict[str, TreeInfo]:
        """The trees of the index by name."""
        snapshot = self._snapshot()
        trees = sorted(snapshot.settings.trees.items())
        return {name: tree_info(self._folder.home, tree, snapshot.signs(name)) for name, tree in trees}

    def documents(self, tree: str | None = None, path: Names = None) -> list[FileRecord]:
        """The records of documents, sorted by tree and path: of one tree, or with a path that matches a pattern."""
        snapshot = self._snapshot()
        if tree is not None:
            known_trees("tree", [check("tree", tree, str)], snapshot)
        is_wanted = partial(Filter.checked(tree, path).accepts, snapshot)
        return sorted(filter(is_wanted, self._records(snapshot, tree)), key=attrgetter("tree", "path"))

    def _records(self, snapshot: Snapshot, tree: str | None) -> list[FileRecord]:
        return [record for record in snapshot.files.values() if not record.problem]

    def outline(self, document: str) -> list[Node]:
        """The nodes of a document in order, by its id or path."""
        snapshot = self._snapshot()
        return snapshot.nodes_of(find_section(snapshot, check("document", document, str)).document_id)

    def status(self) -> Status:
        """The state of the index. Checks every byte of it and every file of its trees."""
        self._refuse_closed()
        size = sum(file.stat().st_size for file in self._folder.path.rglob("*") if file.is_file())
        try:
            pointer = self._folder.pointer()
            if pointer is not None and pointer.version != VERSION:
                reason = f"it was made by {other_version(pointer.version)}"
                return Status(version=pointer.version, size=size, rebuild=reason)
            snapshot = self._snapshot()
            with damage.engine_reads(snapshot.folder):
                damage.check(snapshot.folder, is_full=True)
            trees = self.trees()
        except IndexDamagedError as error:
            return Status(version=VERSION, size=size, damaged=error.reason)
        settings, vectors = snapshot.settings, current_folder(self._folder.path)
        stale = stale_files(self._folder.home, settings.trees, snapshot)
        table = load_table(vectors) if vectors else None
        return Status(
            version=VERSION,
            size=size,
            rebuild=next_rebuild(self._folder, settings),
            trees=trees,
            segments=snapshot.searcher.num_segments,
            outdated=tuple(sorted((*(task.record.id for task in stale.tasks), *stale.removed))),
            failed=tuple(stale.failed),
            vectors=table.model if table else "",
            without_vectors=table.missing(snapshot.files) if table else 0,
        )

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(str(self._folder.path), "the index is closed", "open it again with Index.open")

    def _searched(self, text: str, settings: SearchSettings, wanted: Filter) -> Snapshot:
        return self._snapshot()

    def _snapshot(self) -> Snapshot:
        with self._lock:
            self._refuse_closed()
            if self._last is None or self._last[1] != self._folder.stamp():
                self._last = None
                self._last = open_snapshot(self._folder)
            snapshot = self._last[0]
        if snapshot is None:
            raise NotFoundError(f"{self._folder.path}: there is no index yet", "run: quire index, or Index.update")
        return snapshot


def _path(name: str, value: Any) -> str:
    text = os.fsdecode(value) if isinstance(value, str | os.PathLike) else ""
    if not text or "\0" in text:
        raise invalid_value(name, value, "must be a path")
    return text
