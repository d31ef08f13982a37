"""Documents read and cut in one or several processes; the results are the same, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from operator import attrgetter
from typing import TypeVar

from quire.cli.input_documents import InputDocument, Summary, Text
from quire.cli.output import Progress, message, tracked
from quire.errors import QuireError
from quire.record import Chunks
from quire.run import workers as run_workers

Result = TypeVar("Result")
Work = Callable[[Text], tuple[Chunks, Result]]
"""Cuts a document; returns its chunks, which are counted, and a result. Picklable."""


def results(
    documents: Sequence[InputDocument],
    work: Work[Result],
    summary: Summary,
    *,
    jobs: int | None,
    prepare: Callable[[], None],
) -> Generator[Result, None, None]:
    """The results of ``work``, by ``jobs`` processes or as many as pay off; each calls ``prepare`` first.

    ``summary`` lists documents that cannot be read or cut. Close the generator, so that no process outlives its use.
    """
    costs = [_cost(document) for document in documents]
    reads_standard_input = any(document.found is None for document in documents)
    workers = 1 if reads_standard_input else run_workers.worker_count(costs, jobs=jobs, cores=run_workers.cores())
    if workers == 1:
        for document in tracked(documents, attrgetter("name")):
            yield from _process(work, document, summary)
        return
    with Progress() as progress:
        from quire.run.process_pool import WorkerDied, map_batches  # noqa: PLC0415  takes as long to load as a small document to cut

        size = run_workers.batch_size(sum(costs), workers)
        batches = run_workers.batches(zip(documents, costs, strict=True), most=size)
        running = map_batches(partial(_in_worker, work), batches, workers=workers, prepare=prepare, on_failure=message)
        try:
            for done, (document, result) in enumerate(running):
                progress.step(done, len(documents), document.name)
                if isinstance(result, WorkerDied):
                    summary.skip(document.name, f"{result.reason}; make room, or cut it into smaller files")
                else:
                    summary.add(result[0])
                    yield from result[1]
        finally:
            running.close()


def _process(work: Work[Result], document: InputDocument, summary: Summary) -> list[Result]:
    """The result for a document; nothing if it cannot be read or cut."""
    try:
        text = document.read()
        chunks, result = work(text)
    except QuireError as error:
        summary.skip(document.name, error.reason)
        return []
    summary.add(Summary.of(text, chunks))
    return [result]


def _in_worker(work: Work[Result], documents: Sequence[InputDocument]) -> list[tuple[Summary, list[Result]]]:
    """The documents of a batch, each with a summary of its own."""
    summaries = [Summary() for _ in documents]
    return [(each, _process(work, document, each)) for each, document in zip(summaries, documents, strict=True)]


def _cost(document: InputDocument) -> int:
    try:
        return run_workers.work_of(document.found.file.stat().st_size if document.found else 0)
    except (OSError, ValueError):  # reading it gives the reason
        return run_workers.work_of(0)
