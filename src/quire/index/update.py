"""Brings an index up to date: only what changed, all in one commit. Before: ``goal``. After: the search.

Whoever finds nothing to do neither takes the lock nor opens a writer. An index that cannot be used, or that was made
in another way than is wanted now, is made anew beside the old one and takes its place in one step.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from quire.errors import OptionError, StoreError
from quire.index import files
from quire.index.engine import damage
from quire.index.engine.writer import Writer
from quire.index.files import FileRecord, FileTable
from quire.index.folder import Folder
from quire.index.goal import Goal, Request, goal_of
from quire.index.opening import opened
from quire.index.plan import Plan
from quire.index.tasks import Reading, Task
from quire.model import Finding

if TYPE_CHECKING:  # most uses write nothing
    from quire.write.lock import OnWait

OnProgress = Callable[[int, int, str], None]
"""Is told how many files are read, of how many, and the path of the last."""

_MUCH = 4 * 1024 * 1024
_MOST_THREADS = 4

Readings = Callable[[Sequence[Task]], Generator[tuple[Task, Reading], None, None]]
"""Reads files, in any order. Is closed, come what may: there may be processes behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What an update has done."""

    added: int = 0
    """Files that came into the index."""
    changed: int = 0
    """Files with other content than before."""
    removed: int = 0
    """Files that are no longer there."""
    touched: int = 0
    """Files with other times and the same content."""
    unchanged: int = 0
    """Files that are as they were."""
    failed: tuple[Finding, ...] = ()
    """What cannot be read, each time it is so; the rest is in the index."""
    rebuilt: str | None = None
    """Why the whole index was made anew; None if it was not, or if there was none."""
    nodes: int = 0
    """How many nodes the index has now."""
    seconds: float = 0.0
    """How long it took."""


def update(
    folder: Folder, request: Request, readings: Readings, *, wait: float, on_wait: OnWait | None = None
) -> Update:
    """Bring the index in ``folder`` up to date."""
    started = time.perf_counter()
    goal = goal_of(folder, request)
    if goal.is_reached:
        return _done(goal, goal.known, started)
    with folder.locked(wait, on_wait) as waited:
        if waited or folder.stamp() != goal.stamp:
            goal = goal_of(folder, request)
        if goal.is_reached:
            return _done(goal, goal.known, started)
        folder.sweep()
        return _done(goal, _reach(folder, goal, readings), started)


def remove(folder: Folder, tree: str, *, wait: float, on_wait: OnWait | None = None) -> None:
    """Take a tree out of the index."""
    with folder.locked(wait, on_wait):
        snapshot, _ = opened(folder)
        if snapshot is None or tree not in snapshot.settings.trees:
            known = ", ".join(sorted(snapshot.settings.trees)) if snapshot is not None else "none"
            raise OptionError(f"{folder.path}: no tree is called {tree!r}", f"there are: {known}", option="tree")
        trees = {name: each for name, each in snapshot.settings.trees.items() if name != tree}
        gone = [name for name, record in snapshot.files().items() if record.tree == tree]
        settings = msgspec.structs.replace(snapshot.settings, trees=trees)
        goal = Goal(snapshot=snapshot, stamp=((),), rebuilt=None, settings=settings, plan=Plan(removed=gone))
        _reach(folder, goal, _reads_nothing)


def _reads_nothing(tasks: Sequence[Task]) -> Generator[tuple[Task, Reading], None, None]:
    yield from ()


def _reach(folder: Folder, goal: Goal, readings: Readings) -> FileTable:
    """Do what there is to do, in one commit; says what is known of the files then."""
    is_new = goal.snapshot is None
    generation = folder.new_generation() if goal.snapshot is None else goal.snapshot.folder
    threads = threads_for(sum(task.size for task in goal.plan.tasks))
    committed = False
    writer: Writer | None = None
    try:
        if is_new:
            with folder.explained():
                generation.mkdir()
        writer = Writer(generation, goal.settings.languages, create=is_new, threads=threads)
        table = _write(writer, goal, readings)
        writer.commit()
        if is_new:
            folder.point_to(generation, goal.settings.trees)
        committed = True
    finally:
        if not committed:
            _give_up(folder, writer)
    _tidy(folder, goal, generation)
    return table


def threads_for(size: int) -> int:
    """How many threads the engine gets for documents of so many bytes. Each makes a segment of its own."""
    if size < _MUCH:
        return 1
    from quire.run.workers import cores  # noqa: PLC0415  seldom needed

    return min(_MOST_THREADS, cores())


def _write(writer: Writer, goal: Goal, readings: Readings) -> dict[str, FileRecord]:
    """Tell the engine what there is to do, but for the commit."""
    table = dict(goal.known)
    dirty: set[str] = set()
    numbers = count(1 + max((record.number for record in table.values()), default=-1))
    for document_id in goal.plan.removed:
        writer.remove(document_id)
        del table[document_id]
        dirty.add(files.key_of(document_id))
    with contextlib.closing(readings(goal.plan.tasks)) as results:
        for task, reading in results:
            known = table.get(task.id)
            number = next(numbers) if known is None else known.number
            writer.replace(task.id, number, reading.nodes, is_new=known is None)
            table[task.id] = _record(task, number, reading, goal.plan)
            dirty.add(files.key_of(task.id))
    for record in (*goal.plan.touched, *goal.plan.settled):
        table[record.id] = record
        dirty.add(files.key_of(record.id))
    shards: dict[str, list[FileRecord]] = {key: [] for key in dirty}
    for document_id, record in table.items():
        shard = shards.get(files.key_of(document_id))
        if shard is not None:
            shard.append(record)
    for key, records in shards.items():
        # Records are documents of the engine too, and count where it weighs words: none is kept that is empty.
        writer.put(key, files.encoded(records) if records else None)
    if goal.snapshot is None or goal.snapshot.settings != goal.settings:
        writer.put(files.SETTINGS, files.encoded_settings(goal.settings))
    return table


def _record(task: Task, number: int, reading: Reading, made: Plan) -> FileRecord:
    outside = made.outside[task.id]
    return FileRecord(
        tree=task.tree,
        path=task.path,
        size=outside.size,
        mtime_ns=outside.mtime_ns,
        ctime_ns=outside.ctime_ns,
        digest=reading.digest,
        racy=outside.racy,
        title=reading.title,
        nodes=len(reading.nodes),
        tokens=reading.tokens,
        number=number,
        outline=reading.outline,
        notes=reading.notes,
        failed=reading.failed,
    )


def _give_up(folder: Folder, writer: Writer | None) -> None:
    """Leave nothing behind of an update that failed; the generation that ``index.current`` names stays."""
    if writer is not None:
        # What could not be removed now goes with the next commit. RuntimeError: a commit has ended the writer.
        with contextlib.suppress(StoreError, RuntimeError):
            writer.rollback()
    folder.sweep()


def _tidy(folder: Folder, goal: Goal, generation: Path) -> None:
    """What is not needed for the commit to count: if this fails, the next one does it."""
    with contextlib.suppress(StoreError, OSError, damage.DamageError):
        if goal.snapshot is None:
            folder.sweep()
        elif goal.snapshot.settings.trees != goal.settings.trees:
            folder.point_to(generation, goal.settings.trees)
        folder.remember(damage.memory_of(generation, damage.outside(generation)))


def _done(goal: Goal, table: FileTable, started: float) -> Update:
    made, known = goal.plan, goal.known
    failed = list(made.failed)
    added = changed = 0
    for task in made.tasks:
        record = table[task.id]
        if record.failed:
            failed += record.findings(os.fsdecode(task.file))
        elif task.id in known:
            changed += 1
        else:
            added += 1
    return Update(
        added=added,
        changed=changed,
        removed=len(made.removed),
        touched=len(made.touched),
        unchanged=made.unchanged,
        failed=tuple(failed),
        rebuilt=goal.rebuilt,
        nodes=sum(record.nodes for record in table.values()),
        seconds=time.perf_counter() - started,
    )
