"""The folder of an index: generations, the pointer to the one that counts, the lock. Used by ``update`` and ``Index``.

    .quire/.gitignore       so that nothing of it gets into a repository
    .quire/index.lock       held by the process that updates; says which
    .quire/index.current    the name of the generation that counts, replaced in one step
    .quire/index.checked    which of its files were seen whole; a memory, no truth
    .quire/index-3/         a generation: the engine's own files

Other entries are somebody else's and stay as they are.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from quire.errors import BusyError, IndexDamagedError, StoreError
from quire.index.engine.damage import META
from quire.index.files import VERSION, Tree

if TYPE_CHECKING:  # most uses write nothing
    from quire.write.lock import Busy, OnWait

LOCK, CURRENT, CHECKED, IGNORE = "index.lock", "index.current", "index.checked", ".gitignore"
GENERATION = re.compile(r"index-[0-9]{1,9}")
"""What a generation is called."""

Stamp = tuple[tuple[int, ...], ...]
"""Equal as long as the same commit counts."""


class Pointer(msgspec.Struct, frozen=True):
    """What ``index.current`` says."""

    generation: str
    """The name of the folder that counts."""
    version: int
    """The version of what quire keeps in it: another one is not even opened."""
    trees: dict[str, Tree] = {}
    """The trees, so that an index that cannot be read is made anew of all that was in it."""


class _Versioned(msgspec.Struct):
    """What ``index.current`` says in every version of quire."""

    version: int


class Folder:
    """The folder that holds an index. Nothing is made until an update writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """Where it is."""

    @property
    def home(self) -> Path:
        """What holds the folder; trees below it are known relative to it."""
        return self.path.absolute().parent

    def pointer(self) -> Pointer | None:
        """What ``index.current`` says; None where there is no index yet."""
        data = self._said()
        if data is None:
            return None
        try:
            return msgspec.json.decode(data, type=Pointer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unread(data) from error

    def version(self) -> int | None:
        """The version of the index, be it another one or damaged; None where that cannot be told."""
        return _version_in(self._said() or b"")

    def _said(self) -> bytes | None:
        try:
            return (self.path / CURRENT).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if (self.path / CURRENT).is_dir():
                return b""  # damaged like an empty file
            raise StoreError(str(self.path), f"cannot be read: {error.strerror or error}") from error

    def _unread(self, data: bytes) -> IndexDamagedError:
        version = _version_in(data)
        if version not in (None, VERSION):
            return self.damaged(f"the index was made by {another(version)}")
        return self.damaged(f"the index is damaged ({CURRENT} holds something else)")

    def current(self) -> Path | None:
        """The generation that counts; None where there is no index yet."""
        pointer = self.pointer()
        if pointer is None:
            return None
        if pointer.version != VERSION:
            raise self.damaged(f"the index was made by {another(pointer.version)}")
        if not GENERATION.fullmatch(pointer.generation):
            raise self.damaged(f"the index is damaged ({CURRENT} points elsewhere)")
        return self.path / pointer.generation

    def damaged(self, what: str) -> IndexDamagedError:
        """The error that says that the index cannot be used as it is."""
        return IndexDamagedError(str(self.path), what, "run: quire index")

    def stamp(self) -> Stamp:
        """Changes with every commit and with every new generation; costs two looks at the file system."""
        with contextlib.suppress(StoreError):
            current = self.current()
            if current is not None:
                return _stamp(self.path / CURRENT), _stamp(current / META)
        return ((),)

    @contextmanager
    def locked(self, patience: float, on_wait: OnWait | None = None) -> Iterator[bool]:
        """Hold the lock; gives whether there was another holder to wait for."""
        from quire.write.lock import acquired  # noqa: PLC0415  most uses write nothing

        with self.explained():
            self._make()
            descriptor, waited = acquired(self.path / LOCK, self._busy, patience=patience, on_wait=on_wait)
        try:
            with self.explained():
                _say_who(descriptor)
            yield waited
        finally:
            os.close(descriptor)  # which ends the lock

    def _busy(self, descriptor: int) -> Busy:
        from quire.write.lock import Busy  # noqa: PLC0415  most uses write nothing

        holder = _who(descriptor)
        return Busy(
            f"{self.path}: waiting for {holder}, which is updating the index",
            BusyError(str(self.path), f"{holder} is updating the index", "wait for it and run again"),
        )

    def new_generation(self) -> Path:
        """The folder for a new generation, beside those that there are; it is not made yet."""
        return self.path / f"index-{max(map(_number, self.generations()), default=0) + 1}"

    def point_to(self, generation: Path, trees: dict[str, Tree]) -> None:
        """Let a generation count from now on."""
        pointer = Pointer(generation=generation.name, version=VERSION, trees=trees)
        from quire.write.atomic_file import replacing  # noqa: PLC0415  most uses write nothing

        with self.explained():
            self._remove_folders(CURRENT)
            with replacing(self.path / CURRENT) as stream:
                stream.write(msgspec.json.encode(pointer))

    def remember(self, content: bytes) -> None:
        """Write down which files were seen whole; not to the disk at once, for it is no loss."""
        new = self.path / f"{CHECKED}.new"
        try:
            new.write_bytes(content)
            new.replace(self.path / CHECKED)
        finally:
            new.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what does not count: what a killed update left, and generations that a new one replaced."""
        from quire.write import atomic_file  # noqa: PLC0415  most uses write nothing

        atomic_file.sweep(self.path / CURRENT)
        try:
            current = self.current()
        except StoreError:
            return  # the update that follows points to a new one
        for path in self.generations():
            if path != current:
                shutil.rmtree(path, ignore_errors=True)

    def generations(self) -> list[Path]:
        """All generations that there are, the newest first."""
        try:
            found = [path for path in self.path.iterdir() if GENERATION.fullmatch(path.name)]
        except OSError:
            return []
        return sorted(found, key=_number, reverse=True)

    def _make(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        self._remove_folders(LOCK, CHECKED, IGNORE)
        ignore = self.path / IGNORE
        if not ignore.exists() or ignore.stat().st_size == 0:  # what a full disk leaves of it
            from quire.write.atomic_file import replacing  # noqa: PLC0415  most uses write nothing

            with replacing(ignore) as stream:
                stream.write(b"*\n")

    def _remove_folders(self, *names: str) -> None:
        """Remove folders that stand where quire's own files belong."""
        for name in names:
            if (self.path / name).is_dir():
                shutil.rmtree(self.path / name)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the system says when it cannot write into an error that names the index."""
        try:
            yield
        except BrokenPipeError:
            raise  # of ``on_wait``, which writes to the user and not to the index
        except OSError as error:
            from quire.write.atomic_file import remedy  # noqa: PLC0415  most uses write nothing

            problem = error.strerror or str(error)
            raise StoreError(str(self.path), f"cannot be written: {problem}", remedy(error.errno)) from error


def another(version: int | None) -> str:
    """Another version of quire, as the user is told of it."""
    return f"another version of quire (index version {version}, this one has {VERSION})"


def _number(generation: Path) -> int:
    return int(generation.name.partition("-")[2])


def _version_in(data: bytes) -> int | None:
    try:
        return msgspec.json.decode(data, type=_Versioned).version
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _say_who(descriptor: int) -> None:
    """Write down who holds the lock. From the second byte on: Windows lets nobody read the one that is locked."""
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    from socket import gethostname  # noqa: PLC0415  a search that finds nothing changed takes no lock

    os.write(descriptor, f" process {os.getpid()} on {gethostname()} (since {since})".encode())


def _who(descriptor: int) -> str:
    try:
        os.lseek(descriptor, 1, os.SEEK_SET)
        said = os.read(descriptor, 400).decode(errors="replace").strip()
    except OSError:
        said = ""
    return said or "another process"
