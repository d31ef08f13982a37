"""Paths from a command line to the documents that they contain.

A file that is named is taken, whatever its name. In a directory, Markdown and ``.txt`` files are taken, except hidden
and ignored ones. What cannot be read is reported, and the rest goes on. The order depends on names only.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from quire.errors import InputError
from quire.read import globs, ignore
from quire.read.source import MARKDOWN_EXTENSIONS, kind, unreadable

EXTENSIONS = MARKDOWN_EXTENSIONS | {".txt"}
"""The endings of file names, in lower case, that are taken from a directory."""

_NEVER = frozenset({".git", ".quire"})


class Found(NamedTuple):
    """A document to read."""

    file: Path
    path: str
    """Its name: the path relative to the given directory, with forward slashes."""
    root: str = ""
    """The given path in which it was found."""


class Skipped(NamedTuple):
    """A path that was not taken."""

    path: str
    """As the user would type it."""
    reason: str
    """Why, and what to do."""
    is_error: bool = False
    """Whether it should have been readable."""
    is_stream: bool = False
    """Whether it is a pipe, a device or a socket."""


class Discovery(NamedTuple):
    """The documents of some paths, in the order of the paths and sorted by name within each."""

    documents: tuple[Found, ...]
    skipped: tuple[Skipped, ...]
    watched: tuple[str, ...] = ()
    """The folders and ignore files that decided; if none of them changes, no document is added or removed."""


class _Folder(NamedTuple):
    file: str
    path: str
    """Relative to the given directory, with a slash at the end; empty for that directory itself."""
    real: str
    """Without symbolic links."""
    rules: tuple[ignore.Rules, ...]
    """The ignore rules of the folders above, the strongest first."""


def discover(
    roots: Sequence[str],
    *,
    follow_symlinks: bool = False,
    hidden: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Discovery:
    """The documents in ``roots``, which are files and directories; each file once.

    ``include`` and ``exclude`` are patterns (``globs``) for the files of a directory, relative to it. Without
    ``include`` all are taken; ``exclude`` takes precedence.
    """
    documents: list[Found] = []
    skipped: list[Skipped] = []
    watched: list[str] = []
    seen: set[str] = set()
    for root in roots:
        walk = _Walk(follow_symlinks, hidden, include, exclude, seen)
        walk.start(root)
        documents += sorted((found._replace(root=root) for found in walk.documents), key=lambda found: found.path)
        skipped += sorted(walk.skipped, key=lambda each: each.path)
        watched += walk.watched
    return Discovery(tuple(documents), tuple(skipped), tuple(watched))


@dataclass
class _Walk:
    """The walk through one root, without recursion."""

    follow_symlinks: bool
    hidden: bool
    include: Sequence[str]
    exclude: Sequence[str]
    seen: set[str]
    """The real paths that were taken so far, also in other roots."""
    above: str = ""
    """The path from the repository's top, where ignore rules start, to the root."""
    documents: list[Found] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    watched: list[str] = field(default_factory=list)
    waiting: list[_Folder] = field(default_factory=list)
    links: list[tuple[str, os.DirEntry[str], _Folder]] = field(default_factory=list)

    def start(self, root: str) -> None:
        try:
            mode = os.stat(root).st_mode  # noqa: PTH116  an empty path does not exist, but Path("") does
            real = os.path.realpath(root)  # fails if the current folder was removed
        except (OSError, ValueError) as error:
            self.skip(root, unreadable(error), is_error=True)
            return
        if stat.S_ISDIR(mode):
            self.waiting.append(_Folder(root, "", real, self.rules_above(Path(real))))
            self.walk()
        elif stat.S_ISREG(mode):
            self.take(root, Path(root).absolute().name, real)
        else:
            self.skip(root, f"not a regular file but {kind(mode)}", is_error=True, is_stream=True)

    def walk(self) -> None:
        while self.waiting or self.links:
            if self.waiting:
                self.open(self.waiting.pop())
            else:  # links last, so that a file gets its own name rather than that of a link
                self.links.sort(key=lambda link: link[0], reverse=True)
                _, entry, folder = self.links.pop()
                self.follow(entry, folder)

    def open(self, folder: _Folder) -> None:
        """Take the documents of a directory; its directories and links wait."""
        if folder.real in self.seen:
            return
        self.seen.add(folder.real)
        try:
            with os.scandir(folder.file) as listing:
                entries = list(listing)
        except OSError as error:
            self.skip(folder.file, unreadable(error), is_error=True)
            return
        folder = folder._replace(rules=self.rules(folder.file, len(self.above + folder.path), folder.rules))
        for entry in entries:
            is_link, is_directory = _is_link(entry), _is_directory(entry)
            if not self.wants(entry.name, folder, is_link=is_link, is_directory=is_directory):
                continue
            real = os.path.join(folder.real, entry.name)  # noqa: PTH118
            if is_link:
                self.links.append((folder.path + entry.name, entry, folder))
            elif is_directory:
                self.waiting.append(_Folder(entry.path, f"{folder.path}{entry.name}/", real, folder.rules))
            else:
                self.take_entry(entry, folder, real)

    def wants(self, name: str, folder: _Folder, *, is_link: bool, is_directory: bool) -> bool:
        """Whether an entry is wanted by its name, its kind and the ignore files."""
        if name in _NEVER or (name.startswith(".") and not self.hidden):
            return False
        if not is_directory and not has_extension(name) and not (is_link and self.follow_symlinks):
            return False
        path = folder.path + name
        if self.exclude and globs.covers(f"{path}/" if is_directory else path, self.exclude):
            return False
        if self.include and not is_directory and not globs.covers(path, self.include):
            return False
        return not (folder.rules and ignore.ignores(folder.rules, self.above + path, directory=is_directory))

    def follow(self, entry: os.DirEntry[str], folder: _Folder) -> None:
        if not self.follow_symlinks:
            self.skip(entry.path, "symbolic link; not followed without --follow")
        elif _is_directory(entry):
            real = os.path.realpath(entry.path)
            self.waiting.append(_Folder(entry.path, f"{folder.path}{entry.name}/", real, folder.rules))
        elif not Path(entry.path).exists():
            self.skip(entry.path, "symbolic link to nothing; correct or remove it", is_error=True)
        elif has_extension(entry.name):
            self.take_entry(entry, folder, os.path.realpath(entry.path))

    def take_entry(self, entry: os.DirEntry[str], folder: _Folder, real: str) -> None:
        try:
            if entry.is_file():
                self.take(entry.path, folder.path + entry.name, real)
            else:
                self.skip(entry.path, f"not a regular file but {kind(entry.stat().st_mode)}", is_stream=True)
        except OSError as error:
            self.skip(entry.path, unreadable(error), is_error=True)

    def take(self, file: str, path: str, real: str) -> None:
        if real not in self.seen:
            self.seen.add(real)
            self.documents.append(Found(file=Path(file), path=path))

    def skip(self, file: str, reason: str, *, is_error: bool = False, is_stream: bool = False) -> None:
        self.skipped.append(Skipped(file, reason, is_error=is_error, is_stream=is_stream))

    def rules_above(self, real: Path) -> tuple[ignore.Rules, ...]:
        """The ignore rules that a repository has above the root; none if they ignore the root, which was named."""
        top = next((each for each in (real, *real.parents) if os.path.lexists(each / ".git")), real)
        path = ""
        rules: tuple[ignore.Rules, ...] = ()
        for name in real.relative_to(top).parts:
            rules = self.rules(str(top / path), len(path), rules)
            if ignore.ignores(rules, path + name, directory=True):
                return ()
            path += f"{name}/"
        self.above = path
        return rules

    def rules(self, folder: str, base: int, above: tuple[ignore.Rules, ...]) -> tuple[ignore.Rules, ...]:
        """The rules from above and those of a folder. An unreadable ignore file is an error: more would be taken."""
        self.watched.append(folder)
        for name in ignore.NAMES:
            file = os.path.join(folder, name)  # noqa: PTH118
            if not os.path.lexists(file):
                continue
            self.watched.append(file)
            try:
                above = (ignore.read(file, base), *above)
            except (OSError, InputError) as error:
                reason = error.reason if isinstance(error, InputError) else unreadable(error)
                self.skip(file, f"ignore file not used: {reason}", is_error=True)
        return above


def has_extension(name: str) -> bool:
    """Whether a file name is that of a document."""
    stem, dot, extension = name.rpartition(".")
    return bool(stem) and dot + extension.lower() in EXTENSIONS


def _is_link(entry: os.DirEntry[str]) -> bool:
    is_junction = getattr(entry, "is_junction", None)  # Windows, from Python 3.12 on
    return entry.is_symlink() or bool(is_junction and is_junction())


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
