"""Documentation of others: trees that are a folder of a git repository.

    ~/.local/share/quire/git/react-1f0a3c5b7d9e2468/    a shallow, sparse clone; replaced as a whole by the next fetch

The installed ``git`` fetches, and only when the user asks for it. It runs no hook, filter or submodule of the
repository, asks for no password, and no symbolic link stays.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from quire.errors import QuireError
from quire.read.substitution_files import VARIABLE_FOLDERS
from quire.trees import Tree
from quire.validation import unknown_name

MOST_BYTES = 1_000_000_000  # the largest clone, on the disk
_SECONDS = 600
_CONFIGURATION = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
    "filter.lfs.smudge=", "filter.lfs.process=", "filter.lfs.required=false", "credential.helper=",
    "submodule.recurse=false", "protocol.ext.allow=never", "advice.detachedHead=false", "gc.auto=0",
)  # fmt: skip
_ATTRIBUTES = "* -filter -text -eol -ident -working-tree-encoding\n"
"""Files as they are in the repository, whatever filters the user has."""
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
}  # fmt: skip


def fetch_trees(trees: Mapping[str, Tree], names: Sequence[str] = ()) -> Iterator[tuple[str, str | QuireError]]:
    """Fetch the trees of repositories anew, all or some, one by one: each with its commit, or with what failed."""
    repositories = {name: tree for name, tree in trees.items() if tree.git}
    for name in names:
        if name not in repositories:
            raise unknown_name(name, repositories, what="git tree")
    for name in names or repositories:
        try:
            yield name, fetch(repositories[name])
        except QuireError as error:
            yield name, error


def fetch(tree: Tree) -> str:
    """Fetch a tree anew and return its commit. If that fails, the last state stays."""
    clone = tree.clone
    clone.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=clone.parent, prefix=".new-") as temporary:
        new = Path(temporary, "clone")
        branch = ["--branch", tree.ref] if tree.ref else []
        options = ["--depth=1", "--single-branch", "--no-tags", "--filter=blob:none", "--no-checkout", "--template="]
        _git("clone", *options, *branch, "--", tree.git, str(new))
        (new / ".git" / "info").mkdir(exist_ok=True)
        (new / ".git" / "info" / "attributes").write_text(_ATTRIBUTES, "utf-8")  # over those of the repository
        if tree.path:
            _git("-C", str(new), "sparse-checkout", "set", "--", tree.path, *VARIABLE_FOLDERS)
        _git("-C", str(new), "checkout", "--quiet", "HEAD")
        commit = _git("-C", str(new), "rev-parse", "HEAD").strip()
        for entry in [entry for entry in new.rglob("*") if entry.is_symlink()]:  # only regular files are read
            entry.unlink()
        if not (new / tree.path).is_dir():
            raise QuireError(f"{tree.git}: there is no folder {tree.path}", "correct the path of the tree")
        if (size := sum(file.lstat().st_size for file in new.rglob("*") if file.is_file())) > MOST_BYTES:
            raise QuireError(f"{tree.git}: {size / 1e6:,.0f} MB is too large", "name a smaller folder with path")
        shutil.rmtree(new / ".git")
        old = Path(temporary, "old")
        if clone.exists():
            clone.rename(old)
        new.rename(clone)
    return commit


def _git(*arguments: str) -> str:
    program = shutil.which("git")
    if program is None:
        raise QuireError("git is not installed", "install it, or name a folder instead of a repository")
    configuration = [word for setting in _CONFIGURATION for word in ("-c", setting)]
    try:
        result = subprocess.run(  # noqa: S603  the user named the repository
            [program, *configuration, *arguments],
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise QuireError(f"git takes more than {_SECONDS} seconds", "try again later") from error
    if result.returncode:
        lines = result.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        fatal = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
        raise QuireError(f"git failed: {fatal}", "check the address, the ref and the network; the last state stays")
    return result.stdout.decode(errors="replace")
