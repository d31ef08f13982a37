"""Brings an index up to date: writes only what changed, in one commit or several. One process at a time does so.

An index that is damaged or has other settings is rebuilt in a new generation, which replaces the old one atomically.
This module loads the parser and the engine's writer, so it is imported only if ``update_plan`` finds something to do.
"""

import contextlib
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from socket import gethostname
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

import msgspec

from quire.errors import BusyError, StoreError
from quire.index.engine import damage
from quire.index.engine.index_schema import NodeFields, add_links, fields_of
from quire.index.engine.snapshot import Opened, Snapshot
from quire.index.engine.writer import Writer
from quire.index.file_records import (
    EXPECTED,
    FAILED,
    FILE_KEYS,
    FILES,
    FOLDERS_KEY,
    LINKS_KEY,
    NODES,
    SETTINGS_KEY,
    TIMES_KEYS,
    TOKENS,
    VERSION,
    FileRecord,
    TreeRecord,
    changed_blobs,
    file_signs,
)
from quire.index.folder import CURRENT, IGNORE, LOCK, Folder, Pointer
from quire.index.link_words import LinkRecord, TreeLinks
from quire.index.read_files import IndexedFile, OnProgress, Results, read_files
from quire.index.update_plan import UpdatePlan
from quire.links.auto_slugs import SlugChoice, heading_dialect, slugs_of_files
from quire.model.operating_system import remove_folder
from quire.model.options import AUTO_SLUGS
from quire.output import atomic_file
from quire.output.lock import Busy, OnWait, acquired
from quire.read.discover import discover
from quire.run.workers import cores

_BYTES_PER_THREADS = 4 * 1024 * 1024
_MAX_THREADS = 4
_MAX_WAITING = 64 * 1024 * 1024  # how many bytes of nodes wait in memory for the last file
FIRST_BATCH, MAX_BATCH = 64 * 1024 * 1024, 256 * 1024 * 1024
"""How many bytes of source the first and each other commit of a large update has. Up to the latter it is one commit."""
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
        with contextlib.closing(read_files(plan.stale.tasks, plan.settings.trees, jobs, on_progress)) as results:
            snapshot = _build(folder, plan, results)
        return plan, (snapshot, folder.stamp())


class _Batch(NamedTuple):
    """What one commit writes."""

    plan: UpdatePlan
    results: Results  # those that were not written yet
    rest: Counter[str]  # how many files of each tree are still to be read
    limit: int = MAX_BATCH  # how many bytes of source are written
    is_part: bool = False  # whether it is one of several commits of a new index

    @property
    def is_last(self) -> bool:
        """Whether everything was read."""
        return not self.rest.total()


def _build(folder: Folder, plan: UpdatePlan, results: Results) -> Snapshot:
    """Write everything; a large new index in several commits, the last of which adds what links say."""
    is_large = sum(task.record.size for task in plan.stale.tasks) > MAX_BATCH
    is_part = bool(plan.stale.unfinished) or (is_large and plan.snapshot is None)
    rest = Counter([task.record.tree for task in plan.stale.tasks])
    batch = _Batch(plan, results, rest, FIRST_BATCH if is_large and is_part else MAX_BATCH, is_part)
    while True:
        snapshot = _commit(folder, batch, _write)
        stale = msgspec.structs.replace(plan.stale, removed=[], refreshed=[])
        is_last = batch.is_last
        batch = _Batch(msgspec.structs.replace(plan, snapshot=snapshot, stale=stale), results, rest, MAX_BATCH, is_part)
        if is_last:
            return _commit(folder, batch, _write_again) if is_part else snapshot


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


def _commit(folder: Folder, batch: _Batch, write: Callable[[Folder, Writer, _Batch], None]) -> Snapshot:
    """Write a batch in one commit, and open it."""
    plan = batch.plan
    generation = (
        plan.snapshot.folder if plan.snapshot else folder.path / f"index-{max(folder.generations(), default=0) + 1}"
    )
    is_current = _is_current(folder, generation)
    writer: Writer | None = None
    try:
        if plan.snapshot is None:
            generation.mkdir()
        size = sum(task.record.size for task in plan.stale.tasks)
        threads = min(_MAX_THREADS, cores()) if size >= _BYTES_PER_THREADS else 1  # each makes a segment of its own
        writer = Writer(generation, plan.settings.languages, create=plan.snapshot is None, threads=threads)
        write(folder, writer, batch)
        writer.commit()
        if not is_current and (batch.is_last or not plan.keeps_current):
            _point_to(folder, generation, plan.settings.trees)
    except BaseException:
        if writer is not None:
            # What cannot be removed now is removed by the next commit. RuntimeError: the commit has ended the writer.
            with contextlib.suppress(StoreError, RuntimeError):
                writer.rollback()
        _sweep(folder)
        raise
    with contextlib.suppress(StoreError, OSError, damage.DamageError):  # the next update does what fails here
        if is_current and plan.snapshot and plan.snapshot.settings.trees != plan.settings.trees:
            _point_to(folder, generation, plan.settings.trees)
        if _is_current(folder, generation):
            _sweep(folder)
            damage.check(generation)
    return Snapshot(generation)


