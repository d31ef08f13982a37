"""Calls of the installed ``git``: no hook or submodule of a repository runs, and no password is asked for."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer

from quire.errors import QuireError
from quire.model.trees import is_repository_path

if sys.platform != "win32":
    import resource

SECONDS = 600  # for one command
_MOST_DOWNLOAD = 1_000_000_000  # bytes of one file that git writes
_MAX_COMMITS = 500  # so many commits of one file are looked at
_CONFIGURATION = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "credential.helper=", "submodule.recurse=false",
    "fetch.unpackLimit=1", "fetch.negotiationAlgorithm=noop", "gc.auto=0", "maintenance.auto=false",
    "http.lowSpeedLimit=1", "http.lowSpeedTime=60",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=60 -o ServerAliveInterval=60",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C",
}  # fmt: skip
_REPOSITORY_VARIABLES = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"})  # of hooks


def git(
    folder: Path, *arguments: str, given: bytes = b"", most: int = -1, protocols: str = "file:git:http:https:ssh"
) -> bytes:
    """The output of git in ``folder``, or the first ``most`` bytes of it; it may use no other ``protocols``."""
    program = shutil.which("git")
    if program is None:
        raise QuireError("git is not installed", "install it, or name a folder instead of a repository")
    configuration = [word for setting in _CONFIGURATION for word in ("-c", setting)]
    environment = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    with TemporaryFile() as stdin, TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(  # noqa: S603  the user named the repository, or agreed to it
            [program, *configuration, *arguments],
            cwd=folder,
            env=environment | _ENVIRONMENT | {"GIT_ALLOW_PROTOCOL": protocols},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            preexec_fn=None if sys.platform == "win32" else _limit_files,  # noqa: PLW1509  it takes no lock
            start_new_session=True,
        )
        timer = Timer(SECONDS, _kill, (process,))
        timer.start()
        try:
            with process:  # closes its output, so that it ends even if it has more
                output = process.stdout.read(most) if process.stdout else b""
        finally:
            is_late = timer.finished.is_set()
            timer.cancel()
            if process.poll() is None:  # Ctrl-C
                _kill(process)
        stderr.seek(0)
        lines = stderr.read(100_000).decode(errors="replace").strip().splitlines() or ["no message"]
    if is_late:
        raise QuireError(f"git takes more than {SECONDS} seconds", "try again later")
    if process.returncode and len(output) != most:
        fatal = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
        raise QuireError(f"git failed: {fatal}", "check the address, the ref and the network; the last state stays")
    return output


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git and the programs that it started, which would wait for a server that says nothing."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def _limit_files() -> None:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = _MOST_DOWNLOAD if hard == resource.RLIM_INFINITY else min(_MOST_DOWNLOAD, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))


def earlier_texts(folder: Path, path: str) -> Iterator[tuple[str, str]]:
    """The texts that a file of a working tree had, the newest first, each with the commit that replaced it, if any."""
    if not is_repository_path(path) or not path.isprintable():  # a line of its own would name another file
        return
    limit = f"--max-count={_MAX_COMMITS}"
    commits = git(folder, "rev-list", limit, "HEAD", "--", path, protocols="none").decode().split()
    wanted = os.fsencode("".join(f"{commit}:./{path}\n" for commit in commits))
    answers = BytesIO(git(folder, "cat-file", "--batch", given=wanted, protocols="none") if commits else b"")
    newer = ""
    for commit in commits:
        size = answers.readline().rpartition(b" ")[2].strip()
        if size.isdigit():
            yield newer, answers.read(int(size)).decode("utf-8", "replace")
            answers.readline()
        newer = commit
