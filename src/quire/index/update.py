"""Brings an index up to date: writes only what changed, in one commit.

An index that is damaged or has other settings is rebuilt in a new generation, which replaces the old one atomically.
This module loads the parser and the engine's writer, so it is imported only if ``update_plan`` finds something to do.
"""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from tempfile import SpooledTemporaryFile

import msgspec

from quire.auto_slugs import SlugChoice, heading_dialect, slugs_of_files
from quire.errors import StoreError
from quire.index.changed_files import StaleFiles
from quire.index.engine import damage
from quire.index.engine.index_schema import NodeFields, add_links, fields_of
from quire.index.engine.snapshot import Opened, Snapshot
from quire.index.engine.writer import Writer
from quire.index.file_records import (
    FOLDERS_KEY,
    LINKS_KEY,
    SETTINGS_KEY,
    FileRecord,
    FileTable,
    Tree,
    decode_files,
    encode_files,
    key_of,
)
from quire.index.folder import Folder
from quire.index.folder_writer import explained, locked, new_generation, point_to, sweep
from quire.index.link_words import LinkRecord, TreeLinks
from quire.index.read_files import OnProgress, Results, read_files
from quire.index.update_plan import UpdatePlan
from quire.options import AUTO_SLUGS
from quire.read.discover import discover
from quire.run.workers import cores
from quire.write.lock import OnWait

_BYTES_PER_THREADS = 4 * 1024 * 1024
_MAX_THREADS = 4
_MAX_WAITING = 64 * 1024 * 1024  # how many bytes of nodes wait in memory for the last file
_DECODER = msgspec.msgpack.Decoder(NodeFields)


def update(
    folder: Folder,
    plan: UpdatePlan,
    plan_again: Callable[[], UpdatePlan],
    *,
    jobs: int | None,
    on_progress: OnProgress | None,
    wait: float,
    on_wait: OnWait | None,
) -> tuple[UpdatePlan, Opened]:
    """Carry out a plan, or a new one if the index has changed since; return the plan and the last commit."""
    with locked(folder, wait, on_wait) as waited:
        if waited or folder.stamp() != plan.stamp:
            plan = plan_again()
        if not plan.is_needed:
            return plan, (plan.snapshot, plan.stamp)
        plan = _with_slugs(folder, plan)
        sweep(folder)
        snapshot = _commit(folder, plan, read_files(plan.stale.tasks, jobs, on_progress))
        return plan, (snapshot, folder.stamp())


def _with_slugs(folder: Folder, plan: UpdatePlan) -> UpdatePlan:
    """The plan with a rule for each tree with ``auto`` slugs, and the dialect of a new one; others keep theirs."""
    trees = plan.settings.trees
    for name, tree in trees.items():
        if not tree.dialect and (plan.snapshot is None or name not in plan.snapshot.settings.trees):
            trees = {**trees, name: _with_dialect(folder.home, name, tree, plan.stale)}
    for name, tree in trees.items():
        if tree.slugs == AUTO_SLUGS and not tree.auto_slugs:
            rule = tree_slugs(folder.home, tree).rule
            trees = {**trees, name: msgspec.structs.replace(tree, auto_slugs=rule)}
    return msgspec.structs.replace(plan, settings=msgspec.structs.replace(plan.settings, trees=trees))


def _with_dialect(home: Path, name: str, tree: Tree, stale: StaleFiles) -> Tree:
    """A tree with the dialect that its headings show; its files are read in it."""
    files = [Path(os.fsdecode(task.file)) for task in stale.tasks if task.record.tree == name]
    dialect = heading_dialect(files, home / os.fsdecode(tree.folder))
    if dialect:
        stale.tasks = [
            msgspec.structs.replace(task, dialect=dialect) if task.record.tree == name else task for task in stale.tasks
        ]
    return msgspec.structs.replace(tree, auto_dialect=dialect)


def tree_slugs(home: Path, tree: Tree) -> SlugChoice:
    """The rule that the documents of a tree show now."""
    top = home / os.fsdecode(tree.folder)
    discovery = discover([str(top)], include=tree.include, exclude=tree.exclude)
    return slugs_of_files(discovery.documents, top, tree.dialect or tree.auto_dialect or None, tree.variables)


