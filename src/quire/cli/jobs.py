"""Documents on all cores: what one process does with each of them, done by several. The results are the same.

``Work`` goes to the processes of run/ and is applied there to one document at a time; what it counts comes back with
its results, and both are taken in in the order of the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

from quire import options as run_options
from quire import size
from quire.cli.documents import Tally, Text, ToRead, read_all
from quire.cli.options import cutter
from quire.cli.output import Progress, note
from quire.counter import TokenCounter
from quire.errors import QuireError
from quire.record import Chunks
from quire.run import workers as run_workers

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

_TAKES_AN_ENGINE = "\N{GOTHIC LETTER AHSA}"
"""A text that is not counted without a full engine; see decisions/tokenizer.md."""


class Work(Protocol[Result_co]):
    """What is to be done with documents. It can be sent to another process."""

    def __call__(self, documents: Iterable[Text], tally: Tally) -> Iterable[Result_co]:
        """The results for ``documents``, which are counted in ``tally``."""

    def prepare(self) -> None:
        """Load what there is to load, for there is much to do."""


@dataclass(frozen=True)
class Cutter:
    """What cuts a document, with options that are known to be possible. It can be sent to another process."""

    strategy: str
    tokenizer: str | None
    """The counter's name, by which any process finds it."""
    options: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, *, strategy: str, tokenizer: TokenCounter | None, **options: Any) -> Cutter:
        """What the options of a command say."""
        cut = cls(strategy, tokenizer.name if tokenizer else None, tuple(options.items()))
        _cutter(cut)
        return cut

    def __call__(self, document: Text) -> Chunks:
        """The chunks of a document."""
        return _cutter(self)(document)

    def prepare(self) -> None:
        """Load what counts in bulk."""
        load(counter_for(self.strategy, self.tokenizer))


def counter_for(strategy: str, tokenizer: str | None) -> TokenCounter:
    """The counter of that name, else the strategy's own."""
    return size.resolve(tokenizer, run_options.TOKENIZERS.get(strategy, run_options.DEFAULT_TOKENIZER))


def load(counter: TokenCounter) -> None:
    """Have ``counter`` load all that it may need, at once."""
    counter.count(_TAKES_AN_ENGINE)


@cache
def _cutter(cut: Cutter) -> Callable[[Text], Chunks]:
    tokenizer = counter_for(cut.strategy, cut.tokenizer) if cut.tokenizer is not None else None
    return cutter(cut.strategy, tokenizer=tokenizer, **dict(cut.options))


def workers_for(documents: Sequence[ToRead], jobs: int | None) -> int:
    """How many processes are to work on ``documents``; 1 means this one alone."""
    if any(reading.found is None for reading in documents):
        return 1  # standard input is this process's own
    return run_workers.worker_count(map(_work, documents), jobs=jobs, cores=run_workers.cores())


def results(
    documents: Sequence[ToRead], work: Work[Result], tally: Tally, workers: int
) -> Generator[Result, None, None]:
    """What ``work`` makes of ``documents``, in their order; to be closed, so that no process outlives its use."""
    if workers == 1:
        yield from work(read_all(documents, tally), tally)
        return
    from quire.run.process_pool import Lost, map_batches  # noqa: PLC0415  takes as long to load as a small document to cut

    works = [_work(reading) for reading in documents]
    size = run_workers.batch_size(sum(works), workers)
    batches = run_workers.batches(zip(documents, works, strict=True), most=size)
    progress = Progress(len(documents))
    running = map_batches(_Batch(work), batches, workers=workers, prepare=work.prepare, on_failure=_on_failure)
    try:
        for done, (reading, part) in enumerate(running):
            progress.step(done, reading.name)
            if isinstance(part, Lost):
                tally.fail(reading.name, QuireError(part.reason, "make room, or cut it into smaller files"))
            else:
                tally.merge(part[0])
                yield from part[1]
    finally:
        running.close()
        progress.end()


@dataclass(frozen=True)
class _Batch:
    """Works on the documents of a batch; each has its own tally."""

    work: Work[Any]

    def __call__(self, readings: Sequence[ToRead]) -> list[tuple[Tally, list[Any]]]:
        return [self._one(reading) for reading in readings]

    def _one(self, reading: ToRead) -> tuple[Tally, list[Any]]:
        tally = Tally()
        return tally, list(self.work(read_all([reading], tally), tally))


def _work(reading: ToRead) -> int:
    try:
        return run_workers.work_of(reading.found.file.stat().st_size if reading.found else 0)
    except (OSError, ValueError):  # the one that reads it will say why
        return run_workers.work_of(0)


def _on_failure(message: str) -> None:
    note(f"quire: {message}")
