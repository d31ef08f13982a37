"""Which value wins: environment over the project's file over the user's file over defaults.

The command line comes before all of them; the commands see to that. ``index`` and ``[trees]`` come from one file: the
project's, or the user's if there is no project. A project's file may come from a stranger, so it reaches only into its
own folder.
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
from quire.options import DEFAULT_STRATEGY, Options, build, valid_names
from quire.search.ranking_settings import BOOSTS, KEYS, SearchSettings
from quire.settings import quire_toml
from quire.settings.quire_toml import (
    PROJECT_FILE,
    SEARCH_KEYS,
    ContextRule,
    File,
    Tree,
    project_file,
    user_file,
    user_folder,
)

DEFAULT = "default"


class Value(NamedTuple):
    """A value and its origin."""

    value: Any
    origin: Path | str
    """A file, the name of an environment variable, or ``default``."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration for one folder."""

    folder: Path
    """The folder of the project's file, else the one that was asked for."""
    index: Path
    """Absolute."""
    trees: Mapping[str, Tree]
    chunk: Mapping[str, Any]
    """The strategy and the options under ``[chunk]``."""
    embed: Mapping[str, str | float]
    """The embedding model under ``[embed]`` in the user's own file."""
    limit: int
    max_tokens: int
    """0: no limit."""
    search: SearchSettings
    values: Mapping[str, Value]
    """Every value by its name, with its origin."""
    context: tuple[ContextRule, ...] = ()
    """The rules of ``quire context``."""

    @property
    def folders(self) -> dict[str, Path]:
        """The paths of the trees."""
        return {name: tree.path for name, tree in self.trees.items()}

    def chunk_options(self, tree: str = "", strategy: str | None = None) -> dict[str, Any]:
        """The strategy and its options: those of a tree over those under ``[chunk]``.

        Another ``strategy``, as on a command line, takes those that it has.
        """
        own = self.trees[tree].chunk if tree else {}
        table = {**self.chunk, **own}
        strategy = strategy or table.get("strategy", DEFAULT_STRATEGY)
        known = valid_names(strategy)
        return {"strategy": strategy} | {name: value for name, value in table.items() if name in known}

    def tree_options(self, tree: str = "") -> Options:
        """The options of a tree; those under ``[chunk]`` if the configuration has no such tree."""
        options = self.chunk_options(tree if tree in self.trees else "")
        return build(options.pop("strategy"), options)


def variable(name: str) -> str:
    """The environment variable of a value."""
    return "QUIRE_" + name.replace(".", "_").upper()


def load(folder: Path, environment: Mapping[str, str] | None = None, *, index: Path | None = None) -> Settings:
    """The configuration for ``folder``, which is absolute; ``index`` is that of the command line."""
    environment = os.environ if environment is None else environment
    project, user = project_file(folder), user_file(environment)
    home = project or (user if user and (user.index or user.trees) else None)
    chunk = next((each for each in (project, user) if each and each.chunk), None)
    values = {
        "index": _index(folder, home, environment),
        **(_trees(home) if home else {}),
        **({f"chunk.{name}": Value(value, chunk.path) for name, value in chunk.chunk.items()} if chunk else {}),
        **_search_values(environment, project, user),
        **(_context(project) if project else {}),
    }
    embed = user.embed if user else {}
    values |= {f"embed.{name}": Value(value, user.path) for name, value in embed.items() if user}
    if project and not (user and user.path == project.path):
        _refuse_endpoint(project, user_folder(environment))
        _refuse_outside(project, None if index else values["index"], user_folder(environment))
    return Settings(
        folder=project.path.parent if project else folder,
        index=index or Path(values["index"].value),
        trees=home.trees if home else {},
        chunk=chunk.chunk if chunk else {},
        embed=embed,
        limit=int(values["search.limit"].value),
        max_tokens=int(values["search.max_tokens"].value),
        search=_search(values),
        values=values,
        context=project.context if project else (),
    )


