"""Which trees, which index and which documents the paths of a user stand for.

Ids never depend on what was searched before, and nothing is written into a folder that quire was not set up in.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from quire.errors import IndexDamagedError, InputError, QuireError
from quire.index.file_records import DEFAULT_FOLDER, FileRecord, storable
from quire.index.folder import Folder, is_inside
from quire.index.section_lookup import SectionName
from quire.model.patterns import pattern
from quire.model.trees import Tree, tree_name
from quire.search.hit import Hit
from quire.workspace.cached_indexes import cache_folder, cached_indexes
from quire.workspace.settings import IS_STORE, Settings

exists = os.path.exists  # an empty path does not exist, but Path("") does
_LONGEST_PATH = 4096
_URL = pattern(r"\b(?!lancedb:|file:)([a-z][a-z0-9+.-]+:)/(?!/)")


class Scope(NamedTuple):
    """A tree, or a file or folder in it."""

    tree: str
    path: str = ""  # relative to the tree; empty for the whole tree

    def has(self, document: FileRecord | Hit) -> bool:
        """Whether a document, or the section of one, is in it."""
        return document.tree == self.tree and (not self.path or f"{document.path}/".startswith(f"{self.path}/"))


def display_path(path: str | Path) -> str:
    """A path that works from the current folder: relative or absolute, whichever is shorter."""
    if is_target(str(path)):
        return path_text(path)
    absolute = os.path.abspath(path)  # noqa: PTH100  links stay as named
    with suppress(ValueError):  # another drive
        return min(os.path.relpath(absolute), absolute, key=len)
    return absolute


def path_text(path: str | Path) -> str:
    """A path as text; ``Path`` leaves one slash of ``s3://bucket``."""
    return _URL.sub(r"\1//", str(path))


def is_target(index: str) -> bool:
    """Whether an index is named by a store, ``lancedb:PLACE``, and not by a folder."""
    return IS_STORE.fullmatch(index) is not None and not exists(index)


def is_file(path: str) -> bool:
    """Whether there is a file at ``path``, and not a folder."""
    return exists(path) and not os.path.isdir(path)  # noqa: PTH112  Path("") is a folder


def file_of(name: str) -> str:
    """The file that has this name, or that the named section is in; empty if there is none."""
    named = SectionName.of(name)
    return next(filter(is_file, (named.text, named.document)), "")


def refuse_missing(paths: Iterable[str], advice: str = "check the path") -> None:
    """Refuse paths at which there is nothing."""
    for path in paths:
        if not exists(path):
            raise InputError(path, "no such file or folder", advice)


def missing_tree(name: str, tree: Tree, file: Path | None) -> str:
    """That the folder of a tree does not exist, and what to do; ``file`` is the configuration that names it."""
    if tree.git:
        return f"{tree.git} was not fetched yet; `quire index --fetch {name}` fetches it"
    corrects = f"correct trees.{name} in {display_path(file)}" if file else "restore it"
    return f"{display_path(tree.folder)} does not exist; {corrects}"


def locate(path: str | Path, folders: Mapping[str, Path]) -> Scope | None:
    """The innermost tree that a path is in, and its path there."""
    if len(str(path)) > _LONGEST_PATH:  # it would take quadratic time
        return None
    try:
        real = os.path.realpath(path)
    except ValueError:  # NUL, or a character that names cannot have on this system
        return None
    tops = {name: os.path.realpath(folder) for name, folder in folders.items()}
    trees = [name for name, top in tops.items() if is_inside(real, top)]
    if not trees:
        return None
    tree = max(reversed(trees), key=lambda name: len(tops[name]))
    inside = os.path.relpath(real, tops[tree]).replace(os.sep, "/")
    return Scope(tree, "" if inside == "." else storable(inside))


class Selection(NamedTuple):
    """Trees, their index, and what was named of them."""

    kind: Literal["configured", "cached", "named"]  # trees of a quire.toml, named paths, or those of a named index
    index_folder: Path
    trees: Mapping[str, Tree]
    scopes: tuple[Scope, ...] = ()  # files and folders in the trees; empty for all


def configured(settings: Settings, index: Path | None, paths: Sequence[str]) -> Selection | None:
    """The trees of quire.toml; None if there are none, or if a path is outside of them."""
    if settings.file is None or not settings.trees:
        return None
    folders = {name: tree.folder for name, tree in settings.trees.items()}
    scopes = [scope for path in paths if (scope := locate(path, folders))]
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
        new = [str(folder := settings.folder)]
        if folder in (Path(os.path.expanduser("~")), folder.parent):  # noqa: PTH111  Path's fails where there is no home
            advice = "name the folders that you mean, or begin with `quire init`"
            raise QuireError(f"{folder} is too large to search", advice)
    trees = _named_trees(new, indexed)
    scopes = [scope for scope in located if scope] + [Scope(name) for name in trees if name not in indexed]
    folder = index or cache_folder([tree.path for tree in trees.values()]) / DEFAULT_FOLDER
    return Selection("named" if index else "cached", folder, trees, tuple(scopes) if paths else ())


def cached() -> Iterator[Selection]:
    """The cached indexes of folders in or around the current one, the one that was used last first."""
    here = os.path.realpath(os.curdir)
    for folder, paths in cached_indexes():
        if any(is_inside(path, here) or is_inside(here, path) for path in map(os.path.realpath, paths)):
            yield Selection("cached", folder / DEFAULT_FOLDER, _named_trees(paths, {}))


def _named_trees(paths: Sequence[str], indexed: Mapping[str, Tree]) -> dict[str, Tree]:
    """Trees for paths, named after their folders and files, beside those that are ``indexed``."""
    trees = dict(indexed)
    for path in map(Path, dict.fromkeys(map(os.path.abspath, paths))):
        trees[tree_name(path.name if path.is_dir() else path.stem, trees)] = Tree(path=str(path))
    return trees


def _trees_in(index: Path) -> dict[str, Tree]:
    try:
        folder = Folder(index)
        trees = folder.trees() if folder.current() else {}
        return {name: Tree(path=str(folder.home / os.fsdecode(tree.folder))) for name, tree in trees.items()}
    except IndexDamagedError as error:
        raise error.advising(f"{error.advice} --index {display_path(index)}") from error
