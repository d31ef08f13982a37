"""Changes the folder of an index: the lock, new generations, and the switch to another generation."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import gethostname

import msgspec

from quire.errors import BusyError, StoreError
from quire.index.engine.damage import CHECKED
from quire.index.file_records import VERSION, Tree
from quire.index.folder import CURRENT, IGNORE, LOCK, Folder, Pointer, generation_number
from quire.write import atomic_file
from quire.write.atomic_file import remedy
from quire.write.lock import Busy, OnWait, acquired


@contextmanager
def locked(folder: Folder, patience: float, on_wait: OnWait | None = None) -> Iterator[bool]:
    """Hold the lock; yields whether another process held it first."""
    with explained(folder):
        _create(folder)
        descriptor, waited = acquired(
            folder.path / LOCK, lambda file: _busy(folder, file), patience=patience, on_wait=on_wait
        )
    try:
        with explained(folder):
            _write_holder(descriptor)
        yield waited
    finally:
        os.close(descriptor)  # which releases the lock


def new_generation(folder: Folder) -> Path:
    """The path of a new generation, which does not exist yet."""
    return folder.path / f"index-{max(map(generation_number, folder.generations()), default=0) + 1}"


def point_to(folder: Folder, generation: Path, trees: dict[str, Tree]) -> None:
    """Make a generation the current one."""
    pointer = Pointer(generation=generation.name, version=VERSION, trees=trees)
    with explained(folder), atomic_file.replacing(folder.path / CURRENT) as stream:
        stream.write(msgspec.json.encode(pointer))


def sweep(folder: Folder) -> None:
    """Remove what killed updates left, and generations that are no longer current."""
    atomic_file.sweep(folder.path / CURRENT)
    try:
        current = folder.current()
    except StoreError:
        return  # the update will create a new generation
    for path in folder.generations():
        if path != current:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def explained(folder: Folder) -> Iterator[None]:
    """Turn errors of the system while writing into errors that name the index."""
    try:
        yield
    except BrokenPipeError:
        raise  # from ``on_wait``, which writes to the user
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise StoreError(str(folder.path), problem, remedy(error.errno)) from error


def _create(folder: Folder) -> None:
    folder.path.mkdir(parents=True, exist_ok=True)
    for name in (LOCK, CURRENT, CHECKED, IGNORE):
        if (folder.path / name).is_dir():  # a folder in place of a file
            shutil.rmtree(folder.path / name)
    ignore = folder.path / IGNORE
    if not ignore.exists() or ignore.stat().st_size == 0:  # a full disk leaves an empty file
        ignore.write_bytes(b"*\n")


def _busy(folder: Folder, descriptor: int) -> Busy:
    holder = _read_holder(descriptor)
    return Busy(
        f"{folder.path}: waiting for {holder}, which is updating the index",
        BusyError(str(folder.path), f"{holder} is updating the index", "wait for it and run again"),
    )


def _write_holder(descriptor: int) -> None:
    """Write who holds the lock, after the first byte: on Windows nobody can read the locked byte."""
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, f" process {os.getpid()} on {gethostname()} (since {since})".encode())


def _read_holder(descriptor: int) -> str:
    try:
        os.lseek(descriptor, 1, os.SEEK_SET)
        return os.read(descriptor, 400).decode(errors="replace").strip() or "another process"
    except OSError:
        return "another process"
