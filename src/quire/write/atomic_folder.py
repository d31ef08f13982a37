"""Put the new files of a run in place: each document is either old or new, also if the run is killed.

If possible, ``_exchange_folder`` does it in one step: it builds a copy of the folder from hard links, with the changes,
and exchanges the copy and the folder. Otherwise files are renamed one by one. A journal says beforehand what is to be
done, and the next run, or ``recover``, completes what a killed run began. decisions/files.md explains the choice.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from quire.errors import QuireError
from quire.write.atomic_file import replacing, sync_folder
from quire.write.existing_files import obstacle
from quire.write.file_names import JOURNAL, README, STAGE, STATE, Place, folder_name, split_name

_EXCHANGE = 2
"""The flag of the system call that exchanges two names, on Linux and on macOS."""
_AT_FDCWD = -100
_COPY = "new"


class Change(NamedTuple):
    """New files for one document. The journal has one per line, as JSON."""

    place: Place
    number: int
    """The document's number in the stage."""
    chunks: tuple[int, ...]
    """The numbers of its new chunks."""
    old: tuple[str, ...]
    """The names of its existing files."""

    @property
    def staged(self) -> list[tuple[str, str]]:
        """The name in the stage and the final name of each new file."""
        return [(staged_name(self.number, index), self.place.file(index)) for index in self.chunks]

    @property
    def files(self) -> list[str]:
        """The names of all its files, existing and new."""
        return [*self.old, *(name for _, name in self.staged)]

    @property
    def removed(self) -> list[str]:
        """The existing files that no new one replaces."""
        new = {self.place.file(index) for index in self.chunks}
        return [name for name in self.old if name not in new]


def staged_name(document: int, chunk: int) -> str:
    """The name of a file in the stage; it does not end in ``.json``, so nobody mistakes it for output."""
    return f"{document}.{chunk}"


def put_in_place(out: Path, changes: Sequence[Change]) -> list[tuple[Change, OSError]]:
    """Carry out ``changes``, whose new files are in the stage; return those that failed, which changed nothing."""
    if not changes:
        return []
    sync()  # no name must ever refer to a file that is not on the disk
    if (out / README).exists() and _exchange_folder(out, changes):
        return []
    with replacing(out / JOURNAL) as stream:
        stream.writelines(json.dumps(change).encode() + b"\n" for change in changes)
    outcomes = [(change, _rename_files(out, change)) for change in changes]
    _close_journal(out, (change for change, error in outcomes if error is None))
    return [(change, error) for change, error in outcomes if error is not None]


def sync() -> None:
    """Sync all files to the disk: one call for any number of files."""
    if hasattr(os, "sync"):  # without it, each file is synced when it is written
        os.sync()


def complete(out: Path) -> int:
    """Complete or remove what killed runs left; return the number of documents that were completed."""
    journal, changes = out / JOURNAL, []
    if journal.exists():
        changes = [_change(out, line) for line in journal.read_bytes().splitlines()]
        for change in changes:
            error = _rename_files(out, change)
            if error is not None:
                raise error
        _close_journal(out, changes)
    shutil.rmtree(out / STAGE, ignore_errors=True)
    _remove_copy(_beside(out))
    return len(changes)


def _beside(out: Path) -> Path:
    """The folder for the copy, on the same file system as ``out``. The lock on ``out`` is a lock on it, too."""
    return out.parent / f".{out.name}.quire-swap"


def _exchange_folder(out: Path, changes: Sequence[Change]) -> bool:
    """Carry out all changes in one step; False if that is impossible here, and then nothing has changed."""
    root = os.path.commonpath([f"/{change.place.folder}" for change in changes])[1:]
    target, copy = out / root, _beside(out) / _COPY
    replaced = {out / change.place.folder / name for change in changes for name in change.files}
    try:  # starts before the folder exists: Ctrl-C may come right after that
        try:
            if sys.platform == "win32" or Path.cwd().is_relative_to(target):
                return False  # Windows cannot do it; the shell that started quire would stay in the old folder
            copy.parent.mkdir(stat.S_IRWXU)
            _link_files(out, target, copy, replaced)
            for change in changes:
                folder = copy / (out / change.place.folder).relative_to(target)
                folder.mkdir(parents=True, exist_ok=True)
                for staged, name in change.staged:
                    os.link(out / STAGE / staged, folder / name)
            _exchange(copy, target)
        except OSError:
            return False
        sync_folder(target.parent)
        _keep_late_files(copy, target, replaced | {out / STAGE})
    finally:
        _remove_copy(copy.parent)
    return True


