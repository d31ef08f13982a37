"""One file, replaced whole or not at all. Used by jsonl.py, parquet.py, journal.py, ``quire migrate`` and the index.

What is written goes to a hidden file beside the target, to the disk, and takes the target's place in one step. What a
killed run left there is removed by the next one; a lock tells it from what another run is writing just now. A pipe, a
device and what is open already (``/dev/stdout``) are written to as they are.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from quire.errors import QuireError
from quire.write.lock import is_still, try_lock

_MARK = ".quire-tmp-"
_KEPT = 120
"""How much of the target's name is in that of the file beside it, so that both fit."""
_MOST_LINKS = 40
"""How many links may lead to one another, as on Linux."""


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """A stream whose content takes the place of ``target`` at the end; on an error ``target`` stays as it was."""
    descriptor = _descriptor(target)
    mode = None if descriptor is not None else _mode(target)
    if descriptor is not None:
        with os.fdopen(os.dup(descriptor), "wb") as stream:  # at its position, behind what others wrote there
            yield stream
    elif mode is not None and not stat.S_ISREG(mode):
        with _device(target, mode) as stream:
            yield stream
    else:
        with _beside(Path(os.path.realpath(target)), mode) as stream:
            yield stream


def _mode(target: Path) -> int | None:
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _descriptor(target: Path) -> int | None:
    """The open descriptor that ``target`` names, or leads to: ``/dev/stdout``, ``/dev/fd/63``, ``/proc/self/fd/1``.

    Links are followed one by one: all of them at once would lead to the file that is open, or to no file at all.
    """
    if os.name == "nt":
        return None
    open_ones = {os.path.realpath(each) for each in ("/dev/fd", "/proc/self/fd", "/proc/thread-self/fd")}
    path = os.fspath(target)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(path)
        if name.isdecimal() and os.path.realpath(folder) in open_ones:
            return int(name)
        if not os.path.islink(path):  # noqa: PTH114  Path's fails where a folder cannot be entered
            break
        path = os.path.join(folder, os.readlink(path))  # noqa: PTH115, PTH118
    return None


@contextmanager
def _device(target: Path, mode: int) -> Iterator[BinaryIO]:
    """A pipe, a terminal, ``/dev/null``: there is nothing to replace, so it is written to."""
    if stat.S_ISDIR(mode):
        raise QuireError(f"{target}: is a folder", "name a file to write to")
    with target.open("wb") as stream:
        yield stream


@contextmanager
def _beside(target: Path, mode: int | None) -> Iterator[BinaryIO]:
    sweep(target)
    is_locked = False
    while not is_locked:
        file = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}")
        try:  # before the file is created: Ctrl-C may come right after that
            with file.open("xb") as stream:
                is_locked = try_lock(stream.fileno()) and is_still(file, stream.fileno())
                if not is_locked:
                    continue  # another run takes it for a leftover and removes it
                yield stream
                stream.flush()
                if mode is not None:
                    file.chmod(stat.S_IMODE(mode))
                os.fsync(stream.fileno())
            file.replace(target)
        except BaseException:
            file.unlink(missing_ok=True)
            raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in ``folder`` on the disk, where the system can do that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some file systems do not offer it
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prefix(target: Path) -> str:
    return f".{target.name[:_KEPT].encode(errors='ignore')[:_KEPT].decode(errors='ignore')}{_MARK}"


def sweep(target: Path) -> None:
    """Remove what killed runs left beside ``target``; each run that replaces it does so, too."""
    prefix = _prefix(target)
    with contextlib.suppress(OSError):
        for entry in os.scandir(target.parent):
            if entry.name.startswith(prefix) and entry.is_file(follow_symlinks=False):
                _remove_if_dead(Path(entry.path))


def _remove_if_dead(file: Path) -> None:
    with contextlib.suppress(OSError), file.open("r+b") as stream:
        if try_lock(stream.fileno()):
            file.unlink()
