"""A lock that runs of quire hold on a folder or a file, and that ends with the process.

Used by the writers, and by ``index.folder``, which knows who holds it. The system keeps it, not the file: whatever way
a run ends, the next one can go on.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from quire.errors import QuireError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PAUSE = 0.02
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

OnWait = Callable[[str], None]
"""Is told once, in a sentence, that a run waits for another."""


class Busy(NamedTuple):
    """What is said of a lock that another run holds."""

    waiting: str
    """To whoever waits for it."""
    error: QuireError
    """To whoever has waited long enough."""


@contextmanager
def held(file: Path, what: str, *, patience: float, on_wait: OnWait | None = None) -> Iterator[None]:
    """Hold the lock that ``file`` stands for; ``what`` is what it protects, for messages."""
    busy = Busy(
        f"{what}: waiting for another run of quire that is writing there",
        QuireError(f"{what}: another run of quire is writing there", "wait for it, or write somewhere else"),
    )
    descriptor, _ = acquired(file, lambda _: busy, patience=patience, on_wait=on_wait)
    try:
        yield
    finally:
        os.close(descriptor)  # which ends the lock


def acquired(
    file: Path, busy: Callable[[int], Busy], *, patience: float, on_wait: OnWait | None = None
) -> tuple[int, bool]:
    """The open file that holds the lock until it is closed, and whether there was another holder to wait for.

    ``busy`` gets the open file while another holds it.
    """
    deadline = time.monotonic() + patience
    waited = False
    while True:
        descriptor = os.open(file, _FLAGS, 0o666)
        try:
            if try_lock(descriptor) and is_still(file, descriptor):
                return descriptor, waited
            said = busy(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if patience <= 0 or (waited and time.monotonic() >= deadline):
            raise said.error
        if on_wait is not None and not waited:
            on_wait(said.waiting)
        waited = True
        time.sleep(_PAUSE)


def try_lock(descriptor: int) -> bool:
    """Lock an open file, unless another has it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def is_still(file: Path, descriptor: int) -> bool:
    """Whether what was locked is what others will find: the folder may have been deleted meanwhile."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except OSError:
        return False
