"""quire.toml: where it is looked for, which keys it may have, and their ranges.

The project's file is the nearest quire.toml, or pyproject.toml with a table [tool.quire], upwards from a folder. An
unknown key or an impossible value is an error that names the file and the key.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from quire.counter import ENCODINGS, ESTIMATE, encoding_of
from quire.errors import InputError, OptionError, near
from quire.index.file_records import DEFAULT_LANGUAGE
from quire.options import COMMON, DEFAULT_STRATEGY, OWN, build, is_id_part, refuse_others, valid_names
from quire.read.frontmatter import load_toml
from quire.read.source import read_configuration, unread
from quire.search.ranking_settings import BOOSTS, KEYS, MAX_TOKENS, Key

PROJECT_FILE = "quire.toml"
PYTHON_FILE = "pyproject.toml"
_POSITION = re.compile(r" \(at (.*)\)$")
_TREE_KEYS = ("path", "language", "include", "exclude", "chunk")
SEARCH_KEYS: Mapping[str, Key] = MappingProxyType(
    {
        "search.limit": Key(10, "how many results at most", 1, 10_000),
        "search.max_tokens": Key(MAX_TOKENS, "how many tokens all results may have together; 0: no limit"),
        **{f"search.{name}": key for name, key in KEYS.items()},
    }
)
"""The settings of search by name, in the order of ``quire config``."""
_TABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "": ("index", "chunk", "context", "embed", "search", "trees"),
        "embed": ("embedder", "endpoint", "model", "version", "window", "requests_per_minute"),
        "context": ("files", "words", "trees", "sections"),
        "chunk": ("strategy", *COMMON, *dict.fromkeys(name for own in OWN.values() for name in own)),
        "search": ("limit", "max_tokens", *(name for name in KEYS if "." not in name), "boosts"),
        "search.boosts": tuple(BOOSTS),
    }
)
"""The keys of each table."""


class Tree(NamedTuple):
    """A named folder of documents, or one document."""

    name: str
    """The first part of ids."""
    path: Path
    """Absolute."""
    language: str = DEFAULT_LANGUAGE
    """The language of its stems."""
    include: tuple[str, ...] = ()
    """Patterns for the documents to take; without any, all are taken."""
    exclude: tuple[str, ...] = ()
    """Patterns for the documents to leave out."""
    chunk: Mapping[str, Any] = MappingProxyType({})
    """Its own strategy and options, over those of ``[chunk]``."""


class ContextRule(NamedTuple):
    """What ``quire context`` adds for files that match a pattern."""

    files: tuple[str, ...]
    """Patterns, relative to the folder of quire.toml."""
    words: tuple[str, ...] = ()
    """Words that are searched, too."""
    trees: tuple[str, ...] = ()
    """The trees that are searched; without any, all are."""
    sections: tuple[str, ...] = ()
    """Ids of sections that are always included."""


@dataclass(frozen=True)
class File:
    """The values of one file."""

    path: Path
    index: Path | None
    trees: Mapping[str, Tree]
    search: Mapping[str, Any]
    """By the names of ``SEARCH_KEYS``."""
    chunk: Mapping[str, Any]
    """The strategy and its options."""
    embed: Mapping[str, str | float]
    """The embedding model; only the user's own file may have one."""
    context: tuple[ContextRule, ...] = ()
    """The tables ``[[context]]``."""


def project_file(folder: Path) -> File | None:
    """The nearest file upwards from ``folder``."""
    files = (each / name for each in (folder, *folder.parents) for name in (PROJECT_FILE, PYTHON_FILE))
    return next((found for found in map(_read, files) if found is not None), None)


def python_file(folder: Path) -> File | None:
    """The pyproject.toml in ``folder``, if it has a table [tool.quire]."""
    return _read(folder / PYTHON_FILE)


def named_file(file: Path) -> File:
    """The values of a file that the user named."""
    found = _read(file)
    if found is None:
        problem = f"there is no table [{key_prefix(file).rstrip('.')}]" if file.exists() else "no such file"
        raise InputError(str(file), problem, "name a quire.toml")
    return found


def user_file(environment: Mapping[str, str]) -> File | None:
    """The user's own file, for all projects."""
    folder = user_folder(environment)
    return _read(folder / PROJECT_FILE) if folder else None


def user_folder(environment: Mapping[str, str]) -> Path | None:
    """The folder of the user's own file; None if there is no home folder."""
    given = environment.get("APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME", "") or expanded("~/.config")
    return Path(given) / "quire" if os.path.isabs(given) else None  # noqa: PTH117


