"""Reads, hashes, parses and counts the files of an update, in this process or in several.

Worker processes produce the engine's fields; this process feeds them to the engine, which tokenizes in its own threads.
If the process of a file dies, and dies again when the file is tried alone, the file is reported and left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from io import FileIO

import msgspec

from quire import parsing, read, size
from quire.counter import TokenCounter
from quire.errors import InputError, UndecodableError
from quire.index.build_nodes import build_nodes
from quire.index.changed_files import Task, digest_of
from quire.index.engine.index_schema import fields_of
from quire.index.file_records import TOKENIZER, FileFinding, FileRecord, encode_front_matter, storable
from quire.index.link_words import LinkRecord, link_record
from quire.index.node import encode_outline
from quire.read.source import CONVERT, unreadable
from quire.run import workers as run_workers
from quire.run.workers import Batch

OnProgress = Callable[[int, int, str], None]
"""Called with the number of files read, the number of all files, and the path of the last one."""

_MAX_FINDINGS = 8
_WORK_PER_WORKER = 6 * 1024 * 1024
"""How much work makes up for the start of a process, which loads the parser and the tokenizer."""
_MAX_WORKERS = 8  # more are idle, as one process takes their results


class IndexedFile(msgspec.Struct, frozen=True, array_like=True):
    """What the index stores of a file."""

    record: FileRecord
    nodes: bytes = b""  # encoded ``NodeFields``, empty if it could not be read: they wait until all files are read
    links: LinkRecord | None = None


Results = Generator[tuple[Task, IndexedFile], None, None]


def read_files(tasks: Sequence[Task], jobs: int | None, on_progress: OnProgress | None) -> Results:
    """Read files with ``jobs`` processes, by default as many as pay off. The order of results is not defined."""
    works = [run_workers.work_of(task.record.size) for task in tasks]
    # The engine gets nodes when all files are read, so all cores can read.
    wanted = min(run_workers.cores(), _MAX_WORKERS, sum(works) // _WORK_PER_WORKER) if jobs is None else jobs
    workers = run_workers.worker_count(works, jobs=wanted, cores=run_workers.cores())
    batches = run_workers.batches(zip(tasks, works, strict=True), most=run_workers.batch_size(sum(works), workers))
    here = (pair for batch in batches for pair in zip(batch.items, read_batch(batch.items), strict=True))
    with closing(here if workers == 1 else _in_workers(batches, workers)) as results:
        for done, (task, file) in enumerate(results, start=1):
            yield task, file
            if on_progress is not None:
                on_progress(done, len(tasks), task.record.path)


def _in_workers(batches: Iterable[Batch[Task]], workers: int) -> Results:
    from quire.run.process_pool import WorkerDied, map_batches  # noqa: PLC0415  loads multiprocessing, which few updates need

    with closing(map_batches(read_batch_encoded, batches, workers=workers)) as results:
        for task, result in results:
            if isinstance(result, WorkerDied):
                yield task, _failed(task, f"it cannot be indexed: {result.reason}", code="unreadable")
            else:
                yield task, _DECODER.decode(result)


def read_batch_encoded(tasks: Sequence[Task]) -> list[bytes]:
    """``read_batch`` for a worker process."""
    return [msgspec.msgpack.encode(file) for file in read_batch(tasks)]


def read_batch(tasks: Sequence[Task]) -> list[IndexedFile]:
    """Read some files. Files that cannot be read are among the results."""
    counter = size.resolve(None, TOKENIZER)
    return [_read(task, counter) for task in tasks]


def _read(task: Task, counter: TokenCounter) -> IndexedFile:
    path = task.record.path
    try:
        with FileIO(os.fsdecode(task.file)) as file:
            data = file.read()
    except (OSError, ValueError) as error:
        return _failed(task, unreadable(error), code="unreadable")
    digest = digest_of(data)
    try:
        text, _ = read.decode(data, path, task.reading.errors, task.reading.encoding)
    except UndecodableError as error:
        advised = error.advising(f"{CONVERT}, or set encoding or errors of its tree in quire.toml")
        return _failed(task, advised.message, error.line, digest, code="undecodable")
    except InputError as error:
        return _failed(task, error.message, 0, digest, code="binary")
    source = read.make_source(text, path, dialect=task.dialect or None, substitutions=task.variables)
    document = parsing.document(source)
    nodes = build_nodes(document, task.record.tree, counter)
    findings = [
        FileFinding(finding.code, finding.line, storable(finding.message))
        for finding in document.findings[:_MAX_FINDINGS]
    ]
    record = msgspec.structs.replace(
        task.record,
        digest=digest,
        title=nodes[0].title,
        nodes=len(nodes),
        tokens=nodes[0].full_tokens,
        outline=encode_outline(nodes, task.language),
        notes=tuple(findings),
        front_matter=encode_front_matter(document.frontmatter, nodes[0].tags),
    )
    fields = msgspec.msgpack.encode(fields_of(nodes, task.language))
    return IndexedFile(record, fields, link_record(document, record.path))


def _failed(task: Task, message: str, line: int = 0, digest: bytes = b"", *, code: str) -> IndexedFile:
    notes = (FileFinding(code, line, message),)
    return IndexedFile(msgspec.structs.replace(task.record, digest=digest, notes=notes, failed=True))


_DECODER = msgspec.msgpack.Decoder(IndexedFile)
