"""Which folders are no place for an index. Asked before anything is written, by ``goal``, ``Index`` and the commands.

git and quire pass over what is in the folder of an index, so nothing of the user's may be in it unseen.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from quire.errors import OptionError, StoreError
from quire.index.engine.damage import META
from quire.index.files import NAME
from quire.index.folder import CHECKED, CURRENT, GENERATION, IGNORE, LOCK, Folder
from quire.index.paths import is_inside
from quire.read.source import kind


def refuse_file(index: Path) -> None:
    """Refuse a path that is a file or is below one, and one with links or pipes, which lead elsewhere or nowhere."""
    for path in (index, *_own_entries(index)):
        with suppress(OSError):
            mode = path.lstat().st_mode
            if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
                problem = f"is {kind(mode)}, which quire does not follow"
                raise StoreError(str(path), problem, "remove it, or choose another path for the index")
    for each in (index, *index.parents):
        if os.path.isdir(each):  # noqa: PTH112  where rights are missing, Path's fails
            return
        if os.path.exists(each):  # noqa: PTH110
            raise StoreError(str(each), "is a file, and an index is a folder", "choose another path for the index")


def _own_entries(index: Path) -> Iterator[Path]:
    """What quire writes to in the folder of an index, and what the engine does."""
    for name in (IGNORE, LOCK, CURRENT, CHECKED, f"{CHECKED}.new"):
        yield index / name
    for generation in Folder(index).generations():
        yield generation
        with suppress(OSError):
            yield from generation.iterdir()


def refuse_hidden(index: Path, trees: Mapping[str, Path]) -> None:
    """Refuse a folder that is a tree, or that a tree is in."""
    top = os.path.realpath(index)
    for name, folder in trees.items():
        real = os.path.realpath(folder)
        if is_inside(real, top):
            problem = f"the index {index} would hide the tree {name}, {folder}"
            raise OptionError(problem, "choose another folder for the index")


def refuse_others(index: Path) -> None:
    """Refuse a folder that has something in it, but nothing of an index: it is the user's. ``.quire`` is quire's."""
    try:
        names = set() if index.absolute().name == NAME else set(os.listdir(index))  # noqa: PTH208  names are enough
    except OSError:
        return  # there is none yet, or writing says what is wrong
    if names - {IGNORE} and not any(_is_ours(index, name) for name in names):
        raise StoreError(str(index), "has other files in it and is no index", "choose another folder for the index")


def _is_ours(index: Path, name: str) -> bool:
    """Whether quire made this entry. A folder with the name of a generation may be anybody's."""
    if GENERATION.fullmatch(name):
        return (index / name / META).exists()
    return name in (CHECKED, CURRENT, LOCK)
