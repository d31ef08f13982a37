"""What an update has to do: the requested trees and settings compared with the index, and the files that changed."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec

from quire import __version__
from quire.dialects import COMMONMARK, DIALECTS, DOCS_BUILDER
from quire.errors import IndexDamagedError, OptionError
from quire.index.changed_files import StaleFiles, stale_files
from quire.index.engine import analysis, index_schema
from quire.index.engine.snapshot import Opened, Snapshot, newest_readable_trees, open_snapshot
from quire.index.file_records import (
    TOKENIZER,
    FileTable,
    IndexSettings,
    Tree,
    languages_of,
)
from quire.index.folder import Folder, Stamp, refuse_file, refuse_foreign_files, refuse_hidden_trees
from quire.options import Slugs
from quire.read.source import unread
from quire.read.substitution_files import substitution_files, tree_substitutions
from quire.trees import DEFAULT_LANGUAGE, NAME, Reading

_TREE_OPTIONS = {
    "language": "languages", "include": "include", "exclude": "exclude", "slugs": "slugs", "dialect": "dialects",
    "reading": "reading",
}  # fmt: skip
"""The arguments of ``Index.update`` that set a field of a tree."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of ``Index.update``. A tree without an option keeps the option it has in the index."""

    trees: Mapping[str, str] | None  # folders by name; None: the trees in the index
    languages: Mapping[str, str]
    include: Mapping[str, tuple[str, ...]] = {}
    exclude: Mapping[str, tuple[str, ...]] = {}
    slugs: Mapping[str, str] = {}
    dialects: Mapping[str, str] = {}
    reading: Mapping[str, Reading] = {}
    rebuild: bool = False


class UpdatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What an update has to do."""

    snapshot: Snapshot | None  # the last commit, unless the index must be rebuilt
    stamp: Stamp  # of the last commit
    rebuild_reason: str | None
    settings: IndexSettings  # the new settings
    stale: StaleFiles

    @property
    def known(self) -> FileTable:
        """The file records of the last commit."""
        return self.snapshot.files if self.snapshot is not None else {}

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do."""
        return self.snapshot is None or bool(self.stale) or self.snapshot.settings != self.settings


def plan_update(folder: Folder, request: Request, last: Opened | None = None) -> UpdatePlan:
    """Compare the index with the request and with the files on disk; ``last`` is a snapshot that was opened before."""
    try:
        snapshot, stamp = open_snapshot(folder, last)
        reason = None
    except IndexDamagedError as error:
        snapshot, stamp, reason = None, folder.stamp(), error.problem
    trees = _requested_trees(folder, request, snapshot.settings.trees if snapshot is not None else _old_trees(folder))
    refuse_file(folder.path)
    refuse_hidden_trees(folder.path, {name: Path(path) for name, path in (request.trees or {}).items()})
    if snapshot is None:
        refuse_foreign_files(folder.path)
    languages = languages_of(trees)
    if snapshot is not None:
        reason = "a rebuild was requested" if request.rebuild else rebuild_reason(snapshot.settings, trees)
        languages = snapshot.settings.languages if reason is None else languages
        snapshot = snapshot if reason is None else None
    if snapshot is None:
        trees = {name: msgspec.structs.replace(tree, auto_slugs="", auto_dialect="") for name, tree in trees.items()}
    settings = IndexSettings(index_schema.VERSION, __version__, TOKENIZER, languages, trees)
    names = trees if request.trees is None or snapshot is None else request.trees
    records = snapshot.files if snapshot is not None else {}
    listed = snapshot.folder_times if snapshot is not None and snapshot.settings.trees == trees else None
    stale = stale_files(folder.home, {name: trees[name] for name in names}, records, listed)
    return UpdatePlan(snapshot=snapshot, stamp=stamp, rebuild_reason=reason, settings=settings, stale=stale)


def plan_removal(folder: Folder, tree: str) -> UpdatePlan:
    """The removal of a tree from the index."""
    snapshot, stamp = open_snapshot(folder)
    if snapshot is None or tree not in snapshot.settings.trees:
        names = ", ".join(sorted(snapshot.settings.trees)) if snapshot is not None else "none"
        raise OptionError(f"{folder.path}: no tree is called {tree!r}", f"there are: {names}", option="tree")
    trees = {name: other for name, other in snapshot.settings.trees.items() if name != tree}
    stale = StaleFiles(removed=[name for name, record in snapshot.files.items() if record.tree == tree])
    settings = msgspec.structs.replace(snapshot.settings, trees=trees)
    return UpdatePlan(snapshot=snapshot, stamp=stamp, rebuild_reason=None, settings=settings, stale=stale)


