"""Reads many files, here or in processes of their own. Between ``goal`` and ``update``.

The processes read, parse, count and make the engine's fields; here the engine is fed, which cuts text into terms in
threads of its own. A file whose process dies, and dies again when it is tried alone, is named and left out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from quire.index.files import Note
from quire.index.tasks import Reading, Task
from quire.index.update import OnProgress, Readings

if TYPE_CHECKING:  # where nothing has changed, nothing is read
    from quire.run.workers import Batch

_PER_WORKER = 6 * 1024 * 1024
"""How much work makes up for starting a process: it loads the parser and the tokenizer, and all goes through a pipe."""
_MOST_WORKERS = 4
"""As many as keep busy the one that feeds the engine. One core is the engine's: with two, reading here is as fast."""
Read = Generator[tuple[Task, Reading], None, None]

_DECODER = msgspec.msgpack.Decoder(Reading)


def readings(jobs: int | None = None, on_progress: OnProgress | None = None) -> Readings:
    """How an update reads: with ``jobs`` processes, by default as many as pay."""
    return partial(_read, jobs, on_progress)


def _read(jobs: int | None, on_progress: OnProgress | None, tasks: Sequence[Task]) -> Read:
    if not tasks:
        return
    from quire.run import workers as run_workers  # noqa: PLC0415  where nothing has changed, nothing is read

    works = [run_workers.work_of(task.size) for task in tasks]
    wanted = min(run_workers.cores() - 1, _MOST_WORKERS, sum(works) // _PER_WORKER) if jobs is None else jobs
    workers = run_workers.worker_count(works, jobs=wanted, cores=run_workers.cores())
    size = run_workers.batch_size(sum(works), workers)
    batches = run_workers.batches(zip(tasks, works, strict=True), most=size)
    results = _here(batches) if workers == 1 else _there(batches, workers)
    with closing(results):
        for done, (task, reading) in enumerate(results, start=1):
            yield task, reading
            if on_progress is not None:
                on_progress(done, len(tasks), task.path)


def _here(batches: Iterable[Batch[Task]]) -> Read:
    from quire.index.reading import read_tasks  # noqa: PLC0415  loads the parser and the tokenizer

    for batch in batches:
        yield from zip(batch.items, read_tasks(batch.items), strict=True)


def _there(batches: Iterable[Batch[Task]], workers: int) -> Read:
    from quire.index.reading import packed  # noqa: PLC0415  loads the parser and the tokenizer
    from quire.run.process_pool import Lost, map_batches  # noqa: PLC0415  loads multiprocessing

    with closing(map_batches(packed, batches, workers=workers)) as results:
        for task, result in results:
            yield task, _lost(result.reason) if isinstance(result, Lost) else _DECODER.decode(result)


def _lost(reason: str) -> Reading:
    return Reading(notes=(Note(code="unreadable", line=0, message=f"it cannot be indexed: {reason}"),), failed=True)
