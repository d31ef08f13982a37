"""Which folders are no place for an index. Asked before anything is written, by ``goal``, ``Index`` and the commands.

git and quire pass over what is in the folder of an index, so nothing of the user's may be in it unseen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from quire.errors import OptionError, StoreError
from quire.index.engine.damage import META
from quire.index.folder import CHECKED, CURRENT, GENERATION, IGNORE, LOCK
from quire.index.paths import is_inside

NAME = ".quire"
"""What an index is called where nobody says otherwise. Such a folder is quire's, whatever is in it."""

Shown = Callable[[Path], str]
"""How a path is told to the user."""


def refuse_file(index: Path, shown: Shown = str) -> None:
    """Refuse a path that is a file or is below one."""
    for each in (index, *index.parents):
        if os.path.isdir(each):  # noqa: PTH112  where rights are missing, Path's fails
            return
        if os.path.exists(each):  # noqa: PTH110
            raise StoreError(shown(each), "is a file, and an index is a folder; choose another path for the index")


def refuse_hidden(index: Path, trees: Mapping[str, Path], shown: Shown = str) -> None:
    """Refuse a folder that is a tree, or that a tree is in."""
    top = os.path.realpath(index)
    for name, folder in trees.items():
        real = os.path.realpath(folder)
        if is_inside(real, top):
            what = f"the index {shown(index)} would hide the tree {name}, {shown(folder)}"
            raise OptionError(f"{what}; choose another folder for the index")


def refuse_others(index: Path, shown: Shown = str) -> None:
    """Refuse a folder that has something in it, but nothing of an index: it is the user's."""
    try:
        names = set() if index.absolute().name == NAME else set(os.listdir(index))  # noqa: PTH208  names are enough
    except OSError:
        return  # there is none yet, or writing says what is wrong
    if names - {IGNORE} and not any(_is_ours(index, name) for name in names):
        raise StoreError(shown(index), "has other files in it and is no index; choose another folder for the index")


def _is_ours(index: Path, name: str) -> bool:
    """Whether quire made this entry. A folder with the name of a generation may be anybody's."""
    if GENERATION.fullmatch(name):
        return (index / name / META).exists()
    return name in (CHECKED, CURRENT, LOCK)