def _link_files(out: Path, source: Path, copy: Path, replaced: AbstractSet[Path]) -> None:
    """Copy the folder ``source`` as hard links, without the files in ``replaced`` and without the stage."""
    expected = _owner_and_device(copy.parent)

    def ignored(folder: str, names: list[str]) -> list[str]:
        if _owner_and_device(folder) != expected:
            raise OSError(errno.EXDEV, "another owner or file system", folder)
        paths = [(name, Path(folder, name)) for name in names]
        return [name for name, path in paths if path == out / STAGE or (path in replaced and not path.is_dir())]

    if source.exists():
        shutil.copytree(source, copy, symlinks=True, ignore=ignored, copy_function=os.link)
    else:
        copy.mkdir()


def _owner_and_device(folder: Path | str) -> tuple[int, int, int]:
    found = os.stat(folder)  # noqa: PTH116  either type
    return found.st_uid, found.st_gid, found.st_dev


def _exchange(copy: Path, target: Path) -> None:
    """Exchange two folders; if there is no ``target``, move ``copy`` there."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        copy.rename(target)
        return
    one, other = os.fsencode(copy), os.fsencode(target)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            result = library.renamex_np(one, other, _EXCHANGE)
        else:
            result = library.renameat2(_AT_FDCWD, one, _AT_FDCWD, other, _EXCHANGE)
    except AttributeError as error:  # the C library is too old
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(target))


def _keep_late_files(old: Path, target: Path, skipped: AbstractSet[Path]) -> None:
    """Move files that others wrote to the old folder after it was copied."""
    for at, folders, names in os.walk(old):
        folder = target / Path(at).relative_to(old)
        folders[:] = [name for name in folders if folder / name not in skipped]
        for name in names:
            if folder / name not in skipped and not _is_same(Path(at, name), folder / name):
                folder.mkdir(parents=True, exist_ok=True)
                Path(at, name).replace(folder / name)


def _is_same(first: Path, second: Path) -> bool:
    try:
        return os.path.samestat(first.lstat(), second.lstat())
    except OSError:
        return False


def _remove_copy(beside: Path) -> None:
    """Remove the folder of the copy, also if folders in it are write-protected; if others use its name, leave it."""
    with contextlib.suppress(OSError):
        if beside.is_symlink() or any(each.name != _COPY for each in beside.iterdir()):
            return
        for at, folders, _ in os.walk(beside):
            for folder in (Path(at, name) for name in folders):
                if not folder.is_symlink():
                    folder.chmod(stat.S_IRWXU)
        shutil.rmtree(beside)


def _rename_files(out: Path, change: Change) -> OSError | None:
    """Carry out a change from the point where it was left; after an error, which is returned, undo it."""
    done: list[tuple[Path, Path]] = []
    try:
        (out / change.place.folder).mkdir(parents=True, exist_ok=True)
        for source, target in _moves(out / STAGE, out / change.place.folder, change):
            source.replace(target)
            done.append((source, target))
    except OSError as error:
        for source, target in reversed(done):
            target.replace(source)
        return error
    return None


def _moves(stage: Path, folder: Path, change: Change) -> Iterator[tuple[Path, Path]]:
    """The renames that are left: existing files to the stage, new files to their places."""
    for staged, name in change.staged:
        if (stage / staged).exists():
            if name in change.old and _is_file(folder / name):
                yield folder / name, stage / f"{staged}.old"
            yield stage / staged, folder / name
    for number, name in enumerate(change.removed):
        if _is_file(folder / name):
            yield folder / name, stage / f"{change.number}.{number}.removed"


def _is_file(path: Path) -> bool:
    """Whether this is a file that quire may replace; anything else was put there by others."""
    return path.is_file() and not path.is_symlink()


def _close_journal(out: Path, changes: Iterable[Change]) -> None:
    for folder in {change.place.folder for change in changes}:
        sync_folder(out / folder)
    (out / JOURNAL).unlink()


def _change(out: Path, line: bytes) -> Change:
    """A line of the journal. The folder may come from anywhere, so names must not lead out of it."""
    try:
        (folder, stem), number, chunks, old = json.loads(line)
        change = Change(Place(folder, stem), number, tuple(chunks), tuple(old))
        is_valid = (
            all(type(each) is int for each in (number, *chunks))
            and all(part == folder_name(part) != "" for part in (folder.split("/") if folder else []))
            and all(split_name(name) and not {"/", "\0"} & set(name) for name in change.files)
            and obstacle(out, folder) is None
        )
    except (TypeError, ValueError, AttributeError):
        is_valid = False
    if not is_valid:
        problem = f"{out / JOURNAL}: is damaged, so what a killed run began cannot be completed"
        raise QuireError(problem, f"remove {out / STATE}")
    return change