def expanded(path: str) -> str:
    """``path`` with the home folder for ``~``, if that is known."""
    return os.path.expanduser(path)  # noqa: PTH111  Path's fails where there is no home


def checked(name: str, value: Any, where: str) -> Any:
    """``value`` if it is possible for the setting ``name``; the error calls it ``where``."""
    key = SEARCH_KEYS[name]
    if not key.allows(value):
        raise impossible(where, value, f"it must be {key.range}")
    return type(key.default)(value)


def impossible(where: str, value: Any, rule: str) -> OptionError:
    """The error for a value that is not possible."""
    return OptionError(f"{where} = {shown(value):.80} is not possible", rule)


def shown(value: Any) -> str:
    """A value as in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return f"[{', '.join(map(shown, value))}]"
    try:
        return f'"{value}"' if isinstance(value, str) else str(value)
    except ValueError:  # Python does not print such a number
        return "a number of thousands of digits"


def tree_name(text: str, taken: Container[str]) -> str:
    """A possible name for a tree, made from ``text``, that is not ``taken``."""
    made = "".join(char if is_id_part(char) else "-" for char in text).strip("-.") or "tree"
    name, number = made, 1
    while name in taken:
        number += 1
        name = f"{made}-{number}"
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
    """Turns the table of a file into values, and refuses unknown keys and impossible values."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._prefix = key_prefix(file)

    def read(self, table: Any) -> File:
        table = self._table("", table)
        search = dict(self._search("search", table.get("search", {})))
        chunk = self._chunk("chunk", table.get("chunk", {}), {})
        trees = self._trees(table.get("trees", {}), chunk)
        index = self._path("index", table["index"]) if "index" in table else None
        embed = self._embed(table.get("embed", {}))
        context = self._context(table.get("context", []), trees)
        return File(path=self._file, index=index, trees=trees, search=search, chunk=chunk, embed=embed, context=context)

    def _where(self, name: str) -> str:
        return f"{self._file}: {self._prefix}{name}"

    def _table(self, name: str, value: Any, keys: tuple[str, ...] = ()) -> dict[str, Any]:
        """A table with known keys only."""
        keys = keys or _TABLES[name]
        title = f"[{self._prefix}{name}]".replace(".]", "]")
        if not isinstance(value, dict):
            raise impossible(self._where(name), value, f"it must be a table: {title}")
        for key in value:
            if key not in keys:
                full = f"{self._prefix}{name}{'.' if name else ''}{key}"
                known = f"the keys of {title}" if name else "the keys"
                problem = f"{self._file}: unknown key {full}{near(key, keys)}"
                raise OptionError(problem, f"{known} are {', '.join(keys)}")
        return value

    def _search(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        for key, given in self._table(name, value).items():
            full = f"{name}.{key}"
            if full in SEARCH_KEYS:
                yield full, checked(full, given, self._where(full))
            else:
                yield from self._search(full, given)

    def _chunk(self, name: str, value: Any, above: Mapping[str, Any]) -> dict[str, Any]:
        """A strategy and its options; those of ``above`` apply where ``value`` has none and the strategy has them."""
        table = self._table(name, value, _TABLES["chunk"])
        strategy = table.get("strategy", above.get("strategy", DEFAULT_STRATEGY))
        if not isinstance(strategy, str):
            raise impossible(self._where(f"{name}.strategy"), strategy, "it must be the name of a strategy")
        options = {key: given for key, given in table.items() if key != "strategy"}
        if "tokenizer" in options:
            self._check_tokenizer(f"{name}.tokenizer", options["tokenizer"])

        def full_name(option: str) -> str:
            return f"{self._prefix}{name if option in table or option not in above else 'chunk'}.{option}"

        try:
            build(strategy, {})
            refuse_others(strategy, options, full_name, ("strategy",))
            inherited = {key: given for key, given in above.items() if key in valid_names(strategy)}
            build(strategy, inherited | options, full_name)
        except OptionError as error:
            where = f"{self._where(f'{name}.strategy')}: " if error.option == "strategy" else f"{self._file}: "
            raise OptionError(f"{where}{error.problem}", error.advice) from error
        return table

    def _embed(self, value: Any) -> dict[str, str | float]:
        table = self._table("embed", value)
        for name, given in table.items():
            is_number = name in ("window", "requests_per_minute")
            kinds, rule = ((int, float), "a number") if is_number else ((str,), "a text")
            if isinstance(given, bool) or not isinstance(given, kinds):
                raise impossible(self._where(f"embed.{name}"), given, f"it must be {rule}")
        return table

    def _check_tokenizer(self, full: str, value: Any) -> None:
        """Refuse a path: a project's file must not open another file."""
        names = (*ENCODINGS, ESTIMATE)
        if not isinstance(value, str) or (value not in names and encoding_of(value) is None):
            rule = f"choose {', '.join(names)} or an OpenAI model such as gpt-4o; --tokenizer takes a file"
            raise impossible(self._where(full), value, rule)

    def _trees(self, value: Any, chunk: Mapping[str, Any]) -> dict[str, Tree]:
        if not isinstance(value, dict):
            raise impossible(self._where("trees"), value, 'write [trees] and docs = "docs"')
        trees = {name: self._tree(name, given, chunk) for name, given in value.items()}
        first: dict[Path, str] = {}
        for name, tree in trees.items():
            other = first.setdefault(tree.path, name)
            if other != name:
                problem = f"{self._where(f'trees.{name}')} is the same folder as trees.{other}"
                raise OptionError(problem, "leave one out")
        return trees

    def _tree(self, name: str, value: Any, chunk: Mapping[str, Any]) -> Tree:
        full = f"trees.{name}"
        if not is_id_part(name):
            problem = f"{self._where(full)}: a tree cannot be called {shown(name)}"
            raise OptionError(problem, "use letters, digits, '-', '_' and '.'")
        if isinstance(value, str):
            return Tree(name=name, path=self._path(full, value))
        if not isinstance(value, dict):
            rule = f"it must be a path, or a table [{self._prefix}{full}] with a path"
            raise impossible(self._where(full), value, rule)
        table = self._table(full, value, _TREE_KEYS)
        if "path" not in table:
            raise OptionError(f"{self._where(full)} has no path", 'add path = "…", relative to this file\'s folder')
        return Tree(
            name=name,
            path=self._path(f"{full}.path", table["path"]),
            language=self._language(f"{full}.language", table["language"]) if "language" in table else DEFAULT_LANGUAGE,
            include=self._patterns(f"{full}.include", table.get("include", [])),
            exclude=self._patterns(f"{full}.exclude", table.get("exclude", [])),
            chunk=self._chunk(f"{full}.chunk", table.get("chunk", {}), chunk),
        )

    def _context(self, value: Any, trees: Mapping[str, Tree]) -> tuple[ContextRule, ...]:
        if not isinstance(value, list):
            raise impossible(self._where("context"), value, f"it must be a list of tables: [[{self._prefix}context]]")
        rules = []
        for number, each in enumerate(value):
            full = f"context.{number}"
            table = self._table(full, each, _TABLES["context"])
            lists = {name: self._strings(f"{full}.{name}", given) for name, given in table.items()}
            if not lists.get("files"):
                raise OptionError(f"{self._where(full)} has no files", 'add files = ["src/auth/**"]')
            for name in lists.get("trees", ()):
                if name not in trees:
                    problem = f"{self._where(f'{full}.trees')}: there is no tree {name}{near(name, trees)}"
                    raise OptionError(problem, f"the trees are {', '.join(trees) or 'none'}")
            rules.append(ContextRule(**lists))
        return tuple(rules)

    def _strings(self, full: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
            raise impossible(self._where(full), value, "it must be a list of strings")
        return tuple(value)

    def _patterns(self, full: str, value: Any) -> tuple[str, ...]:
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list) or not all(isinstance(each, str) and each for each in given):
            raise impossible(self._where(full), value, 'it must be a list of patterns, as in ["guides/**"]')
        return tuple(given)

    def _language(self, full: str, value: Any) -> str:
        from quire.index.engine.analysis import LANGUAGES  # noqa: PLC0415  loads tantivy

        if not isinstance(value, str) or value not in LANGUAGES:
            hint = near(value, LANGUAGES) if isinstance(value, str) else ""
            problem = f"{self._where(full)} = {shown(value)} is not possible{hint}"
            raise OptionError(problem, f"choose from {', '.join(LANGUAGES)}")
        return value

    def _path(self, full: str, value: Any) -> Path:
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise impossible(self._where(full), value, "it must be a path, relative to this file's folder")
        return Path(os.path.abspath(self._file.parent / expanded(value)))  # noqa: PTH100  links stay as named
