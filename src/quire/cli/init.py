"""``quire init``: write a quire.toml with comments for the documents in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from quire.cli.command_group import ERROR
from quire.cli.output import echo, message, visible
from quire.cli.shared_options import not_empty
from quire.errors import InputError
from quire.read.discover import discover
from quire.settings import SEARCH_KEYS, shown, tree_name
from quire.settings.quire_toml import PROJECT_FILE, PYTHON_FILE, python_file
from quire.write.atomic_file import explained, replacing

_MOST_TREES = 12
_FOR_AGENTS = ("agents.md", "claude.md", "gemini.md")
"""Instructions for agents, which `quire agents` writes: no documentation."""
_HEAD = """\
# quire: where the documents are and how they are searched. `quire config` shows every value and where it came from.
# Paths are relative to this file's folder.

# The folder of the index.
# index = ".quire"

# The trees: folders of documents, or single documents. Ids begin with a tree's name.
[trees]
"""
_LANGUAGE = """
# The language of a tree that is not in English, so that all forms of its words are found:
# [trees.handbuch]
# path = "handbuch"
# language = "german"

[search]
"""


@click.command()
@click.argument("folder", default=".", metavar="[FOLDER]", callback=not_empty)
def command(*, folder: str) -> int:
    """Write a quire.toml for the documents in a folder.

    The trees are the folders with Markdown, for example docs/, and the README; if there are other documents beside
    them (instructions for agents do not count), the whole folder is one tree. Every other setting is there as a
    comment. An existing quire.toml stays as it is. If pyproject.toml has a table [tool.quire], quire init writes
    nothing, as quire.toml would override that table.
    """
    root = Path.cwd() / folder
    prefix = "" if folder == "." else os.path.join(folder, "")  # noqa: PTH118  as it was typed
    name = f"{prefix}{PROJECT_FILE}"
    if not root.exists():
        raise InputError(folder, "no such folder", "make it first")
    if not root.is_dir():
        raise InputError(folder, "is a file", "name a folder")
    if python_file(root) is not None:
        problem = f"has a table [tool.quire], which a {PROJECT_FILE} would override"
        raise InputError(f"{prefix}{PYTHON_FILE}", problem, "change that table")
    trees = dict(_proposed_trees(root))
    with explained(Path(name)):
        if os.path.lexists(root / PROJECT_FILE):
            message(f"{name} exists already; change it, or remove it first")
            return ERROR
        with replacing(root / PROJECT_FILE) as stream:
            stream.write(_text(trees).encode())
    listed = ", ".join(f"{tree} = {path}" for tree, path in trees.items()) or "no trees yet: add them under [trees]"
    echo(visible(f"{name}: {listed}"))
    return 0


def _text(trees: dict[str, str]) -> str:
    lines = [
        f"{name if name.isascii() and '.' not in name else _quoted(name)} = {_quoted(path)}\n"
        for name, path in trees.items()
    ]
    search = [
        f"# {key.meaning[:1].upper()}{key.meaning[1:]}.\n# {name.removeprefix('search.')} = {shown(key.default)}\n"
        for name, key in SEARCH_KEYS.items()
    ]
    return _HEAD + ("".join(lines) or '# docs = "docs"\n') + _LANGUAGE + "\n".join(search)


def _quoted(text: str) -> str:
    """A TOML string, which is a JSON string but for DEL."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _proposed_trees(root: Path) -> Iterator[tuple[str, str]]:
    """Names and paths of trees: each folder with documents, and the README.

    If there are other documents, no folders, or too many, the whole folder is one tree.
    """
    found = [document.path for document in discover([str(root)]).documents]
    folders = list(dict.fromkeys(path.partition("/")[0] for path in found if "/" in path))
    readme = [path for path in found if path.lower() == "readme.md"]
    others = [path for path in found if "/" not in path and path not in readme and path.lower() not in _FOR_AGENTS]
    if others or not folders or len(folders) > _MOST_TREES:
        folders, readme = (["."] if found else []), []
    taken: set[str] = set()
    for path in (*folders, *readme):
        name = tree_name(root.resolve().name if path == "." else path.removesuffix(".md"), taken)
        taken.add(name)
        yield name.lower() if path in readme else name, path
