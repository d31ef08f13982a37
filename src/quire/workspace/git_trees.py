"""Documentation of others: trees that are a folder of a git repository.

    ~/.local/share/quire/git/react-1f0a…/    the documents of a commit; replaced as a whole by the next fetch
                                .quire-source    the address, ref, path and commit

git writes no file of the repository. quire writes the documents and the files that say how to read them, after it has
counted them: a small repository may have any number of entries.
"""

import os
import posixpath
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from quire.errors import QuireError
from quire.model.dialects import DIALECTS
from quire.model.operating_system import remove_folder
from quire.model.trees import Tree, is_repository_path
from quire.output.atomic_file import os_errors_as_quire_errors
from quire.output.lock import held
from quire.read.discover import DECIDING_FILES
from quire.read.file_endings import has_extension
from quire.read.git_process import SECONDS, git
from quire.read.substitution_files import VARIABLE_FILES, VARIABLE_FOLDERS

MOST_BYTES = 250_000_000  # of the files of a tree
MOST_ENTRIES = 200_000  # files and folders in the folder of the tree
_ENTRY_BYTES = 256  # of an entry in a listing, on average
_NEW = ".new-"
_LINK = b"120000"  # the mode of a symbolic link
_MARKS = frozenset(name for dialect in DIALECTS.values() for name in dialect.files)
_NAMES = _MARKS | DECIDING_FILES | {*map(posixpath.basename, VARIABLE_FILES)}
_UNSAFE = re.compile(rb"(?i)(?:\A|/)(?:\.{0,2}|\.git)(?:/|\Z)|[\\:\0-\x1f]|[^/]{241}")
"""Names that lead elsewhere on some system, or that are too long. A repository may have what git would not write."""
_LONGEST, _DEEPEST = 1_000, 64  # bytes and folders of a path


def fetch(tree: Tree) -> str:
    """Fetch a tree anew and return its commit. If that fails, the last state stays."""
    if not is_repository_path(tree.path):
        raise QuireError(f"{tree.path} cannot be a folder of a repository", "correct the path of the tree")
    clone, folders = tree.clone, tree.clone.parent
    with os_errors_as_quire_errors(folders):
        folders.mkdir(parents=True, exist_ok=True)
        with held(folders.with_name("git.lock"), str(folders), patience=SECONDS):
            for left_over in folders.glob(f"{_NEW}*"):  # a killed fetch left it: this one holds the lock
                remove_folder(left_over)
            with TemporaryDirectory(dir=folders, prefix=_NEW) as temporary:
                new = Path(temporary, "clone")
                commit = _write_documents(tree, Path(temporary), new)
                (new / tree.SOURCE).write_text(f"{tree.source}\n{commit}\n", "utf-8")
                if clone.exists():
                    clone.rename(Path(temporary, "old"))
                new.rename(clone)
    return commit


def _write_documents(tree: Tree, temporary: Path, new: Path) -> str:
    """Write the documents of a tree, with the files that say how to read them, to a ``new`` folder; the commit."""
    branch = ["--branch", tree.ref] if tree.ref else []
    options = ["--bare", "--depth=1", "--single-branch", "--no-tags", "--filter=blob:none", "--template="]
    # Elsewhere, git would prefer a folder that is named like the address.
    git(temporary, "clone", *options, *branch, "--", tree.git, "repository")
    repository = temporary / "repository"
    path = posixpath.normpath(tree.path) if tree.path.strip("./") else ""
    objects: dict[str, bytes] = {}
    (new / path).mkdir(parents=True)
    for entry in _listing(tree, repository, path):
        head, _, name = entry.partition(b"\t")
        (mode, kind, hashed), file = head.split(), os.fsdecode(name)
        if len(name) > _LONGEST or name.count(b"/") > _DEEPEST or _UNSAFE.search(name):
            continue
        # Documents, and what says which files are, in which dialect, and with which variables.
        folder, base = posixpath.split(file)
        is_variables = folder.endswith(VARIABLE_FOLDERS) and base.endswith((".yml", ".yaml"))
        if kind == b"tree" and base in _MARKS:
            (new / file).mkdir(parents=True, exist_ok=True)
        elif kind == b"blob" and mode != _LINK and (has_extension(base) or base in _NAMES or is_variables):
            objects[file] = hashed
    if not any(has_extension(posixpath.basename(file)) for file in objects):
        raise QuireError(f"{tree.git}: there is no document in {path or 'it'}", "correct the path of the tree")
    _write_files(tree, repository, new, objects)
    return git(repository, "rev-parse", "HEAD").decode().strip()


def _listing(tree: Tree, repository: Path, path: str) -> list[bytes]:
    """The entries of a folder and, above it, of the files and folders that count for it."""
    names = (*_MARKS, *VARIABLE_FILES, *VARIABLE_FOLDERS)
    paths = [path, *(str(folder / name) for folder in PurePosixPath(path).parents for name in names)] if path else []
    most = MOST_ENTRIES * _ENTRY_BYTES
    output = git(repository, "ls-tree", "-r", "-t", "-z", "HEAD", "--", *paths, most=most)
    if len(output) == most or output.count(b"\0") > MOST_ENTRIES:
        raise QuireError(f"{tree.git}: more than {MOST_ENTRIES:,} entries", "name a smaller folder with path")
    return output.split(b"\0")[:-1]


def _write_files(tree: Tree, repository: Path, new: Path, objects: Mapping[str, bytes]) -> None:
    names = b"".join(b"%s\n" % name for name in objects.values())
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none")
    git(repository, "fetch", *options, "--stdin", "origin", given=names)  # all that are missing, at once
    contents = BytesIO(git(repository, "cat-file", "--batch", given=names, most=MOST_BYTES))
    if len(contents.getbuffer()) == MOST_BYTES:
        raise QuireError(f"{tree.git}: more than {MOST_BYTES / 1e6:,.0f} MB", "name a smaller folder with path")
    for file, name in objects.items():
        head = contents.readline().split()
        if head[:2] != [name, b"blob"]:
            raise QuireError(f"{tree.git}: {file} is missing", "try again later; the last state stays")
        (new / file).parent.mkdir(parents=True, exist_ok=True)
        (new / file).write_bytes(contents.read(int(head[2])))
        contents.readline()
