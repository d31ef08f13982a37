"""Which files of a tree have changed since they were indexed.

A file with the same size and times is not opened, unless it was written so shortly before it was read that a later edit
may have left the same times (git calls this racily clean). Any other file is hashed: if its bytes are the same, only
its times are updated. Folders with the same times are not listed again, by the same rule.
"""

import os
import time
from _blake2 import blake2b  # hashlib loads OpenSSL, and most updates hash nothing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from quire.index.file_records import FileRecord, FileTable, FolderTimes, TreeRecord, storable
from quire.model import Finding
from quire.read.discover import Walk


class Task(msgspec.Struct, frozen=True, array_like=True):
    """A file to read."""

    file: bytes  # the path to open, as the system encodes it
    record: FileRecord  # its tree, path, size and times


class StaleFiles(msgspec.Struct, kw_only=True):
    """How the files on disk differ from the index."""

    tasks: list[Task] = []
    removed: Sequence[str] = ()  # document ids
    refreshed: list[FileRecord] = []  # the same content with other times, or no longer racy
    touched: int = 0  # how many of them have other times; the rest is not worth a commit
    unchanged: int = 0  # without the files that cannot be read
    failed: list[Finding] = []  # files that are known to be unreadable
    folders: dict[str, FolderTimes] = {}  # of the trees that were listed

    def __bool__(self) -> bool:
        return bool(self.tasks or self.removed or self.touched)


def stale_files(
    home: Path, trees: Mapping[str, TreeRecord], records: FileTable, listed: Callable[[str], FolderTimes] | None = None
) -> StaleFiles:
    """Compare the files of some trees with their records; the folders of trees are relative to ``home``.

    ``listed`` returns the folders of a tree as they were when all its files got records. If they are the same, they are
    not listed again.
    """
    stale = StaleFiles()
    untouched: set[str] = set()  # the ids of nearly all documents
    seen: set[str] = set()  # those of the others
    for name, tree in trees.items():
        top, now = str(home / os.fsdecode(tree.folder)), time.time_ns()
        before = {} if listed is None else listed(name)
        times = _folder_times(before)
        is_known = partial(_is_untouched, f"{name}:", records, untouched)
        others = _others(top, name, records, is_known) if before and times == before else None
        if others is None:
            hidden: Literal["known", False] = "known" if tree.reading.hidden else False
            walk = Walk(top, tree.include, tree.exclude, hidden=hidden, is_known=is_known)
            errors = sorted(skipped for skipped in walk.skipped if skipped.is_error)
            stale.failed += [
                Finding(code="unreadable", path=error.path, line=0, message=error.reason) for error in errors
            ]
            watched = [os.fsencode(path) for path in walk.watched]
            times |= _folder_times(path for path in watched if path not in times)
            is_sure = not errors and not _is_racy(max(map(max, times.values()), default=now), now)
            stale.folders[name] = {path: times[path] for path in watched if path in times} if is_sure else {}
            others = list(zip(walk.paths, walk.files, strict=True))
        for path, file in sorted(others):
            current = _current_record(file, name, storable(path))
            if current is not None:  # else it was deleted since it was found
                is_seen = (document_id := current.id) in seen or document_id in untouched
                _compare(stale, file, current, records.get(document_id), is_seen=is_seen)
                seen.add(document_id)
    stale.unchanged += len(untouched)
    if len(untouched) < len(records):
        gone = records.keys() - untouched - seen
        stale.removed = sorted(document_id for document_id in gone if records[document_id].tree in trees)
    return stale


def _others(
    top: str, tree: str, records: FileTable, is_known: Callable[[str, str], bool]
) -> list[tuple[str, str]] | None:
    """The paths and files of documents that may have changed; None if one is missing, or has another name on disk."""
    files = [(record.path, f"{top}/{record.path}") for record in records.values() if record.tree == tree]
    others = [file for file in files if not is_known(*file)]
    return others if all(os.path.lexists(file) for _, file in others) else None


def _compare(stale: StaleFiles, file: str, current: FileRecord, old: FileRecord | None, *, is_seen: bool) -> None:
    """Add one file to the list it belongs to."""
    is_touched = old is None or _times(current) != _times(old)
    if is_seen:
        message = f"another file has the id {current.id} too; rename one"
        stale.failed.append(Finding(code="same-id", path=file, line=0, message=message))
        stale.folders.pop(current.tree, None)  # so that it is found again
    elif old is None or not _has_same_content(file, current, old, is_touched=is_touched):
        stale.tasks.append(Task(os.fsencode(file), current))
    else:
        stale.failed += old.findings(file) if old.failed else ()
        if is_touched or (old.racy and not current.racy):
            times = {name: getattr(current, name) for name in ("size", "mtime_ns", "ctime_ns", "racy")}
            stale.refreshed.append(msgspec.structs.replace(old, **times))
        stale.touched += is_touched
        stale.unchanged += not is_touched and not old.failed


def _is_untouched(prefix: str, records: FileTable, untouched: set[str], path: str, file: str) -> bool:
    """Whether a file that was read without trouble has the same size and times; its id is then added to a set."""
    old = records.get(document_id := prefix + path)
    if old is None or old.racy or old.failed:
        return False
    try:
        status = os.stat(file)  # noqa: PTH116  Path.stat is slower, and there may be thousands of files
    except OSError:
        return False
    if (status.st_size, status.st_mtime_ns, status.st_ctime_ns) != _times(old):
        return False
    untouched.add(document_id)
    return True


def _times(record: FileRecord) -> tuple[int, int, int]:
    return record.size, record.mtime_ns, record.ctime_ns


def _has_same_content(file: str, current: FileRecord, old: FileRecord, *, is_touched: bool) -> bool:
    """Whether a file is still as it was read, or still cannot be read."""
    if old.digest and not (is_touched or old.racy):
        return True
    if current.size != old.size or (is_touched and not old.digest):
        return False
    try:
        return digest_of(Path(file).read_bytes()) == old.digest
    except OSError:
        return not old.digest


def _current_record(file: str, tree: str, path: str) -> FileRecord | None:
    """A record with the size and times of a file; None if it does not exist."""
    now = time.time_ns()
    try:
        status = os.stat(file)  # noqa: PTH116  Path.stat is slower, and there may be thousands of files
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return FileRecord(tree, path, 0, 0, 0, racy=False)
    mtime, ctime = status.st_mtime_ns, status.st_ctime_ns
    return FileRecord(tree, path, status.st_size, mtime, ctime, racy=_is_racy(max(mtime, ctime), now))


def _folder_times(paths: Iterable[bytes]) -> FolderTimes:
    """The times of some folders and files, without those that are missing."""
    times: FolderTimes = {}
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116  there may be thousands
        except (OSError, ValueError):
            continue
        times[path] = status.st_mtime_ns, status.st_ctime_ns
    return times


_TICK_NS, _COARSE_TICK_NS = 20_000_000, 2_100_000_000
"""Two edits within this time may have equal times, on current and on old file systems."""


def _is_racy(changed: int, now: int) -> bool:
    """Whether an edit after ``now`` may leave the time of the last change as it is; both in nanoseconds."""
    return changed > now - (_TICK_NS if changed % 1_000_000 else _COARSE_TICK_NS)


def digest_of(data: bytes) -> bytes:
    """A hash of 16 bytes."""
    return blake2b(data, digest_size=16).digest()
