"""Paths from a command line to the documents that they contain.

A file that is named is taken, whatever its name. In a directory, Markdown and ``.txt`` files are taken, except hidden
and ignored ones, installed packages, build outputs and the ``.txt`` files of programs; patterns under ``include`` bring
the last three back.
"""

import os
import stat
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from quire.errors import InputError
from quire.read import ignore_files
from quire.read.file_endings import EXTENSIONS, has_extension
from quire.read.source import NOT_REGULAR, unreadable

_NEVER = frozenset({".git", ".quire", *EXTENSIONS})
_HIDDEN_WITH_NOTES = (".github", ".claude", ".cursor")  # hidden folders that have documents for readers and agents
_NEVER_NOTES = frozenset({"cmakelists.txt", "constraints.txt", "requirements.txt", "robots.txt", "top_level.txt"})
_PACKAGES = frozenset({"node_modules", "site-packages", "third_party", "vendor"})
_PACKAGE_ENDINGS = (".dist-info", ".egg-info")
_OUTPUTS = {  # folders of build outputs, by the files beside them that say so
    "target": ("Cargo.toml", "pom.xml", "build.sbt"),
    "build": ("package.json", "pyproject.toml", "setup.py", "build.gradle", "build.gradle.kts", "CMakeLists.txt"),
    "dist": ("package.json", "pyproject.toml", "setup.py"),
}
_MANIFESTS = frozenset(
    {
        "pyproject.toml", "setup.py", "requirements.txt", "package.json", "Cargo.toml", "go.mod", "pom.xml",
        "build.gradle", "build.gradle.kts", "CMakeLists.txt", "Makefile", "Gemfile", "composer.json",
    }
)  # fmt: skip
"""Files that show a code repository."""
DECIDING_FILES = _MANIFESTS.union(ignore_files.NAMES, ["pyvenv.cfg"], *_OUTPUTS.values())
"""Files that decide which others are documents."""
_DOCUMENTATION = frozenset(
    {"content", "contents", "doc", "docs", "documentation", "guide", "guides", "handbook", "help", "manual", "wiki"}
)

Hidden = bool | Literal["known"]
"""Whether hidden files and folders are taken: all, none, or the folders that are known to have documents."""


class Found(NamedTuple):
    """A document to read."""

    file: Path
    path: str  # its name: the path relative to the given directory, with forward slashes
    root: str = ""  # the given path in which it was found


class Skipped(NamedTuple):
    """A path that was not taken."""

    path: str  # as the user would type it
    reason: str  # why, and what to do
    is_error: bool = False  # whether it should have been readable


def left_out_counts(counts: Mapping[str, int]) -> str:
    """``left out: hidden (2), installed packages (1)``."""
    return f"left out: {', '.join(f'{reason} ({number:,})' for reason, number in sorted(counts.items()))}"


_Rules: TypeAlias = tuple[ignore_files.Rules, ...]  # of a folder and of those above it, the strongest first


class _Folder(NamedTuple):
    file: str
    path: str  # relative to the given directory, with a slash at the end; empty for that directory itself
    real: str  # without symbolic links
    rules: _Rules  # those of the folders above, later also its own
    has_notes: bool = True
    """Whether ``.txt`` files are documents: not in a code repository, unless in a folder of documentation."""


