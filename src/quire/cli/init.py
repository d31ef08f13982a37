"""``quire init``: a quire.toml with comments, for the documents that are here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from quire.cli.arguments import not_empty
from quire.cli.commands import ERROR
from quire.cli.output import echo, note
from quire.cli.places import here
from quire.cli.shown import visible
from quire.errors import InputError
from quire.settings import NUMBERS, tree_name
from quire.settings.quire_toml import PROJECT_FILE, PYTHON_FILE, python_file
from quire.write.atomic import replacing
from quire.write.trouble import remedy

_MOST_TREES = 12
_README = "readme.md"

_HEAD = """\
# quire: where the documents are and how they are searched. `quire config` shows what holds, and why.
# Paths are relative to this file's folder.

# Where the index is kept.
# index = ".quire"

# The trees: folders of documents, or single documents, each with a name that its ids begin with.
[trees]
"""
_LANGUAGE = """
# A tree in another language than English, so that its words are found in all their forms:
# [trees.handbuch]
# path = "handbuch"
# language = "german"

[search]
"""


@click.command()
@click.argument("folder", default=".", metavar="[FOLDER]", callback=not_empty)
def command(*, folder: str) -> int:
    """Write a quire.toml for the documents that are here.

    It names the folders with Markdown in them, docs/ for example, and the README; where other documents stand beside
    them, the whole folder. Every other value is there as a comment. A quire.toml that is there already stays as it is,
    and so does a pyproject.toml with a table [tool.quire], which would not count beside it.
    """
    place = here() / folder
    file = place / PROJECT_FILE
    shown = _shown(folder, PROJECT_FILE)
    if not place.is_dir():
        raise InputError(
            folder, *(("is a file", "name a folder") if place.exists() else ("no such folder", "make it first"))
        )
    if python_file(place) is not None:
        problem = f"has a table [tool.quire], and does not count beside a {PROJECT_FILE}"
        raise InputError(_shown(folder, PYTHON_FILE), problem, "change that table")
    trees = dict(_proposed(place))
    try:
        if os.path.lexists(file):
            note(f"quire: {visible(shown)} is there already; change it, or remove it first")
            return ERROR
        with replacing(file) as stream:
            stream.write(_text(trees).encode())
    except OSError as error:
        raise InputError(shown, f"cannot be written: {error.strerror or error}", remedy(error.errno)) from error
    said = ", ".join(f"{name} = {path}" for name, path in trees.items()) or "no trees yet: add them under [trees]"
    echo(f"{visible(shown)}: {visible(said)}")
    return 0


def _shown(folder: str, name: str) -> str:
    return os.path.join(folder, name) if folder != "." else name  # noqa: PTH118  as it was typed


def _text(trees: dict[str, str]) -> str:
    lines = [f"{_quoted(name) if _needs_quotes(name) else name} = {_quoted(path)}\n" for name, path in trees.items()]
    numbers = [
        f"# {key.meaning[:1].upper()}{key.meaning[1:]}.\n# {name.removeprefix('search.')} = {key.default}\n"
        for name, key in NUMBERS.items()
    ]
    return _HEAD + ("".join(lines) or '# docs = "docs"\n') + _LANGUAGE + "\n".join(numbers)


def _needs_quotes(name: str) -> bool:
    return not name.isascii() or "." in name


def _quoted(text: str) -> str:
    import msgspec  # noqa: PLC0415  TOML's basic strings are JSON's

    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _proposed(place: Path) -> Iterator[tuple[str, str]]:
    """Names and paths of trees: each folder with documents, and the README; else the whole folder.

    That is where other documents stand beside these, where there are no folders, and where there are many.
    """
    found = _documents(place)
    folders = list(dict.fromkeys(path.partition("/")[0] for path in found if "/" in path))
    single = [path for path in found if path.lower() == _README]
    loose = [path for path in found if "/" not in path and path not in single]
    if loose or not folders or len(folders) > _MOST_TREES:
        folders, single = (["."] if found else []), []
    taken: set[str] = set()
    for path in (*folders, *single):
        name = tree_name(place.resolve().name if path == "." else path.removesuffix(".md"), taken)
        taken.add(name)
        yield name.lower() if path in single else name, path


def _documents(place: Path) -> list[str]:
    from quire.read.discover import discover  # noqa: PLC0415  nothing else here reads

    return [found.path for found in discover([str(place)]).documents]
