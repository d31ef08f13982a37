"""Brings an index up to date: writes only what changed, in one commit. One process at a time does so.

An index that is damaged or has other settings is rebuilt in a new generation, which replaces the old one atomically.
This module loads the parser and the engine's writer, so it is imported only if ``update_plan`` finds something to do.
"""

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from socket import gethostname

import msgspec

from quire.errors import BusyError, StoreError
from quire.index.build_journal import BuildJournal, open_journal
from quire.index.engine import damage
from quire.index.engine.node_fields import NodeFields, add_links, fields_of
from quire.index.engine.snapshot import Opened, Snapshot
from quire.index.engine.writer import Writer
from quire.index.file_records import EXPECTED, FOLDERS_KEY, LINKS_KEY, SETTINGS_KEY, VERSION, changed_blobs, file_signs
from quire.index.folder import CURRENT, IGNORE, LOCK, Folder, Pointer
from quire.index.link_words import LinkRecord, TreeLinks, decode_links
from quire.index.read_files import OnProgress, read_files
from quire.index.update_plan import UpdatePlan
from quire.links.auto_slugs import heading_dialect, slugs_of_files
from quire.model.operating_system import remove_folder
from quire.model.options import AUTO_SLUGS
from quire.output import atomic_file
from quire.output.lock import Busy, OnWait, acquired
from quire.read.discover import Discovery
from quire.run.workers import cores

_BYTES_PER_THREADS = 4 * 1024 * 1024
_MAX_THREADS = 2  # more wait for this process, and make more segments
LARGE_BUILD = 128 * 1024 * 1024
"""A new index of more bytes of source is read into a file, from which a killed build goes on, and answers early."""
FIRST_PART = 32 * 1024 * 1024
_PART_GROWTH = 4
"""It answers when so many bytes were read, then four times as many, and so on up to a fourth of all."""


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
        plan = choose_slugs(folder, plan)
        _sweep(folder)
        snapshot = _build(folder, plan, jobs, on_progress)
        return plan, (snapshot, folder.stamp())


def _build(folder: Folder, plan: UpdatePlan, jobs: int | None, on_progress: OnProgress | None) -> Snapshot:
    """Read everything, then write it.

    Of a large new index, the documents that are read first are committed at once, so that a search finds something. In
    the end all are written to a new generation, with the words of links: replaced nodes would count in the engine's
    statistics.
    """
    size = plan.stale.size
    is_large = plan.snapshot is None and size > LARGE_BUILD
    with open_journal(folder.path, plan.settings if is_large else None) as journal:
        part, written, next_part = plan, 0, FIRST_PART
        for done in _read(plan, journal, jobs, on_progress):
            if is_large and not plan.keeps_current and done >= next_part <= size // _PART_GROWTH:
                changes = [*islice(journal.records, written, None)]
                snapshot = _commit(folder, part, journal, changes, is_part=True)
                part = msgspec.structs.replace(plan, snapshot=snapshot)
                written, next_part = len(journal.records), next_part * _PART_GROWTH
        return _commit(folder, plan, journal, [*plan.stale.removed, *journal.records])


def _read(plan: UpdatePlan, journal: BuildJournal, jobs: int | None, on_progress: OnProgress | None) -> Iterator[int]:
    """Read files into the journal, with the numbers of their documents; yields how many bytes were read so far."""
    stale, tasks = plan.stale, journal.resume(plan.stale.tasks)
    stale.added = len(journal.records)
    known = [record.number for record in journal.records.values()]
    numbers = count(plan.snapshot.next_number if plan.snapshot else max(known, default=-1) + 1)
    size = 0
    with contextlib.closing(read_files(tasks, plan.settings.trees, jobs, on_progress)) as results:
        for task, file in zip(tasks, results, strict=True):
            old = plan.old(file.record.id)
            number = old.number if old and old.number >= 0 else next(numbers) if file.nodes else -1
            record = msgspec.structs.replace(file.record, number=number)
            if record.problem:
                stale.failed.append(msgspec.structs.replace(record.problem, path=os.fsdecode(task.file)))
            elif old is None:
                stale.added += 1
            else:
                stale.changed += 1
            journal.add(msgspec.structs.replace(file, record=record))
            size += record.size
            yield size
    stale.tasks.clear()


@contextlib.contextmanager
def locked(folder: Folder, patience: float, on_wait: OnWait | None = None) -> Iterator[bool]:
    """Hold the lock, which names its holder; yields whether another process held it first."""

    def busy(descriptor: int) -> Busy:
        os.lseek(descriptor, 1, os.SEEK_SET)
        holder = os.read(descriptor, 400).decode(errors="replace").strip() or "another process"
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
        raise StoreError(str(folder.path), problem, atomic_file.REMEDY) from error


def choose_slugs(folder: Folder, plan: UpdatePlan) -> UpdatePlan:
    """The plan with the dialect of each new tree, and a rule for each with ``auto`` slugs; others keep theirs."""
    indexed_trees = {} if plan.snapshot is None else plan.snapshot.settings.trees
    trees = dict(plan.settings.trees)
    for name, tree in trees.items():
        if not tree.dialect and name not in indexed_trees:
            dialect = heading_dialect(folder.home / os.fsdecode(tree.folder))
            trees[name] = msgspec.structs.replace(tree, auto_dialect=dialect)
        if tree.slugs == AUTO_SLUGS and not tree.auto_slugs:
            top, new = folder.home / os.fsdecode(tree.folder), trees[name]
            documents = Discovery(str(top), include=new.include, exclude=new.exclude).documents
            rule = slugs_of_files(documents, top, new.used_dialect, new.variables)
            trees[name] = msgspec.structs.replace(new, auto_slugs=rule)
    return msgspec.structs.replace(plan, settings=msgspec.structs.replace(plan.settings, trees=trees))


