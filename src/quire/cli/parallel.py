"""Documents in several processes; the results are the same as in one, in the same order."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from quire.cli.input_documents import InputDocument, Summary, Text, read_documents
from quire.cli.output import Progress, message
from quire.run import plan
from quire.run.cores import cores

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Work(Protocol[Result_co]):
    """What to do with documents; picklable."""

    def __call__(self, documents: Iterable[Text], summary: Summary) -> Iterable[Result_co]:
        """The results for ``documents``, which are counted in ``summary``."""

    def prepare(self) -> None:
        """Load what is needed for many documents."""


def results(
    documents: Sequence[InputDocument], work: Work[Result], summary: Summary, jobs: int | None
) -> Generator[Result, None, None]:
    """The results of ``work``, by ``jobs`` processes or as many as pay off.

    Close the generator, so that no process outlives its use.
    """
    costs = [_cost(document) for document in documents]
    reads_standard_input = any(document.found is None for document in documents)
    workers = 1 if reads_standard_input else plan.workers(costs, jobs=jobs, cores=cores())
    if workers == 1:
        yield from work(read_documents(documents, summary), summary)
        return
    from quire.run.local import Lost, mapped  # noqa: PLC0415  takes as long to load as a small document to cut

    batches = plan.batches(zip(documents, costs, strict=True), most=plan.batch_size(sum(costs), workers))
    running = mapped(partial(_one, work), batches, workers=workers, prepare=work.prepare, on_trouble=message)
    try:
        with Progress() as progress:
            for done, (document, result) in enumerate(running):
                progress.step(done, len(documents), document.name)
                if isinstance(result, Lost):
                    summary.skip(document.name, f"{result.reason}; make room, or cut it into smaller files")
                else:
                    summary.merge(result[0])
                    yield from result[1]
    finally:
        running.close()


def _one(work: Work[Any], document: InputDocument) -> tuple[Summary, list[Any]]:
    summary = Summary()
    return summary, list(work(read_documents([document], summary), summary))


def _cost(document: InputDocument) -> int:
    try:
        return plan.work_of(document.found.file.stat().st_size if document.found else 0)
    except (OSError, ValueError):  # reading it gives the reason
        return plan.work_of(0)
