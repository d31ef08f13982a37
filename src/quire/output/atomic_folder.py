"""Put the new files of a run in place: each document is either old or new, also if the run is killed.

A copy of the folder is built from hard links, with the changes, and exchanged with the folder in one step. Where the
system cannot do that, files are renamed one by one: an error is undone, but a kill may leave one document mixed until
the next run writes it. decisions/files.md explains the choice.
"""

import contextlib
import ctypes
import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from quire.output.atomic_file import sync_folder

STATE = ".quire"  # the folder in the output folder for files that are not output
STAGE = f"{STATE}/stage"  # new files until all of them are written
README = f"{STATE}/README"  # explains the folder to people. If it exists, the folder may be replaced as a whole.
_EXCHANGE = 2  # the flag of the system call that exchanges two names, on Linux and on macOS
_AT_FDCWD = -100
_COPY = "new"


class Change(NamedTuple):
    """New files for one document."""

    document: str  # its name in messages
    folder: str  # the folder of its files, relative to the output folder
    staged: Mapping[str, str]  # the names of its new files, each with its name in the stage
    old: tuple[str, ...]  # the names of its existing files


def put_in_place(out: Path, changes: Sequence[Change]) -> list[tuple[Change, OSError]]:
    """Carry out ``changes``, whose new files are in the stage; return those that failed, which changed nothing."""
    if not changes:
        return []
    if hasattr(os, "sync"):  # no name must ever refer to a file that is not on the disk; without it, each is synced
        os.sync()
    return [] if (out / README).exists() and _exchange_folder(out, changes) else _rename_files(out, changes)


def remove_leftovers(out: Path) -> None:
    """Remove what killed runs left in ``out`` and beside it."""
    shutil.rmtree(out / STAGE, ignore_errors=True)
    _remove_copy(_beside(out))


def _beside(out: Path) -> Path:
    """The folder for the copy, on the same file system as ``out``. The lock on ``out`` is a lock on it, too."""
    return out.parent / f".{out.name}.quire-swap"


def _exchange_folder(out: Path, changes: Sequence[Change]) -> bool:
    """Carry out all changes in one step; False if that is impossible here, and then nothing has changed."""
    root = os.path.commonpath([f"/{change.folder}" for change in changes])[1:]
    target, copy = out / root, _beside(out) / _COPY
    replaced = {out / change.folder / name for change in changes for name in (*change.old, *change.staged)}
    try:  # starts before the folder exists: Ctrl-C may come right after that
        try:
            if sys.platform == "win32" or Path.cwd().is_relative_to(target):
                return False  # Windows cannot do it; the shell that started quire would stay in the old folder
            copy.parent.mkdir(stat.S_IRWXU)
            _link_files(out, target, copy, replaced)
            for change in changes:
                folder = copy / (out / change.folder).relative_to(target)
                folder.mkdir(parents=True, exist_ok=True)
                for name, staged in change.staged.items():
                    os.link(out / STAGE / staged, folder / name)
            _exchange(copy, target)
        except (OSError, AttributeError):  # the C library may be too old
            return False
        sync_folder(target.parent)
        _keep_late_files(copy, target, replaced | {out / STAGE})
    finally:
        _remove_copy(copy.parent)
    return True


def _link_files(out: Path, source: Path, copy: Path, replaced: AbstractSet[Path]) -> None:
    """Copy the folder ``source`` as hard links, without the files in ``replaced`` and without the stage."""
    expected = copy.parent.stat()

    def ignored(folder: str, names: list[str]) -> list[str]:
        status = Path(folder).stat()
        if any(getattr(status, name) != getattr(expected, name) for name in ("st_uid", "st_gid", "st_dev")):
            raise OSError(errno.EXDEV, "another owner or file system", folder)
        paths = [(name, Path(folder, name)) for name in names]
        return [name for name, path in paths if path == out / STAGE or (path in replaced and not path.is_dir())]

    if source.exists():
        shutil.copytree(source, copy, symlinks=True, ignore=ignored, copy_function=os.link)
    else:
        copy.mkdir()


def _exchange(copy: Path, target: Path) -> None:
    """Exchange two folders; if there is no ``target``, move ``copy`` there."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        copy.rename(target)
        return
    one, other = os.fsencode(copy), os.fsencode(target)
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        result = library.renamex_np(one, other, _EXCHANGE)
    else:
        result = library.renameat2(_AT_FDCWD, one, _AT_FDCWD, other, _EXCHANGE)
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(target))


def _keep_late_files(old: Path, target: Path, skipped: AbstractSet[Path]) -> None:
    """Move files that others wrote to the old folder after it was copied."""
    for at, folders, names in os.walk(old):
        folder = target / Path(at).relative_to(old)
        folders[:] = [name for name in folders if folder / name not in skipped]
        for name in names:
            one, other = Path(at, name), folder / name
            is_same = os.path.lexists(other) and os.path.samestat(one.lstat(), other.lstat())
            if other not in skipped and not is_same:
                folder.mkdir(parents=True, exist_ok=True)
                one.replace(other)


def _remove_copy(beside: Path) -> None:
    """Remove the folder of the copy, also if folders in it are write-protected; if others use its name, leave it."""
    with contextlib.suppress(OSError):
        if beside.is_symlink() or any(entry.name != _COPY for entry in beside.iterdir()):
            return
        for at, folders, _ in os.walk(beside):
            for folder in (Path(at, name) for name in folders):
                if not folder.is_symlink():
                    folder.chmod(stat.S_IRWXU)
        shutil.rmtree(beside)


def _rename_files(out: Path, changes: Sequence[Change]) -> list[tuple[Change, OSError]]:
    """Carry out changes file by file. An error, and Ctrl-C, undoes its own change."""
    failed: list[tuple[Change, OSError]] = []
    for number, change in enumerate(changes):
        try:
            with ExitStack() as undo:
                (out / change.folder).mkdir(parents=True, exist_ok=True)
                for source, target in _moves(out / STAGE / f"{number}.old.", out / change.folder, change):
                    undo.callback(_move_back, source, target)
                    source.replace(target)
                undo.pop_all()
        except OSError as error:
            failed.append((change, error))
    for folder in {change.folder for change in changes}:
        sync_folder(out / folder)
    return failed


def _moves(aside: Path, folder: Path, change: Change) -> Iterator[tuple[Path, Path]]:
    for number, name in enumerate({**change.staged, **dict.fromkeys(change.old)}):
        path = folder / name
        if name in change.old and path.is_file() and not path.is_symlink():  # anything else was put there by others
            yield path, aside.with_name(f"{aside.name}{number}")
        if name in change.staged:
            yield aside.with_name(change.staged[name]), path


def _move_back(source: Path, target: Path) -> None:
    if not source.exists():
        target.replace(source)