def rebuild_reason(old: IndexSettings, trees: Mapping[str, Tree]) -> str | None:
    """Why an index with these settings must be rebuilt; None if it can be updated."""
    if old.quire != __version__:
        return f"it was made by quire {old.quire}"
    if old.tokenizer != TOKENIZER:
        return f"its tokens were counted with {old.tokenizer}"
    for name, tree in trees.items():
        if name in old.trees and tree.language != old.trees[name].language:
            return f"the language of {name} is {tree.language} now"
        dialects = {tree.dialect, old.trees[name].dialect} if name in old.trees else {tree.dialect}
        if len(dialects) > 1 and dialects & {COMMONMARK, DOCS_BUILDER}:  # only these are parsed differently
            return f"the dialect of {name} is {tree.dialect or 'not given'} now"
        if name in old.trees and _reading(tree) != _reading(old.trees[name]):
            return f"the encoding or the substitutions of {name} have changed"
    added = sorted(set(languages_of(trees)) - set(old.languages))
    return f"there is a new language: {', '.join(added)}" if added else None


def _reading(tree: Tree) -> tuple[Any, ...]:
    """What the texts of a tree's files depend on."""
    return tree.reading.encoding, tree.reading.errors, tree.variables


def _old_trees(folder: Folder) -> Mapping[str, Tree]:
    """The trees of an index that cannot be opened."""
    try:
        pointer = folder.pointer()
    except IndexDamagedError:
        return newest_readable_trees(folder)
    return pointer.trees if pointer is not None else {}


def _requested_trees(folder: Folder, request: Request, current: Mapping[str, Tree]) -> dict[str, Tree]:
    """The trees of the index after the update. Invalid names and options raise an error."""
    trees = dict(current)
    names: dict[bytes, str] = {}
    for name, path in (request.trees or {}).items():
        if not NAME.fullmatch(name):
            advice = "use letters, digits, '-', '_' and '.'"
            raise OptionError(f"a tree cannot be called {name!r}", advice, option="trees")
        try:
            os.stat(path)  # noqa: PTH116  an empty path does not exist, but Path("") does
        except (OSError, ValueError) as error:
            raise unread(path, error) from error
        absolute = Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow links
        is_below = absolute.is_relative_to(folder.home)
        stored = os.fsencode(absolute.relative_to(folder.home) if is_below else absolute)
        other = names.setdefault(stored, name)
        if other != name:
            problem = f"the trees {other!r} and {name!r} are one folder"
            raise OptionError(problem, "leave one of them out", option="trees")
        trees[name] = msgspec.structs.replace(current.get(name) or Tree(b"", DEFAULT_LANGUAGE), folder=stored)
    for field, option in _TREE_OPTIONS.items():
        for name, value in getattr(request, option).items():
            _check_option(option, name, value, trees)
            trees[name] = msgspec.structs.replace(trees[name], **{field: value})
    for name, slugs in request.slugs.items():
        if name in current and slugs != current[name].slugs:
            trees[name] = msgspec.structs.replace(trees[name], auto_slugs="")
    if not trees:
        raise OptionError(f"{folder.path}: there is nothing in the index yet", 'name folders, as in {"docs": "docs/"}')
    return {name: with_variables(folder.home, tree, current.get(name)) for name, tree in trees.items()}


def with_variables(home: Path, tree: Tree, old: Tree | None) -> Tree:
    """A tree with the values of its template variables; files that have not changed are not read again."""
    top = home / os.fsdecode(tree.folder)
    files = substitution_files(top if top.is_dir() else top.parent)
    times = tuple((os.fsencode(file), file.stat().st_mtime_ns) for file in files)
    if old and times == old.variable_files and tree.reading.substitutions == old.reading.substitutions:
        return tree
    variables = tree_substitutions(files, tree.reading.substitutions)
    return msgspec.structs.replace(tree, variables=variables, variable_files=times)


def _check_option(option: str, name: str, value: Any, trees: Mapping[str, Tree]) -> None:
    if name not in trees:
        advice = f"there are: {', '.join(sorted(trees))}"
        raise OptionError(f"{option}: no tree is called {name!r}", advice, option=option)
    if option == "slugs" and value not in get_args(Slugs):
        raise OptionError(f"unknown slugs {value!r}", f"choose from: {', '.join(get_args(Slugs))}", option=option)
    if option == "dialects" and value and value not in DIALECTS:
        raise OptionError(f"unknown dialect {value!r}", f"choose from: {', '.join(DIALECTS)}", option=option)
    if option == "languages" and value not in analysis.LANGUAGES:
        raise OptionError(f"unknown language {value!r}", f"choose from: {', '.join(analysis.LANGUAGES)}", option=option)
