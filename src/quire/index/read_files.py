"""Reads, hashes, parses and counts the files of an update, in this process or in several.

A file whose process dies, also when the file is tried alone, is reported and left out.
"""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial

import msgspec

from quire.errors import InputError, UndecodableError
from quire.index.changed_files import Task, digest_of
from quire.index.engine.node_fields import fields_of
from quire.index.file_records import TOKENIZER, FileRecord, TreeRecord, encode_front_matter
from quire.index.link_words import LinkRecord, link_record
from quire.index.node import Node, build_nodes
from quire.model.document import Finding
from quire.parsing.blocks import parse_source
from quire.read.source import CONVERT, decode, make_source, read_bytes, unreadable
from quire.run import workers as run_workers
from quire.run.workers import WorkerDied
from quire.tokens import tokenizers

OnProgress = Callable[[int, int, str], None]
"""Called with the number of files read, the number of all files, and the path of the last one."""

_WORK_PER_WORKER = 6 * 1024 * 1024  # makes up for the start of a process, which loads the parser and the tokenizer
_MAX_WORKERS = 8  # more are idle, as one process takes their results


class IndexedFile(msgspec.Struct, frozen=True):
    """What the index stores of a file."""

    record: FileRecord
    nodes: bytes = b""  # encoded ``NodeFields``; empty if it could not be read
    links: bytes = b""  # an encoded ``LinkRecord``; empty likewise


def read_files(
    tasks: Sequence[Task], trees: Mapping[str, TreeRecord], jobs: int | None, on_progress: OnProgress | None
) -> Generator[IndexedFile, None, None]:
    """Read files with ``jobs`` processes, by default as many as pay off. Results come in order."""
    works = [run_workers.work_of(task.record.size) for task in tasks]
    # The engine gets nodes when all files are read, so all cores can read.
    wanted = min(run_workers.cores(), _MAX_WORKERS, sum(works) // _WORK_PER_WORKER) if jobs is None else jobs
    workers = run_workers.worker_count(works, jobs=wanted, cores=run_workers.cores())
    with closing(run_workers.results(partial(read_file, trees), tasks, works, workers=workers)) as results:
        for done, (task, result) in enumerate(results, start=1):
            if on_progress is not None:
                on_progress(done, len(tasks), task.record.path)
            if isinstance(result, WorkerDied):
                yield _failed(task, f"it cannot be indexed: {result.reason}", code="unreadable")
            else:
                yield result


def read_file(trees: Mapping[str, TreeRecord], task: Task) -> IndexedFile:
    """Read a file; the result says also if it cannot be read."""
    path, tree = task.record.path, trees[task.record.tree]
    try:
        data = read_bytes(os.fsdecode(task.file))
    except (OSError, ValueError) as error:
        return _failed(task, unreadable(error), code="unreadable")
    digest = digest_of(data)
    try:
        text, _ = decode(data, path, tree.reading.errors, tree.reading.encoding)
    except UndecodableError as error:
        advised = error.advising(f"{CONVERT}, or set encoding or errors of its tree in quire.toml")
        return _failed(task, advised.message, error.line, digest, code="undecodable")
    except InputError as error:
        return _failed(task, error.message, 0, digest, code="binary")
    record, nodes, links = parsed(msgspec.structs.replace(task.record, digest=digest), text, tree)
    return IndexedFile(record, msgspec.msgpack.encode(fields_of(nodes, tree.language)), msgspec.msgpack.encode(links))


def parsed(record: FileRecord, text: str, tree: TreeRecord) -> tuple[FileRecord, Sequence[Node], LinkRecord]:
    """The record of a document with what its text says, its nodes, and its links, which were not followed yet."""
    path, marker = record.path, tree.reading.page_marker
    document = parse_source(make_source(text, path, None, tree.used_dialect, tree.variables, page_marker=marker))
    nodes = build_nodes(document, record.tree, tokenizers.resolve(None, TOKENIZER))
    record = msgspec.structs.replace(
        record,
        title=nodes[0].title,
        nodes=len(nodes),
        tokens=nodes[0].full_tokens,
        front_matter=encode_front_matter(document.frontmatter, nodes[0].tags),
    )
    return record, nodes, link_record(document, path)


def _failed(task: Task, message: str, line: int = 0, digest: bytes = b"", *, code: str) -> IndexedFile:
    problem = Finding(code=code, path=task.record.path, line=line, message=message)
    return IndexedFile(msgspec.structs.replace(task.record, digest=digest, problem=problem))
