"""One file, replaced whole or not at all. Used by jsonl.py, parquet.py, journal.py, ``quire migrate`` and the index.

What is written goes to a hidden file beside the target, to the disk, and takes the target's place in one step. What a
killed run left there is removed by the next one; a lock tells it from what another run is writing just now.
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


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """A stream whose content takes the place of ``target`` at the end; on an error ``target`` stays as it was."""
    target = Path(os.path.realpath(target))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with _device(target, mode) as stream:
            yield stream
        return
    with _beside(target, mode) as stream:
        yield stream


@contextmanager
def _device(target: Path, mode: int) -> Iterator[BinaryIO]:
    """A pipe, a terminal, ``/dev/null``: there is nothing to replace, so it is written to."""
    if stat.S_ISDIR(mode):
        raise QuireError(f"{target}: is a folder; name a file to write to")
    with target.open("wb") as stream:
        yield stream


@contextmanager
def _beside(target: Path, mode: int | None) -> Iterator[BinaryIO]:
    sweep(target)
    file, stream = _new_beside(target)
    try:
        with stream:
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


def _new_beside(target: Path) -> tuple[Path, BinaryIO]:
    """A new file beside ``target``, locked so that no other run takes it for a leftover."""
    while True:
        file = target.with_name(f"{_prefix(target)}{secrets.token_hex(6)}")
        stream = file.open("xb")
        if try_lock(stream.fileno()) and is_still(file, stream.fileno()):
            return file, stream
        stream.close()  # another run was quicker than the lock


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


@contextmanager
def explained(target: Path) -> Iterator[None]:
    """Turn what the system says when it cannot write into an error that names the target."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        problem = error.strerror or str(error)
        place = error.filename if isinstance(error.filename, str) else target
        raise QuireError(
            f"{place}: cannot be written: {problem}; make room or choose another place, then run again"
        ) from error