def search_settings(file: Path) -> SearchSettings:
    """The search settings of one file, whatever other files and the environment say."""
    search = quire_toml.named_file(file).search
    return _search({name: Value(search.get(name, key.default), file) for name, key in SEARCH_KEYS.items()})


def _index(folder: Path, home: File | None, environment: Mapping[str, str]) -> Value:
    given = environment.get(variable("index"), "")
    if given:
        path = os.path.abspath(folder / quire_toml.expanded(given))  # noqa: PTH100  links stay as named
        return Value(path, variable("index"))
    if home and home.index:
        return Value(str(home.index), home.path)
    return Value(str((home.path.parent if home else folder) / DEFAULT_FOLDER), DEFAULT)


def _trees(home: File) -> dict[str, Value]:
    values = {}
    for name, tree in home.trees.items():
        values[f"trees.{name}.path"] = Value(str(tree.path), home.path)
        for key, default in (("language", DEFAULT_LANGUAGE), ("include", ()), ("exclude", ())):
            value = getattr(tree, key)
            values[f"trees.{name}.{key}"] = Value(value, DEFAULT if value == default else home.path)
        values |= {f"trees.{name}.chunk.{key}": Value(value, home.path) for key, value in tree.chunk.items()}
    return values


def _context(project: File) -> dict[str, Value]:
    return {
        f"context.{number}.{name}": Value(value, project.path)
        for number, rule in enumerate(project.context)
        for name, value in rule._asdict().items()
        if value
    }


def _search_values(environment: Mapping[str, str], *files: File | None) -> dict[str, Value]:
    known = {variable(name): name for name in SEARCH_KEYS}
    for name in environment:
        if name.startswith(variable("search.")) and name not in known:
            problem = f"unknown environment variable {name}{near(name, known)}"
            raise OptionError(problem, f"those of search are {', '.join(sorted(known))}")
    values = {}
    for where, name in known.items():
        file = next((each for each in files if each and name in each.search), None)
        if environment.get(where, ""):
            values[name] = Value(_from_variable(name, where, environment[where]), where)
        else:
            values[name] = Value(file.search[name], file.path) if file else Value(SEARCH_KEYS[name].default, DEFAULT)
    return values


def _from_variable(name: str, where: str, text: str) -> Any:
    key = SEARCH_KEYS[name]
    try:
        value = type(key.default)(text)
    except ValueError:
        raise quire_toml.impossible(where, text, f"it must be {key.range}") from None
    return quire_toml.checked(name, value, where)


def _search(values: Mapping[str, Value]) -> SearchSettings:
    boosts = {name: values[f"search.boosts.{name}"].value for name in BOOSTS}
    return SearchSettings(boosts=boosts, **{name: values[f"search.{name}"].value for name in KEYS if "." not in name})


def _refuse_endpoint(project: File, users: Path | None) -> None:
    """Refuse a project's file that chooses a model: it could send documents and a key to a stranger."""
    if project.embed:
        problem = f"{project.path}: [{quire_toml.key_prefix(project.path)}embed] is not allowed in a project"
        own = f"your own {users / PROJECT_FILE if users else PROJECT_FILE}"
        raise OptionError(problem, f"remove it there; only the command line or {own} may choose a model")


def _refuse_outside(project: File, index: Value | None, users: Path | None) -> None:
    """Refuse paths of a project's file that lead out of its folder, also through symbolic links."""
    paths = {f"trees.{name}": str(tree.path) for name, tree in project.trees.items()}
    if index and index.origin == project.path:
        paths["index"] = index.value
    top = os.path.realpath(project.path.parent)
    for name, path in paths.items():
        real = os.path.realpath(path)
        if not is_inside(real, top):
            full = f"{quire_toml.key_prefix(project.path)}{name}"
            problem = f"{project.path}: {full} leads out of the project's folder, to {real}"
            given = f"--index, {variable('index')}" if name == "index" else "a path on the command line"
            own = f"your own {users / PROJECT_FILE if users else PROJECT_FILE}"
            raise OptionError(problem, f"remove it there; only {given} or {own} may name such a place")
