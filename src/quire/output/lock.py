"""A lock on a folder or a file, so that only one run of quire writes to it.

The operating system holds the lock and releases it when the process ends, so a killed run never blocks the next one.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from quire.errors import QuireError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PAUSE = 0.02
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

OnWait = Callable[[str], None]  # called once, with a message, when a run waits for another
Busy = tuple[str, QuireError]  # the message when a run waits for another one, and the error when it waited too long


@contextmanager
def held(file: Path, what: str, *, patience: float, on_wait: OnWait | None = None) -> Iterator[None]:
    """Hold the lock ``file``; ``what`` is the name in messages of what it protects."""
    waiting = f"{what}: waiting for another run of quire that is writing there"
    error = QuireError(f"{what}: another run of quire is writing there", "wait for it, or write somewhere else")
    descriptor, _ = acquired(file, lambda _: (waiting, error), patience=patience, on_wait=on_wait)
    try:
        yield
    finally:
        os.close(descriptor)  # releases the lock


def acquired(
    file: Path, busy: Callable[[int], Busy], *, patience: float, on_wait: OnWait | None = None
) -> tuple[int, bool]:
    """The descriptor that holds the lock until it is closed, and whether this run had to wait for another."""
    deadline = time.monotonic() + patience
    waited = False
    while True:
        descriptor = os.open(file, _FLAGS, 0o666)
        try:
            if try_lock(descriptor) and is_still(file, descriptor):
                return descriptor, waited
            waiting, error = busy(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if patience <= 0 or (waited and time.monotonic() >= deadline):
            raise error
        if on_wait is not None and not waited:
            on_wait(waiting)
        waited = True
        time.sleep(_PAUSE)


def try_lock(descriptor: int) -> bool:
    """Lock an open file; False if another process holds the lock."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def is_still(file: Path, descriptor: int) -> bool:
    """Whether ``file`` is still the file that was locked: the folder may have been deleted meanwhile."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except OSError:
        return False
