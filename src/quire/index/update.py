"""Brings an index up to date: writes only what changed, in one commit. One process at a time does so.

An index that is damaged or has other settings is rebuilt in a new generation, which replaces the old one atomically.
This module loads the parser and the engine's writer, so it is imported only if ``update_plan`` finds something to do.
"""

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from socket import gethostname
from tempfile import SpooledTemporaryFile

import msgspec

from quire.auto_slugs import SlugChoice, heading_dialect, slugs_of_files
from quire.errors import BusyError, StoreError
from quire.index.engine import damage
from quire.index.engine.index_schema import NodeFields, add_links, fields_of
from quire.index.engine.snapshot import Opened, Snapshot
from quire.index.engine.writer import Writer
from quire.index.file_records import FOLDERS_KEY, LINKS_KEY, SETTINGS_KEY, VERSION, FileTable, TreeRecord, changed_blobs
from quire.index.folder import CURRENT, IGNORE, LOCK, Folder, Pointer
from quire.index.link_words import LinkRecord, TreeLinks
from quire.index.read_files import OnProgress, Results, read_files
from quire.index.update_plan import UpdatePlan
from quire.operating_system import remove_folder
from quire.options import AUTO_SLUGS
from quire.read.discover import discover
from quire.run.workers import cores
from quire.write import atomic_file
from quire.write.lock import Busy, OnWait, acquired

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
    with _write_errors(folder), locked(folder, wait, on_wait) as waited:
        if waited or folder.stamp() != plan.stamp:
            plan = plan_again()
        if not plan.is_needed:
            return plan, (plan.snapshot, plan.stamp)
        plan = _choose_slugs(folder, plan)
        _sweep(folder)
        snapshot = _commit(folder, plan, read_files(plan.stale.tasks, plan.settings.trees, jobs, on_progress))
        return plan, (snapshot, folder.stamp())


@contextlib.contextmanager
def locked(folder: Folder, patience: float, on_wait: OnWait | None = None) -> Iterator[bool]:
    """Hold the lock, which names its holder; yields whether another process held it first."""

    def busy(descriptor: int) -> Busy:
        os.lseek(descriptor, 1, os.SEEK_SET)
        try:
            holder = os.read(descriptor, 400).decode(errors="replace").strip() or "another process"
        except OSError:
            holder = "another process"
        error = BusyError(str(folder.path), f"{holder} is updating the index", "wait for it and run again")
        return f"{folder.path}: waiting for {holder}, which is updating the index", error

    folder.path.mkdir(parents=True, exist_ok=True)
    ignore = folder.path / IGNORE
    if not ignore.exists() or ignore.stat().st_size == 0:  # a full disk leaves an empty file
        ignore.write_bytes(b"*\n")
    descriptor, waited = acquired(folder.path / LOCK, busy, patience=patience, on_wait=on_wait)
    try:
        os.ftruncate(descriptor, 0)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        # A blank first: on Windows nobody can read the locked byte.
        os.write(descriptor, f" process {os.getpid()} on {gethostname()} (since {since})".encode())
        yield waited
    finally:
        os.close(descriptor)  # which releases the lock


@contextlib.contextmanager
def _write_errors(folder: Folder) -> Iterator[None]:
    """Turn errors of the system while writing into errors that name the index."""
    try:
        yield
    except BrokenPipeError:
        raise  # from ``on_wait`` or ``on_progress``, which write to the user
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise StoreError(str(folder.path), problem, atomic_file.remedy(error.errno)) from error


def _choose_slugs(folder: Folder, plan: UpdatePlan) -> UpdatePlan:
    """The plan with the dialect of each new tree, and a rule for each with ``auto`` slugs; others keep theirs."""
    indexed_trees = {} if plan.snapshot is None else plan.snapshot.settings.trees
    trees = dict(plan.settings.trees)
    for name, tree in trees.items():
        if not tree.dialect and name not in indexed_trees:
            files = [Path(os.fsdecode(task.file)) for task in plan.stale.tasks if task.record.tree == name]
            dialect = heading_dialect(files, folder.home / os.fsdecode(tree.folder))
            trees[name] = msgspec.structs.replace(tree, auto_dialect=dialect)
        if tree.slugs == AUTO_SLUGS and not tree.auto_slugs:
            rule = tree_slugs(folder.home, trees[name]).rule
            trees[name] = msgspec.structs.replace(trees[name], auto_slugs=rule)
    return msgspec.structs.replace(plan, settings=msgspec.structs.replace(plan.settings, trees=trees))


def tree_slugs(home: Path, tree: TreeRecord) -> SlugChoice:
    """The rule that the documents of a tree show now."""
    top = home / os.fsdecode(tree.folder)
    discovery = discover(str(top), include=tree.include, exclude=tree.exclude)
    return slugs_of_files(discovery.documents, top, tree.used_dialect, tree.variables)


