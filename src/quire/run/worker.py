"""One process that works for another: ``Worker`` on this side, ``_serve`` on that side. local.py has many of them.

Processes are started anew (``spawn``) rather than forked: whatever threads and locks the caller has, a new process
knows nothing of them. decisions/run.md says what that costs.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_SPAWN = multiprocessing.get_context("spawn")
_KILLED = -9
"""The exit code of a process that was killed, where there are signals."""


class Raised(NamedTuple):
    """In place of a result: what the function raised."""

    error: Exception


class Each(Generic[Item, Result]):
    """Does a batch item by item."""

    def __init__(self, function: Callable[[Item], Result]) -> None:
        self._function = function

    def here(self, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Each item with its result, as soon as that is there."""
        for item in items:
            yield item, self._function(item)

    def there(self, items: Sequence[Item]) -> list[Any]:
        """The results, or what was raised in place of one."""
        return [_result(self._function, item) for item in items]


class Together(Generic[Item, Result]):
    """Does a batch at once, where that is faster: an error is that of all its items."""

    def __init__(self, function: Callable[[Sequence[Item]], Sequence[Result]]) -> None:
        self._function = function

    def here(self, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Each item with its result."""
        yield from zip(items, self._function(items), strict=True)

    def there(self, items: Sequence[Item]) -> list[Any]:
        """The results, or what was raised in place of each."""
        results = _result(self._function, items)
        return [results] * len(items) if isinstance(results, Raised) else list(results)


class Worker:
    """A process that does batches. OSError if it cannot be started.

    Its first answer, to nothing, means that it is ready; every other is the list of the results of one ``ask``.
    """

    def __init__(self, work: Each[Any, Any] | Together[Any, Any], prepare: Callable[[], object] | None) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs, work, prepare), daemon=True)
        self.is_ready = False
        with ExitStack() as stack:
            stack.callback(self.connection.close)
            with theirs, _start_up():
                self._process.start()
            stack.pop_all()

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended: it may do so at any time, also when it has nothing to do."""
        return self._process.is_alive()

    def ask(self, items: Sequence[Any]) -> None:
        """Have it work on ``items``; it must have answered what it was asked before."""
        with suppress(OSError):  # it is dead, as will be noticed when its answer is read
            self.connection.send(items)

    def answer(self) -> list[Any] | None:
        """The results, as soon as they are there; EOFError or OSError if it has died."""
        results: list[Any] | None = self.connection.recv()
        self.is_ready = True
        return results

    def end(self, patience: float = 0) -> str:
        """End it, unless it does so itself within ``patience`` seconds; the result says how it ended."""
        self.connection.close()
        if patience:
            self._process.join(patience)
        self._process.kill()
        self._process.join()
        return _fate(self._process.exitcode or 0)


def _fate(code: int) -> str:
    if code == _KILLED:
        return "its process was killed, perhaps for want of memory"
    return f"its process died of signal {-code}" if code < 0 else f"its process ended with exit code {code}"


@contextmanager
def _start_up() -> Iterator[None]:
    """Around the start of a process: it takes no notice of Ctrl-C, and does not run the caller's program again.

    A new process imports the main module of the one that starts it, in case a function is from there. None is; and a
    program that is not written for that would do its work twice.
    """
    with ExitStack() as stack:
        if hasattr(signal, "pthread_sigmask"):
            from multiprocessing import resource_tracker  # noqa: PLC0415  not on Windows

            resource_tracker.ensure_running()  # which, when it starts, lets signals through again
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        stack.callback(sys.modules.__setitem__, "__main__", sys.modules["__main__"])
        sys.modules["__main__"] = ModuleType("__main__")
        yield


def _serve(
    connection: Connection, work: Each[Any, Any] | Together[Any, Any], prepare: Callable[[], object] | None
) -> None:
    """What the process does, until nobody wants more of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started it
    if prepare is not None:
        prepare()
    with connection, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send(None)
        while True:
            connection.send(work.there(connection.recv()))


def _result(function: Callable[[Any], Any], item: Any) -> Any:
    try:
        return function(item)
    except Exception as error:  # noqa: BLE001  it is raised again where the result is wanted
        return Raised(_portable(error, traceback.format_exc()))


def _portable(error: Exception, trace: str) -> Exception:
    """An error that can be sent, with a note of where it happened."""
    error.add_note(trace)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  it has just been made
    except Exception:  # noqa: BLE001  whatever the error's own methods raise
        return RuntimeError(trace)
    return error
