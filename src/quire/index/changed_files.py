"""Which files of a tree have changed since they were indexed.

A file with the same size and times is not opened, unless it was written so shortly before it was read that a later edit
may have left the same times (git calls this racily clean). Any other file is hashed: if its bytes are the same, only
its times are updated. Folders with the same times are not listed again, by the same rule.
"""

import os
import time
from _blake2 import blake2b  # hashlib loads OpenSSL, and most updates hash nothing
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import FileRecord, FileTimes, FolderTimes, TreeRecord, storable
from quire.index.folder import is_inside
from quire.model.document import Finding
from quire.read.discover import Discovery, decides
from quire.read.source import read_bytes


class Task(msgspec.Struct, frozen=True, array_like=True):
    """A file to read."""

    file: bytes  # the path to open, as the system encodes it
    record: FileRecord  # its tree, path, size and times


class StaleFiles(msgspec.Struct, kw_only=True):
    """How the files on disk differ from the index."""

    tasks: list[Task] = []  # an update drops them when they are done, as there may be many
    size: int = 0  # of these files together, in bytes
    added: int = 0  # how many of them the update has read that are new,
    changed: int = 0  # and how many that are not
    removed: list[str] = []  # document ids
    refreshed: list[FileRecord] = []  # the same content with other times, or no longer racy
    touched: int = 0  # how many of them have other times; the rest is not worth a commit
    unchanged: int = 0  # without the files that cannot be read
    failed: list[Finding] = []  # files that cannot be read
    folders: dict[str, FolderTimes] = {}  # of the trees that were listed

    def __bool__(self) -> bool:
        return bool(self.tasks or self.removed or self.touched)


def stale_files(home: Path, trees: Mapping[str, TreeRecord], snapshot: Snapshot | None = None) -> StaleFiles:
    """Compare the files of some trees with their records; the folders of trees are relative to ``home``."""
    stale = StaleFiles()
    times = snapshot.file_times() if snapshot else []
    for name, tree in trees.items():
        top, columns = str(home / os.fsdecode(tree.folder)), [part[name] for part in times if name in part]
        is_same = snapshot is not None and snapshot.settings.trees.get(name) == tree
        listing = _Listing(top, tree, snapshot.folder_times(name) if snapshot and is_same else {})
        known = _compare_known(top, columns, listing.list_changed())
        if known is None:  # a file is missing in a folder that has not changed, or has another name on disk
            known = _compare_known(top, columns, listing.list_all())
        assert known is not None, "a listed folder has all its files"
        unchanged, gone, others = known
        stale.unchanged += unchanged
        stale.removed += [f"{name}:{path}" for path in sorted(gone)]
        stale.failed += listing.findings
        if listing.walk is not None:
            stale.folders[name] = listing.folder_times()
        for path, file in sorted(others.items()):
            _compare(stale, file, FileRecord(name, path, 0, 0, 0, racy=False), snapshot)
    return stale


class _Listing:
    """The documents of a tree in folders that have changed.

    ``before`` are the folders at the last commit; none if all must be listed.
    """

    def __init__(self, top: str, tree: TreeRecord, before: FolderTimes) -> None:
        hidden: Literal["known", False] = "known" if tree.reading.hidden else False
        self._new_walk = partial(Discovery, top, tree.include, tree.exclude, hidden=hidden)
        self._top, self._before, self._now = top, before, time.time_ns()
        self._times = _folder_times(before)
        self._gone: tuple[str, ...] = ()  # folders that no longer exist, as beginnings of paths
        self.walk: Discovery | None = None  # None if nothing was listed
        self.files: dict[str, str] = {}  # the listed files by path, without those that ``pop`` has returned
        self.findings: list[Finding] = []

    def list_changed(self) -> "_Listing | None":
        """List the folders that have changed, or all if that may change what is taken from others; None if none has."""
        changed = {os.fsdecode(path) for path, times in self._before.items() if self._times.get(path) != times}
        if self._before and not changed:
            return None
        if not self._before or any(decides(path) or not is_inside(path, self._top) for path in changed):
            return self.list_all()
        folders = frozenset(path for path in map(os.fsdecode, self._before) if not decides(path))
        walk = self._new_walk(known=folders, changed=changed)
        if any(decides(path) and os.fsencode(path) not in self._before for path in walk.watched):
            return self.list_all()
        gone = [path for path in folders if os.path.dirname(path) in changed and path not in walk.inside]  # noqa: PTH120
        self._gone = tuple([self._beginning(path) for path in gone])
        return self._take(walk)

    def list_all(self) -> "_Listing":
        """List all folders."""
        self._before, self._gone = {}, ()
        return self._take(self._new_walk())

    def _take(self, walk: Discovery) -> "_Listing":
        errors = [skipped for skipped in walk.skipped if skipped.is_error]
        self.walk, self.files = walk, {}
        self.findings = [Finding(code="unreadable", path=each.path, line=0, message=each.reason) for each in errors]
        for path, file in sorted(walk.files):
            if self.files.setdefault(storable(path), file) != file:
                message = f"another file has the id of {storable(path)} too; rename one"
                self.findings.append(Finding(code="same-id", path=file, line=0, message=message))
        return self

    def _beginning(self, folder: str) -> str:
        """What the paths in a folder begin with."""
        return folder[len(self._top) + 1 :].replace(os.sep, "/") + "/"

    def has(self, path: str) -> bool:
        """Whether the folder of a document was listed."""
        return self.walk is not None and (not self._before or path[: path.rfind("/") + 1] in self.walk.listed)

    def pop(self, path: str) -> str | None:
        """The file of a document that is in the index; None if it is gone."""
        if self.has(path):
            return self.files.pop(path, None)
        return None if path.startswith(self._gone) else f"{self._top}/{path}"

    def folder_times(self) -> FolderTimes:
        """The times of all folders as they were listed; zeros for one that may change and keep its times."""
        if self.walk is None or self.findings:
            return {}  # findings are to be found again
        before = [path for path in self._before if not self._beginning(os.fsdecode(path)).startswith(self._gone)]
        watched = dict.fromkeys([*before, *map(os.fsencode, self.walk.watched)])
        self._times |= _folder_times(path for path in watched if path not in self._times)
        times = [(path, self._times[path]) for path in watched if path in self._times]
        return {path: (0, 0) if is_racy(max(each), self._now) else each for path, each in times}


