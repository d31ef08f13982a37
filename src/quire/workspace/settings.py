"""The configuration: the keys of quire.toml, where the files are, and which value wins.

Precedence: command line, environment, project's file, user's file, defaults. A project's file may come from a stranger,
so it may name only paths in its own folder, and repositories on servers; one that the user names may name any path.
docs/reference/configuration.md has the rules.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct, structs

from quire.embed.embed_settings import EmbedSettings
from quire.errors import InputError, OptionError, invalid_value
from quire.index.folder import is_inside
from quire.model.operating_system import digest, user_folder
from quire.model.options import DEFAULT_STRATEGY, Options, build, valid_names, with_one_name
from quire.model.patterns import pattern
from quire.model.trees import NAME, REMOTE, Text, Tree, is_repository_path, tree_name
from quire.model.validation import Field, Naming, check, convert, fields, unknown_name
from quire.read.frontmatter import load_toml
from quire.read.source import read_configuration, unread
from quire.search.search_settings import Boosts, SearchSettings
from quire.tokens.openai_models import ENCODINGS, encoding_of
from quire.tokens.token_counters import ESTIMATE

PROJECT_FILE = "quire.toml"
PYTHON_FILE = "pyproject.toml"
DEFAULT = "default"
RERANKING = ("rerank", "rerank_model")  # settings of search that only the user's own file may have
INDEX_VARIABLE = "QUIRE_INDEX"
CONFIG_VARIABLE = "QUIRE_CONFIG"
_VARIABLES = ("QUIRE_SEARCH_", "QUIRE_EMBED_")
_EMBED_KEY = "QUIRE_EMBED_KEY"  # the key of an endpoint, which is no setting
IS_STORE = pattern(r"[a-z][a-z0-9]+:.+")  # longer than the letter of a drive
TreeOrPath = Annotated[str | Tree, Meta(extra={"rule": "a path, or a table with a path"})]
Texts = tuple[Text, ...]


class ContextRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What ``quire context`` adds for files that match a pattern."""

    files: Annotated[Texts, Meta(min_length=1, description='patterns for source files, as in ["src/auth/**"]')]
    words: Annotated[Texts, Meta(description="words that are searched, too")] = ()
    trees: Annotated[Texts, Meta(description="the trees that are searched; by default all")] = ()
    sections: Annotated[Texts, Meta(description="ids of sections that are always included")] = ()


class IndexTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The table ``[index]``."""

    store: Annotated[Text, Meta(description="the store that searches are answered from, as in lancedb:sections")]


class QuireToml(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of a quire.toml."""

    index: Annotated[
        Text | IndexTable | None,
        Meta(description="the folder of the index", extra={"rule": "a folder, or a table with a store"}),
    ] = None
    trees: Annotated[dict[str, TreeOrPath], Meta(description="folders of documents by name")] = {}
    chunk: Annotated[dict[str, Any], Meta(description="the strategy and its options")] = {}
    search: SearchSettings = SearchSettings()
    embed: EmbedSettings = EmbedSettings()
    context: Annotated[list[ContextRule], Meta(description="rules of quire context")] = []


class File(Struct, frozen=True, kw_only=True):
    """The values of one file."""

    path: Path
    index: Path | None = None
    store: str | None = None  # with an absolute path
    trees: Mapping[str, Tree] = {}  # with absolute paths
    chunk: Mapping[str, Any] = {}
    search: Mapping[str, Any] = {}  # only what the file sets, by names such as ``boosts.title``
    embed: Mapping[str, Any] = {}
    context: tuple[ContextRule, ...] = ()

    @property
    def values(self) -> dict[str, Any]:
        """What the file sets, by names such as ``trees.docs.path``."""
        tables = msgspec.to_builtins(self, enc_hook=str)
        tables["index.store"] = tables.pop("store")
        tables |= {"path": None, "context": dict(enumerate(tables["context"]))}
        return {name: value for name, value in flat_values(tables) if value is not None}


def named_file(path: Path) -> File:
    """The values of a file that the user named."""
    file = toml_file(path)
    if file is None:
        problem = "there is no table [tool.quire]" if path.exists() else "no such file"
        raise InputError(str(path), problem, "name a quire.toml")
    return file


def key_prefix(file: Path) -> str:
    """How the full names of the keys of a file start."""
    return "tool.quire." if file.name == PYTHON_FILE else ""


