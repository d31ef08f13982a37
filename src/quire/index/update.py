"""Brings an index up to date: writes only what changed, in one commit.

An index that is damaged or has other settings is rebuilt in a new generation, which replaces the old one atomically.
This module loads the parser and the engine's writer, so it is imported only if ``update_plan`` finds something to do.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec

from quire.auto_slugs import SlugChoice, slugs_of_files
from quire.errors import StoreError
from quire.index.engine import damage
from quire.index.engine.writer import Writer
from quire.index.file_records import SETTINGS_KEY, FileRecord, FileTable, Tree, encode_files, key_of
from quire.index.folder import Folder
from quire.index.folder_writer import explained, locked, new_generation, point_to, sweep
from quire.index.read_files import OnProgress, Results, read_files
from quire.index.update_plan import UpdatePlan
from quire.options import AUTO_SLUGS
from quire.read.discover import discover
from quire.run.workers import cores
from quire.write.lock import OnWait

_BYTES_PER_THREADS = 4 * 1024 * 1024
_MAX_THREADS = 4


def update(
    folder: Folder,
    plan: UpdatePlan,
    plan_again: Callable[[], UpdatePlan],
    *,
    jobs: int | None,
    on_progress: OnProgress | None,
    wait: float,
    on_wait: OnWait | None,
) -> tuple[UpdatePlan, FileTable]:
    """Carry out a plan, or a new one if the index has changed since; return the plan and the new file records."""
    with locked(folder, wait, on_wait) as waited:
        if waited or folder.stamp() != plan.stamp:
            plan = plan_again()
        if not plan.is_needed:
            return plan, plan.known
        plan = _with_slugs(folder, plan)
        sweep(folder)
        return plan, _commit(folder, plan, read_files(plan.stale.tasks, jobs, on_progress))


def _with_slugs(folder: Folder, plan: UpdatePlan) -> UpdatePlan:
    """The plan with a rule for each tree with ``auto`` slugs; a tree that has one keeps it."""
    trees = plan.settings.trees
    for name, tree in trees.items():
        if tree.slugs == AUTO_SLUGS and not tree.auto_slugs:
            rule = tree_slugs(folder.home, tree).rule
            trees = {**trees, name: msgspec.structs.replace(tree, auto_slugs=rule)}
    return msgspec.structs.replace(plan, settings=msgspec.structs.replace(plan.settings, trees=trees))


def tree_slugs(home: Path, tree: Tree) -> SlugChoice:
    """The rule that the documents of a tree show now."""
    top = home / os.fsdecode(tree.folder)
    found = discover([str(top)], include=tree.include, exclude=tree.exclude)
    return slugs_of_files(found.documents, top, tree.dialect or None)


def _commit(folder: Folder, plan: UpdatePlan, results: Results) -> FileTable:
    """Write everything in one commit; return the new file records."""
    is_new = plan.snapshot is None
    generation = new_generation(folder) if plan.snapshot is None else plan.snapshot.folder
    writer: Writer | None = None
    try:
        if is_new:
            with explained(folder):
                generation.mkdir()
        threads = threads_for(sum(task.record.size for task in plan.stale.tasks))
        writer = Writer(generation, plan.settings.languages, create=is_new, threads=threads)
        table = _write(writer, plan, results)
        writer.commit()
        if is_new:
            point_to(folder, generation, plan.settings.trees)
    except BaseException:
        results.close()  # there may be processes behind it
        _discard(folder, writer)
        raise
    _tidy(folder, plan, generation)
    return table


def threads_for(size: int) -> int:
    """The number of engine threads for so many bytes of documents. Each thread makes a segment of its own."""
    return min(_MAX_THREADS, cores()) if size >= _BYTES_PER_THREADS else 1


def _write(writer: Writer, plan: UpdatePlan, results: Results) -> FileTable:
    """Give all changes to the engine, without the commit; return the new file records."""
    table = dict(plan.known)
    changed = [*plan.stale.removed, *(record.id for record in plan.stale.refreshed)]
    numbers = count(1 + max((record.number for record in table.values()), default=-1))
    for document_id in plan.stale.removed:
        writer.remove(document_id)
        del table[document_id]
    for _, file in results:
        document_id = file.record.id
        old = table.get(document_id)
        number = next(numbers) if old is None else old.number
        writer.replace(document_id, number, file.nodes, is_new=old is None)
        table[document_id] = msgspec.structs.replace(file.record, number=number)
        changed.append(document_id)
    table.update((record.id, record) for record in plan.stale.refreshed)
    blobs: dict[str, list[FileRecord]] = {key_of(document_id): [] for document_id in changed}
    for document_id, record in table.items():
        blob = blobs.get(key_of(document_id))
        if blob is not None:
            blob.append(record)
    for key, records in blobs.items():
        # Blobs are documents of the engine and count in its statistics, so an empty one is removed.
        writer.put(key, encode_files(records) if records else None)
    if plan.snapshot is None or plan.snapshot.settings != plan.settings:
        writer.put(SETTINGS_KEY, msgspec.msgpack.encode(plan.settings))
    return table


def _discard(folder: Folder, writer: Writer | None) -> None:
    """Remove what a failed update has written; the current generation stays."""
    if writer is not None:
        # What cannot be removed now is removed by the next commit. RuntimeError: the commit has ended the writer.
        with contextlib.suppress(StoreError, RuntimeError):
            writer.rollback()
    sweep(folder)


def _tidy(folder: Folder, plan: UpdatePlan, generation: Path) -> None:
    """Do what the commit does not depend on; if this fails, the next update does it."""
    with contextlib.suppress(StoreError, OSError, damage.DamageError):
        if plan.snapshot is None:
            sweep(folder)
        elif plan.snapshot.settings.trees != plan.settings.trees:
            point_to(folder, generation, plan.settings.trees)
        damage.remember(folder.checked, generation)