def _write(folder: Folder, writer: Writer, batch: _Batch) -> None:
    """Give changes to the engine, without the commit.

    A node is written with the words of links that lead to it, which are known when all files are read. Until then,
    nodes wait in a temporary file if they are many.
    """
    plan = batch.plan
    changes: dict[str, FileRecord | None] = dict.fromkeys(plan.stale.removed)
    edits: dict[str, dict[str, LinkRecord | None]] = defaultdict(dict)
    for document_id in plan.stale.removed:
        writer.replace(document_id, 0, NodeFields())
        tree, _, path = document_id.partition(":")
        edits[tree][path] = None
    with SpooledTemporaryFile(_MAX_WAITING, dir=str(folder.path)) as waiting:
        lengths: dict[str, int] = {}
        for file in _numbered(batch):
            changes[file.record.id] = file.record
            edits[file.record.tree][file.record.path] = file.links
            lengths[file.record.id] = waiting.write(file.nodes)
        links = dict(_changed_links(writer, batch, changes, edits))
        waiting.seek(0)
        for document_id in dict.fromkeys([*lengths, *links]):
            language = plan.settings.trees[document_id.partition(":")[0]].language
            if record := changes.get(document_id):
                number, data = record.number, waiting.read(lengths[document_id])
                nodes = _DECODER.decode(data) if data else NodeFields()
            else:
                assert plan.snapshot, "a new index reads all documents"
                number = plan.snapshot.number(document_id)
                nodes = fields_of(plan.snapshot.nodes_of(document_id), language)
            if document_id in links:
                add_links(nodes, links[document_id], language)
            is_new = document_id in changes and plan.old(document_id) is None
            writer.replace(document_id, number, nodes, is_new=is_new)
    changes |= {record.id: record for record in plan.stale.refreshed}
    for key, blob in changed_blobs(changes, plan.snapshot.blobs if plan.snapshot else lambda _: []):
        writer.put(key, blob)
    for name, times in plan.stale.folders.items() if batch.is_last else ():
        writer.put(FOLDERS_KEY + name, msgspec.msgpack.encode(times))
    if plan.snapshot is None or plan.snapshot.settings != plan.settings:
        writer.put(SETTINGS_KEY, msgspec.msgpack.encode(plan.settings))


def _write_again(_: Folder, writer: Writer, batch: _Batch) -> None:
    """Write everything that an index of several commits has again, with the words of links.

    The engine then drops all earlier segments: deleted nodes would count in its statistics.
    """
    plan, snapshot = batch.plan, batch.plan.snapshot
    assert snapshot, "there were commits"
    for name, tree in plan.settings.trees.items():
        links = TreeLinks(name, snapshot)
        links.signs = Counter({sign: links.signs[sign] for sign in (FILES, FAILED, NODES, TOKENS)})
        paths = [path for part in snapshot.file_times() if name in part for path, *_ in part[name]]
        for record in links.follow_all(sorted(paths)):
            document_id = f"{name}:{record.page.path}"
            nodes = fields_of(snapshot.nodes_of(document_id), tree.language)
            add_links(nodes, record, tree.language)
            writer.replace(document_id, snapshot.number(document_id), nodes)
        writer.put(LINKS_KEY + name, msgspec.msgpack.encode(dict(+links.signs)))
    for key in (*FILE_KEYS, *TIMES_KEYS, SETTINGS_KEY, *(FOLDERS_KEY + name for name in plan.settings.trees)):
        for blob in snapshot.blobs([key]):
            writer.put(key, blob)


def _numbered(batch: _Batch) -> Iterator[IndexedFile]:
    """The results of a batch, with the numbers of their documents."""
    plan, rest, size = batch.plan, batch.rest, 0
    numbers = count(plan.snapshot.next_number if plan.snapshot else 0)
    while not batch.is_last and size < batch.limit and (file := next(batch.results, None)):
        old = plan.old(file.record.id)
        number = old.number if old and old.number >= 0 else next(numbers) if file.nodes else -1
        record = msgspec.structs.replace(file.record, number=number)
        if record.failed:
            plan.stale.unreadable[record.id] = record
        rest[record.tree] -= 1
        size += record.size
        yield msgspec.structs.replace(file, record=record)


def _changed_links(
    writer: Writer,
    batch: _Batch,
    changes: Mapping[str, FileRecord | None],
    edits: Mapping[str, Mapping[str, LinkRecord | None]],
) -> Iterator[tuple[str, LinkRecord]]:
    """The link records of documents that were read, or to which or from which other links lead now."""
    plan, rest = batch.plan, batch.rest
    for tree in dict.fromkeys([*edits, *rest, *plan.stale.unfinished]):
        if tree not in plan.settings.trees:
            writer.put(LINKS_KEY + tree, None)
            continue
        links, records = TreeLinks(tree, plan.snapshot), edits.get(tree, {})
        before = +links.signs
        for document_id in [f"{tree}:{path}" for path in records]:
            links.signs.update(file_signs(changes[document_id]))
            links.signs.subtract(file_signs(plan.old(document_id)))
        if batch.is_part:  # links are followed at the end
            links.signs[EXPECTED] = links.signs[FILES] + rest[tree]
            yield from [(f"{tree}:{path}", record) for path, record in records.items() if record]
        elif records:
            yield from links.change(records).items()
        if +links.signs != before:
            writer.put(LINKS_KEY + tree, msgspec.msgpack.encode(dict(+links.signs)))


def _is_current(folder: Folder, generation: Path) -> bool:
    with contextlib.suppress(StoreError):
        return folder.current() == generation
    return False


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