def toml_file(file: Path) -> File | None:
    """The values of a file; None if there is no file, or a pyproject.toml without a table [tool.quire]."""
    try:
        data = read_configuration(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        if isinstance(error, PermissionError) and not os.access(file.parent, os.X_OK):
            return None  # a folder above the user's own
        raise unread(str(file), error) from error
    is_python = file.name == PYTHON_FILE
    if is_python and b"tool.quire" not in data:
        return None
    try:
        table: Any = load_toml(data.decode("utf-8-sig"))
        if is_python:
            tool = table.get("tool")
            table = tool.get("quire") if isinstance(tool, dict) else None
        return None if table is None else _checked(file, table)
    except OptionError as error:
        raise OptionError(f"{file}: {error.problem}", error.advice, option=error.option) from error
    except ValueError as error:
        raise InputError(str(file), f"not TOML in UTF-8: {error}", "correct it") from error


def _checked(file: Path, table: Any) -> File:
    key: Naming = f"{key_prefix(file)}{{}}".format
    check(key("").rstrip("."), table, dict[str, Any])
    toml = convert(QuireToml, table, key, what="key")
    trees = {name: _tree(file, name, tree, key) for name, tree in toml.trees.items()}
    for name, tree in trees.items():
        _check_chunk(f"trees.{name}.chunk", tree.chunk, toml.chunk, key)
    _check_chunk("chunk", toml.chunk, {}, key)
    for number, rule in enumerate(toml.context):
        for name in rule.trees:
            if name not in trees:
                raise unknown_name(name, trees, what=f"tree in {key(f'context.{number}.trees')}:")
    store = toml.index.store if isinstance(toml.index, IndexTable) else None
    if store and not IS_STORE.fullmatch(store):
        raise invalid_value(key("index.store"), store, "must be a store, as in lancedb:sections")
    if store and "://" not in store:
        kind, _, place = store.partition(":")
        store = f"{kind}:{absolute(file.parent, place)}"
    index = absolute(file.parent, toml.index) if isinstance(toml.index, str) else None
    places: dict[str, Any] = {"path": file, "index": index, "store": store, "trees": trees}
    search, embed = dict(flat_values(table.get("search", {}))), table.get("embed", {})
    return File(**places, chunk=toml.chunk, search=search, embed=embed, context=tuple(toml.context))


def _tree(file: Path, name: str, value: str | Tree, key: Naming) -> Tree:
    """A tree with an absolute path and tuples of patterns; refused if it cannot be."""
    full = key(f"trees.{name}")
    tree = convert(Tree, {"path": value}, lambda field: f"{full}.{field}") if isinstance(value, str) else value
    if not NAME.fullmatch(name):
        raise OptionError(f"{full}: invalid name of a tree", "use letters, digits, '-', '_' and '.'")
    if tree.git and not is_repository_path(tree.path):
        raise invalid_value(f"{full}.path", tree.path, "must be a folder in the repository")
    if not tree.git and not tree.path.strip():
        raise OptionError(f"{full}.path is missing", 'add path = "…", relative to this file\'s folder')
    path = tree.path if tree.git else str(absolute(file.parent, tree.path))
    if tree.git and ":" not in tree.git.partition("/")[0]:
        tree = structs.replace(tree, git=str(absolute(file.parent, tree.git)))
    both = [(value,) if isinstance(value, str) else value for value in (tree.include, tree.exclude)]
    return structs.replace(tree, path=path, include=both[0], exclude=both[1])


def _check_chunk(name: str, table: Mapping[str, Any], defaults: Mapping[str, Any], key: Naming) -> None:
    """Refuse invalid options; ``defaults`` apply where ``table`` has none and the strategy has them."""
    options = {option: value for option, value in table.items() if option != "strategy"}
    strategy = table.get("strategy", defaults.get("strategy", DEFAULT_STRATEGY))
    tokenizer, names = options.get("tokenizer", ESTIMATE), (*ENCODINGS, ESTIMATE)
    if not isinstance(tokenizer, str) or (tokenizer not in names and encoding_of(tokenizer) is None):
        rule = f"must be {', '.join(names)} or an OpenAI model such as gpt-4o; --tokenizer takes a file"
        raise invalid_value(key(f"{name}.tokenizer"), tokenizer, rule)  # a project's file must not open another file
    try:
        build(strategy, {})
    except OptionError as error:
        raise OptionError(f"{key(f'{name}.strategy')}: {error.problem}", error.advice) from error
    usable = {*valid_names(strategy)} - with_one_name(strategy, options).keys()
    inherited = {option: value for option, value in with_one_name(strategy, defaults).items() if option in usable}
    build(strategy, inherited | options, lambda option: key(f"{'chunk' if option in inherited else name}.{option}"))


def absolute(folder: Path, path: str) -> Path:
    """A path from ``folder``; ``~`` is the home folder, and links stay as named."""
    return Path(os.path.abspath(folder / os.path.expanduser(path)))  # noqa: PTH100, PTH111


def flat_values(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables by dotted names."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat_values(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


@cache
def search_fields() -> Mapping[str, Field]:
    """The settings of search by dotted names, in the order of ``quire config``; without the table ``where``."""
    boosts = {f"boosts.{name}": field for name, field in fields(Boosts).items()}
    return {name: field for name, field in fields(SearchSettings).items() if name not in ("boosts", "where")} | boosts


def search_settings(values: Mapping[str, Any]) -> SearchSettings:
    """The settings of search from values by dotted names."""
    table: dict[str, Any] = {}
    for name, value in values.items():
        group, _, key = name.partition(".")
        table[group] = {**table.get(group, {}), key: value} if key else value
    return msgspec.convert(table, SearchSettings) if values else SearchSettings()  # which costs nothing


class Value(NamedTuple):
    """A value and its origin."""

    value: Any
    origin: Path | str  # a file, the name of an environment variable, or ``default``


class Settings(Struct, frozen=True, kw_only=True):
    """The configuration for one folder."""

    folder: Path  # the folder of the project's file, else the one that was asked for
    file: Path | None = None  # the file that has the trees
    index: Path | None = None  # absolute; None if nothing names it
    store: str = ""  # the store of sections that answers, if a file names one
    trees: Mapping[str, Tree] = {}  # with absolute paths
    always: Collection[str] = ()  # which of them are the user's, and searched in every project
    is_foreign: bool = False  # whether the others are of a project's file, which may come from a stranger
    chunk: Mapping[str, Any] = {}  # the strategy and the options under ``[chunk]``
    embed: Mapping[str, Any] = {}  # the embedding model of the user's own file, or of one that was named
    search: SearchSettings = SearchSettings()
    context: tuple[ContextRule, ...] = ()
    values: Mapping[str, Value] = {}  # what a file or the environment sets, by its full name

    def chunk_options(self, tree: str = "", strategy: str | None = None) -> dict[str, Any]:
        """The strategy and its options, those of a tree over those under ``[chunk]``, for that or another strategy."""
        configured = self.trees.get(tree, Tree())
        own = {name: value for name in ("base_url", "page_marker") if (value := getattr(configured, name))}
        tables = [self.chunk, own, configured.chunk]
        named = (table["strategy"] for table in reversed(tables) if "strategy" in table)
        strategy = strategy or next(named, DEFAULT_STRATEGY)
        options = {name: value for table in tables for name, value in with_one_name(strategy, table).items()}
        if configured.substitutions:
            options["substitutions"] = {**options.get("substitutions", {}), **configured.substitutions}
        return {"strategy": strategy} | {name: options[name] for name in valid_names(strategy) if name in options}

    def tree_options(self, tree: str = "") -> Options:
        """The options of a tree; those under ``[chunk]`` if the configuration has no such tree."""
        options = self.chunk_options(tree)
        return build(options.pop("strategy"), options)


def load(folder: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """The configuration for ``folder``, which is absolute."""
    environment = os.environ if environment is None else environment
    named = environment.get(CONFIG_VARIABLE, "")
    users = user_folder("config", environment)
    user = toml_file(users / PROJECT_FILE) if users else None
    nearest = (parent / name for parent in (folder, *folder.parents) for name in (PROJECT_FILE, PYTHON_FILE))
    project = named_file(absolute(folder, named)) if named else next(filter(None, map(toml_file, nearest)), None)
    is_foreign = bool(project and not named and not (user and user.path == project.path))
    if project and is_foreign:
        _refuse_foreign(project, users, is_index_elsewhere=bool(environment.get(INDEX_VARIABLE)))
    if project and not project.trees:
        tree = Tree(path=str(project.path.parent))
        project = structs.replace(project, trees={tree_name(project.path.parent.name): tree})
    user = user and _beside(user, project)
    files = [file for file in (user, project) if file]
    values = {name: Value(value, file.path) for file in files for name, value in file.values.items()}
    values |= _variables(folder, environment)
    search, embed = (
        {name.removeprefix(table): value for name, (value, _) in values.items() if name.startswith(table)}
        for table in ("search.", "embed.")
    )
    return Settings(
        folder=project.path.parent if project else folder,
        file=next((file.path for file in reversed(files) if file is project or file.index or file.trees), None),
        index=Path(values["index"].value) if "index" in values else None,
        store=values["index.store"].value if "index.store" in values else "",
        trees={name: tree for file in files for name, tree in file.trees.items()},
        always=tuple(user.trees) if user and project else (),
        is_foreign=is_foreign,
        chunk=next((file.chunk for file in files if file.chunk), {}),
        embed=embed,
        search=search_settings(search),
        context=project.context if project else (),
        values=values,
    )


def _beside(user: File, project: File | None) -> File:
    """The user's file with what counts of it beside that of a project."""
    if project is None:
        return structs.replace(user, context=())
    always = {name: tree for name, tree in user.trees.items() if tree.always and name not in project.trees}
    chunk, embed = {} if project.chunk else user.chunk, {} if project.embed else user.embed
    return structs.replace(user, index=None, store=None, trees=always, chunk=chunk, embed=embed, context=())


def _variables(folder: Path, environment: Mapping[str, str]) -> dict[str, Value]:
    values = {}
    if path := environment.get(INDEX_VARIABLE, ""):
        values["index"] = Value(str(absolute(folder, path)), INDEX_VARIABLE)
    for where, text in environment.items():
        if where.startswith(_VARIABLES) and where != _EMBED_KEY and text:
            known = {f"search.{name}": field for name, field in search_fields().items()}
            known |= {f"embed.{name}": field for name, field in fields(EmbedSettings).items()}
            names = {"QUIRE_" + name.replace(".", "_").upper(): name for name in known}
            if where not in names:
                raise unknown_name(where, names, what="environment variable")
            values[names[where]] = Value(check(where, text, known[names[where]].type, strict=False), where)
    return values


def _consent(file: Path, address: str) -> Path | None:
    """The empty file that exists if the user agreed to fetch from an ``address`` that a ``file`` names."""
    folder = user_folder("data")
    return folder and folder / "agreed" / digest([os.path.realpath(file), address])


def has_agreed(file: Path, address: str) -> bool:
    """Whether the user agreed to fetch from an ``address`` that a ``file`` names, or added it there."""
    return bool((consent := _consent(file, address)) and consent.exists())


def agree(file: Path, address: str) -> None:
    """Remember that the user agreed."""
    if consent := _consent(file, address):
        consent.parent.mkdir(parents=True, exist_ok=True)
        consent.touch()


def _refuse_foreign(project: File, users: Path | None, *, is_index_elsewhere: bool) -> None:
    """Refuse a project's file that chooses a model, or that names a repository or folder of this machine outside of it.

    It could send documents and a key to a stranger, or show private documents. The user may add any repository to it.
    """
    prefix, top = key_prefix(project.path), os.path.realpath(project.path.parent)
    problems = [f"[{prefix}embed] is not allowed in a project"] if project.embed else []
    problems += [f"{prefix}search.{name} is not allowed in a project" for name in RERANKING if project.search.get(name)]
    paths = {f"trees.{name}": tree.path for name, tree in project.trees.items() if not tree.git}
    for name, tree in project.trees.items():
        if tree.git and not REMOTE.fullmatch(tree.git) and not has_agreed(project.path, tree.git):
            problems.append(f"{prefix}trees.{name}.git is not an http, https or ssh address: {tree.git}")
    if not is_index_elsewhere:
        store = project.store or ""
        if "://" in store:
            problems.append(f"{prefix}index.store is an address, which is not allowed in a project")
        paths |= {"index": str(project.index or top), "index.store": store.partition(":")[2] or top}
    for name, path in paths.items():
        if not is_inside(real := os.path.realpath(path), top):
            problems.append(f"{prefix}{name} leads out of the project's folder, to {real}")
    if problems:
        own = users / PROJECT_FILE if users else PROJECT_FILE
        advice = f"remove it there; only the command line, the environment or your own {own} may choose it"
        raise OptionError(f"{project.path}: {problems[0]}", advice)
