"""Paths and names of sections as the user types them <-> documents of trees."""

import os
import posixpath
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from quire.errors import InputError, did_you_mean
from quire.index.file_records import storable
from quire.index.folder import is_inside
from quire.patterns import pattern
from quire.search.conditions import literal_pattern, matches_path
from quire.trees import Tree

_SECTION = pattern(r"(?s)(?P<document>.*)(?P<section>#[^#]*|:[0-9]+)")


class Scope(NamedTuple):
    """A tree, or a file or folder in it."""

    tree: str
    path: str = ""
    """Relative to the tree; empty for the whole tree."""

    def has(self, tree: str, path: str) -> bool:
        """Whether a document is in it."""
        return tree == self.tree and (not self.path or path == self.path or path.startswith(f"{self.path}/"))

    @property
    def pattern(self) -> str:
        """The pattern for its documents, for ``Index.search``."""
        return f"{self.tree}:{literal_pattern(self.path)}"


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


def is_file(path: str) -> bool:
    """Whether there is a file at ``path``, and not a folder."""
    return exists(path) and not os.path.isdir(path)  # noqa: PTH112  Path("") is a folder


def split_name(name: str) -> tuple[str, str]:
    """The name of a section as a document, and ``#SLUG``, ``:LINE`` or nothing."""
    match = _SECTION.fullmatch(name)
    return (match["document"], match["section"]) if match else (name, "")


def similar_path(path: str) -> str:
    """`` (did you mean …?)`` if a file or folder has nearly this path; else empty."""
    folder, name = os.path.split(path.rstrip("/"))
    with suppress(OSError, ValueError):
        names = [entry for entry in os.listdir(folder or ".") if not entry.startswith(".")]  # noqa: PTH208
        return did_you_mean(name, names, lambda entry: os.path.join(folder, entry), cutoff=0.75)  # noqa: PTH118
    return ""


def refuse_missing(paths: Iterable[str], advice: str = "check the path") -> None:
    """Refuse paths at which there is nothing."""
    for path in paths:
        if not exists(path):
            raise InputError(path, f"no such file or folder{similar_path(path)}", advice)


def missing_tree(name: str, tree: Tree, file: Path | None) -> str:
    """That the folder of a tree does not exist, and what to do; ``file`` is the configuration that names it."""
    if tree.git:
        return f"{tree.git} was not fetched yet; `quire index --fetch {name}` fetches it"
    corrects = f"correct trees.{name} in {display_path(file)}" if file else "restore it"
    return f"{display_path(tree.folder)} does not exist; {corrects}"


def locate(path: str | Path, folders: Mapping[str, Path]) -> Scope | None:
    """The innermost tree that a path is in, and its path there."""
    real = os.path.realpath(path)
    tops = {name: os.path.realpath(folder) for name, folder in folders.items()}
    around = [name for name, top in tops.items() if is_inside(real, top)]
    if not around:
        return None
    tree = max(reversed(around), key=lambda name: len(tops[name]))
    inside = os.path.relpath(real, tops[tree]).replace(os.sep, "/")
    return Scope(tree, "" if inside == "." else storable(inside))


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
