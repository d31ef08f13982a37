"""What is refused before an index is written: folders that are no place for one, new trees that cannot be read.

A new tree without a document is no mistake; it is told, and left out.

Before: ``places`` has said what is meant. After: ``indexes`` brings the index up to date.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quire.cli.output import note
from quire.cli.places import Chosen, Place, reachable
from quire.cli.shown import visible
from quire.errors import InputError, UndecodableError
from quire.index import folder
from quire.settings import Settings

_LOOKED_AT = 8192
"""How many characters tell whether a file is text."""


def refuse_beforehand(chosen: Chosen, settings: Settings) -> None:
    """Refuse what would do harm or be of no use, before anything is written."""
    refuse_place(settings.index, chosen.trees)
    folder.refuse_foreign_files(_near(settings.index))
    errors = [*unreadable(chosen).values()]
    if errors:
        raise errors[0]


def refuse_place(index: Path, trees: Mapping[str, Path]) -> None:
    """Refuse an index that is a file, or that a tree is in, with paths that work from the current folder."""
    folder.refuse_file(_near(index))
    folder.refuse_hidden_trees(_near(index), {name: _near(path) for name, path in trees.items()})


def _near(path: Path) -> Path:
    return Path(reachable(path))


def unreadable(chosen: Chosen) -> dict[Place, InputError]:
    """The new trees that are one file, and that cannot be read, or are no text; with why."""
    errors = {}
    for place in chosen.new:
        try:
            if place.folder.is_file():
                _refuse_unreadable(place.folder)
        except InputError as error:
            errors[place] = error
    return errors


def _refuse_unreadable(file: Path) -> None:
    """Refuse a file that cannot be read, or is no text."""
    from quire.read.source import CONVERT, MARKDOWN_EXTENSIONS, read_file  # noqa: PLC0415  only for what is new

    name = reachable(file)
    try:
        text, _ = read_file(file, name)
    except UndecodableError as error:
        raise error.advising(CONVERT) from error
    if "\0" in text[:_LOOKED_AT] and file.suffix.lower() not in {*MARKDOWN_EXTENSIONS, ".txt"}:
        raise InputError(name, "not a text file", "name Markdown or text")


def without_empty(chosen: Chosen) -> Chosen:
    """Without the new trees that have no document; each of them is told."""
    empty = {place for place in chosen.new if not place.folder.is_file() and _is_empty(place.folder)}
    for place in chosen.new:
        if place in empty:
            say_empty(reachable(place.folder))
    return chosen.without(empty)


def say_empty(name: str) -> None:
    """Say that there is no document in a tree or a folder."""
    note(f"quire: {visible(name)}: no documents in there; quire looks for Markdown and .txt files")


def _is_empty(folder: Path) -> bool:
    """Whether there is no document in a folder; one that cannot be read is refused."""
    from quire.read.discover import discover  # noqa: PLC0415  only for what is new

    found = discover([str(folder)])
    reasons = [each.reason for each in found.skipped if each.is_error]
    if reasons and not found.documents:
        raise InputError(reachable(folder), reasons[0])
    return not found.documents
