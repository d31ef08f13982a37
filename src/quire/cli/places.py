"""Paths as a user gives them, as trees and places in them; and back, as paths that work from the current folder.

A path in a tree that the configuration or the index knows is a part of that tree; any other is a new tree, named
after its folder or file. Looks at the disk only for what kind of thing a path is.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from quire.cli.output import note
from quire.cli.shown import visible
from quire.errors import InputError, QuireError
from quire.index.file_records import storable
from quire.index.folder import is_inside
from quire.search.path_filter import literal_pattern, matches_path
from quire.settings import Settings, tree_name


class Place(NamedTuple):
    """A tree, or a part of it."""

    tree: str
    """The tree's name."""
    folder: Path
    """The folder, or the file, that the tree stands for."""
    part: str = ""
    """The file or folder that is meant, relative to the tree; empty for the whole tree."""
    given: str = ""
    """What the user named, if anything."""
    is_new: bool = False
    """Whether nobody knew the tree."""


class Chosen(NamedTuple):
    """What a command is about."""

    places: tuple[Place, ...]

    @property
    def trees(self) -> dict[str, Path]:
        """The trees by name, with the folder or the file that each stands for."""
        return {place.tree: place.folder for place in self.places}

    @property
    def parts(self) -> dict[str, list[str]]:
        """The parts that are meant, of each tree that is not meant as a whole."""
        whole = {place.tree for place in self.places if not place.part}
        partly = {place.tree: None for place in self.places if place.tree not in whole}
        return {tree: [place.part for place in self.places if place.tree == tree] for tree in partly}

    @property
    def new(self) -> list[Place]:
        """The trees that nobody knew."""
        return [place for place in self.places if place.is_new]

    def instead(self, others: Chosen, kept: Chosen) -> Chosen:
        """The same with other places for what the user named there; of these, only those that are ``kept``."""
        instead = {place.given: place for place in others.places}
        places = (instead.get(place.given, place) for place in self.places)
        return Chosen(tuple(place for place in places if place not in others.places or place in kept.places))

    def without(self, others: Container[Place]) -> Chosen:
        """The same without some of its places."""
        return Chosen(tuple(place for place in self.places if place not in others))


def here() -> Path:
    """The current folder."""
    try:
        return Path.cwd()
    except OSError:
        raise QuireError("the current folder is gone", "change to another one") from None


def reachable(path: str | Path) -> str:
    """A path that works from the current folder: relative or absolute, whichever is shorter."""
    absolute = os.path.abspath(path)  # noqa: PTH100  links stay as named
    try:
        relative = os.path.relpath(absolute)
    except ValueError:  # another drive
        return absolute
    return min(relative, absolute, key=len)


def exists(path: str) -> bool:
    """Whether there is something at ``path``."""
    return "\0" not in path and os.path.exists(path)  # noqa: PTH110  an empty path does not exist, but Path("") does


def choose(
    paths: Sequence[str], trees: Sequence[str], settings: Settings, known: Mapping[str, Path], *, read: bool = True
) -> Chosen:
    """What ``paths`` stand for, in ``trees`` if there are any; without both, all that is configured, known, or here.

    ``read`` says whether it is to be read; configured trees that are not there are left out then, with a warning.
    """
    folders = {**known, **settings.folders}
    if paths:
        places = _named(paths, folders)
        _refuse_unknown(trees, [place.tree for place in places])
        return Chosen(tuple(place for place in places if not trees or place.tree in trees))
    _refuse_unknown(trees, folders)
    names = _without_missing(trees or list(settings.trees) or list(known), settings, () if read else known)
    return Chosen(tuple(Place(name, folders[name]) for name in names) or _current_folder(settings.folder))


def _without_missing(names: Sequence[str], settings: Settings, known: Container[str]) -> list[str]:
    """The trees without those that a file names and that are not there, unless the index is enough for them."""
    errors = {
        name: InputError(reachable(settings.folders[name]), is_gone(name, settings))
        for name in names
        if name in settings.trees and name not in known and not exists(str(settings.folders[name]))
    }
    if errors and len(errors) == len(set(names)):
        raise next(iter(errors.values()))
    for error in errors.values():
        note(f"quire: {visible(str(error))}; left out")
    return [name for name in names if name not in errors]


def is_gone(name: str, settings: Settings) -> str:
    """What to say of a tree that a file names, and that is not there."""
    return f"no such folder or file; correct trees.{name} in {naming(name, settings)}"


def naming(name: str, settings: Settings) -> str:
    """The file that names a tree."""
    return reachable(settings.values[f"trees.{name}.path"].origin)


def _refuse_unknown(trees: Iterable[str], known: Iterable[str]) -> None:
    for name in trees:
        if name not in known:
            raise click.UsageError(f"--tree {name}: no such tree; the trees are {', '.join(known) or 'none yet'}")


def _current_folder(folder: Path) -> tuple[Place, ...]:
    """The folder itself as a tree, unless that is far more than anybody would mean without saying so."""
    if folder in (Path(os.path.expanduser("~")), folder.parent):  # noqa: PTH111  Path's fails where there is no home
        raise QuireError(f"{folder} is a lot to search", "name the folders that you mean, or begin with `quire init`")
    return (new_tree(str(folder), {}),)


def _named(paths: Iterable[str], folders: Mapping[str, Path]) -> tuple[Place, ...]:
    known = dict(folders)
    places: list[Place] = []
    for path in paths:
        if not exists(path):
            raise InputError(path, "no such file or folder", "check the path")
        found = located(path, known)
        place = Place(found[0], known[found[0]], found[1], path) if found else new_tree(path, known)
        known.setdefault(place.tree, place.folder)
        places.append(place)
    return tuple(places)


def new_tree(path: str, known: Mapping[str, Path]) -> Place:
    """A tree that nobody knew, named after its folder or file."""
    folder = Path(os.path.abspath(path))  # noqa: PTH100  links stay as named
    name = tree_name(folder.name if folder.is_dir() else folder.stem, known)
    return Place(name, folder, "", path, is_new=True)


def located(path: str | Path, folders: Mapping[str, Path]) -> tuple[str, str] | None:
    """The innermost tree that a path is in, and its path there; empty for the tree itself. The last of equal ones."""
    real = os.path.realpath(path)
    best: tuple[str, str] | None = None
    for name, folder in folders.items():
        top = os.path.realpath(folder)
        if is_inside(real, top) and (not best or len(top) >= len(best[0])):
            best = top, name
    if best is None:
        return None
    part = os.path.relpath(real, best[0]).replace(os.sep, "/")
    return best[1], "" if part == "." else storable(part)


def as_printed(glob: str, folders: Mapping[str, Path]) -> list[str]:
    """A pattern for paths as they are printed, from the current folder, as patterns for the trees it can mean."""
    lead = "" if os.path.isabs(glob) else literal_pattern(_with_slashes(here())).rstrip("/")  # noqa: PTH117  as it was typed
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
