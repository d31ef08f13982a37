"""quire.toml: where it is looked for, and its tables as structs.

The project's file is the nearest quire.toml, or pyproject.toml with a table [tool.quire], upwards from a folder. An
unknown key or an invalid value is an error that names the file and the key.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Container, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from quire.counter import ENCODINGS, ESTIMATE, encoding_of
from quire.embed_settings import EmbedSettings
from quire.errors import InputError, OptionError, did_you_mean, invalid_value
from quire.operating_system import expanded, user_folder
from quire.options import ALIASES, DEFAULT_STRATEGY, STRATEGIES, build, valid_names, with_one_name
from quire.patterns import pattern
from quire.read.frontmatter import load_toml
from quire.read.source import read_configuration, unread
from quire.search.ranking_settings import Boosts, SearchSettings
from quire.trees import NAME, Text, Tree
from quire.validation import Field, check, convert, fields

PROJECT_FILE = "quire.toml"
PYTHON_FILE = "pyproject.toml"
_POSITION = pattern(r" \(at (.*)\)$")


class ContextRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``quire context`` adds for files that match a pattern."""

    files: Annotated[
        tuple[Text, ...], Meta(min_length=1, description='patterns for source files, as in ["src/auth/**"]')
    ]
    words: Annotated[tuple[Text, ...], Meta(description="words that are searched, too")] = ()
    trees: Annotated[tuple[Text, ...], Meta(description="the trees that are searched; by default all")] = ()
    sections: Annotated[tuple[Text, ...], Meta(description="ids of sections that are always included")] = ()


