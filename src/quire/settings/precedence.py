"""Which value wins: environment over the project's file over the user's file over defaults.

The command line comes before all of them; the commands see to that. ``index`` and ``[trees]`` come from one file: the
project's, or the user's if there is no project; a tree of the user's with ``always = true`` is there in any case. A
project's file may come from a stranger, so it reaches only into its own folder. A file that the user names
(``--config``, ``QUIRE_CONFIG``) takes the place of the project's, and may reach anywhere.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from quire.errors import OptionError
from quire.index.folder import is_inside
from quire.operating_system import expanded, user_folder
from quire.options import DEFAULT_STRATEGY, Options, build, valid_names, with_one_name
from quire.search.ranking_settings import SearchSettings
from quire.settings import quire_toml
from quire.settings.quire_toml import (
    PROJECT_FILE,
    ContextRule,
    File,
    flat_values,
    named_file,
    project_file,
    search_fields,
    user_file,
)
from quire.trees import Tree
from quire.validation import from_text, unknown_name

DEFAULT = "default"
INDEX_VARIABLE = "QUIRE_INDEX"
CONFIG_VARIABLE = "QUIRE_CONFIG"
_SEARCH_VARIABLE = "QUIRE_SEARCH_"


class Value(NamedTuple):
    """A value and its origin."""

    value: Any
    origin: Path | str
    """A file, the name of an environment variable, or ``default``."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration for one folder."""

    folder: Path  # the folder of the project's file, else the one that was asked for
    file: Path | None = None  # the file that has the trees
    index: Path | None = None  # absolute; None if nothing names it
    trees: Mapping[str, Tree] = {}  # with absolute paths
    always: Collection[str] = ()  # which of them are the user's, and searched in every project
    chunk: Mapping[str, Any] = {}  # the strategy and the options under ``[chunk]``
    embed: Mapping[str, Any] = {}  # the embedding model of the user's own file, or of one that was named
    search: SearchSettings = SearchSettings()
    context: tuple[ContextRule, ...] = ()
    values: Mapping[str, Value] = {}  # what a file or the environment sets, by its full name

    @property
    def folders(self) -> dict[str, Path]:
        """The paths of the trees."""
        return {name: tree.folder for name, tree in self.trees.items()}

    def chunk_options(self, tree: str = "", strategy: str | None = None) -> dict[str, Any]:
        """The strategy and its options: those of a tree over those under ``[chunk]``.

        Another ``strategy``, as on a command line, takes those that it has.
        """
        configured = self.trees.get(tree, Tree())
        tables = [self.chunk, {"base_url": configured.base_url} if configured.base_url else {}, configured.chunk]
        strategy = strategy or next((table["strategy"] for table in reversed(tables) if "strategy" in table), None)
        strategy = strategy or DEFAULT_STRATEGY
        options = {name: value for table in tables for name, value in with_one_name(strategy, table).items()}
        if tree in self.trees and (values := self.trees[tree].substitutions):
            options["substitutions"] = {**options.get("substitutions", {}), **values}
        return {"strategy": strategy} | {name: options[name] for name in valid_names(strategy) if name in options}

    def tree_options(self, tree: str = "") -> Options:
        """The options of a tree; those under ``[chunk]`` if the configuration has no such tree."""
        options = self.chunk_options(tree)
        return build(options.pop("strategy"), options)


def variable(name: str) -> str:
    """The environment variable of a value."""
    return "QUIRE_" + name.replace(".", "_").upper()


