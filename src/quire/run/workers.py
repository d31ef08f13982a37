"""How many processes to start, and how documents are divided into batches for them.

Work is measured in bytes of documents, plus a constant per document. decisions/run.md has the figures.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

BATCH = 256 * 1024  # the size of a batch: about 35 ms of work, so that sending it costs little in comparison
PER_WORKER = 2 * 1024 * 1024  # the minimum of work per process: starting one takes about as long as chunking this much
PER_DOCUMENT = 2 * 1024  # the cost of a document in addition to its bytes
_BATCHES_PER_WORKER = 4  # the minimum of batches per process, so that all processes finish at about the same time
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/cpu.max")  # microseconds of work per so many microseconds, or "max"


class Batch(NamedTuple, Generic[Item]):
    """Items that are sent to a process together."""

    items: tuple[Item, ...]
    work: int


class WorkerDied(NamedTuple):
    """Replaces the result of an item that killed its process while nothing else ran."""

    reason: str


def cores() -> int:
    """The cores that this process may use: its CPU affinity and the limit of its container count."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = map(int, _CONTAINER_LIMIT.read_text().split())
        number = min(number, max(1, quota // period))
    return number


def work_of(size: int) -> int:
    """The cost of a document of ``size`` bytes."""
    return size + PER_DOCUMENT


def worker_count(works: Iterable[int], *, jobs: int | None, cores: int) -> int:
    """How many processes to start; 1 means none: this process does the work.

    ``jobs`` is the number that the user asked for. By default there is one process per core if each has enough to do.
    """
    costs = list(works)
    wanted = min(cores, sum(costs) // PER_WORKER) if jobs is None else jobs
    return max(1, min(wanted, len(costs)))


def batches(items: Iterable[tuple[Item, int]], *, most: int = BATCH) -> Iterator[Batch[Item]]:
    """Batches of at most ``most`` work from pairs of an item and its work; a larger item is a batch by itself."""
    batch, total = list[Item](), 0
    for item, work in items:
        if batch and total + work > most:
            yield Batch(tuple(batch), total)
            batch, total = [], 0
        batch.append(item)
        total += work
    if batch:
        yield Batch(tuple(batch), total)


def results(
    function: Callable[[Item], Result], items: Sequence[Item], works: Sequence[int], *, workers: int, **settings: Any
) -> Generator[tuple[Item, Result | WorkerDied], None, None]:
    """Yield each item with its result, in order, from processes as ``map_batches`` does; with 1, from this one."""
    if workers == 1:
        yield from ((item, function(item)) for item in items)
        return
    from quire.run.process_pool import map_batches  # noqa: PLC0415  takes as long to load as a small document to cut

    most = min(BATCH, sum(works) // (workers * _BATCHES_PER_WORKER) + 1)
    divided = batches(zip(items, works, strict=True), most=most)
    yield from map_batches(function, divided, workers=workers, **settings)