class QuireToml(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables of a quire.toml."""

    index: Annotated[Text | None, Meta(description="the folder of the index")] = None
    trees: Annotated[dict[str, str | Tree], Meta(description="folders of documents by name")] = {}
    chunk: Annotated[dict[str, Any], Meta(description="the strategy and its options")] = {}
    search: SearchSettings = SearchSettings()
    embed: EmbedSettings = EmbedSettings()
    context: Annotated[list[ContextRule], Meta(description="rules of quire context")] = []


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a quire.toml, for editors."""
    schema = msgspec.json.schema(QuireToml)
    kinds = msgspec.json.schema_components(STRATEGIES.values())[1].values()
    options = {name: {**field} for kind in kinds for name, field in kind["properties"].items()}
    for field in options.values():
        field.pop("default", None)  # strategies have their own
    names = {
        "strategy": {"enum": list(STRATEGIES)},
        **options,
        **{alias: options[name] for alias, name in ALIASES.items()},
    }
    for kind in ("QuireToml", "Tree"):
        schema["$defs"][kind]["properties"]["chunk"] |= {"properties": names, "additionalProperties": False}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": PROJECT_FILE, **schema}


class File(Struct, frozen=True, kw_only=True):
    """The values of one file."""

    path: Path
    index: Path | None = None
    trees: Mapping[str, Tree] = {}  # with absolute paths
    chunk: Mapping[str, Any] = {}
    search: Mapping[str, Any] = {}  # only what the file sets, by names such as ``boosts.title``
    embed: Mapping[str, Any] = {}
    context: tuple[ContextRule, ...] = ()


def project_file(folder: Path) -> File | None:
    """The nearest file upwards from ``folder``."""
    paths = (above / name for above in (folder, *folder.parents) for name in (PROJECT_FILE, PYTHON_FILE))
    return next((file for file in map(_read, paths) if file is not None), None)


def python_file(folder: Path) -> File | None:
    """The pyproject.toml in ``folder``, if it has a table [tool.quire]."""
    return _read(folder / PYTHON_FILE)


def named_file(path: Path) -> File:
    """The values of a file that the user named."""
    file = _read(path)
    if file is None:
        problem = f"there is no table [{key_prefix(path).rstrip('.')}]" if path.exists() else "no such file"
        raise InputError(str(path), problem, "name a quire.toml")
    return file


def user_file(environment: Mapping[str, str]) -> File | None:
    """The user's own file, for all projects."""
    folder = user_folder("config", environment)
    return _read(folder / PROJECT_FILE) if folder else None


def toml_value(value: Any) -> str:
    """A value as in TOML."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def tree_name(text: str, taken: Container[str] = ()) -> str:
    """A valid name for a tree, made from ``text``, that is not ``taken``."""
    base = "".join(char if NAME.fullmatch(char) else "-" for char in text).strip("-.") or "tree"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def key_prefix(file: Path) -> str:
    """How the full names of the keys of a file start."""
    return "tool.quire." if file.name == PYTHON_FILE else ""


def _read(file: Path) -> File | None:
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
    if is_python and b"quire" not in data:
        return None
    try:
        table: Any = load_toml(data.decode("utf-8-sig"))
    except ValueError as error:
        if is_python and b"tool.quire" not in data:
            return None  # other tools report it
        raise InputError(str(file), *_not_toml(error)) from error
    if is_python:
        tool = table.get("tool")
        table = tool.get("quire") if isinstance(tool, dict) else None
    return None if table is None else _Reader(file).read(table)


def _not_toml(error: ValueError) -> tuple[str, str]:
    if isinstance(error, UnicodeDecodeError):
        return f"byte offset {error.start}: not UTF-8", "convert the file"
    position = _POSITION.search(str(error))
    problem = _POSITION.sub("", str(error))
    return f"{f'{position[1]}: ' if position else ''}not TOML: {problem[:1].lower()}{problem[1:]}", "correct it"


class _Reader:
    """Turns the table of a file into values."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def name(self, key: str) -> str:
        return f"{key_prefix(self._file)}{key}"

    def read(self, table: Any) -> File:
        try:
            return self._values(table)
        except OptionError as error:
            raise OptionError(f"{self._file}: {error.problem}", error.advice, option=error.option) from error

    def _values(self, table: Any) -> File:
        if not isinstance(table, dict):
            raise invalid_value(self.name("").rstrip("."), table, "must be a table")
        values = convert(QuireToml, {**table, **_without_content(table)}, self.name, what="key")
        trees = {name: self._tree(name, value) for name, value in table.get("trees", {}).items()}
        context = [self._rule(number, rule, trees) for number, rule in enumerate(table.get("context", ()))]
        self._check_chunk("chunk", values.chunk, {})
        for name, tree in trees.items():
            self._check_chunk(f"trees.{name}.chunk", tree.chunk, values.chunk)
        self._refuse_same_folder(trees)
        return File(
            path=self._file,
            index=self._path(values.index) if values.index else None,
            trees=trees,
            chunk=values.chunk,
            search=dict(flat_values(table.get("search", {}))),
            embed=table.get("embed", {}),
            context=tuple(context),
        )

    def _tree(self, name: str, value: Any) -> Tree:
        full = f"trees.{name}"
        if not NAME.fullmatch(name):
            raise OptionError(f"{self.name(full)}: invalid name of a tree", "use letters, digits, '-', '_' and '.'")
        if not isinstance(value, str | dict):
            raise invalid_value(self.name(full), value, "must be a path, or a table with a path")
        table = {"path": value} if isinstance(value, str) else value
        tree = convert(Tree, table, lambda key: self.name(f"{full}.{key}"), what="key")
        include, exclude = (
            (patterns,) if isinstance(patterns, str) else patterns for patterns in (tree.include, tree.exclude)
        )
        if tree.git and (os.path.isabs(tree.path) or ".." in tree.path.split("/")):  # noqa: PTH117
            raise invalid_value(self.name(f"{full}.path"), tree.path, "must be a folder in the repository")
        if not tree.git and not tree.path.strip():
            raise OptionError(
                f"{self.name(f'{full}.path')} is missing", 'add path = "…", relative to this file\'s folder'
            )
        try:
            codecs.lookup(tree.encoding or "utf-8")
        except LookupError as error:
            rule = "must be an encoding, such as 'latin-1'"
            raise invalid_value(self.name(f"{full}.encoding"), tree.encoding, rule) from error
        path = tree.path if tree.git else str(self._path(tree.path))
        return structs.replace(tree, path=path, include=include, exclude=exclude)

    def _rule(self, number: int, value: Any, trees: Mapping[str, Tree]) -> ContextRule:
        full = f"context.{number}"
        table = check(self.name(full), value, dict[str, Any])
        rule = convert(ContextRule, table, lambda key: self.name(f"{full}.{key}"), what="key")
        for name in rule.trees:
            if name not in trees:
                problem = f"{self.name(f'{full}.trees')}: there is no tree {name}{did_you_mean(name, trees)}"
                raise OptionError(problem, f"the trees are {', '.join(trees) or 'none'}")
        return rule

    def _check_chunk(self, name: str, table: Mapping[str, Any], above: Mapping[str, Any]) -> None:
        """Refuse invalid options; those of ``above`` apply where ``table`` has none and the strategy has them."""
        options = {key: value for key, value in table.items() if key != "strategy"}
        strategy = table.get("strategy", above.get("strategy", DEFAULT_STRATEGY))
        self._check_tokenizer(f"{name}.tokenizer", options.get("tokenizer", ESTIMATE))
        try:
            build(strategy, {})
        except OptionError as error:
            raise OptionError(f"{self.name(f'{name}.strategy')}: {error.problem}", error.advice) from error
        sizes = with_one_name(strategy, options)
        others = [key for key in valid_names(strategy) if key not in sizes]
        inherited = {key: value for key, value in with_one_name(strategy, above).items() if key in others}
        build(strategy, inherited | options, lambda key: self.name(f"{'chunk' if key in inherited else name}.{key}"))

    def _check_tokenizer(self, name: str, value: Any) -> None:
        """Refuse a path: a project's file must not open another file."""
        names = (*ENCODINGS, ESTIMATE)
        if not isinstance(value, str) or (value not in names and encoding_of(value) is None):
            rule = f"must be {', '.join(names)} or an OpenAI model such as gpt-4o; --tokenizer takes a file"
            raise invalid_value(self.name(name), value, rule)

    def _refuse_same_folder(self, trees: Mapping[str, Tree]) -> None:
        first: dict[str, str] = {}
        for name, tree in trees.items():
            if first.setdefault(str(tree.folder), name) != name:
                problem = f"{self.name(f'trees.{name}')} is the same folder as trees.{first[str(tree.folder)]}"
                raise OptionError(problem, "leave one out")

    def _path(self, value: str) -> Path:
        return Path(os.path.abspath(self._file.parent / expanded(value)))  # noqa: PTH100  links stay as named


def _without_content(table: Mapping[str, Any]) -> dict[str, Any]:
    """The trees and rules, which are checked one by one, as empty tables; ``convert`` refuses other types."""
    return {key: kind() for key, kind in (("trees", dict), ("context", list)) if isinstance(table.get(key), kind)}


def flat_values(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables by dotted names."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat_values(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


_TABLES = ("boosts", "where")


@cache
def search_fields() -> Mapping[str, Field]:
    """The settings of search by dotted names, in the order of ``quire config``; without the table ``where``."""
    boosts = {f"boosts.{name}": field for name, field in fields(Boosts).items()}
    return {name: field for name, field in fields(SearchSettings).items() if name not in _TABLES} | boosts


def search_settings(values: Mapping[str, Any]) -> SearchSettings:
    """The settings of search from values by dotted names."""
    table: dict[str, Any] = {name: {} for name in _TABLES}
    for name, value in values.items():
        group, _, key = name.partition(".")
        table[group] = {**table[group], key: value} if key else value
    return msgspec.convert(table, SearchSettings) if values else SearchSettings()  # which costs nothing
