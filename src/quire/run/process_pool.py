"""Run a function over batches of items in several processes; results come back in order.

``function`` and ``prepare`` (called first in every process) are pickled, so they must be importable, and not from
``__main__``. An error in ``function`` is raised here. Closing the iteration kills the processes.

If a process dies, the items of the unfinished batches are repeated one at a time, with nothing else running.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, TypeVar

from quire.model.operating_system import interrupts_blocked
from quire.run.workers import Batch, WorkerDied

Item = TypeVar("Item")
Result = TypeVar("Result")

WINDOW = 8 * 1024 * 1024  # how much work may be in progress, or done and waiting for an earlier batch
_AHEAD = 8  # how many batches per process these may be
_POLL = 1.0  # how many seconds to wait for a result before looking for dead processes


class _CannotStartError(Exception):
    """The processes of a pool cannot be started."""


def map_batches(
    function: Callable[[Item], Result],
    batches: Iterable[Batch[Item]],
    *,
    workers: int,
    prepare: Callable[[], object] | None = None,
    on_failure: Callable[[str], None] | None = None,
) -> Generator[tuple[Item, Result | WorkerDied], None, None]:
    """Yield each item with its result, or WorkerDied if the item kills its process, in order.

    If processes cannot be started, ``on_failure`` gets a message and this process does the work.
    """
    remaining, pool = iter(batches), _Pool(prepare)
    pending: deque[tuple[Batch[Item], Future[Sequence[Result]]]] = deque()
    try:
        while True:
            if not pending and pool.size < workers:  # at first, and when all unfinished batches have been repeated
                pool.start(workers)
            while (
                pool.size == workers
                and (
                    len(pending) < workers  # every process may have a batch, however large
                    or (len(pending) < _AHEAD * workers and sum(batch.work for batch, _ in pending) < WINDOW)
                )
                and (following := next(remaining, None))
            ):
                pending.append((following, pool.submit(function, following.items)))
            if not pending:
                return
            batch, future = pending.popleft()
            try:
                results: Sequence[Result | WorkerDied] = pool.result(future)
            except BrokenProcessPool:
                results = _repeated(pool, function, batch.items)
            yield from zip(batch.items, results, strict=True)
    except _CannotStartError as error:
        if on_failure is not None:
            on_failure(f"cannot start {workers} processes ({error}); this process does the work")
        for batch in remaining:
            for item in batch.items:
                yield item, function(item)
    finally:
        pool.end()


def _repeated(pool: "_Pool", function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result | WorkerDied]:
    """The results of items whose process died, one by one; this time nothing else runs."""
    results: list[Result | WorkerDied] = []
    for item in items:
        try:
            if pool.size != 1:
                pool.start(1)
            results += pool.result(pool.submit(function, [item]))
        except (_CannotStartError, BrokenProcessPool):
            pool.end()
            results.append(WorkerDied("its process died, perhaps for lack of memory"))
    return results


class _Pool:
    """A ProcessPoolExecutor that can be killed and started again."""

    def __init__(self, prepare: Callable[[], object] | None) -> None:
        self.size, self._prepare = 0, prepare  # the number of processes
        self._executor: ProcessPoolExecutor | None = None
        self._futures: set[Future[Any]] = set()  # unfinished; the executor may forget one while a process dies

    def start(self, size: int) -> None:
        """Start the processes by ``spawn``, so that they inherit no threads or locks, and wait until one is ready."""
        self.end()
        try:
            spawn = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(size, spawn, _initialize, (self._prepare,))
            ready = [self.submit(abs, ()) for _ in range(size)]  # each starts a process
            self.result(ready[0])
        except (OSError, AssertionError) as error:  # the latter in a daemonic process
            raise _CannotStartError(getattr(error, "strerror", None) or str(error)) from error
        except BrokenProcessPool as error:
            raise _CannotStartError("a process died at its start") from error
        self.size = size

    def submit(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Future[Any]:
        """The future results of a batch; the pool must have been started."""
        try:
            with _isolated_start():
                future: Future[Any] = self._executor.submit(_mapped, function, items)  # type: ignore[union-attr]
        except BrokenProcessPool as error:  # a process died while it had nothing to do
            future = Future()
            future.set_exception(error)
        self._futures = {unfinished for unfinished in self._futures if not unfinished.done()} | {future}
        return future

    def result(self, future: Future[Any]) -> Any:
        """The results of a batch; BrokenProcessPool if a process died."""
        # The executor does not notice a process that dies while it sends a result, so this looks for dead processes.
        while not wait([future], _POLL).done:
            if future not in self._futures or not all(process.is_alive() for process in self._processes()):
                self.end()
                raise BrokenProcessPool
        return future.result()

    def end(self) -> None:
        """Kill the processes."""
        if self._executor is not None:
            for process in self._processes():
                process.kill()
                process.join()
            self._executor._result_queue._writer.close()  # type: ignore[attr-defined]  # noqa: SLF001  ends a cut message
            self._executor.shutdown()
        self._executor, self.size, self._futures = None, 0, set()

    def _processes(self) -> list[BaseProcess]:
        """The processes of the executor, which has no public way to kill them before Python 3.14."""
        return [*self._executor._processes.values()] if self._executor else []  # noqa: SLF001


@contextmanager
def _isolated_start() -> Iterator[None]:
    """Start processes without Ctrl-C and without the caller's main module."""
    # Ctrl-C reaches all processes of a terminal, and one that is still importing would print a traceback. A new process
    # imports the main module of its caller: a program without ``if __name__ == "__main__"`` would do its work again.
    main = sys.modules["__main__"]
    if sys.platform != "win32":
        resource_tracker.ensure_running()  # when it starts, it unblocks signals
    with interrupts_blocked():
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def _mapped(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    return [*map(function, items)]


def _initialize(prepare: Callable[[], object] | None) -> None:
    """Runs first in every process."""

    def end_with_parent() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare()