class Discovery:
    """The documents in one file or directory; patterns of ``exclude`` take precedence over ``include``."""

    def __init__(
        self,
        root: str,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        follow_symlinks: bool = False,
        hidden: Hidden = False,
        known: Collection[str] = (),
        changed: Collection[str] = (),
    ) -> None:
        """Of ``known`` folders, only those that have ``changed`` are listed, and those above these are read."""
        self.root = root
        self.files: list[tuple[str, str]] = []
        """The path of each file relative to the root, with forward slashes, and the file to open; in no order."""
        self.skipped: list[Skipped] = []
        self.left_out: Counter[str] = Counter()  # how many files and folders were left out, by reason
        self.watched: list[str] = []
        """The folders and files that decided; if none of them changes, no document is added or removed."""
        self.listed: set[str] = set()  # the folders whose documents are in ``files``, as paths relative to the root
        self.inside: set[str] = set()  # the folders that were found in others
        self._follow_symlinks, self._hidden = follow_symlinks, hidden
        self._seen: set[str] = set()  # real paths
        self._include, self._exclude, self._known, self._changed = include, exclude, known, changed
        self._above_changed = {str(folder) for path in map(Path, changed) for folder in (path, *path.parents)}
        self._above = ""  # the path from the repository's top, where ignore rules start, to the root
        self._waiting: list[_Folder] = []
        self._links: list[tuple[str, os.DirEntry[str], _Rules]] = []
        self._start(root)
        while self._waiting or self._links:
            if self._waiting:
                self._open(self._waiting.pop())
            else:  # links last, so that a file gets its own name rather than that of a link
                self._links.sort(key=lambda link: link[0], reverse=True)
                self._follow(*self._links.pop())
        self.skipped.sort()

    @property
    def documents(self) -> list[Found]:
        """The documents, sorted by path."""
        return [Found(Path(file), path, self.root) for path, file in sorted(self.files)]

    def _start(self, root: str) -> None:
        try:
            mode = os.stat(root).st_mode  # noqa: PTH116  an empty path does not exist, but Path("") does
            real = os.path.realpath(root)  # fails if the current folder was removed
        except (OSError, ValueError) as error:
            self._skip(root, unreadable(error), is_error=True)
            return
        if stat.S_ISDIR(mode):
            self._waiting.append(self._named_folder(root, Path(real)))
        elif stat.S_ISREG(mode):
            self.files.append((Path(root).absolute().name, root))
        else:
            self._skip(root, NOT_REGULAR, is_error=True)

    def _open(self, folder: _Folder) -> None:
        """Take the documents of a directory; its directories and links wait."""
        if not self._is_new(folder.real):
            return
        try:
            with os.scandir(folder.file) as listing:
                entries = {entry: entry.is_file(follow_symlinks=False) for entry in listing}
        except OSError as error:
            self._skip(folder.file, unreadable(error), is_error=True)
            return
        names = {entry.name for entry in entries}
        rules = self._rules(folder.file, folder.path, folder.rules, names)
        if "pyvenv.cfg" in names and folder.path:
            self.left_out["virtual environment"] += 1
            return
        hidden = _HIDDEN_WITH_NOTES if self._hidden == "known" else names if self._hidden else ()
        never = {name for name in names if name.startswith(".") and not (name in hidden or self._is_named(name))}
        never |= {name for name in names if name.lower() in _NEVER}
        self.left_out.update("hidden" for _ in never.difference(_NEVER, ignore_files.NAMES))
        has_notes = _has_notes(os.path.basename(folder.path[:-1] or folder.real), names, folder.has_notes)  # noqa: PTH119
        folder = folder._replace(rules=rules, has_notes=has_notes)
        taken = {entry: is_file for entry, is_file in entries.items() if entry.name not in never}
        for entry in (entry for entry, is_file in taken.items() if not is_file):
            self._add_other(entry, folder, names)
        if folder.file in self._changed or folder.file not in self._known:
            self.listed.add(folder.path)
            self._add_files([entry for entry in taken if taken[entry] and has_extension(entry.name)], folder)

    def _is_named(self, name: str) -> bool:
        """Whether a pattern of ``include`` names a folder."""
        return any(name in pattern.split("/") for pattern in self._include)

    def _add_files(self, entries: Sequence[os.DirEntry[str]], folder: _Folder) -> None:
        is_filtered = bool(folder.rules or self._include or self._exclude)
        wanted_notes = [text for text in self._include if text.endswith(".txt")]
        for entry in entries:
            path, name = folder.path + entry.name, entry.name.lower()
            is_junk = name.endswith(".txt") and (not folder.has_notes or name in _NEVER_NOTES)
            if is_junk and not ignore_files.covers(path, wanted_notes):
                self.left_out[".txt in a code repository"] += 1
            elif not (
                (is_filtered and self._is_left_out(path, folder.rules))
                or (self._follow_symlinks and not self._is_new(os.path.join(folder.real, entry.name)))  # noqa: PTH118
            ):
                self.files.append((path, entry.path))

    def _add_other(self, entry: os.DirEntry[str], folder: _Folder, beside: set[str]) -> None:
        """An entry that is no regular file: a folder or a link waits, a pipe is reported."""
        name = entry.name
        is_package = name in _PACKAGES or name.endswith(_PACKAGE_ENDINGS)
        if (is_package or not beside.isdisjoint(_OUTPUTS.get(name, ()))) and not self._is_named(name):
            self.left_out["installed packages" if is_package else "build output"] += 1
            return
        path = folder.path + name
        is_link = entry.is_symlink() or getattr(entry, "is_junction", bool)()  # on Windows, from Python 3.12 on
        is_directory = entry.is_dir(follow_symlinks=False) or os.path.isdir(entry.path)  # noqa: PTH112
        is_wanted = is_directory or has_extension(name) or (is_link and self._follow_symlinks)
        if not is_wanted or self._is_left_out(path, folder.rules, is_directory=is_directory):
            return
        if is_link:
            self._links.append((path, entry, folder.rules))
        elif is_directory:
            self.inside.add(entry.path)
            if entry.path not in self._known or entry.path in self._above_changed:
                real = os.path.join(folder.real, name)  # noqa: PTH118
                self._waiting.append(folder._replace(file=entry.path, path=f"{path}/", real=real))
        else:
            self._skip(entry.path, NOT_REGULAR)

    def _is_left_out(self, path: str, rules: _Rules, *, is_directory: bool = False) -> bool:
        if self._exclude and ignore_files.covers(f"{path}/" if is_directory else path, self._exclude):
            return True
        if self._include and not is_directory and not ignore_files.covers(path, self._include):
            return True
        return bool(rules) and ignore_files.ignores(rules, self._above + path, directory=is_directory)

    def _follow(self, path: str, entry: os.DirEntry[str], rules: _Rules) -> None:
        real = os.path.realpath(entry.path)
        if not self._follow_symlinks:
            self._skip(entry.path, "symbolic link; not followed without --follow")
        elif os.path.isdir(real):  # noqa: PTH112
            self._waiting.append(_Folder(entry.path, f"{path}/", real, rules))
        elif not os.path.exists(real):  # noqa: PTH110
            self._skip(entry.path, "symbolic link to nothing; correct or remove it", is_error=True)
        elif has_extension(entry.name) and not os.path.isfile(real):  # noqa: PTH113
            self._skip(entry.path, NOT_REGULAR)
        elif has_extension(entry.name) and self._is_new(real):
            self.files.append((path, entry.path))

    def _is_new(self, real: str) -> bool:
        is_new = real not in self._seen
        self._seen.add(real)
        return is_new

    def _skip(self, file: str, reason: str, *, is_error: bool = False) -> None:
        self.skipped.append(Skipped(file, reason, is_error=is_error))

    def _named_folder(self, root: str, real: Path) -> _Folder:
        """The root, with the ignore rules that its repository has above it, unless they ignore it."""
        top = next((folder for folder in (real, *real.parents) if os.path.lexists(folder / ".git")), real)
        path, has_notes, is_ignored = "", True, False
        rules: _Rules = ()
        for name in real.relative_to(top).parts:
            folder = top / path
            names = {entry for entry in (*ignore_files.NAMES, *_MANIFESTS) if os.path.lexists(folder / entry)}
            rules = self._rules(str(folder), path, rules, names)
            has_notes = _has_notes(folder.name, names, has_notes)
            path += name
            is_ignored = is_ignored or ignore_files.ignores(rules, path, directory=True)
            path += "/"
        self._above = "" if is_ignored else path
        return _Folder(root, "", str(real), () if is_ignored else rules, has_notes)

    def _rules(self, folder: str, path: str, above: _Rules, names: set[str]) -> _Rules:
        """The rules from above and those of a folder. An unreadable ignore file is an error: more would be taken."""
        self.watched += [folder, *(os.path.join(folder, name) for name in names & DECIDING_FILES)]  # noqa: PTH118
        for name in filter(names.__contains__, ignore_files.NAMES):
            file = os.path.join(folder, name)  # noqa: PTH118
            try:
                above = (ignore_files.read(file, len(self._above + path)), *above)
            except (OSError, InputError) as error:
                reason = error.reason if isinstance(error, InputError) else unreadable(error)
                self._skip(file, f"ignore file not used: {reason}", is_error=True)
        return above


def decides(path: str) -> bool:
    """Whether a file is one that decides what is taken from its folder and those below."""
    return os.path.basename(path) in DECIDING_FILES  # noqa: PTH119


def is_code_repository(folder: Path) -> bool:
    """Whether a folder has a file that only the top of a program's source has."""
    return any((folder / name).exists() for name in _MANIFESTS)


def is_documentation(folder: str) -> bool:
    """Whether a folder is called as folders of documentation are."""
    return folder.lower() in _DOCUMENTATION


def _has_notes(name: str, entries: set[str], above: bool) -> bool:
    """Whether ``.txt`` files are documents in a folder with these ``entries``; ``above`` is the answer above it."""
    return is_documentation(name) or (above and not _MANIFESTS & entries)
