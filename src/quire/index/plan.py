"""What there is on disk against what is known of it: what an update has to do. Before: ``discover``. After: ``update``.

A file whose size and times are as they were is not opened, unless it was written to so shortly before it was read that
a later edit may have left the same times (what git calls racily clean). Any other one is read: is it the same to the
byte, only its times are taken down.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from quire.index.files import FileRecord, FileTable
from quire.index.paths import storable
from quire.index.tasks import Task, digest_of
from quire.model import Finding
from quire.read.discover import Found, discover
from quire.read.source import unreadable

_TICK_NS, _COARSE_TICK_NS = 20_000_000, 2_100_000_000
"""How far apart two edits must be for the times of a file to tell them apart, on file systems of today and of old."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A tree to look at."""

    tree: str
    """Its name."""
    folder: str
    """Its folder, or its only file."""
    language: str
    """Its language."""


class Outside(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is seen without opening it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    racy: bool

    def of(self, known: FileRecord) -> bool:
        """Whether this is how the file was when it became known."""
        return (self.size, self.mtime_ns, self.ctime_ns) == (known.size, known.mtime_ns, known.ctime_ns)


class Plan(msgspec.Struct, kw_only=True):
    """What an update has to do."""

    tasks: list[Task] = msgspec.field(default_factory=list)
    """Files to read, in order."""
    outside: dict[str, Outside] = msgspec.field(default_factory=dict)
    """How those were when they were found, by document id."""
    removed: list[str] = msgspec.field(default_factory=list)
    """The ids of documents that are no longer there."""
    touched: list[FileRecord] = msgspec.field(default_factory=list)
    """Files with the same content and other times."""
    settled: list[FileRecord] = msgspec.field(default_factory=list)
    """Files that can be trusted from now on; not worth a commit of their own."""
    unchanged: int = 0
    """How many files are as they were."""
    failed: list[Finding] = msgspec.field(default_factory=list)
    """What cannot be read, as far as that is known without reading."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.tasks or self.removed or self.touched)


def plan(places: Sequence[Place], known: FileTable) -> Plan:
    """What to do so that the index has what is in ``places`` now; other trees are left alone."""
    made = Plan()
    there: set[str] = set()
    for place in places:
        found = discover([place.folder])
        made.failed += [
            Finding(code="unreadable", path=each.path, line=0, message=each.reason)
            for each in found.skipped
            if each.is_error
        ]
        for document in found.documents:
            _look(made, there, document, place, known)
    trees = {place.tree for place in places}
    made.removed = [name for name, record in known.items() if record.tree in trees and name not in there]
    return made


def _look(made: Plan, there: set[str], found: Found, place: Place, known: FileTable) -> None:
    file, path = os.fspath(found.file), storable(found.path)
    document_id = f"{place.tree}:{path}"
    if document_id in there:
        message = f"another file has the id {document_id} too; rename one"
        made.failed.append(Finding(code="same-id", path=file, line=0, message=message))
        return
    outside = _outside(file)
    if outside is None:
        return  # it went away since it was found
    there.add(document_id)
    record = known.get(document_id)
    if record is not None and _is_known(made, file, outside, record):
        made.failed += record.findings(file) if record.failed else ()
        return
    made.outside[document_id] = outside
    made.tasks.append(Task(os.fsencode(file), place.tree, path, place.language, outside.size))


def _is_known(made: Plan, file: str, outside: Outside, record: FileRecord) -> bool:
    """Whether a file is the one that is known, if need be after reading it."""
    if outside.of(record) and not record.racy and record.digest:
        made.unchanged += 1
        return True
    if record.digest:
        is_same = outside.size == record.size and digest_of_file(file) == record.digest
    else:
        is_same = outside.of(record) and _reason(file) == record.notes[0].message
    if not is_same:
        return False
    now = msgspec.structs.replace(
        record, mtime_ns=outside.mtime_ns, ctime_ns=outside.ctime_ns, racy=outside.racy, size=outside.size
    )
    if not outside.of(record):
        made.touched.append(now)
    else:
        made.unchanged += 1
        if record.racy and not outside.racy:
            made.settled.append(now)
    return True


def _outside(file: str) -> Outside | None:
    now = time.time_ns()
    try:
        status = os.stat(file)  # noqa: PTH116  a thousand times a millisecond each way counts
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return Outside(size=0, mtime_ns=0, ctime_ns=0, racy=False)
    mtime, ctime = status.st_mtime_ns, status.st_ctime_ns
    tick = _TICK_NS if mtime % 1_000_000 else _COARSE_TICK_NS
    return Outside(size=status.st_size, mtime_ns=mtime, ctime_ns=ctime, racy=max(mtime, ctime) > now - tick)


def digest_of_file(file: str) -> bytes:
    """The hash of a file's bytes; empty if they cannot be read."""
    try:
        return digest_of(Path(file).read_bytes())
    except OSError:
        return b""


def _reason(file: str) -> str:
    """Why a file cannot be read; empty if it can."""
    try:
        with Path(file).open("rb") as stream:
            stream.read(1)
    except OSError as error:
        return unreadable(error)
    return ""
