"""A function over many items in processes of this machine: results in order, however long each takes.

    with closing(mapped(function, batches, workers=4, prepare=load, on_trouble=note)) as results:
        for item, result in results:
            ...                        # result is Lost where the item ends its process, and does so again

``function``, which takes an item (as ``Together(function)`` all items of a batch, for a result each), and ``prepare``
(called first in every process) go there by pickle: functions of a module, or objects of a class of one, but none of
``__main__``. Results come back by pickle as well: best as bytes. An error in ``function`` is
raised here, in its turn. Whoever ends the iteration, by ``close`` or by an error, ends the processes, at once.
plan.py makes ``batches``, and says how many ``workers`` for so many ``cores``; with 1 all is done in this process.

A process that dies takes nothing with it: what it was at is tried again item by item, each with no other work beside
it, so that it is known which one is to blame, and has all the memory there is.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from quire.run.plan import Batch
from quire.run.worker import Each, Raised, Together, Worker

Item = TypeVar("Item")
Result = TypeVar("Result")

WINDOW = 8 * 1024 * 1024
"""How much work may be under way or done behind a batch that is waited for."""

_TRIES = 3
"""How many processes in a row may fail to start before there will be no more."""
_DYING = 1.0
"""How many seconds a process that has hung up may take to say how it ended."""


@dataclass(frozen=True, slots=True)
class Lost:
    """In place of a result: the process that was at the item died, and so did the one that tried again."""

    reason: str
    """How it died."""


def mapped(
    function: Callable[[Item], Result] | Together[Item, Result],
    batches: Iterable[Batch[Item]],
    *,
    workers: int,
    prepare: Callable[[], object] | None = None,
    on_trouble: Callable[[str], None] | None = None,
) -> Generator[tuple[Item, Result | Lost], None, None]:
    """Each item with its result, in order; ``on_trouble`` is told, in one line, if processes cannot be started."""
    work = function if isinstance(function, Together) else Each(function)
    if workers == 1 or multiprocessing.current_process().daemon:  # which may have no processes of its own
        for batch in batches:
            yield from work.here(batch.items)
        return
    pool = _Pool(work, batches, workers, prepare, on_trouble)
    try:
        yield from pool.results()
    finally:
        pool.end()


@dataclass(eq=False)
class _Slot(Generic[Item]):
    """A batch that has been given out, and what has come of it."""

    batch: Batch[Item]
    results: dict[int, Any] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return len(self.results) == len(self.batch.items)

    def pairs(self) -> Iterator[tuple[Item, Any]]:
        for index, item in enumerate(self.batch.items):
            result = self.results.pop(index)
            if isinstance(result, Raised):
                raise result.error
            yield item, result


@dataclass(frozen=True, eq=False)
class _Task(Generic[Item]):
    """What a process is asked to do."""

    slot: _Slot[Item]
    indices: tuple[int, ...]
    """Which items of the batch."""
    is_suspect: bool = False
    """Whether a process has died over it; then it is one item."""

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self.slot.batch.items[index] for index in self.indices)


class _Pool(Generic[Item]):
    """Gives batches out to processes, and takes the results in."""

    def __init__(
        self,
        work: Each[Item, Any] | Together[Item, Any],
        batches: Iterable[Batch[Item]],
        workers: int,
        prepare: Callable[[], object] | None,
        on_trouble: Callable[[str], None] | None,
    ) -> None:
        self._work, self._prepare, self._on_trouble = work, prepare, on_trouble
        self._batches = iter(batches)
        self._next = next(self._batches, None)
        self._slots: deque[_Slot[Item]] = deque()
        self._suspects: deque[_Task[Item]] = deque()
        self._most = workers
        self._failures = 0
        """How many processes in a row could not be started, or died before they were ready."""
        self._at: dict[Worker, _Task[Item] | None] = {}
        """The processes, and what each is at."""

    def results(self) -> Iterator[tuple[Item, Any]]:
        while len(self._at) < self._most and self._failures < _TRIES:
            self._start()
        while self._next or self._slots:
            self._give_out()
            if self._slots and self._slots[0].is_done:
                yield from self._slots.popleft().pairs()
            elif self._at:
                self._take_in()
            elif self._failures < _TRIES:
                self._start()
            else:
                yield from self._alone()

    def end(self) -> None:
        while self._at:
            self._at.popitem()[0].end()

    def _start(self) -> None:
        try:
            self._at[Worker(self._work, self._prepare)] = None
        except OSError as error:
            self._failed(error.strerror or str(error))

    def _failed(self, reason: str) -> None:
        self._failures += 1
        if self._failures == _TRIES and self._on_trouble is not None:
            number = f"{len(self._at)} of them do" if len(self._at) > 1 else "one does"
            self._on_trouble(f"cannot start {self._most} processes ({reason}); {number} the work")

    def _give_out(self) -> None:
        for worker, task in list(self._at.items()):
            if worker.is_ready and task is None:
                if not worker.is_alive:  # what it would be asked is not to blame
                    self._bury(worker)
                    continue
                following = self._next_task()
                if following is None:
                    return
                self._at[worker] = following
                worker.ask(following.items)

    def _next_task(self) -> _Task[Item] | None:
        busy = [task for task in self._at.values() if task is not None]
        if self._suspects:
            return None if busy else self._suspects.popleft()
        if self._next is None or any(task.is_suspect for task in busy) or not self._has_room():
            return None
        slot = _Slot(self._next)
        self._slots.append(slot)
        self._next = next(self._batches, None)
        return _Task(slot, tuple(range(len(slot.batch.items))))

    def _has_room(self) -> bool:
        """Every process may have a batch, however large; small ones may run ahead of one that takes long."""
        behind = sum(slot.batch.work for slot in self._slots) - (self._slots[0].batch.work if self._slots else 0)
        return len(self._slots) < self._most or behind < WINDOW

    def _take_in(self) -> None:
        heard = wait([worker.connection for worker in self._at])
        for worker, task in [(worker, task) for worker, task in self._at.items() if worker.connection in heard]:
            try:
                results = worker.answer()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            self._at[worker] = None
            if results is None or task is None:  # it is ready
                self._failures = 0
            else:
                task.slot.results.update(zip(task.indices, results, strict=True))

    def _bury(self, worker: Worker) -> None:
        """Have another process try what a dead one was at."""
        task = self._at.pop(worker)
        fate = worker.end(_DYING)
        if not worker.is_ready:
            self._failed(fate)
        elif task is not None and task.is_suspect:
            task.slot.results[task.indices[0]] = Lost(f"{fate}, and again when it was tried alone")
        elif task is not None:
            self._suspects.extend(_Task(task.slot, (index,), is_suspect=True) for index in task.indices)
        if self._failures < _TRIES:
            self._start()

    def _alone(self) -> Iterator[tuple[Item, Any]]:
        """All that is left, in this process; but not what may be its death."""
        while self._suspects:
            task = self._suspects.popleft()
            task.slot.results[task.indices[0]] = Lost("its process died, and no other can be started to try again")
        while self._slots:
            yield from self._slots.popleft().pairs()
        while self._next is not None:
            yield from self._work.here(self._next.items)
            self._next = next(self._batches, None)
