"""The index that a command uses: its settings, bringing it up to date, and the part of it that is searched."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import msgspec
from msgspec.structs import replace

from quire import errors
from quire.cli import tree_paths
from quire.cli.output import Progress, count_of, message
from quire.cli.tree_paths import Selection, TreePath, command_hint, display_path, index_flag, trees_of
from quire.errors import BusyError, InputError, NotFoundError, StoreError
from quire.index import folder as index_folder
from quire.index.file_records import DEFAULT_FOLDER, FileRecord, storable
from quire.index.section_lookup import USE_LS
from quire.indexed import Index, Update
from quire.model import Finding
from quire.read.discover import discover
from quire.read.source import CONVERT, MARKDOWN_EXTENSIONS, read_file
from quire.search.path_filter import literal_pattern
from quire.settings import Settings, load

_NO_DOCUMENT = "/:"
"""A pattern that matches no document."""
_PATIENCE = 3600.0
"""Seconds to wait for another process if there is no answer without waiting."""
_BINARY_CHECK = 8192
"""How many characters show whether a file is text."""


class OpenIndex(msgspec.Struct, frozen=True, kw_only=True):
    """An index with the settings and the selection of a command."""

    index: Index
    settings: Settings
    selection: Selection
    """Empty if nothing that was named has a document; the user has been told."""
    folders: Mapping[str, Path]
    """The folders of the trees in the index."""
    missing: frozenset[str]
    """Trees whose folders do not exist. The index keeps them, as a drive may be mounted again, but answers from them
    only with ``--no-update``."""

    def is_missing(self, tree: str, name: str) -> bool:
        """Whether the folder of a tree does not exist; then tell the user, who asked for ``name``."""
        if tree in self.missing:
            message(f"{name}: the folder of its tree does not exist; --no-update answers from the index as it is")
        return tree in self.missing

    def file(self, tree: str, path: str) -> str:
        """The file of a document, as a path that works from the current folder."""
        folder = self.folders[tree]
        return display_path(folder / path if storable(folder.name) != path or folder.is_dir() else folder)

    def forget_new_trees(self) -> None:
        """Remove the trees that were read for this command only: files outside all other trees."""
        for tree in (each.tree for each in self.selection if each.is_new):
            with suppress(BusyError, StoreError):  # it stays and can be removed by hand
                self.index.remove(tree, wait=0.0)

    def show_not_found(self, error: NotFoundError) -> None:
        """Tell the user what is not in the index."""
        if error.advice == USE_LS:
            error = error.advising(f"quire ls{index_flag(self.settings)} shows what is")
        message(str(error))

    def path_filters(self, globs: Sequence[str]) -> list[str] | None:
        """Patterns for the selected documents that also match one of ``globs``; None for all documents."""
        whole = {each.tree for each in self.selection if not each.path}
        is_partial = any(each.tree not in whole for each in self.selection)
        selected = [
            f"{each.tree}:{literal_pattern('' if each.tree in whole else each.path)}" for each in self.selection
        ]
        wanted = [pattern for glob in globs for pattern in self._glob_patterns(glob)]
        if not is_partial or not wanted:
            return selected if is_partial else wanted or None
        ids = {each.id for each in self.index.documents(path=selected)}
        both = [each for each in self.index.documents(path=wanted) if each.id in ids]
        return [f"{each.tree}:{literal_pattern(each.path)}" for each in both] or [_NO_DOCUMENT]

    def _glob_patterns(self, glob: str) -> list[str]:
        """``glob`` for paths in trees, and for printed paths in trees where nothing matches it."""
        matching = {each.tree for each in self.index.documents(path=glob)}
        trees = trees_of(self.selection)
        printed = tree_paths.tree_patterns(glob, {name: self.folders[name] for name in trees if name not in matching})
        if not matching.intersection(trees) and not (printed and self.index.documents(path=printed)):
            message(f"--path {glob}: no document matches")
        return [glob, *printed]


def settings_for(index_folder: str | None) -> Settings:
    """The settings for the current folder; ``index_folder`` is the value of ``--index``."""
    if index_folder == "":
        raise click.UsageError("--index needs a folder")
    index = Path(os.path.abspath(index_folder)) if index_folder else None  # noqa: PTH100  links stay as named
    settings = load(Path.cwd(), index=index)
    _check_index_folder(settings.index, settings.folders)
    return settings


def _check_index_folder(index: Path, trees: Mapping[str, Path]) -> None:
    """Refuse a file, a folder with other files, and a folder that a tree is in."""
    index = Path(display_path(index))
    index_folder.refuse_file(index)
    index_folder.refuse_hidden_trees(index, {name: Path(display_path(folder)) for name, folder in trees.items()})
    index_folder.refuse_foreign_files(index)


def no_index(settings: Settings) -> errors.QuireError:
    """The error if there is no index."""
    name = settings.index.name
    above = next((each for each in settings.index.parents[1:] if (each / name).is_dir()), None)
    hint = f"there is one above: add --index {display_path(above / name)}" if above else ""
    makes = f"{command_hint('index PATH', settings)} makes one"
    return errors.QuireError(f"{display_path(settings.index)}: there is no index yet", hint or makes)


def show_empty(name: str) -> None:
    """Tell the user that a tree or folder has no documents."""
    message(f"{name}: no documents; quire looks for Markdown and .txt files")


@contextmanager
def open_index(
    paths: Sequence[str],
    *,
    index_folder: str | None,
    trees: Sequence[str] = (),
    preferred_tree: str = "",
    update: bool = True,
    create: bool = True,
) -> Iterator[OpenIndex]:
    """The index, updated in the trees that ``paths`` and ``trees`` select.

    If a tree is called ``preferred_tree``, it is selected instead of ``paths``. If the index cannot be written, as in a
    read-only folder, and has no answer, a temporary one is used.
    """
    settings = settings_for(index_folder)
    open_in = partial(_open, paths=paths, trees=trees, preferred_tree=preferred_tree, update=update, create=create)
    with ExitStack() as stack:
        try:
            opened = open_in(stack.enter_context(Index.open(settings.index, settings=settings.search)), settings)
        except StoreError as error:
            if index_folder or not update or isinstance(error, errors.IndexDamagedError):
                raise
            message(f"{error.path}: {error.problem}; indexing for this call only, --index keeps an index elsewhere")
            folder = Path(stack.enter_context(TemporaryDirectory()), DEFAULT_FOLDER)
            settings = msgspec.structs.replace(settings, index=folder)
            opened = open_in(stack.enter_context(Index.open(folder, settings=settings.search)), settings)
        yield opened


def _open(
    index: Index, settings: Settings, *, paths: Sequence[str], trees: Sequence[str], preferred_tree: str, update: bool,
    create: bool,
) -> OpenIndex:  # fmt: skip
    known = folders_of(index, settings, repair=update)
    if not known and not settings.trees and not create:
        raise no_index(settings)
    if preferred_tree in {**known, **settings.trees}:
        paths, trees = (), (preferred_tree,)
    selection = tree_paths.select(paths, trees, settings, known, update=update)
    if update:
        selection, _ = update_index(index, selection, settings, known, is_search=True)
    else:
        _refuse_unknown(index, selection, settings, known)
    folders = folders_of(index, settings)
    missing = frozenset(name for name, folder in folders.items() if update and not folder.exists())
    return OpenIndex(index=index, settings=settings, selection=selection, folders=folders, missing=missing)


def folders_of(index: Index, settings: Settings, *, repair: bool = False) -> dict[str, Path]:
    """The folders of the trees in the index; none if there is no index yet. ``repair`` rebuilds a damaged one."""
    try:
        return {name: tree.folder for name, tree in index.trees().items()}
    except NotFoundError:
        return {}
    except errors.IndexDamagedError as error:
        if not repair:
            raise error.advising(f"{error.advice}{index_flag(settings)}") from error
        message(f"{display_path(settings.index)}: {error.problem}; rebuilding it")
    try:
        _run_update(index, None, settings, wait=_PATIENCE)
    except errors.OptionError:
        return {}  # not even its trees are known
    return folders_of(index, settings)


def update_index(
    index: Index,
    selection: Selection,
    settings: Settings,
    known: Mapping[str, Path],
    *,
    rebuild: bool = False,
    is_search: bool = False,
) -> tuple[Selection, Update]:
    """Update the selected trees; return what could be read of the selection, and the changes.

    A path that its tree ignores was named, so it becomes a tree of its own. A new tree replaces those of ``known``
    whose documents it has, unless they are configured.
    """
    selection, done = _update_trees(index, selection, settings, rebuild=rebuild, is_search=is_search)
    ignored = [each for each in selection if each.path and not documents_in(index, each.tree, each.path)]
    if ignored:
        taken = {**settings.folders, **folders_of(index, settings)}
        new: list[TreePath] = []
        for each in ignored:
            new.append(tree_paths.new_tree(each.given, taken))
            taken[new[-1].tree] = new[-1].folder
        added, more = _update_trees(index, tuple(new), settings, is_search=is_search)
        selection = (*(each for each in selection if each not in ignored), *added)
        numbers = ("added", "changed", "removed", "touched", "unchanged")
        failed = {each.path: each for each in (*more.failed, *done.failed)}  # a file may have failed in both
        totals = {name: getattr(done, name) + getattr(more, name) for name in numbers}
        done = replace(done, failed=tuple(failed.values()), **totals)
    _remove_replaced(index, selection, settings, known)
    return selection, done


def _update_trees(
    index: Index, selection: Selection, settings: Settings, *, rebuild: bool = False, is_search: bool
) -> tuple[Selection, Update]:
    """Update the trees. A search goes on with the index as it is if another process is updating it.

    A new file that cannot be read is an error in a search, and otherwise one of the failed files.
    """
    unreadable = {each: error for each in selection if each.is_new and (error := _read_error(each.folder))}
    if unreadable and is_search:
        raise next(iter(unreadable.values()))
    selection = tuple(each for each in selection if each not in unreadable and not _is_empty(each))
    failed = tuple(map(_finding, unreadable.values()))
    if not selection:
        return selection, Update(failed=failed)
    _check_index_folder(settings.index, trees_of(selection))
    try:
        done = _run_update(index, selection, settings, wait=0.0 if is_search else _PATIENCE, rebuild=rebuild)
    except (BusyError, StoreError) as error:
        if not is_search or isinstance(error, errors.IndexDamagedError):
            raise
        if trees_of(selection).keys() <= folders_of(index, settings).keys():
            message(f"{error.path}: {error.problem}; answering from the index as it was")
            return selection, Update()
        if not isinstance(error, BusyError):
            raise
        done = _run_update(index, selection, settings, wait=_PATIENCE)  # there is nothing to answer from yet
    if done.failed and is_search:
        files = count_of(len(done.failed), "file")
        message(f"{files} could not be read; {command_hint('status', settings)} lists them")
    return selection, replace(done, failed=(*done.failed, *failed))


def _run_update(
    index: Index, selection: Selection | None, settings: Settings, *, wait: float, rebuild: bool = False
) -> Update:
    """Update the selected trees, or all that the index knows."""
    trees = None if selection is None else trees_of(selection)
    configured = {name: tree for name, tree in settings.trees.items() if trees and name in trees}
    options = {name: settings.tree_options(name) for name in trees or ()}
    with Progress() as progress:
        return index.update(
            trees,
            languages={name: tree.language for name, tree in configured.items()},
            include={name: tree.include for name, tree in configured.items()},
            exclude={name: tree.exclude for name, tree in configured.items()},
            slugs={name: each.slugs for name, each in options.items()},
            dialects={name: each.dialect or "" for name, each in options.items()},
            wait=wait,
            rebuild=rebuild,
            on_progress=progress.step,
            on_wait=message,
        )


def _read_error(file: Path) -> InputError | None:
    """Why a file cannot be read as text; None for a folder."""
    if not file.is_file():
        return None
    name = display_path(file)
    try:
        text, _ = read_file(file, name)
    except InputError as error:
        return error.advising(CONVERT) if isinstance(error, errors.UndecodableError) else error
    is_binary = "\0" in text[:_BINARY_CHECK] and file.suffix.lower() not in {*MARKDOWN_EXTENSIONS, ".txt"}
    return InputError(name, "not a text file", "name Markdown or text") if is_binary else None


def _finding(error: InputError) -> Finding:
    code, line = ("undecodable", error.line) if isinstance(error, errors.UndecodableError) else ("unreadable", 0)
    return Finding(code=code, path=str(Path(error.path).absolute()), line=line, message=error.message)


def _is_empty(each: TreePath) -> bool:
    """Whether a new tree is a folder without documents; then tell the user. An unreadable folder is an error."""
    if not each.is_new or each.folder.is_file():
        return False
    found = discover([str(each.folder)])
    if not found.documents:
        for skipped in found.skipped:
            if skipped.is_error:
                raise InputError(display_path(each.folder), skipped.reason)
        show_empty(display_path(each.folder))
    return not found.documents


def _remove_replaced(index: Index, selection: Selection, settings: Settings, known: Mapping[str, Path]) -> None:
    """Remove trees that are not configured and whose documents are all in a new tree."""
    trees = trees_of(selection)
    new = {name: folder for name, folder in trees.items() if name not in known}
    for name, folder in known.items():
        found = tree_paths.locate(folder, new) if name not in settings.trees and name not in trees else None
        if found is not None:
            tree, path = found
            own = [path] if folder.is_file() else [f"{path}/{each.path}" for each in index.documents(name)]
            if {each.path for each in index.documents(tree)}.issuperset(each.removeprefix("/") for each in own):
                with suppress(BusyError, StoreError):  # it stays and can be removed by hand
                    index.remove(name)


def documents_in(index: Index, tree: str, path: str) -> list[FileRecord]:
    """The documents of a tree that are in the folder ``path``, or the one document with that path."""
    found = index.documents(tree)
    return [each for each in found if not path or each.path == path or each.path.startswith(f"{path}/")]


def _refuse_unknown(index: Index, selection: Selection, settings: Settings, known: Mapping[str, Path]) -> None:
    """Refuse paths that are not in the index, so that nothing found never means nothing searched."""
    for each in selection:
        if not known:
            raise no_index(settings)
        is_known = each.tree in known and (not each.path or documents_in(index, each.tree, each.path))
        if not is_known:
            raise InputError(each.given or each.tree, "not in the index", "leave out --no-update")
