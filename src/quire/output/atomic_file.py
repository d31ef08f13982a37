"""Replace one file as a whole or not at all, and explain why a file cannot be written.

New content is written to a hidden file beside the target, synced, and renamed over the target. The next run removes the
hidden files of killed runs; a lock distinguishes them from those of a run in progress.
"""

import contextlib
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from quire.errors import QuireError
from quire.model.patterns import pattern
from quire.output.lock import is_still, try_lock

_OPEN_FILE = pattern(r"/(?:dev|proc/self)/fd/(\d+)")
_HIDDEN = pattern(r"(?:^|[/\\])\.[^/\\]*quire")
_STANDARD_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
REMEDY = "free some space, correct the permissions, or choose another name or folder"


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """``replacing`` that makes the folder and explains errors."""
    with os_errors_as_quire_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as stream:
            yield stream


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """A stream whose content replaces ``target`` at the end; after an error ``target`` is unchanged."""
    path = os.path.abspath(target)  # noqa: PTH100  Path's follows links
    match = _OPEN_FILE.fullmatch(path)
    descriptor = int(match[1]) if match else _STANDARD_STREAMS.get(path)
    if descriptor is not None:
        with os.fdopen(os.dup(descriptor), "wb") as stream:  # continues at its position
            yield stream
        return
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise QuireError(f"{target}: is a folder", "name a file to write to")
    is_file = mode is None or stat.S_ISREG(mode)
    with _beside(Path(os.path.realpath(target)), mode) if is_file else target.open("wb") as stream:
        yield stream


@contextmanager
def _beside(target: Path, mode: int | None) -> Iterator[BinaryIO]:
    sweep(target)
    is_locked = False
    while not is_locked:
        file = target.with_name(f"{_prefix(target)}{os.urandom(8).hex()}")
        try:  # starts before the file exists: Ctrl-C may come right after that
            with file.open("xb") as stream:
                is_locked = try_lock(stream.fileno()) and is_still(file, stream.fileno())
                if not is_locked:
                    continue  # another run is removing it as a leftover
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
    """Sync the names in ``folder`` to the disk, if the system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _prefix(target: Path) -> str:
    """The start of the names of the hidden files; with a checksum, because the target's own name may be too long."""
    return f".quire-tmp-{zlib.crc32(os.fsencode(target.name)):08x}-"


def sweep(target: Path) -> None:
    """Remove the hidden files that killed runs left beside ``target``."""
    prefix = _prefix(target)
    with contextlib.suppress(OSError):
        for entry in os.scandir(target.parent):
            if entry.name.startswith(prefix) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError), Path(entry.path).open("r+b") as stream:
                    if try_lock(stream.fileno()):
                        Path(entry.path).unlink()


@contextmanager
def os_errors_as_quire_errors(target: Path) -> Iterator[None]:
    """Turn an OSError into a QuireError that names the file and says what to do."""
    try:
        with contextlib.suppress(OSError):
            os.lstat(target)
    except ValueError as error:  # NUL, or a character that names cannot have on this system
        raise QuireError(f"{str(target)!r}: cannot be written: {error}", "choose another name") from error
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise explanation(error, target) from error


def explanation(error: OSError, target: Path) -> QuireError:
    """The error for the file or folder that the system names, or for ``target`` if quire hides that one."""
    names = (error.filename, error.filename2)
    shown = next((name for name in names if isinstance(name, str) and not _HIDDEN.search(name)), target)
    return QuireError(f"{shown}: cannot be written: {error.strerror or error}", REMEDY)
