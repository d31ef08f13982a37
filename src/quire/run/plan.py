"""How much work there is, how many processes it is worth, and in what portions it is given out. Pure; local.py runs it.

Work is measured in bytes of documents, with something for each document on top. decisions/run.md has the figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")

BATCH = 256 * 1024
"""How much work is given out at once: some 35 ms of it, so that sending it costs little beside doing it."""
PER_WORKER = 2 * 1024 * 1024
"""How much work there must be for each process: starting one takes about as long as cutting this much."""
PER_DOCUMENT = 2 * 1024
"""What a document costs beside its bytes: opening it, and all that is done once for each."""
_SHARES = 4
"""Into how many batches a process's share is cut at least, so that all of them end at about the same time."""


class Batch(NamedTuple, Generic[Item]):
    """Items that are given out together."""

    items: tuple[Item, ...]
    """In order."""
    work: int
    """What they cost."""


def work_of(size: int) -> int:
    """What a document of ``size`` bytes costs."""
    return size + PER_DOCUMENT


def workers(works: Iterable[int], *, jobs: int | None, cores: int) -> int:
    """How many processes to start; 1 means none, the work is done where it is.

    ``jobs`` is what the user asked for. Without it there is one a core, as long as each has enough to do.
    """
    each = list(works)
    wanted = min(cores, sum(each) // PER_WORKER) if jobs is None else jobs
    return max(1, min(wanted, len(each)))


def batches(items: Iterable[tuple[Item, int]], *, most: int = BATCH) -> Iterator[Batch[Item]]:
    """The items, each of which comes with its work, in batches of at most ``most``; a larger item is one by itself."""
    held: list[Item] = []
    total = 0
    for item, work in items:
        if held and total + work > most:
            yield Batch(tuple(held), total)
            held, total = [], 0
        held.append(item)
        total += work
    if held:
        yield Batch(tuple(held), total)


def batch_size(total: int, workers: int) -> int:
    """How large batches are, where ``workers`` share the work."""
    return min(BATCH, total // (workers * _SHARES) + 1)
