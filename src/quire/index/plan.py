"""What there is on disk against what is known of it: what an update has to do. Before: ``discover``. After: ``update``.

A file whose size and times are as they were is not opened, unless it was written to so shortly before it was read that
a later edit may have left the same times (what git calls racily clean). Any other one is read: is it the same to the
byte, only its times are taken down.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from quire.index.files import FileRecord, FileTable
from quire.index.paths import storable
from quire.index.tasks import Task, digest_of
from quire.model import Finding
from quire.read.discover import discover
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
    include: tuple[str, ...] = ()
    """Patterns for the documents to take; all where there are none."""
    exclude: tuple[str, ...] = ()
    """Patterns for the documents to leave out."""


class Outside(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is seen without opening it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    racy: bool

    def of(self, known: FileRecord) -> bool:
        """Whether this is how the file was when it became known."""
        return (self.size, self.mtime_ns, self.ctime_ns) == (known.size, known.mtime_ns, known.ctime_ns)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What an update has to do."""

    tasks: Sequence[Task] = ()
    """Files to read, in order."""
    outside: Mapping[str, Outside] = {}
    """How files were when they were found, by document id."""
    removed: Sequence[str] = ()
    """The ids of documents that are no longer there."""
    touched: Sequence[FileRecord] = ()
    """Files with the same content and other times."""
    settled: Sequence[FileRecord] = ()
    """Files that can be trusted from now on; not worth a commit of their own."""
    unchanged: int = 0
    """How many files are as they were; those that cannot be read are not among them."""
    failed: Sequence[Finding] = ()
    """What cannot be read, as far as that is known without reading."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.tasks or self.removed or self.touched)


def plan(places: Sequence[Place], known: FileTable) -> Plan:
    """What to do so that the index has what is in ``places`` now; other trees are left alone."""
    there: dict[str, Outside] = {}
    verdicts: list[_Verdict] = []
    failed: list[Finding] = []
    for place in places:
        found = discover([place.folder], include=place.include, exclude=place.exclude)
        failed += [
            Finding(code="unreadable", path=each.path, line=0, message=each.reason)
            for each in found.skipped
            if each.is_error
        ]
        for document in found.documents:
            file, path = os.fspath(document.file), storable(document.path)
            document_id = f"{place.tree}:{path}"
            if document_id in there:
                message = f"another file has the id {document_id} too; rename one"
                failed.append(Finding(code="same-id", path=file, line=0, message=message))
                continue
            outside = _outside(file)
            if outside is None:
                continue  # it went away since it was found
            there[document_id] = outside
            verdict = _verdict(place, file, path, outside, known.get(document_id))
            if verdict is not None:
                verdicts.append(verdict)
                failed += verdict.failed
    trees = {place.tree for place in places}
    return Plan(
        tasks=[each.task for each in verdicts if each.task],
        outside=there,
        removed=[name for name, record in known.items() if record.tree in trees and name not in there],
        touched=[each.touched for each in verdicts if each.touched],
        settled=[each.settled for each in verdicts if each.settled],
        unchanged=len(there) - sum([bool(each.task or each.touched or each.failed) for each in verdicts]),
        failed=failed,
    )


class _Verdict(NamedTuple):
    """What there is to do about one document."""

    task: Task | None = None
    """It is to be read."""
    touched: FileRecord | None = None
    """It has other times: what is known of it now."""
    settled: FileRecord | None = None
    """It can be trusted from now on: what is known of it now."""
    failed: tuple[Finding, ...] = ()
    """It still cannot be read: why."""


def _verdict(place: Place, file: str, path: str, outside: Outside, record: FileRecord | None) -> _Verdict | None:
    """What there is to do about a document; None if it is as it was, as nearly all are."""
    now = None if record is None else _as_known(file, outside, record)
    if record is None or now is None:
        return _Verdict(task=Task(os.fsencode(file), place.tree, path, place.language, outside.size))
    failed = tuple(record.findings(file)) if record.failed else ()
    if not outside.of(record):
        return _Verdict(touched=now, failed=failed)
    if record.racy and not now.racy:
        return _Verdict(settled=now, failed=failed)
    return _Verdict(failed=failed) if failed else None


def _as_known(file: str, outside: Outside, record: FileRecord) -> FileRecord | None:
    """What is known of a file that is as it was, if need be after reading it; None if it is not."""
    if outside.of(record) and not record.racy and record.digest:
        return record
    if record.digest:
        is_same = outside.size == record.size and digest_of_file(file) == record.digest
    else:
        is_same = outside.of(record) and _reason(file) == record.notes[0].message
    if not is_same:
        return None
    return msgspec.structs.replace(
        record, mtime_ns=outside.mtime_ns, ctime_ns=outside.ctime_ns, racy=outside.racy, size=outside.size
    )


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
