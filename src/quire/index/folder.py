"""The folder of an index: its layout, its current generation, and which folders cannot hold an index.

    .quire/.gitignore       keeps the index out of repositories
    .quire/index.lock       held by the process that updates; names it
    .quire/index.current    the name of the current generation, replaced atomically
    .quire/index.checked    the files that passed their checksums, or damage that was found
    .quire/index.reading    what the build of a large index has read, until it is complete
    .quire/index-3/         a generation: the engine's files

Other entries do not belong to quire and are left alone. ``update`` changes the folder.
"""

import contextlib
import os
import stat
from collections.abc import Mapping
from glob import glob
from pathlib import Path

import msgspec

from quire.errors import IndexDamagedError, OptionError, StoreError
from quire.index.engine.damage import CHECKED, META
from quire.index.file_records import DEFAULT_FOLDER, VERSION, TreeRecord
from quire.model.patterns import pattern

LOCK, CURRENT, READING, IGNORE = "index.lock", "index.current", "index.reading", ".gitignore"
_FILES = frozenset({LOCK, CURRENT, READING, IGNORE, CHECKED})
GENERATION = pattern(r"index-[0-9]{1,9}")

Stamp = tuple[tuple[int, ...], ...]  # changes with every commit, every new generation, and damage that was found


class Pointer(msgspec.Struct, frozen=True):
    """The content of ``index.current``."""

    version: int  # of the index format; every version of quire writes it
    generation: str = ""
    trees: msgspec.Raw = msgspec.Raw(b"{}")  # to rebuild an index that cannot be read


class Folder:
    """The folder of an index. Reading does not create it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def home(self) -> Path:
        """The parent folder; the folders of trees below it are stored relative to it."""
        return self.path.absolute().parent

    def pointer(self) -> Pointer | None:
        """The content of ``index.current``; None if there is no index."""
        try:
            return msgspec.json.decode((self.path / CURRENT).read_bytes(), type=Pointer)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(str(self.path), f"cannot be read: {error.strerror or error}") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self.damaged(f"the index is damaged ({CURRENT} has invalid content)") from error

    def current(self) -> Path | None:
        """The current generation; None if there is no index."""
        pointer = self.pointer()
        if pointer is None:
            return None
        if pointer.version != VERSION:
            raise self.damaged(f"the index was made by {other_version(pointer.version)}")
        if not GENERATION.fullmatch(pointer.generation):
            raise self.damaged(f"the index is damaged ({CURRENT} names no generation)")
        return self.path / pointer.generation

    def trees(self) -> dict[str, TreeRecord]:
        """The trees, also of an index that cannot be opened; none if they are unknown."""
        try:
            pointer = self.pointer()
            return msgspec.json.decode(pointer.trees, type=dict[str, TreeRecord]) if pointer else {}
        except (IndexDamagedError, msgspec.DecodeError, UnicodeDecodeError):
            return {}

    def damaged(self, problem: str) -> IndexDamagedError:
        """An error about this index."""
        return IndexDamagedError(str(self.path), problem, "run: quire index")

    def stamp(self) -> Stamp:
        """The stamp of the last commit: the status of three files."""
        pointer = _file_stamp(f"{self.path}/{CURRENT}")
        with contextlib.suppress(StoreError):
            if (generation := self.current()) is not None:
                return pointer, _file_stamp(f"{generation}/{META}"), _file_stamp(f"{self.path}/{CHECKED}")
        return ((),)

    def generations(self) -> dict[int, Path]:
        """All generations by number."""
        names = filter(GENERATION.fullmatch, glob("index-*", root_dir=self.path))  # noqa: PTH207  Path.glob raises
        return {int(name.partition("-")[2]): self.path / name for name in names}


def other_version(version: int) -> str:
    """Another version of quire, for messages."""
    return f"another version of quire (index version {version}, this one has {VERSION})"


def _file_stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)  # noqa: PTH116  every search asks
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


# Folders that cannot hold an index. git and quire ignore the folder of an index, so no files of the user may be in it.


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is ``folder`` or inside it; both as ``os.path.realpath`` returns them."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def refuse_file(index: Path) -> None:
    """Refuse a path that is a file or below one, and a folder with something else in place of a file of quire."""
    paths = [index, *[index / name for name in _FILES]]
    for generation in Folder(index).generations().values():
        paths.append(generation)
        with contextlib.suppress(OSError):
            paths += generation.iterdir()
    for path in paths:
        with contextlib.suppress(OSError):
            mode = path.lstat().st_mode
            if not stat.S_ISREG(mode) and (not stat.S_ISDIR(mode) or path.name in _FILES):
                advice = "remove it, or choose another path for the index"
                raise StoreError(str(path), "is a link, a pipe or a folder, not a file of the index", advice)
    for path in (index, *index.parents):
        if os.path.isdir(path):  # noqa: PTH112  Path.is_dir raises where rights are missing
            return
        if os.path.exists(path):  # noqa: PTH110
            raise StoreError(str(path), "is a file, and an index is a folder", "choose another path for the index")


def refuse_folder(index: Path, trees: Mapping[str, str]) -> None:
    """Refuse a folder that is a tree or contains one, and one with files in it, none of them an index's.

    ``.quire`` always belongs to quire.
    """
    refuse_file(index)
    top = os.path.realpath(index)
    for name, folder in trees.items():
        if is_inside(os.path.realpath(folder), top):
            problem = f"the index {index} would hide the tree {name}, {folder}"
            raise OptionError(problem, "choose another folder for the index")
    names = set(glob("*", root_dir=index, include_hidden=True))  # noqa: PTH207  none if it cannot be listed
    is_index = index.absolute().name == DEFAULT_FOLDER or not names.isdisjoint(_FILES - {IGNORE})
    generations = Folder(index).generations().values()  # or folders of the user with such names
    if names - {IGNORE} and not is_index and not any((generation / META).exists() for generation in generations):
        problem = "has other files in it and is not an index"
        raise StoreError(str(index), problem, "choose another folder for the index")
