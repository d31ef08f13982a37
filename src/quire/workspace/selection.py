"""Which trees and which index a command works with.

With a quire.toml, the trees are those that it names and the index is ``.quire`` beside it; paths inside of a tree
restrict a search to them. Any other path is a tree of its own, in an index of the user's cache folder that has exactly
the paths that were named. So ids never depend on what was searched before, and nothing is written into a folder that
quire was not set up in.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from quire.errors import IndexDamagedError, QuireError
from quire.index.file_records import DEFAULT_FOLDER
from quire.index.folder import Folder
from quire.settings.precedence import Settings
from quire.settings.quire_toml import tree_name
from quire.trees import Tree
from quire.workspace.cache import cache_folder
from quire.workspace.tree_paths import Scope, display_path, locate

_NONE: Mapping[str, Tree] = MappingProxyType({})


class Selection(NamedTuple):
    """Trees, their index, and what was named of them."""

    kind: Literal["configured", "cached", "named"]
    """Whose trees these are: those of a quire.toml, those that were named, or those of an index that was named."""
    index_folder: Path
    trees: Mapping[str, Tree]
    scopes: tuple[Scope, ...] = ()
    """Files and folders in the trees; empty for all."""


def configured(settings: Settings, index: Path | None, paths: Sequence[str]) -> Selection | None:
    """The trees of quire.toml; None if there are none, or if a path is outside of them."""
    if settings.file is None or not settings.trees:
        return None
    scopes = [scope for scope in (locate(path, settings.folders) for path in paths) if scope]
    if len(scopes) < len(paths):
        return None
    folder = index or settings.index or settings.file.parent / DEFAULT_FOLDER
    return Selection("configured", folder, settings.trees, tuple(scopes))


def unconfigured(settings: Settings, index: Path | None, paths: Sequence[str]) -> Selection:
    """The named paths as trees; without any those of a named index, else the current folder."""
    index = index or (None if settings.trees else settings.index)
    indexed = _trees_in(index) if index else {}
    located = [locate(path, {name: Path(tree.path) for name, tree in indexed.items()}) for path in paths]
    new = [path for path, scope in zip(paths, located, strict=True) if scope is None]
    if not paths and not indexed:
        new = [_current_folder(settings.folder)]
    trees = named_trees(new, indexed)
    scopes = [scope for scope in located if scope] + [Scope(name) for name in trees if name not in indexed]
    folder = index or cache_folder([tree.path for tree in trees.values()]) / DEFAULT_FOLDER
    return Selection("named" if index else "cached", folder, trees, tuple(scopes) if paths else ())


def named_trees(paths: Sequence[str], indexed: Mapping[str, Tree] = _NONE) -> dict[str, Tree]:
    """Trees for paths, named after their folders and files, beside those that are ``indexed``."""
    trees = dict(indexed)
    for path in map(Path, dict.fromkeys(map(os.path.abspath, paths))):
        trees[tree_name(path.name if path.is_dir() else path.stem, trees)] = Tree(path=str(path))
    return trees


def _trees_in(index: Path) -> dict[str, Tree]:
    """The trees of an index that the user named; none if there is no index yet."""
    try:
        folder = Folder(index)
        pointer = folder.pointer() if folder.current() else None
        trees = pointer.trees if pointer else {}
        return {name: Tree(path=str(folder.home / os.fsdecode(tree.folder))) for name, tree in trees.items()}
    except IndexDamagedError as error:
        raise error.advising(f"{error.advice} --index {display_path(index)}") from error


def _current_folder(folder: Path) -> str:
    """The current folder; the home folder and the root are too much to search without being named."""
    if folder in (Path(os.path.expanduser("~")), folder.parent):  # noqa: PTH111  Path's fails where there is no home
        raise QuireError(f"{folder} is a lot to search", "name the folders that you mean, or begin with `quire init`")
    return str(folder)