def _commit(folder: Folder, plan: UpdatePlan, results: Results) -> Snapshot:
    """Write everything in one commit, and open it."""
    is_new, last = plan.snapshot is None, max(folder.generations(), default=0)
    generation = plan.snapshot.folder if plan.snapshot else folder.path / f"index-{last + 1}"
    writer: Writer | None = None
    try:
        if is_new:
            generation.mkdir()
        size = sum(task.record.size for task in plan.stale.tasks)
        threads = min(_MAX_THREADS, cores()) if size >= _BYTES_PER_THREADS else 1  # each makes a segment of its own
        writer = Writer(generation, plan.settings.languages, create=is_new, threads=threads)
        table = _write(folder, writer, plan, results)
        writer.commit()
        if is_new:
            _point_to(folder, generation, plan.settings.trees)
    except BaseException:
        results.close()  # there may be processes behind it
        if writer is not None:
            # What cannot be removed now is removed by the next commit. RuntimeError: the commit has ended the writer.
            with contextlib.suppress(StoreError, RuntimeError):
                writer.rollback()
        _sweep(folder)
        raise
    with contextlib.suppress(StoreError, OSError, damage.DamageError):  # the next update does what fails here
        if plan.snapshot is None:
            _sweep(folder)
        elif plan.snapshot.settings.trees != plan.settings.trees:
            _point_to(folder, generation, plan.settings.trees)
        damage.check(generation)
    return Snapshot(generation, table)


def _write(folder: Folder, writer: Writer, plan: UpdatePlan, results: Results) -> FileTable:
    """Give all changes to the engine, without the commit; return the new file records.

    A node is written with the words of links that lead to it, which are known when all files are read. Until then,
    nodes wait in a temporary file if they are many.
    """
    table = dict(plan.old_files)
    edits: dict[str, dict[str, LinkRecord | None]] = defaultdict(dict)
    numbers = count(1 + max((record.number for record in table.values()), default=-1))
    for document_id in plan.stale.removed:
        writer.replace(document_id, 0, NodeFields())
        gone = table.pop(document_id)
        edits[gone.tree][gone.path] = None
    with SpooledTemporaryFile(_MAX_WAITING, dir=str(folder.path)) as waiting:
        lengths: dict[str, int] = {}
        for file in results:
            record, old = file.record, table.get(file.record.id)
            number = next(numbers) if old is None else old.number
            table[record.id] = msgspec.structs.replace(record, number=number)
            edits[record.tree][record.path] = file.links
            lengths[record.id] = waiting.write(file.nodes)
        links = dict(_changed_links(writer, plan, table, edits))
        waiting.seek(0)
        for document_id in dict.fromkeys([*lengths, *links]):
            record = table[document_id]
            language = plan.settings.trees[record.tree].language
            if document_id in lengths:
                data = waiting.read(lengths[document_id])
                nodes = _DECODER.decode(data) if data else NodeFields()
            else:
                assert plan.snapshot, "a new index reads all documents"
                nodes = fields_of(plan.snapshot.nodes_of(document_id), language)
            if document_id in links:
                add_links(nodes, links[document_id], language)
            writer.replace(document_id, record.number, nodes, is_new=document_id not in plan.old_files)
    table.update((record.id, record) for record in plan.stale.refreshed)
    touched = {*lengths, *plan.stale.removed, *(record.id for record in plan.stale.refreshed)}
    read = plan.snapshot.blobs if plan.snapshot and touched else lambda _: []
    for key, blob in changed_blobs(table, touched, read):
        writer.put(key, blob)
    for name, times in plan.stale.folders.items():
        writer.put(FOLDERS_KEY + name, msgspec.msgpack.encode(times))
    if plan.snapshot is None or plan.snapshot.settings != plan.settings:
        writer.put(SETTINGS_KEY, msgspec.msgpack.encode(plan.settings))
    return table


def _changed_links(
    writer: Writer, plan: UpdatePlan, table: FileTable, edits: Mapping[str, Mapping[str, LinkRecord | None]]
) -> Iterator[tuple[str, LinkRecord]]:
    """The link records of documents that were read, or to which or from which other links lead now."""
    for tree, records in edits.items():
        links = TreeLinks(tree, plan.snapshot, table)
        before = +links.signs
        if tree in plan.settings.trees:
            yield from links.change(records).items()
            if +links.signs != before:
                writer.put(LINKS_KEY + tree, msgspec.msgpack.encode(dict(+links.signs)))
        else:
            writer.put(LINKS_KEY + tree, None)


def _point_to(folder: Folder, generation: Path, trees: dict[str, TreeRecord]) -> None:
    """Make a generation the current one."""
    pointer = Pointer(VERSION, generation.name, msgspec.Raw(msgspec.json.encode(trees)))
    with atomic_file.replacing(folder.path / CURRENT) as stream:
        stream.write(msgspec.json.encode(pointer))


def _sweep(folder: Folder) -> None:
    """Remove what killed updates left, and generations that are no longer current."""
    atomic_file.sweep(folder.path / CURRENT)
    try:
        current = folder.current()
    except StoreError:
        return  # the update will create a new generation
    for path in folder.generations().values():
        if path != current:
            remove_folder(path)
