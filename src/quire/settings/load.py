"""Where each value comes from: environment over the project's file over the user's file over defaults.

``index`` and the trees belong together, so they come from one file: the project's, or the user's where there is no
project. A user's file that names neither stands back: numbers have no place. The command line has the last word; the
commands see to that.

A project's file may come from a stranger, so it reaches only into its own folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from quire.errors import OptionError, near
from quire.index.file_records import DEFAULT_FOLDER, DEFAULT_LANGUAGE
from quire.index.folder import is_inside
from quire.search.ranking_settings import SearchSettings
from quire.settings import keys
from quire.settings.files import PROJECT_FILE, File, Tree, expanded, project_file, user_file, user_folder

DEFAULT = "default"
_INDEX_VARIABLE = keys.variable("index")


class Value(NamedTuple):
    """A value with where it came from."""

    value: Any
    origin: Path | str
    """The file, or the name of an environment variable, or ``default``."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All that is set, for one folder."""

    folder: Path
    """The folder that all is about: that of the project's file, else the one that was asked for."""
    index: Path
    """Where the index is, absolute."""
    trees: Mapping[str, Tree]
    """The trees that a file names."""
    chunk: Mapping[str, Any]
    """The strategy and the options for cutting that a file sets."""
    limit: int
    """How many results at most."""
    max_tokens: int | None
    """How many tokens all results may have together."""
    search: SearchSettings
    """How results are weighed and merged."""
    values: Mapping[str, Value]
    """Every value by its name, with where it came from."""

    @property
    def folders(self) -> dict[str, Path]:
        """The trees by name, with where each is."""
        return {name: tree.path for name, tree in self.trees.items()}


def load(folder: Path, environment: Mapping[str, str] | None = None, *, index: Path | None = None) -> Settings:
    """What is set for ``folder``, which is absolute; ``index`` is what the command line says."""
    environment = os.environ if environment is None else environment
    project, user = project_file(folder), user_file(environment)
    home = project or (user if user and (user.index or user.trees) else None)
    cutting = next((each for each in (project, user) if each and each.chunk), None)
    values = {
        **_places(folder, home, environment),
        **(_chunk(cutting) if cutting else {}),
        **_numbers(environment, project, user),
    }
    if project and not (user and user.path == project.path):
        _refuse_outside(project, None if index else values["index"], user_folder(environment))
    return Settings(
        folder=project.path.parent if project else folder,
        index=index or Path(values["index"].value),
        trees=home.trees if home else {},
        chunk=cutting.chunk if cutting else {},
        limit=int(values["search.limit"].value),
        max_tokens=int(values["search.max_tokens"].value) or None,
        search=_search(values),
        values=values,
    )


def _places(folder: Path, home: File | None, environment: Mapping[str, str]) -> dict[str, Value]:
    given = environment.get(_INDEX_VARIABLE, "")
    if given:
        index = Value(os.path.abspath(folder / expanded(given)), _INDEX_VARIABLE)  # noqa: PTH100  links stay as named
    elif home and home.index:
        index = Value(str(home.index), home.path)
    else:
        index = Value(str((home.path.parent if home else folder) / DEFAULT_FOLDER), DEFAULT)
    return {"index": index, **(_trees(home) if home else {})}


def _refuse_outside(project: File, index: Value | None, users: Path | None) -> None:
    """Refuse a project's file that leads out of its folder, be it by a symbolic link."""
    paths = {f"trees.{name}": str(tree.path) for name, tree in project.trees.items()}
    if index and index.origin == project.path:
        paths["index"] = index.value
    top = os.path.realpath(project.path.parent)
    for name, path in paths.items():
        real = os.path.realpath(path)
        if not is_inside(real, top):
            problem = f"{project.path}: {project.prefix}{name} leads out of the project's folder, to {real}"
            given = f"--index, {_INDEX_VARIABLE}" if name == "index" else "a path on the command line"
            own = f"your own {users / PROJECT_FILE if users else PROJECT_FILE}"
            raise OptionError(problem, f"remove it there; only {given} or {own} may name such a place")


def _trees(home: File) -> dict[str, Value]:
    values = {}
    for name, tree in home.trees.items():
        values[f"trees.{name}.path"] = Value(str(tree.path), home.path)
        for key, default in (("language", DEFAULT_LANGUAGE), ("include", ()), ("exclude", ())):
            value = getattr(tree, key)
            values[f"trees.{name}.{key}"] = Value(value, DEFAULT if value == default else home.path)
    return values


def _chunk(file: File) -> dict[str, Value]:
    return {f"chunk.{name}": Value(value, file.path) for name, value in file.chunk.items()}


def _numbers(environment: Mapping[str, str], *files: File | None) -> dict[str, Value]:
    _refuse_unknown(environment)
    values = {}
    for name, key in keys.NUMBERS.items():
        variable = keys.variable(name)
        origin = next((each for each in files if each and name in each.numbers), None)
        if environment.get(variable, ""):
            values[name] = Value(_from_variable(name, environment[variable]), variable)
        elif origin:
            values[name] = Value(origin.numbers[name], origin.path)
        else:
            values[name] = Value(key.default, DEFAULT)
    return values


def _from_variable(name: str, text: str) -> float:
    key = keys.NUMBERS[name]
    try:
        value = int(text) if key.is_whole else float(text)
    except ValueError:
        raise keys.impossible(keys.variable(name), text, f"it must be {key.range}") from None
    return keys.checked(name, value, keys.variable(name))


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = {keys.variable(name) for name in keys.NUMBERS}
    for name in environment:
        if name.startswith(keys.variable("search.")) and name not in known:
            problem = f"unknown environment variable {name}{near(name, known)}"
            raise OptionError(problem, f"those of search are {', '.join(sorted(known))}")


def _search(values: Mapping[str, Value]) -> SearchSettings:
    numbers = {name.removeprefix("search."): values[name].value for name in keys.NUMBERS}
    boosts = {name.removeprefix("boosts."): value for name, value in numbers.items() if name.startswith("boosts.")}
    own = {name: value for name, value in numbers.items() if "." not in name and name not in ("limit", "max_tokens")}
    return SearchSettings(boosts=boosts, **own)