def _commit(folder: Folder, plan: UpdatePlan, results: Results) -> Snapshot:
    """Write everything in one commit, and open it."""
    is_new = plan.snapshot is None
    generation = new_generation(folder) if plan.snapshot is None else plan.snapshot.folder
    writer: Writer | None = None
    try:
        if is_new:
            with explained(folder):
                generation.mkdir()
        threads = threads_for(sum(task.record.size for task in plan.stale.tasks))
        writer = Writer(generation, plan.settings.languages, create=is_new, threads=threads)
        table = _write(folder, writer, plan, results)
        writer.commit()
        if is_new:
            point_to(folder, generation, plan.settings.trees)
    except BaseException:
        results.close()  # there may be processes behind it
        _discard(folder, writer)
        raise
    _tidy(folder, plan, generation)
    return Snapshot(generation, table)


def threads_for(size: int) -> int:
    """The number of engine threads for so many bytes of documents. Each thread makes a segment of its own."""
    return min(_MAX_THREADS, cores()) if size >= _BYTES_PER_THREADS else 1


def _write(folder: Folder, writer: Writer, plan: UpdatePlan, results: Results) -> FileTable:
    """Give all changes to the engine, without the commit; return the new file records.

    A node is written with the words of links that lead to it, which are known when all files are read. Until then,
    nodes wait in a temporary file if they are many.
    """
    table = dict(plan.known)
    edits: dict[str, dict[str, LinkRecord | None]] = defaultdict(dict)
    numbers = count(1 + max((record.number for record in table.values()), default=-1))
    for document_id in plan.stale.removed:
        writer.remove(document_id)
        gone = table.pop(document_id)
        edits[gone.tree][gone.path] = None
    with explained(folder), SpooledTemporaryFile(_MAX_WAITING, dir=str(folder.path)) as waiting:
        lengths: dict[str, int] = {}
        for _, file in results:
            record, old = file.record, table.get(file.record.id)
            number = next(numbers) if old is None else old.number
            table[record.id] = msgspec.structs.replace(record, number=number)
            edits[record.tree][record.path] = file.links
            lengths[record.id] = waiting.write(file.nodes)
        links = dict(_changed_links(writer, plan, edits))
        waiting.seek(0)
        for document_id, length in lengths.items():
            nodes = _DECODER.decode(waiting.read(length)) if length else NodeFields()
            _put(writer, plan, table[document_id], nodes, links.pop(document_id, None))
        for document_id, record_of_links in links.items():
            assert plan.snapshot, "a new index reads all documents"
            language = plan.settings.trees[table[document_id].tree].language
            nodes = fields_of(plan.snapshot.nodes_of(document_id), language)
            _put(writer, plan, table[document_id], nodes, record_of_links)
    table.update((record.id, record) for record in plan.stale.refreshed)
    touched = {*lengths, *plan.stale.removed, *(record.id for record in plan.stale.refreshed)}
    _put_files(writer, plan, table, touched)
    for name, times in plan.stale.folders.items():
        writer.put(FOLDERS_KEY + name, msgspec.msgpack.encode(times))
    if plan.snapshot is None or plan.snapshot.settings != plan.settings:
        writer.put(SETTINGS_KEY, msgspec.msgpack.encode(plan.settings))
    return table


def _changed_links(
    writer: Writer, plan: UpdatePlan, edits: Mapping[str, Mapping[str, LinkRecord | None]]
) -> Iterator[tuple[str, LinkRecord]]:
    """The link records of documents that were read, or to which or from which other links lead now."""
    for tree, records in edits.items():
        links = TreeLinks(tree, plan.snapshot)
        before = +links.signs
        if tree in plan.settings.trees:
            yield from links.change(records).items()
            if +links.signs != before:
                writer.put(LINKS_KEY + tree, msgspec.msgpack.encode(dict(+links.signs)))
        else:
            writer.put(LINKS_KEY + tree, None)


def _put(writer: Writer, plan: UpdatePlan, record: FileRecord, nodes: NodeFields, links: LinkRecord | None) -> None:
    """Replace a document's nodes."""
    if links is not None:
        add_links(nodes, links, plan.settings.trees[record.tree].language)
    writer.replace(record.id, record.number, nodes, is_new=record.id not in plan.known)


def _put_files(writer: Writer, plan: UpdatePlan, table: FileTable, touched: set[str]) -> None:
    """Write the blobs with the records of some documents.

    Blobs are documents of the engine and count in its statistics, so an empty one is removed.
    """
    blobs: dict[str, list[FileRecord]] = {key_of(document_id): [] for document_id in touched}
    old = decode_files(plan.snapshot.blobs(list(blobs))) if plan.snapshot and blobs else {}
    for document_id in (touched | old.keys()) & table.keys():
        blobs[key_of(document_id)].append(table[document_id])
    for key, records in sorted(blobs.items()):
        writer.put(key, encode_files(records) if records else None)


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
        damage.check(generation, folder.checked)
