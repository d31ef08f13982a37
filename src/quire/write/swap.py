"""All changes in a folder at once: a copy with the changes is built beside it, and both change places in one step.

The copy is made of hard links, so nothing but the new files is written. At no moment does anybody see a document half
old and half new, and a run may be killed at any of them. Where this cannot be had (``CannotSwapError``), journal.py
does it in another way.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from quire.write.atomic import sync_folder
from quire.write.changes import Change
from quire.write.names import STAGE

_EXCHANGE_CALL = "renamex_np" if sys.platform == "darwin" else "renameat2"
_EXCHANGE = 2
_AT_FDCWD = -100
_ROOM = re.compile(r"[a-z0-9_]{8}")
"""What follows the prefix in the name of a temporary folder; earlier versions used more than hexadecimal digits."""
_COPY = "new"


class CannotSwapError(Exception):
    """Folders cannot change places here; nothing has been changed."""


def swap(out: Path, root: str, changes: Sequence[Change], stage: Path) -> None:
    """Carry out ``changes``, all inside the folder ``root`` of ``out``, in one step. The stage is on the disk."""
    target = out / root if root else out
    if out.parent == out or _holds_us(target) or _library_function(_EXCHANGE_CALL) is None:
        raise CannotSwapError
    replaced = frozenset(name for change in changes for name in change.files)
    with _room_beside(out) as room:
        copy = room / _COPY
        try:
            _build(out, root, copy, replaced)
            _add(root, copy, changes, stage)
            _change_places(copy, target)
        except OSError as error:
            raise CannotSwapError from error
        sync_folder(target.parent)
        _keep_late(copy, target, f"{root}/" if root else "", replaced)


def sweep(out: Path) -> None:
    """Remove what killed runs left beside ``out``."""
    prefix = _prefix(out)
    with contextlib.suppress(OSError):
        for entry in os.scandir(out.parent):
            is_named_so = entry.name.startswith(prefix) and _ROOM.fullmatch(entry.name, len(prefix))
            if is_named_so and entry.is_dir(follow_symlinks=False) and _holds_only_a_copy(Path(entry.path)):
                _discard(entry.path)


def _discard(room: str) -> None:
    """Remove a folder with all in it, also what is in folders that may not be written to."""
    shutil.rmtree(room, ignore_errors=True)
    for at, folders, _ in os.walk(room):
        for inner in (os.path.join(at, name) for name in folders):  # noqa: PTH118
            if not os.path.islink(inner):  # noqa: PTH114
                with contextlib.suppress(OSError):
                    os.chmod(inner, stat.S_IRWXU)  # noqa: PTH101
    shutil.rmtree(room, ignore_errors=True)


def _holds_only_a_copy(room: Path) -> bool:
    return all(each.name == _COPY for each in room.iterdir())


def sync(folder: Path) -> None:
    """Have all that was written to the file system of ``folder`` on the disk; one call for any number of files."""
    syncfs = _library_function("syncfs")
    if syncfs is None:
        getattr(os, "sync", lambda: None)()
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        syncfs(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _room_beside(out: Path) -> Iterator[Path]:
    """A folder beside ``out``, on the same file system, for as long as it takes."""
    room = out.parent / f"{_prefix(out)}{secrets.token_hex(4)}"
    try:  # before the folder is made: Ctrl-C may come right after that
        try:
            room.mkdir(stat.S_IRWXU)
        except OSError as error:
            raise CannotSwapError from error
        yield room
    finally:
        _discard(str(room))


def _prefix(out: Path) -> str:
    return f".{out.name}.quire-"


def _holds_us(folder: Path) -> bool:
    """Whether this process is inside ``folder``, and with it the shell that started it: they would be left behind."""
    try:
        return Path.cwd().is_relative_to(folder)
    except OSError:
        return False


def _build(out: Path, root: str, copy: Path, replaced: AbstractSet[str]) -> None:
    """The folder ``root`` of ``out`` once more, of hard links, without the stage and the files in ``replaced``."""
    copy.mkdir()
    folders = [root] if (out / root).is_dir() else []
    for folder in folders:  # which grows on the way
        made = copy / _inside(folder, root)
        made.mkdir(exist_ok=True)
        if (out / folder).stat().st_dev != copy.stat().st_dev:
            raise OSError(errno.EXDEV, "another file system", folder)
        folders += _link_files(out, folder, made, replaced)
    for folder in reversed(folders):
        _take_after(copy / _inside(folder, root), out / folder)


def _link_files(out: Path, folder: str, made: Path, replaced: AbstractSet[str]) -> list[str]:
    """Link the files of ``folder`` into ``made``; the result is the folders in it."""
    below: list[str] = []
    with os.scandir(out / folder) as entries:
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                below += [name] if name != STAGE else []
            elif name not in replaced:
                os.link(entry.path, made / entry.name, follow_symlinks=False)
    return below


def _inside(folder: str, root: str) -> str:
    return folder[len(root) :].removeprefix("/")


def _take_after(copy: Path, source: Path) -> None:
    """Give ``copy`` the owner, the permissions and the other attributes of ``source``."""
    wanted, made = source.stat(), copy.stat()
    if (wanted.st_uid, wanted.st_gid) != (made.st_uid, made.st_gid):
        os.chown(copy, wanted.st_uid, wanted.st_gid)
    shutil.copystat(source, copy)


def _add(root: str, copy: Path, changes: Sequence[Change], stage: Path) -> None:
    for change in changes:
        folder = copy / _inside(change.place.folder, root)
        folder.mkdir(parents=True, exist_ok=True)
        for staged, name in change.staged:
            os.link(stage / staged, folder / name)
        os.utime(folder)


def _change_places(copy: Path, target: Path) -> None:
    """Put ``copy`` where ``target`` is; what was there, if anything, is then where ``copy`` was."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        copy.rename(target)
        return
    one, other = os.fsencode(copy), os.fsencode(target)
    arguments = (one, other, _EXCHANGE) if sys.platform == "darwin" else (_AT_FDCWD, one, _AT_FDCWD, other, _EXCHANGE)
    if _library_function(_EXCHANGE_CALL)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))


@cache
def _library_function(name: str) -> Any:
    """A function of the C library, or None where there is none of this name."""
    if sys.platform == "win32":
        return None
    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):
        return None


def _keep_late(old: Path, target: Path, before: str, replaced: AbstractSet[str]) -> None:
    """Bring over what others have put into the old folder since it was copied."""
    for folder, folders, names in os.walk(old):
        inside = folder[len(str(old)) + 1 :]
        inside = f"{inside}/" if inside else ""
        folders[:] = [name for name in folders if before + inside + name != STAGE]
        for name in names:
            if before + inside + name not in replaced and not _is_one(Path(folder, name), target / inside / name):
                (target / inside).mkdir(parents=True, exist_ok=True)
                Path(folder, name).replace(target / inside / name)


def _is_one(first: Path, second: Path) -> bool:
    try:
        return os.path.samestat(first.lstat(), second.lstat())
    except OSError:
        return False
