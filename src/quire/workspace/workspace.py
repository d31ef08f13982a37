"""``Workspace``: the trees, the index and the settings that a command or a server works with."""

from __future__ import annotations

import os
import posixpath
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from msgspec import structs

from quire.embed.embed_settings import EmbedSettings
from quire.errors import BusyError, IndexDamagedError, InputError, NotFoundError, OptionError, QuireError, StoreError
from quire.index.file_records import DEFAULT_FOLDER, FileRecord, storable
from quire.index.folder import refuse_folder
from quire.index.section_lookup import SectionName
from quire.model.dialects import dialect_of
from quire.model.document import Finding
from quire.model.operating_system import remove_folder, temporary_folder
from quire.model.trees import Tree
from quire.model.validation import convert, unknown_name
from quire.read.discover import Discovery, Hidden, left_out_counts
from quire.search.conditions import literal_pattern, matches_path
from quire.search.hit import Hit, Results
from quire.search.index_api import Index, TreeInfo, Update
from quire.workspace.cached_indexes import note_use
from quire.workspace.selected_trees import (
    Scope,
    Selection,
    configured,
    display_path,
    exists,
    is_target,
    locate,
    missing_tree,
    refuse_missing,
    unconfigured,
)
from quire.workspace.settings import INDEX_VARIABLE, Settings, load

if TYPE_CHECKING:
    from quire.index.read_files import OnProgress

_PATIENCE = 3600.0  # seconds to wait for another process if there is no answer without waiting
OnMessage = Callable[[str], None]
_CHECK_EVERY = 1.0  # a server looks for changed files once in so many seconds while calls come


