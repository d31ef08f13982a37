"""The command line as a process of its own, with pipes or on a terminal; conftest.py has ``run``, in process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
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
        [*QUIRE, *arguments], input=stdin, capture_output=True, env=_environment(environment), check=False
    )
    return Result(done.returncode, done.stdout, done.stderr.decode())


def start(
    *arguments: str,
    stdin: int | None = None,
    stdout: int = subprocess.PIPE,
    environment: dict[str, str] | None = None,
    group: bool = False,
) -> subprocess.Popen[bytes]:
    """``quire`` that runs on, and that Ctrl-C reaches even if the tests themselves are deaf to it.

    With ``group`` in a process group of its own, as on a terminal, where Ctrl-C reaches all of its processes.
    """
    return subprocess.Popen(
        [*QUIRE, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        bufsize=0,  # so that reading a line takes no more than the line
        env=_environment(environment),
        start_new_session=group,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  there are no threads
    )


PAUSE = """
import os, signal, sys
opened = []
def hook(event, arguments):
    if opened == [True]:
        opened.append(False)
        awaited = signal.SIGINT, signal.SIGTERM
        signal.pthread_sigmask(signal.SIG_BLOCK, awaited)  # one that comes before sigwait is not lost
        os.write(1, b"paused\\n")
        received = signal.sigwait(awaited)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
        signal.raise_signal(received)
    elif event == "open" and not opened and {part!r} in str(arguments[0]):
        opened.append(True)
sys.addaudithook(hook)
"""


def pausing(folder: Path, part: str) -> dict[str, str]:
    """An environment in which ``quire`` opens the first file with ``part`` in its path, prints a line and waits.

    It waits for a signal, so a test that has read the line knows at which step Ctrl-C comes.
    """
    return customized(folder, PAUSE.format(part=part))


def customized(folder: Path, code: str) -> dict[str, str]:
    """An environment in which every Python process runs ``code`` first."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


def with_progress_after(seconds: str) -> tuple[str, ...]:
    """``quire`` that shows its progress after so many seconds: at once, or not at all."""
    code = (
        f"import sys; from quire.cli import main, output; output._PROGRESS_AFTER = float('{seconds}');"
        "output._PROGRESS_EVERY = 0; sys.exit(main())"
    )
    return (sys.executable, "-c", code)


def terminal(
    *arguments: str,
    program: tuple[str, ...] = with_progress_after("inf"),
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
    return child.wait(), got.decode().replace("\r\n", "\n")


def _read(terminal_end: int) -> bytes:
    try:
        return os.read(terminal_end, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""


def _environment(more: dict[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "PYTHONIOENCODING")}
    return {**kept, **(more or {})}
