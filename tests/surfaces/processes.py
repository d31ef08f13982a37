"""The command line as a process of its own, with pipes or on a terminal; conftest.py has ``run``, in process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

QUIRE = (sys.executable, "-m", "quire")


class Result(NamedTuple):
    code: int
    out: bytes
    err: str


def process(*arguments: str | bytes, stdin: bytes = b"", environment: dict[str, str] | None = None) -> Result:
    """``quire`` with pipes."""
    done = subprocess.run(
        [*QUIRE, *arguments], input=stdin, capture_output=True, env=_environment(environment), timeout=60, check=False
    )
    return Result(done.returncode, done.stdout, done.stderr.decode())


def start(*arguments: str, stdin: int | None = None) -> subprocess.Popen[bytes]:
    """``quire`` that runs on, and that Ctrl-C reaches even if the tests themselves are deaf to it."""
    return subprocess.Popen(
        [*QUIRE, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  there are no threads
    )


@contextmanager
def slow_input(text: str) -> Iterator[IO[bytes]]:
    """Standard input that takes as long as a run for which progress is shown."""
    code = "import sys, time; time.sleep(2); sys.stdout.write(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", code, text], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        yield child.stdout


def terminal(
    *arguments: str,
    program: tuple[str, ...] = QUIRE,
    environment: dict[str, str] | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | None = None,
    cwd: Path | None = None,
) -> tuple[int, str]:
    """A program on a terminal, or with only its messages there; exit code and what the terminal got."""
    import pty  # noqa: PLC0415  not on Windows

    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*program, *arguments],
        stdin=stdin,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        env=_environment({"TERM": "xterm", "COLUMNS": "100", **(environment or {})}),
        cwd=cwd,
    )
    os.close(theirs)
    got = b""
    while data := _read(ours):
        got += data
    os.close(ours)
    return child.wait(timeout=60), got.decode().replace("\r\n", "\n")


def _read(terminal_end: int) -> bytes:
    try:
        return os.read(terminal_end, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""


def _environment(more: dict[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "PYTHONIOENCODING")}
    return {**kept, **(more or {})}