def _commit(
    folder: Folder, plan: UpdatePlan, journal: BuildJournal, changes: Sequence[str], *, is_part: bool = False
) -> Snapshot:
    """Write some documents in one commit, in a new generation unless the plan has a snapshot, and open it.

    The journal has no record of a document that is gone. The links of a part of a new index are not followed yet.
    """
    next_name = f"index-{max(folder.generations(), default=0) + 1}"
    generation = plan.snapshot.folder if plan.snapshot else folder.path / next_name
    writer: Writer | None = None
    try:  # before the folder is made: Ctrl-C may come right after that
        if plan.snapshot is None:
            generation.mkdir()
        # Each thread makes a segment of its own.
        threads = min(_MAX_THREADS, cores()) if plan.stale.size >= _BYTES_PER_THREADS else 1
        writer = Writer(generation, plan.settings.languages, create=plan.snapshot is None, threads=threads)
        _write(writer, plan, journal, changes, is_part=is_part)
        writer.commit()
        if plan.snapshot is None or plan.snapshot.settings.trees != plan.settings.trees:
            pointer = Pointer(VERSION, generation.name, msgspec.Raw(msgspec.json.encode(plan.settings.trees)))
            with atomic_file.replacing(folder.path / CURRENT) as stream:
                stream.write(msgspec.json.encode(pointer))
    except BaseException:
        if writer is not None:
            # What cannot be removed now is removed by the next commit. RuntimeError: the commit has ended the writer.
            with contextlib.suppress(StoreError, RuntimeError):
                writer.rollback()
        _sweep(folder)
        raise
    with contextlib.suppress(StoreError, OSError, damage.DamageError):  # the next update does what fails here
        _sweep(folder)
        damage.check(generation)
    return Snapshot(generation)


def _write(writer: Writer, plan: UpdatePlan, journal: BuildJournal, changes: Sequence[str], *, is_part: bool) -> None:
    """Give changes to the engine, without the commit."""
    snapshot, paths = plan.snapshot, defaultdict[str, list[str]](list)
    for document_id in changes:
        tree, _, path = document_id.partition(":")
        paths[tree].append(path)
        if not (file := journal.records.get(document_id)) or file.problem:  # it is gone, or could not be read
            writer.replace(document_id, 0, NodeFields())
    for tree in dict.fromkeys([*paths, *(plan.settings.trees if is_part else ())]):
        if tree not in plan.settings.trees:
            writer.put(LINKS_KEY + tree, None)
            continue
        links, language = TreeLinks(tree, snapshot), plan.settings.trees[tree].language
        before = +links.signs
        for record in _changed_links(plan, journal, links, paths[tree], is_part=is_part):
            document_id = links.prefix + record.page.path
            old = plan.old(document_id)
            if document_id in journal.records or snapshot is None or old is None:
                number, nodes = journal.numbered_nodes(document_id)
            else:
                number, nodes = old.number, fields_of(snapshot.nodes_of(document_id), language)
            add_links(nodes, record, language)
            writer.replace(document_id, number, nodes, is_new=old is None)
        if +links.signs != before:
            writer.put(LINKS_KEY + tree, msgspec.msgpack.encode(dict(+links.signs)))
    _put_records(writer, plan, journal, changes)


def _put_records(writer: Writer, plan: UpdatePlan, journal: BuildJournal, changes: Sequence[str]) -> None:
    """Write what is no node: settings, the times of folders, file records."""
    snapshot, refreshed = plan.snapshot, {record.id: record for record in plan.stale.refreshed}
    for name, times in plan.stale.folders.items():
        writer.put(FOLDERS_KEY + name, msgspec.msgpack.encode(times))
    if snapshot is None or snapshot.settings != plan.settings:
        writer.put(SETTINGS_KEY, msgspec.msgpack.encode(plan.settings))
    files = changed_blobs(
        [*changes, *refreshed],
        lambda document_id: refreshed.get(document_id) or journal.records.get(document_id),
        snapshot.blobs if snapshot else lambda _: [],
    )
    for key, blob in files:
        writer.put(key, blob)


def _changed_links(
    plan: UpdatePlan, journal: BuildJournal, links: TreeLinks, paths: Sequence[str], *, is_part: bool
) -> Iterator[LinkRecord]:
    """The link records of documents of a tree that were read, or to which or from which other links lead now."""
    for document_id in [links.prefix + path for path in paths]:
        links.signs.update(file_signs(journal.records.get(document_id)))
        links.signs.subtract(file_signs(plan.old(document_id)))
    encoded = journal.links_of(links.prefix, dict.fromkeys(paths))
    if is_part:
        links.signs[EXPECTED] = sum(task.record.id.startswith(links.prefix) for task in plan.stale.tasks)
        return map(decode_links, filter(None, encoded.values()))
    return links.change(encoded) if plan.snapshot else links.follow_all(encoded, journal.stream)


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
