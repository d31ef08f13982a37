"""Paths on the command line -> trees of the index, and back to paths that work from the current folder.

A path inside a tree that the configuration or the index knows is part of that tree; any other path is a new tree,
named after its folder or file.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import NamedTuple, TypeAlias

import click

from quire.cli.output import message
from quire.errors import InputError, QuireError, near
from quire.index.file_records import storable
from quire.index.folder import is_inside
from quire.search.path_filter import literal_pattern, matches_path
from quire.settings import Settings, tree_name


class TreePath(NamedTuple):
    """A tree, or a file or folder in it."""

    tree: str
    folder: Path
    """The tree's folder, or its only file."""
    path: str = ""
    """Relative to the tree; empty for the whole tree."""
    given: str = ""
    """As the user typed it."""
    is_new: bool = False
    """Whether neither the configuration nor the index knows the tree."""


Selection: TypeAlias = tuple[TreePath, ...]
"""What a command is about."""


def trees_of(selection: Selection) -> dict[str, Path]:
    """The trees by name, with their folders."""
    return {each.tree: each.folder for each in selection}


def display_path(path: str | Path) -> str:
    """A path that works from the current folder: relative or absolute, whichever is shorter."""
    absolute = os.path.abspath(path)  # noqa: PTH100  links stay as named
    try:
        return min(os.path.relpath(absolute), absolute, key=len)
    except ValueError:  # another drive
        return absolute


def exists(path: str) -> bool:
    """Whether there is a file or folder at ``path``."""
    return "\0" not in path and os.path.exists(path)  # noqa: PTH110  an empty path does not exist, but Path("") does


def near_path(path: str) -> str:
    """`` (did you mean …?)`` if a file or folder has nearly this path; else empty."""
    folder, name = os.path.split(path.rstrip("/"))
    with suppress(OSError, ValueError):
        names = [each for each in os.listdir(folder or ".") if not each.startswith(".")]  # noqa: PTH208
        return near(name, names, lambda each: os.path.join(folder, each), cutoff=0.75)  # noqa: PTH118
    return ""


def refuse_missing(paths: Iterable[str], advice: str = "check the path") -> None:
    """Refuse paths at which there is nothing."""
    for path in paths:
        if not exists(path):
            raise InputError(path, f"no such file or folder{near_path(path)}", advice)


def select(
    paths: Sequence[str], trees: Sequence[str], settings: Settings, known: Mapping[str, Path], *, update: bool = True
) -> Selection:
    """The trees that ``paths`` are in, limited to ``trees``; by default all configured trees, else all ``known`` ones.

    Without ``update``, the index is enough for a tree that does not exist; otherwise it is left out with a warning.
    """
    folders = {**known, **settings.folders}
    if paths:
        selection = _selected(paths, folders)
        _refuse_unknown(trees, [each.tree for each in selection])
        return tuple(each for each in selection if not trees or each.tree in trees)
    _refuse_unknown(trees, folders)
    names = trees or list(settings.trees) or list(known)
    if not names:
        return (_folder_as_tree(settings.folder),)
    selection = tuple(TreePath(name, folders[name]) for name in names)
    return _without_missing(selection, settings, () if update else known)


def _selected(paths: Sequence[str], folders: Mapping[str, Path]) -> Selection:
    known = dict(folders)
    refuse_missing(paths)
    selection: list[TreePath] = []
    for path in paths:
        found = locate(path, known)
        each = TreePath(found[0], known[found[0]], found[1], path) if found else new_tree(path, known)
        known.setdefault(each.tree, each.folder)
        selection.append(each)
    return tuple(selection)


def _without_missing(selection: Selection, settings: Settings, known: Container[str]) -> Selection:
    """The trees that exist or are ``known``; an error if none is left and they are configured."""
    missing = [each for each in selection if each.tree not in known and not exists(str(each.folder))]
    for each in missing:
        problem = f"tree {each.tree}: {missing_tree(each.tree, each.folder, settings)}"
        if each.tree in settings.trees and len(missing) == len(selection):
            raise QuireError(problem)
        message(problem)
    return tuple(each for each in selection if each not in missing)


def missing_tree(name: str, folder: Path, settings: Settings) -> str:
    """That a tree does not exist, and what to do."""
    removes = f"{command_hint(f'index --remove {name}', settings)} removes it"
    corrects = f"correct trees.{name} in {file_of_tree(name, settings)}" if name in settings.trees else ""
    return f"{display_path(folder)} does not exist; {corrects or removes}"


def index_flag(settings: Settings) -> str:
    """`` --index DIR`` if a command needs it to use this index."""
    is_default = str(settings.index) == settings.values["index"].value
    return "" if is_default else f" --index {quote(display_path(settings.index))}"


def command_hint(command: str, settings: Settings) -> str:
    """A command to recommend, as it must be typed for this index."""
    return f"`quire {command}{index_flag(settings)}`"


def file_of_tree(name: str, settings: Settings) -> str:
    """The configuration file that names a tree."""
    return display_path(settings.values[f"trees.{name}.path"].origin)


def _refuse_unknown(trees: Iterable[str], known: Iterable[str]) -> None:
    for name in trees:
        if name not in known:
            raise click.UsageError(f"--tree {name}: no such tree; the trees are {', '.join(known) or 'none yet'}")


def _folder_as_tree(folder: Path) -> TreePath:
    """The folder itself; the home folder and the root are too much to search without being named."""
    if folder in (Path(os.path.expanduser("~")), folder.parent):  # noqa: PTH111  Path's fails where there is no home
        raise QuireError(f"{folder} is a lot to search", "name the folders that you mean, or begin with `quire init`")
    return new_tree(str(folder), {})


def new_tree(path: str, known: Container[str]) -> TreePath:
    """A new tree, named after its folder or file."""
    folder = Path(os.path.abspath(path))  # noqa: PTH100  links stay as named
    name = tree_name(folder.name if folder.is_dir() else folder.stem, known)
    return TreePath(name, folder, "", path, is_new=True)


def locate(path: str | Path, folders: Mapping[str, Path]) -> tuple[str, str] | None:
    """The innermost tree that a path is in, and its path there, which is empty for the tree itself."""
    real = os.path.realpath(path)
    tops = {name: os.path.realpath(folder) for name, folder in folders.items()}
    around = [name for name, top in tops.items() if is_inside(real, top)]
    if not around:
        return None
    tree = max(reversed(around), key=lambda name: len(tops[name]))
    inside = os.path.relpath(real, tops[tree]).replace(os.sep, "/")
    return tree, "" if inside == "." else storable(inside)


def tree_patterns(glob: str, folders: Mapping[str, Path]) -> list[str]:
    """A pattern for paths from the current folder, as patterns for paths in the trees."""
    lead = "" if os.path.isabs(glob) else literal_pattern(_with_slashes(Path.cwd())).rstrip("/")  # noqa: PTH117
    wanted = posixpath.normpath(f"{lead}/{_with_slashes(glob).lstrip('/')}")
    patterns = []
    for tree, folder in folders.items():
        top = _with_slashes(folder)
        if wanted.startswith(f"{literal_pattern(top)}/"):
            patterns.append(f"{tree}:{wanted.removeprefix(literal_pattern(top))}")
        elif matches_path("", f"{top.lstrip('/')}/", [wanted]):
            patterns.append(f"{tree}:/")
    return patterns


def _with_slashes(path: str | Path) -> str:
    return str(path).replace(os.sep, "/")
