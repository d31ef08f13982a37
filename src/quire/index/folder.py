"""The folder of an index: its layout, its current generation, and which folders cannot hold an index.

    .quire/.gitignore       keeps the index out of repositories
    .quire/index.lock       held by the process that updates; names it
    .quire/index.current    the name of the current generation, replaced atomically
    .quire/index.checked    the files that passed their checksums, or damage that was found
    .quire/index-3/         a generation: the engine's files

Other entries do not belong to quire and are left alone. ``folder_writer`` changes the folder.
"""

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from quire.errors import IndexDamagedError, OptionError, StoreError
from quire.index.engine.damage import CHECKED, META
from quire.index.file_records import DEFAULT_FOLDER, VERSION, Tree
from quire.patterns import pattern
from quire.read.source import kind

LOCK, CURRENT, IGNORE = "index.lock", "index.current", ".gitignore"
GENERATION = pattern(r"index-[0-9]{1,9}")

Stamp = tuple[tuple[int, ...], ...]  # changes with every commit, every new generation, and damage that was found


class Pointer(msgspec.Struct, frozen=True):
    """The content of ``index.current``."""

    generation: str
    version: int  # of the index format
    trees: dict[str, Tree] = {}  # to rebuild an index that cannot be read


class Folder:
    """The folder of an index. Reading does not create it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last_pointer: tuple[tuple[int, ...], str] = ((), "")  # the stamp of ``index.current``, and what it names

    @property
    def home(self) -> Path:
        """The parent folder; the folders of trees below it are stored relative to it."""
        return self.path.absolute().parent

    @property
    def checked(self) -> Path:
        """The memory of files that passed their checksums."""
        return self.path / CHECKED

    def pointer(self) -> Pointer | None:
        """The content of ``index.current``; None if there is no index."""
        data = self._pointer_bytes()
        if data is None:
            return None
        try:
            return msgspec.json.decode(data, type=Pointer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            version = _version_in(data)
            if version not in (None, VERSION):
                raise self.damaged(f"the index was made by {other_version(version)}") from error
            raise self.damaged(f"the index is damaged ({CURRENT} has invalid content)") from error

    def version(self) -> int | None:
        """The format version, even of an index that cannot be opened; None if it is unknown."""
        return _version_in(self._pointer_bytes() or b"")

    def _pointer_bytes(self) -> bytes | None:
        try:
            return (self.path / CURRENT).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if (self.path / CURRENT).is_dir():
                return b""  # as damaged as an empty file
            raise StoreError(str(self.path), f"cannot be read: {error.strerror or error}") from error

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

    def damaged(self, problem: str) -> IndexDamagedError:
        """An error about this index."""
        return IndexDamagedError(str(self.path), problem, "run: quire index")

    def stamp(self) -> Stamp:
        """The stamp of the last commit: the status of three files. The small one is read only if it has changed."""
        pointer = _file_stamp(f"{self.path}/{CURRENT}")
        if pointer != self._last_pointer[0]:
            with contextlib.suppress(StoreError):
                self._last_pointer = pointer, f"{self.current()}/{META}"
        if pointer == () or pointer != self._last_pointer[0]:
            return ((),)
        return pointer, _file_stamp(self._last_pointer[1]), _file_stamp(f"{self.path}/{CHECKED}")

    def generations(self) -> list[Path]:
        """All generations, the newest first."""
        try:
            generations = [path for path in self.path.iterdir() if GENERATION.fullmatch(path.name)]
        except OSError:
            return []
        return sorted(generations, key=generation_number, reverse=True)


def other_version(version: int | None) -> str:
    """Another version of quire, for messages."""
    return f"another version of quire (index version {version}, this one has {VERSION})"


def generation_number(generation: Path) -> int:
    """The number in the name of a generation."""
    return int(generation.name.partition("-")[2])


def _version_in(data: bytes) -> int | None:
    """The version in ``index.current``, which every version of quire writes."""
    try:
        version = msgspec.json.decode(data)["version"]
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError):
        return None
    return version if isinstance(version, int) else None


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
    """Refuse a path that is a file or below one, and a folder in which links or pipes stand for quire's files."""
    for path in (index, *_own_entries(index)):
        with contextlib.suppress(OSError):
            mode = path.lstat().st_mode
            if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
                problem = f"is {kind(mode)}, which quire does not follow"
                raise StoreError(str(path), problem, "remove it, or choose another path for the index")
    for path in (index, *index.parents):
        if os.path.isdir(path):  # noqa: PTH112  Path.is_dir raises where rights are missing
            return
        if os.path.exists(path):  # noqa: PTH110
            raise StoreError(str(path), "is a file, and an index is a folder", "choose another path for the index")


def _own_entries(index: Path) -> Iterator[Path]:
    yield from (index / name for name in (IGNORE, LOCK, CURRENT, CHECKED))
    for generation in Folder(index).generations():
        yield generation
        with contextlib.suppress(OSError):
            yield from generation.iterdir()


def refuse_hidden_trees(index: Path, trees: Mapping[str, Path]) -> None:
    """Refuse a folder that is a tree or contains one."""
    top = os.path.realpath(index)
    for name, folder in trees.items():
        if is_inside(os.path.realpath(folder), top):
            problem = f"the index {index} would hide the tree {name}, {folder}"
            raise OptionError(problem, "choose another folder for the index")


def refuse_foreign_files(index: Path) -> None:
    """Refuse a folder with files in it, none of them an index's; ``.quire`` always belongs to quire."""
    try:
        names = set() if index.absolute().name == DEFAULT_FOLDER else set(os.listdir(index))  # noqa: PTH208
    except OSError:
        return  # it does not exist, or writing will report what is wrong
    if names - {IGNORE} and not any(_is_own(index, name) for name in names):
        problem = "has other files in it and is not an index"
        raise StoreError(str(index), problem, "choose another folder for the index")


def _is_own(index: Path, name: str) -> bool:
    """Whether quire made an entry; a folder with the name of a generation could be the user's."""
    if GENERATION.fullmatch(name):
        return (index / name / META).exists()
    return name in (CHECKED, CURRENT, LOCK)
