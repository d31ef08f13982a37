"""The files in which values are set: where they are, and what is in them. ``load`` puts them together.

The project's file is the nearest quire.toml, or pyproject.toml with a table [tool.quire], upwards from a folder.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from quire.errors import InputError, OptionError, near
from quire.index.file_records import DEFAULT_LANGUAGE
from quire.options import DEFAULT_STRATEGY, build, is_id_part, refuse_others
from quire.read.source import read_configuration, unread
from quire.settings.keys import NUMBERS, TABLES, TREE_KEYS, checked, impossible, shown

PROJECT_FILE = "quire.toml"
PYTHON_FILE = "pyproject.toml"
_PLACE = re.compile(r" \(at (.*)\)$")
_TREE_NAME = "letters, digits, '-', '_' and '.'"


class Tree(NamedTuple):
    """A folder of documents, or one document, with a name."""

    name: str
    """The first part of ids."""
    path: Path
    """Where it is, absolute."""
    language: str = DEFAULT_LANGUAGE
    """What its words are stemmed as."""
    include: tuple[str, ...] = ()
    """Patterns for the documents to take; all where there are none."""
    exclude: tuple[str, ...] = ()
    """Patterns for the documents to leave out."""


class File(msgspec.Struct, frozen=True, kw_only=True):
    """What one file sets."""

    path: Path
    """Where it is, absolute."""
    index: Path | None = None
    """Where the index is to be."""
    trees: Mapping[str, Tree] = msgspec.field(default_factory=dict)
    """In the order of the file."""
    numbers: Mapping[str, float] = msgspec.field(default_factory=dict)
    """By the names of ``keys.NUMBERS``."""
    chunk: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """The strategy and its options."""

    @property
    def prefix(self) -> str:
        """What the names of its keys begin with."""
        return _prefix(self.path)


def project_file(folder: Path) -> File | None:
    """The nearest file upwards from ``folder``."""
    for each in (folder, *folder.parents):
        for name in (PROJECT_FILE, PYTHON_FILE):
            found = _read(each / name)
            if found is not None:
                return found
    return None


def python_file(folder: Path) -> File | None:
    """What the pyproject.toml in ``folder`` sets; None if it is not about quire."""
    return _read(folder / PYTHON_FILE)


def user_file(environment: Mapping[str, str]) -> File | None:
    """The user's own file, for all projects."""
    folder = user_folder(environment)
    return None if folder is None else _read(folder / PROJECT_FILE)


def user_folder(environment: Mapping[str, str]) -> Path | None:
    """Where the user's own file is looked for; None where there is no home."""
    given = environment.get("APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME", "")
    folder = Path(given) if given else Path(expanded("~")) / ".config"
    return folder / "quire" if folder.is_absolute() else None


def expanded(path: str) -> str:
    """``~`` as the home folder, where that is known."""
    return os.path.expanduser(path)  # noqa: PTH111  Path's fails where there is no home