def _compare_known(
    top: str, columns: Iterable[FileTimes], listing: _Listing | None
) -> tuple[int, list[str], dict[str, str]] | None:
    """How many documents are unchanged, the paths of those that are gone, and the files of all others by path.

    None if a file is missing in a folder that was not listed.
    """
    unchanged, gone, others = 0, list[str](), dict[str, str]()
    stat, start = os.stat, f"{top}/"  # as there may be thousands of files
    for part in columns:
        unsure = part.unsure
        for path, size, mtime, ctime in part:
            file = start + path if listing is None else listing.pop(path)
            if file is None:
                gone.append(path)
                continue
            try:
                status = stat(file)
            except OSError:
                if listing is None or not listing.has(path):
                    return None
                others[path] = file
                continue
            is_same = status.st_mtime_ns == mtime and status.st_ctime_ns == ctime and status.st_size == size
            if is_same and path not in unsure:
                unchanged += 1
            else:
                others[path] = file
    return unchanged, gone, {**others, **(listing.files if listing else {})}


def _compare(stale: StaleFiles, file: str, current: FileRecord, snapshot: Snapshot | None) -> None:
    """Add one file to the list it belongs to."""
    now, old = time.time_ns(), snapshot.file(current.id) if snapshot else None
    try:
        status = os.stat(file)  # noqa: PTH116  Path.stat is slower, and there may be thousands of files
    except (FileNotFoundError, NotADirectoryError):  # it was deleted since it was listed
        stale.removed += [old.id] if old else []
        return
    except OSError:
        times = {}
    else:
        mtime, ctime = (min(each, _MAX_TIME) for each in (status.st_mtime_ns, status.st_ctime_ns))
        times = {"size": status.st_size, "mtime_ns": mtime, "ctime_ns": ctime, "racy": is_racy(max(mtime, ctime), now)}
    current = msgspec.structs.replace(current, **times)
    is_touched = old is None or current.times != old.times
    if old is None or not _has_same_content(file, current, old, is_touched=is_touched):
        stale.tasks.append(Task(os.fsencode(file), current))
        stale.size += current.size
        return
    stale.failed += [msgspec.structs.replace(old.problem, path=file)] if old.problem else ()
    if is_touched or (old.racy and not current.racy):
        stale.refreshed.append(msgspec.structs.replace(old, **times))
    stale.touched += is_touched
    stale.unchanged += not (is_touched or old.problem)


def _has_same_content(file: str, current: FileRecord, old: FileRecord, *, is_touched: bool) -> bool:
    """Whether a file is still as it was read, or still cannot be read."""
    if old.digest and not (is_touched or old.racy):
        return True
    if current.size != old.size or (is_touched and not old.digest):
        return False
    try:
        return digest_of(read_bytes(file)) == old.digest
    except OSError:
        return not old.digest


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


_MAX_TIME = 2**63 - 1  # in the year 2262; columns hold no later one
_TICK_NS, _COARSE_TICK_NS = 20_000_000, 2_100_000_000
"""Two edits within this time may have equal times, on current and on old file systems."""


def is_racy(changed: int, now: int) -> bool:
    """Whether an edit after ``now`` may leave the time of the last change as it is; both in nanoseconds."""
    return changed > now - (_TICK_NS if changed % 1_000_000 else _COARSE_TICK_NS)


def digest_of(data: bytes) -> bytes:
    """A hash of 16 bytes."""
    return blake2b(data, digest_size=16).digest()