def load(folder: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """The configuration for ``folder``, which is absolute."""
    environment = os.environ if environment is None else environment
    chosen = environment.get(CONFIG_VARIABLE, "")
    user = user_file(environment)
    project = named_file(_absolute(folder, chosen)) if chosen else project_file(folder)
    if project and not chosen and not (user and user.path == project.path):
        users = user_folder("config", environment)
        _refuse_foreign(project, users, is_index_elsewhere=bool(environment.get(INDEX_VARIABLE)))
    home = project or (user if user and (user.index or user.trees) else None)
    always = {name: tree for name, tree in user.trees.items() if tree.always} if user and project else {}
    trees = {**always, **(home.trees if home else {})}
    if project and not project.trees:
        trees[quire_toml.tree_name(project.path.parent.name)] = Tree(path=str(project.path.parent))
    origins = {name: user if name in always else home for name in trees}
    embed = next((file for file in (project, user) if file and file.embed), None)
    chunk = next((file for file in (project, user) if file and file.chunk), None)
    search = _search_values(environment, user, project)
    index = _index(folder, environment, home)
    values = {
        **({"index": index} if index else {}),
        **{
            f"trees.{name}.{key}": Value(value, origins[name].path)  # type: ignore[union-attr]
            for name, tree in trees.items()
            for key, value in flat_values(_set_fields(tree))
        },
        **({f"chunk.{name}": Value(value, chunk.path) for name, value in chunk.chunk.items()} if chunk else {}),
        **{f"search.{name}": value for name, value in search.items()},
        **({f"embed.{name}": Value(value, embed.path) for name, value in embed.embed.items()} if embed else {}),
        **(_context_values(project) if project else {}),
    }
    return Settings(
        folder=project.path.parent if project else folder,
        file=home.path if home else None,
        index=Path(index.value) if index else None,
        trees=trees,
        always=tuple(always),
        chunk=chunk.chunk if chunk else {},
        embed=embed.embed if embed else {},
        search=quire_toml.search_settings({name: value.value for name, value in search.items()}),
        context=project.context if project else (),
        values=values,
    )


def search_settings(file: Path) -> SearchSettings:
    """The search settings of one file, whatever other files and the environment say."""
    return quire_toml.search_settings(named_file(file).search)


def _index(folder: Path, environment: Mapping[str, str], home: File | None) -> Value | None:
    if path := environment.get(INDEX_VARIABLE, ""):
        return Value(str(_absolute(folder, path)), INDEX_VARIABLE)
    return Value(str(home.index), home.path) if home and home.index else None


def _absolute(folder: Path, path: str) -> Path:
    return Path(os.path.abspath(folder / expanded(path)))  # noqa: PTH100  links stay as named


def _context_values(project: File) -> dict[str, Value]:
    return {
        f"context.{number}.{key}": Value(value, project.path)
        for number, rule in enumerate(project.context)
        for key, value in _set_fields(rule).items()
    }


def _set_fields(struct: msgspec.Struct) -> dict[str, Any]:
    """The fields of a struct that are not the default."""
    return {
        field.name: getattr(struct, field.name)
        for field in msgspec.structs.fields(type(struct))
        if getattr(struct, field.name) not in (field.default, {})
    }


def _search_values(environment: Mapping[str, str], *files: File | None) -> dict[str, Value]:
    """What files and then the environment set, by dotted names."""
    values = {name: Value(value, file.path) for file in files if file for name, value in file.search.items()}
    for where, text in environment.items():
        if where.startswith(_SEARCH_VARIABLE) and text:
            names = {variable(f"search.{name}"): name for name in search_fields()}
            if where not in names:
                raise unknown_name(where, names, what="environment variable")
            values[names[where]] = Value(from_text(where, text, search_fields()[names[where]]), where)
    return values


def _refuse_foreign(project: File, users: Path | None, *, is_index_elsewhere: bool) -> None:
    """Refuse a project's file that chooses a model, or whose paths lead out of its folder, also through links.

    It could send documents and a key to a stranger.
    """
    own = f"your own {users / PROJECT_FILE if users else PROJECT_FILE}"
    prefix = quire_toml.key_prefix(project.path)
    if project.embed:
        problem = f"{project.path}: [{prefix}embed] is not allowed in a project"
        raise OptionError(problem, f"remove it there; only the command line or {own} may choose a model")
    if project.search.get("rerank"):
        problem = f"{project.path}: {prefix}search.rerank is not allowed in a project"
        raise OptionError(problem, f"remove it there; only {variable('search.rerank')} or {own} may name an endpoint")
    paths = {f"trees.{name}": tree.path for name, tree in project.trees.items() if not tree.git}
    if project.index and not is_index_elsewhere:
        paths["index"] = str(project.index)
    top = os.path.realpath(project.path.parent)
    for name, path in paths.items():
        real = os.path.realpath(path)
        if not is_inside(real, top):
            problem = f"{project.path}: {prefix}{name} leads out of the project's folder, to {real}"
            allowed = f"--index, {INDEX_VARIABLE}" if name == "index" else "a path on the command line"
            raise OptionError(problem, f"remove it there; only {allowed} or {own} may name such a folder")