def _read(file: Path) -> File | None:
    """What is in a file; None if there is none, or if it is not about quire."""
    try:
        data = read_configuration(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        if not _can_look(file.parent):
            return None  # a folder above that is none of ours
        raise InputError(str(file), "permission denied", "make it readable") from None
    except (OSError, ValueError) as error:
        raise unread(str(file), error) from error
    is_python = bool(_prefix(file))
    if is_python and b"quire" not in data:
        return None
    table = _table(file, data, is_python=is_python)
    if is_python:
        tool = table.get("tool")
        table = tool.get("quire") if isinstance(tool, dict) else None
        if table is None:
            return None
    return _Reading(file).read(table)


def _prefix(file: Path) -> str:
    return "tool.quire." if file.name == PYTHON_FILE else ""


def _can_look(folder: Path) -> bool:
    return os.access(folder, os.X_OK)


def _table(file: Path, data: bytes, *, is_python: bool) -> Any:
    from quire.read import toml_values  # noqa: PLC0415  most commands find no file

    try:
        return toml_values.load(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        found = InputError(str(file), f"byte offset {error.start}: not UTF-8", "convert the file")
    except ValueError as error:
        found = InputError(str(file), _problem(str(error)), "correct it")
    if is_python and b"tool.quire" not in data:
        return {}  # others will complain
    raise found


def _problem(message: str) -> str:
    place = _PLACE.search(message)
    said = _PLACE.sub("", message)
    return f"{f'{place[1]}: ' if place else ''}not TOML: {said[:1].lower()}{said[1:]}"


class _Reading:
    """Turns a table into values; what is unknown or impossible is refused by name."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._prefix = _prefix(file)

    def read(self, table: Any) -> File:
        table = self._checked_table("", table)
        index = table.get("index")
        numbers = dict(self._numbers("search", table.get("search", {})))
        trees = self._trees(table.get("trees", {}))
        path = None if index is None else self._path("index", index)
        chunk = self._chunk(table.get("chunk", {}))
        return File(path=self._file, index=path, trees=trees, numbers=numbers, chunk=chunk)

    def _where(self, name: str) -> str:
        return f"{self._file}: {self._prefix}{name}"

    def _checked_table(self, name: str, value: Any, names: tuple[str, ...] = ()) -> dict[str, Any]:
        """A table with known names only."""
        names = names or TABLES[name]
        called = f"[{self._prefix}{name}]".replace(".]", "]")
        if not isinstance(value, dict):
            raise impossible(self._where(name), value, f"it must be a table: {called}")
        for each in value:
            if each not in names:
                full = f"{self._prefix}{name}{'.' if name else ''}{each}"
                those = f"the keys of {called}" if name else "the keys"
                hint = near(each, names)
                problem = f"{self._file}: unknown key {full}{hint}"
                raise OptionError(problem, f"{those} are {', '.join(names)}")
        return value

    def _numbers(self, name: str, value: Any) -> Iterator[tuple[str, float]]:
        for each, given in self._checked_table(name, value).items():
            full = f"{name}.{each}"
            if full in NUMBERS:
                yield full, checked(full, given, self._where(full))
            else:
                yield from self._numbers(full, given)

    def _chunk(self, value: Any) -> dict[str, Any]:
        """The options of a strategy; each must be possible, and one that the strategy has."""
        options = dict(self._checked_table("chunk", value))
        strategy = options.pop("strategy", DEFAULT_STRATEGY)
        if not isinstance(strategy, str):
            raise impossible(self._where("chunk.strategy"), strategy, "it must be the name of a strategy")
        if "tokenizer" in options:
            self._refuse_tokenizer(options["tokenizer"])
        try:
            build(strategy, {})
            refuse_others(strategy, options, self._option, ("strategy",))
            build(strategy, options, self._option)
        except OptionError as error:
            where = f"{self._where('chunk.strategy')}: " if error.option == "strategy" else f"{self._file}: "
            raise OptionError(f"{where}{error.problem}", error.advice) from error
        return dict(value)

    def _option(self, name: str) -> str:
        return f"{self._prefix}chunk.{name}"

    def _refuse_tokenizer(self, value: Any) -> None:
        """Refuse what is no name: a project's file opens no other file."""
        from quire.size import NAMES  # noqa: PLC0415  most files name none
        from quire.size.models import encoding_of  # noqa: PLC0415

        if not isinstance(value, str) or (value not in NAMES and encoding_of(value) is None):
            rule = f"choose {', '.join(NAMES)} or an OpenAI model such as gpt-4o; --tokenizer takes a file"
            raise impossible(self._where("chunk.tokenizer"), value, rule)

    def _trees(self, value: Any) -> dict[str, Tree]:
        if not isinstance(value, dict):
            raise impossible(self._where("trees"), value, 'write [trees] and docs = "docs"')
        trees = {name: self._tree(name, given) for name, given in value.items()}
        first: dict[Path, str] = {}
        for name, tree in trees.items():
            other = first.setdefault(tree.path, name)
            if other != name:
                problem = f"{self._where(f'trees.{name}')} is the same folder as trees.{other}"
                raise OptionError(problem, "leave one out")
        return trees

    def _tree(self, name: str, value: Any) -> Tree:
        full = f"trees.{name}"
        if not is_id_part(name):
            problem = f"{self._where(full)}: a tree cannot be called {shown(name)}"
            raise OptionError(problem, f"use {_TREE_NAME}")
        if isinstance(value, str):
            return Tree(name=name, path=self._path(full, value))
        if not isinstance(value, dict):
            rule = f"it must be a path, or a table [{self._prefix}{full}] with a path"
            raise impossible(self._where(full), value, rule)
        table = self._checked_table(full, value, TREE_KEYS)
        if "path" not in table:
            advice = 'add path = "…", relative to this file\'s folder'
            raise OptionError(f"{self._where(full)} has no path", advice)
        path = self._path(f"{full}.path", table["path"])
        return Tree(
            name=name,
            path=path,
            language=self._language(full, table["language"]) if "language" in table else DEFAULT_LANGUAGE,
            include=self._patterns(f"{full}.include", table.get("include", [])),
            exclude=self._patterns(f"{full}.exclude", table.get("exclude", [])),
        )

    def _patterns(self, full: str, value: Any) -> tuple[str, ...]:
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list) or not all(isinstance(each, str) and each for each in given):
            raise impossible(self._where(full), value, 'it must be a list of patterns, as in ["guides/**"]')
        return tuple(given)

    def _language(self, full: str, value: Any) -> str:
        from quire.index.engine.analysis import LANGUAGES  # noqa: PLC0415  loads the engine

        if not isinstance(value, str) or value not in LANGUAGES:
            hint = near(value, LANGUAGES) if isinstance(value, str) else ""
            problem = f"{self._where(f'{full}.language')} = {shown(value)} is not possible{hint}"
            raise OptionError(problem, f"choose from {', '.join(LANGUAGES)}")
        return value

    def _path(self, full: str, value: Any) -> Path:
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise impossible(self._where(full), value, "it must be a path, relative to this file's folder")
        return Path(os.path.abspath(self._file.parent / expanded(value)))  # noqa: PTH100  links stay as named
