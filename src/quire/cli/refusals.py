"""What is refused before an index is written: folders that are no place for one, new trees without a document.

Before: ``places`` has said what is meant. After: ``indexes`` brings the index up to date.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from quire.cli.places import Chosen, located, reachable
from quire.errors import InputError, OptionError, StoreError, UndecodableError
from quire.index.folder import CHECKED, CURRENT, IGNORE, LOCK
from quire.model import Finding
from quire.settings import Settings
from quire.settings.load import INDEX

_GENERATION = re.compile(r"index-[0-9]+")
_ADVICE = (', or read it with errors="replace"', "; give its content on standard input")
"""What is advised elsewhere, and what no command can do that reads trees."""
_LOOKED_AT = 8192
"""How many characters tell whether a file is text."""


def refuse_beforehand(chosen: Chosen, settings: Settings) -> None:
    """Refuse what would do harm or be of no use, before anything is written."""
    refuse_hidden(settings.index, chosen.trees)
    _refuse_others(settings.index)
    for place in chosen.new:
        if place.folder.is_file():
            _refuse_unreadable(place.folder)
        else:
            _refuse_empty(place.folder)


def refuse_hidden(index: Path, trees: Mapping[str, Path]) -> None:
    """Refuse an index that a tree is in: git and quire pass over what is in the folder of an index."""
    for name, folder in trees.items():
        if located(folder, {"": index}) is not None:
            what = f"the index {reachable(index)} would hide the tree {name}, {reachable(folder)}"
            raise OptionError(f"{what}; choose another folder for the index")


def _refuse_others(folder: Path) -> None:
    """Refuse a folder that has something in it, but nothing of an index: it is the user's."""
    try:
        names = set() if folder.name == INDEX else set(os.listdir(folder))  # noqa: PTH208  names are all that counts
    except OSError:
        return  # there is none yet, or writing says what is wrong
    is_ours = names & {CHECKED, CURRENT, LOCK} or any(map(_GENERATION.fullmatch, names))
    if names - {IGNORE} and not is_ours:
        raise StoreError(
            reachable(folder), "has other files in it and is no index; choose another folder for the index"
        )


def _refuse_unreadable(file: Path) -> None:
    """Refuse a file that cannot be read, or is no text."""
    from quire.read.source import MARKDOWN_EXTENSIONS, read_file  # noqa: PLC0415  only for what is new

    name = reachable(file)
    try:
        text, _ = read_file(file, name)
    except UndecodableError as error:
        raise InputError(name, _advised(error.reason)) from error
    if "\0" in text[:_LOOKED_AT] and file.suffix.lower() not in {*MARKDOWN_EXTENSIONS, ".txt"}:
        raise InputError(name, "not a text file; name Markdown or text")


def _refuse_empty(folder: Path) -> None:
    from quire.read.discover import discover  # noqa: PLC0415  only for what is new

    found = discover([str(folder)])
    if not found.documents:
        reasons = [each.reason for each in found.skipped if each.is_error]
        nothing = "no documents in there; quire looks for Markdown and .txt files"
        raise InputError(reachable(folder), _advised(reasons[0]) if reasons else nothing)


def advised(finding: Finding) -> Finding:
    """A finding about a file of a tree, with advice that can be followed."""
    return replace(finding, message=_advised(finding.message))


def _advised(message: str) -> str:
    for each in _ADVICE:
        message = message.replace(each, "")
    return message