class Workspace(AbstractContextManager["Workspace"]):
    """Documents that were named or configured, and their index. Any thread may use it."""

    def __init__(
        self, settings: Settings, choice: Selection, on_message: OnMessage, index: Index | None = None
    ) -> None:
        self.settings = settings
        self.kind = choice.kind
        self.index_folder = choice.index_folder
        self.trees = choice.trees  # the trees, with absolute paths
        self.scopes = choice.scopes or tuple(map(Scope, choice.trees))  # selected trees, or files and folders in them
        self.is_index_named = False  # whether another index than the usual one was asked for
        self.failed: tuple[Finding, ...] = ()  # findings about files that could not be read at the last update
        self.note = ""  # why answers may be outdated; empty if they are not
        self.say = on_message
        self._tree_options = cache(settings.tree_options)
        self._lock = Lock()
        self._checked = -_CHECK_EVERY
        self._temporary: Path | None = None
        self.index = index or self._own_index()

    def _own_index(self) -> Index:
        index_folder = display_path(self.index_folder)
        refuse_folder(Path(index_folder), {name: display_path(folder) for name, folder in self.folders.items()})
        weights = {f"tree:{name}": tree.weight for name, tree in self.trees.items() if tree.weight != 1}
        search, embed = self.settings.search, self.settings.embed
        self._search_settings = structs.replace(search, where={**weights, **search.where}) if weights else search
        embedder = convert(EmbedSettings, embed) if embed else None
        return Index.open(index_folder, settings=self._search_settings, embedder=embedder)

    @classmethod
    def open(
        cls,
        paths: Sequence[str] = (),
        *,
        trees: Sequence[str] = (),
        index: str | None = None,
        from_store: bool = True,
        on_message: OnMessage = lambda _: None,
    ) -> Workspace:
        """The workspace of some paths, else of the configuration, else of the current folder.

        ``trees`` selects among the trees; ``index`` is a folder for the index instead of the usual one, or a
        store of sections. Without ``from_store``, a store that the configuration names does not count.
        """
        target = index or os.environ.get(INDEX_VARIABLE, "")
        is_store = is_target(target)
        settings = load(Path.cwd(), {**os.environ, INDEX_VARIABLE: "" if is_store else target} if target else None)
        if is_store or (settings.store and from_store and not (target or paths)):
            store = StoreWorkspace(settings, target or settings.store, paths, on_message)
            store.scopes = tuple(scope for scope in store.scopes if not trees or scope.tree in trees)
            return store
        refuse_missing(paths)
        named = Path(os.path.abspath(index)) if index else None  # noqa: PTH100  links stay as named
        choice = configured(settings, named, paths) or unconfigured(settings, named, paths)
        for name in trees:
            if name not in choice.trees:
                raise unknown_name(name, choice.trees, what="tree")
        workspace = cls(settings, choice, on_message)
        workspace.is_index_named = named is not None
        workspace.scopes = tuple(scope for scope in workspace.scopes if not trees or scope.tree in trees)
        if not workspace.scopes and trees:
            raise OptionError(f"none of the paths is in {' or '.join(trees)}", "name paths in it, or leave out --tree")
        return workspace

    @classmethod
    def open_updated(
        cls, paths: Sequence[str] = (), *, on_progress: OnProgress | None = None, **options: Any
    ) -> Workspace:
        """``open``, brought up to date. If its trees ignore one of ``paths``, which were named, one of these alone."""
        workspace = cls.open(paths, **options)
        try:
            workspace.refresh(on_progress)
            inside = [scope for scope in workspace.scopes if scope.path]
            documents = workspace.index.documents() if inside else []
            if not all(any(map(scope.has, documents)) for scope in inside):
                workspace.close()
                choice = unconfigured(workspace.settings, None, paths)
                workspace = cls(workspace.settings, choice, workspace.say)
                workspace.refresh(on_progress)
        except BaseException:
            workspace.close()
            raise
        return workspace

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the files of the index."""
        self.index.close()
        if self._temporary:
            remove_folder(self._temporary)

    @property
    def folders(self) -> dict[str, Path]:
        """The folders of the trees, or their only files."""
        return {name: tree.folder for name, tree in self.trees.items()}

    @property
    def selected_trees(self) -> list[str]:
        """The names of the selected trees that exist."""
        missing = self.missing
        return [tree for tree in dict.fromkeys(scope.tree for scope in self.scopes) if tree not in missing]

    @property
    def missing(self) -> dict[str, Path]:
        """The trees whose folders do not exist; a drive may be mounted again."""
        return {name: folder for name, folder in self.folders.items() if not exists(str(folder))}

    def refresh(self, on_progress: OnProgress | None = None) -> Update:
        """Bring the index up to date. While another process updates it, answers come from the index as it is.

        If there is nothing to answer from, this waits, or uses a temporary index where nothing can be written.
        """
        self.note = ""
        try:
            return self.update(wait=0.0, on_progress=on_progress)
        except IndexDamagedError:
            raise
        except (BusyError, StoreError) as error:
            if set(self.selected_trees) <= self._indexed_trees().keys():
                self.note = f"the index may be outdated: {error.problem}"
                self.say(f"{error.path}: {error.problem}; answering from the index as it was")
                return Update()
            if isinstance(error, BusyError):
                return self.update(wait=_PATIENCE, on_progress=on_progress)
            self.say(f"{error.path}: {error.problem}; indexing for this call only, --index keeps an index elsewhere")
            self._temporary = temporary_folder() / f"quire-{os.urandom(8).hex()}"
            self._temporary.mkdir(0o700)
            self.index = Index.open(self._temporary / DEFAULT_FOLDER, settings=self._search_settings)
            return self.update(wait=_PATIENCE, on_progress=on_progress)

    def refresh_sometimes(self, on_progress: OnProgress | None = None) -> None:
        """``refresh``, unless that was done less than a second ago."""
        with self._lock:
            started = time.monotonic()
            if started >= self._checked + _CHECK_EVERY or self.missing or not self._indexed_trees():
                self.refresh(on_progress)
                self._checked = started

    def update_options(self) -> tuple[dict[str, Path], dict[str, Any]]:
        """The folders of the selected trees that exist, and their options, for ``Index.update``."""
        present = {name: self.trees[name] for name in self.selected_trees}
        missing = {scope.tree: self.trees[scope.tree] for scope in self.scopes if scope.tree not in present}
        file = self.settings.file
        problems = [f"tree {name}: {missing_tree(name, tree, file)}" for name, tree in missing.items()]
        if not present:
            raise QuireError("; ".join(problems))
        for self.note in problems:
            self.say(self.note)
        options = {name: self.settings.tree_options(name) for name in present}
        configured = present if self.kind == "configured" else {}
        return {name: tree.folder for name, tree in present.items()}, {
            "languages": {name: tree.language for name, tree in configured.items()},
            "include": {name: tree.include for name, tree in configured.items()},
            "exclude": {name: tree.exclude for name, tree in configured.items()},
            "slugs": {name: option.slugs for name, option in options.items()},
            "dialects": {name: option.dialect or "" for name, option in options.items()},
            "reading": {name: tree.reading for name, tree in present.items()},
        }

    def update(
        self, *, wait: float = _PATIENCE, rebuild: bool = False, on_progress: OnProgress | None = None
    ) -> Update:
        """Bring the selected trees of the index up to date. Trees that quire.toml no longer names are removed."""
        folders, options = self.update_options()
        if self.kind == "cached" and self._temporary is None:
            note_use(self.index_folder.parent, [tree.path for tree in self.trees.values()])
        done = self.index.update(
            folders,
            **options,
            wait=wait,
            rebuild=rebuild,
            on_progress=on_progress,
            on_wait=self.say,
        )
        if done.rebuilt and not rebuild:
            self.say(f"{display_path(self.index_folder)}: rebuilt, because {done.rebuilt}")
        self.failed = done.failed
        for finding in done.failed:
            if finding.path in map(str, self.folders.values()):  # a file that was named
                line = f"line {finding.line}, " if finding.line else ""
                raise InputError(display_path(finding.path), f"{line}{finding.message}")
        if self.kind == "configured":
            for name in self._indexed_trees().keys() - self.trees.keys():
                with suppress(BusyError, StoreError):  # the next update removes it
                    self.index.remove(name, wait=0.0)
        return done

    def _indexed_trees(self) -> dict[str, TreeInfo]:
        """The trees in the index; none if it cannot be read."""
        with suppress(NotFoundError, IndexDamagedError):
            return self.index.trees()
        return {}

    def left_out(self) -> str:
        """How many files and folders of the selected trees are left out, by reason, and what adds them."""
        counts: Counter[str] = Counter()
        for tree in map(self.trees.__getitem__, self.selected_trees):
            which: Hidden = "known" if tree.hidden else False
            counts += Discovery(str(tree.folder), tree.include, tree.exclude, hidden=which).left_out
        hidden = "; hidden = true adds .github, .claude and .cursor" if "hidden" in counts else ""
        return f"{left_out_counts(counts)}; to read them, set include in quire.toml{hidden}" if counts else ""

    def tree_infos(self) -> dict[str, TreeInfo]:
        """The selected trees as the index has them; none if it cannot be read."""
        infos = self._indexed_trees()
        return {name: infos[name] for name in self.selected_trees if name in infos}

    def _selected(self) -> Iterator[FileRecord]:
        trees = self.selected_trees
        scopes = [scope for scope in self.scopes if scope.tree in trees]
        return (record for record in self.index.documents() if any(scope.has(record) for scope in scopes))

    @property
    def is_empty(self) -> bool:
        """Whether no document is selected."""
        if any(scope.path for scope in self.scopes):
            return next(self._selected(), None) is None
        return not any(tree.files for tree in self.tree_infos().values())

    def documents(self, path: str | Sequence[str] = ()) -> list[FileRecord]:
        """The selected documents: all, or those that match patterns; the name of a tree or folder is a pattern, too."""
        if not path:
            return list(self._selected())
        patterns = self._patterns([path] if isinstance(path, str) else path)
        return [record for record in self._selected() if matches_path(record.tree, record.path, patterns)]

    def finds(self, name: str) -> bool:
        """Whether the index has a section of this name now."""
        with suppress(NotFoundError, StoreError):
            return bool(self.get(name))
        return False

    def search(
        self, query: str, *, path: Sequence[str] = (), like: str = "", text: str = "", **options: Any
    ) -> Results:
        """The best sections for a query, or for the words of a section or a text; options as of ``Index.search``."""
        left_out = self.unselected() if any(scope.path for scope in self.scopes) else []
        without = [*options.get("without", ()), *left_out]
        options |= {"trees": self.selected_trees, "path": self._patterns(path) or None, "without": without or None}
        find = partial(self.index.similar, like, text=text) if like or text else partial(self.index.search, query)
        results = find(**options)
        results[:] = map(self._with_url, results)
        return results

    def _with_url(self, hit: Hit) -> Hit:
        options = self._tree_options(hit.tree)
        if not options.base_url:
            return hit
        dialect = options.dialect or dialect_of(self.folders[hit.tree])
        return structs.replace(hit, url=self.index.url(hit.id, options.base_url, dialect))

    def get(self, name: str, **options: Any) -> Hit:
        """A section of the selected documents, by its id or as a user types it; options are those of ``Index.get``."""
        is_whole = not any(scope.path for scope in self.scopes) and {*self.selected_trees} == {*self._indexed_trees()}
        options["without"] = None if is_whole else self.unselected()
        try:
            return self._with_url(self.index.get(SectionName.of(storable(name)), **options))
        except NotFoundError:
            selected = {record.id for record in self.documents()}
            for named in (SectionName(name, name), SectionName.of(name)):  # its document is a path from here
                scope = locate(named.document, self.folders)
                document = scope and f"{scope.tree}:{scope.path or self.folders[scope.tree].name}"
                if document in selected:
                    return self._with_url(self.index.get(named.of_document(document), **options))
            raise

    def file(self, tree: str, path: str) -> str:
        """The file of a document, as a path that works from the current folder."""
        folder = self.folders[tree]
        return display_path(folder / path if storable(folder.name) != path or folder.is_dir() else folder)

    def _patterns(self, globs: Sequence[str]) -> list[str]:
        """Patterns for paths in trees, for names of trees, patterns in trees, or patterns from the current folder."""
        patterns: list[str] = []
        for glob in (each.rstrip("/") or "/" for each in globs):
            named, mark, path = glob.partition(":")
            patterns += [f"{named}:/{path.lstrip('/')}"] if named in self.trees else []
            patterns += [] if mark and named in self.trees else [glob]
            lead = "" if os.path.isabs(glob) else literal_pattern(Path.cwd().as_posix()).rstrip("/")  # noqa: PTH117
            absolute = posixpath.normpath(f"{lead}/{glob.replace(os.sep, '/').lstrip('/')}")
            for tree, folder in self.folders.items():
                top = literal_pattern(folder.as_posix())
                if absolute.startswith(f"{top}/"):
                    patterns.append(f"{tree}:{absolute.removeprefix(top)}")
                elif matches_path("", f"{folder.as_posix().lstrip('/')}/", [absolute]):
                    patterns.append(f"{tree}:/")
        return patterns

    def unselected(self) -> list[str]:
        """The ids of the documents in the index that were not selected."""
        selected = {record.id for record in self._selected()}
        return [record.id for record in self.index.documents() if record.id not in selected]


class StoreWorkspace(Workspace):
    """The sections in a store, where none of the documents are at hand. It is never updated from here."""

    def __init__(self, settings: Settings, target: str, paths: Sequence[str], on_message: OnMessage) -> None:
        from quire.stores.node_index import NodeIndex  # noqa: PLC0415  few have a store

        if paths:
            raise OptionError(f"{paths[0]}: a store is searched whole", "leave out paths, or use --path")
        index = NodeIndex.open(target, settings=settings.search)
        trees = {name: Tree(path=str(info.folder)) for name, info in index.trees().items()}
        super().__init__(settings, Selection("named", Path(index.label), trees), on_message, index)
        self.is_index_named = True

    @property
    def missing(self) -> dict[str, Path]:
        """No tree is missing: the documents need not be here."""
        return {}

    def left_out(self) -> str:
        """Not known: the documents are elsewhere."""
        return ""

    def refresh(self, on_progress: object = None) -> Update:
        """Nothing to do: each search looks for the last version of the store."""
        return Update()
