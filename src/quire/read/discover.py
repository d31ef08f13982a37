"""Paths from a command line to documents to read. ``source`` reads them.

A file that is named is taken, whatever it is called. A directory is walked, without recursion: Markdown and
``.txt`` are taken, hidden entries and what ignore files name are left out. What should have been read but cannot
be is reported and the rest goes on. The order depends on names only.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from quire.errors import InputError
from quire.model import BOM
from quire.read import globs, ignore
from quire.read.source import MARKDOWN_EXTENSIONS, decode, kind, read_configuration, unreadable

EXTENSIONS = MARKDOWN_EXTENSIONS | {".txt"}
"""The endings of file names, in lower case, that are taken from a directory."""

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NEVER = frozenset({".git", ".quire"})
_LINK = "symbolic link; not followed without --follow"


class Found(NamedTuple):
    """A document to read."""

    file: Path
    """What to open."""
    path: str
    """Its name: the path relative to the directory that was given, with forward slashes."""


class Skipped(NamedTuple):
    """Something that was not taken."""

    path: str
    """Where it is, as the user would reach it."""
    reason: str
    """Why, and what to do."""
    is_error: bool = False
    """Whether it should have been readable."""
    is_stream: bool = False
    """Whether it is no file but may have content, as pipes and devices have."""


class Discovery(NamedTuple):
    """What the given paths stand for."""

    documents: tuple[Found, ...]
    """In the order of the given paths; sorted by name within each."""
    skipped: tuple[Skipped, ...]
    """In the same order."""


class _Folder(NamedTuple):
    """A directory that waits to be walked."""

    file: str
    """What to open."""
    path: str
    """Relative to the directory that was given, with a slash at the end; empty for that directory itself."""
    real: str
    """Its path without symbolic links."""
    rules: tuple[ignore.Rules, ...]
    """The ignore rules from above, the strongest first."""


class _Walk:
    """The walk of one given path, and what it has come across."""

    def __init__(
        self, *, follow_symlinks: bool, hidden: bool, include: Sequence[str], exclude: Sequence[str], seen: set[str]
    ) -> None:
        """``seen`` are the real paths that were taken, in this walk and those before it."""
        self.follow_symlinks = follow_symlinks
        self.hidden = hidden
        self.include = include
        self.exclude = exclude
        self.seen = seen
        self.above = ""
        """The way from the repository's root, where ignore rules start to count, to the directory that was given."""
        self.documents: list[Found] = []
        self.skipped: list[Skipped] = []

    def take(self, file: str, path: str, real: str) -> None:
        if real not in self.seen:
            self.seen.add(real)
            self.documents.append(Found(file=Path(file), path=path))

    def skip(self, file: str, reason: str, *, is_error: bool = False, is_stream: bool = False) -> None:
        self.skipped.append(Skipped(path=file, reason=reason, is_error=is_error, is_stream=is_stream))


def discover(
    roots: Sequence[str],
    *,
    follow_symlinks: bool = False,
    hidden: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Discovery:
    """The documents that ``roots``, files and directories, stand for; each file once.

    ``include`` and ``exclude`` are patterns (``globs``) for the files of a directory, relative to it. Without
    ``include`` all are taken; ``exclude`` takes precedence.
    """
    seen: set[str] = set()
    documents: list[Found] = []
    skipped: list[Skipped] = []
    for root in roots:
        walk = _Walk(follow_symlinks=follow_symlinks, hidden=hidden, include=include, exclude=exclude, seen=seen)
        _start(root, walk)
        documents += sorted(walk.documents, key=lambda found: found.path)
        skipped += sorted(walk.skipped, key=lambda each: each.path)
    return Discovery(documents=tuple(documents), skipped=tuple(skipped))


def _start(root: str, walk: _Walk) -> None:
    try:
        mode = os.stat(root).st_mode  # noqa: PTH116  an empty path does not exist, but Path("") does
        real = os.path.realpath(root)  # the current folder may be gone
    except (OSError, ValueError) as error:
        walk.skip(root, unreadable(error), is_error=True)
        return
    if stat.S_ISDIR(mode):
        _walk(root, real, walk)
    elif stat.S_ISREG(mode):
        walk.take(root, Path(root).absolute().name, real)
    else:
        walk.skip(root, f"not a regular file but {kind(mode)}", is_error=True, is_stream=True)


def _walk(root: str, real: str, walk: _Walk) -> None:
    waiting = [_Folder(root, "", real, _rules_above(Path(real), walk))]
    links: list[tuple[str, os.DirEntry[str], _Folder]] = []
    while waiting or links:
        if waiting:
            _open(waiting.pop(), walk, waiting, links)
        else:  # links last, so that a file is known by its own name rather than by a link's
            links.sort(key=lambda link: link[0], reverse=True)
            _, entry, folder = links.pop()
            _follow(entry, folder, walk, waiting)


def _open(
    folder: _Folder, walk: _Walk, waiting: list[_Folder], links: list[tuple[str, os.DirEntry[str], _Folder]]
) -> None:
    """Take the documents in one directory; its directories and links have to wait."""
    if folder.real in walk.seen:
        return
    walk.seen.add(folder.real)
    entries = _listing(folder, walk)
    folder = folder._replace(rules=_rules(folder, entries, walk))
    for entry in entries:
        is_link, is_directory = _is_link(entry), _is_directory(entry)
        if not _wanted(entry, folder, walk, is_link=is_link, is_directory=is_directory):
            continue
        if is_link:
            links.append((folder.path + entry.name, entry, folder))
        elif is_directory:
            waiting.append(_below(folder, entry, os.path.join(folder.real, entry.name)))  # noqa: PTH118
        else:
            _take(entry, folder, walk, os.path.join(folder.real, entry.name))  # noqa: PTH118


def _listing(folder: _Folder, walk: _Walk) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder.file) as entries:
            return list(entries)
    except OSError as error:
        walk.skip(folder.file, unreadable(error), is_error=True)
        return []


def _wanted(entry: os.DirEntry[str], folder: _Folder, walk: _Walk, *, is_link: bool, is_directory: bool) -> bool:
    """Whether an entry counts, going by its name, its kind and the ignore files."""
    name = entry.name
    if name in _NEVER or (name.startswith(".") and not walk.hidden):
        return False
    if not is_directory and not _has_extension(name) and not (is_link and walk.follow_symlinks):
        return False
    path = folder.path + name
    if walk.exclude and globs.covers(f"{path}/" if is_directory else path, walk.exclude):
        return False
    if walk.include and not is_directory and not globs.covers(path, walk.include):
        return False
    return not (folder.rules and ignore.ignores(folder.rules, walk.above + path, directory=is_directory))


def _take(entry: os.DirEntry[str], folder: _Folder, walk: _Walk, real: str) -> None:
    try:
        if entry.is_file():
            walk.take(entry.path, folder.path + entry.name, real)
        else:
            walk.skip(entry.path, f"not a regular file but {kind(entry.stat().st_mode)}", is_stream=True)
    except OSError as error:
        walk.skip(entry.path, unreadable(error), is_error=True)


def _follow(entry: os.DirEntry[str], folder: _Folder, walk: _Walk, waiting: list[_Folder]) -> None:
    if not walk.follow_symlinks:
        walk.skip(entry.path, _LINK)
    elif _is_directory(entry):
        waiting.append(_below(folder, entry, os.path.realpath(entry.path)))
    elif not Path(entry.path).exists():
        walk.skip(entry.path, "symbolic link to nothing; correct or remove it", is_error=True)
    elif _has_extension(entry.name):
        _take(entry, folder, walk, os.path.realpath(entry.path))


def _below(folder: _Folder, entry: os.DirEntry[str], real: str) -> _Folder:
    return _Folder(entry.path, f"{folder.path}{entry.name}/", real, folder.rules)


def _rules_above(real: Path, walk: _Walk) -> tuple[ignore.Rules, ...]:
    """The rules of the repository around a given directory, as far as they come from above it."""
    top = next((each for each in (real, *real.parents) if os.path.lexists(each / ".git")), real)
    way = real.relative_to(top).parts
    rules: tuple[ignore.Rules, ...] = ()
    for depth, name in enumerate(way):
        path = "".join(f"{part}/" for part in way[:depth])
        for ignore_file in ignore.NAMES:
            file = top.joinpath(*way[:depth], ignore_file)
            if os.path.lexists(file):
                rules = (*_loaded(str(file), len(path), walk), *rules)
        if ignore.ignores(rules, path + name, directory=True):
            return ()  # it was named, so it is wanted
    walk.above = "".join(f"{part}/" for part in way)
    return rules


def _rules(folder: _Folder, entries: list[os.DirEntry[str]], walk: _Walk) -> tuple[ignore.Rules, ...]:
    files = {entry.name: entry.path for entry in entries if entry.name in ignore.NAMES}
    rules = folder.rules
    for name in ignore.NAMES:
        if name in files:
            rules = (*_loaded(files[name], len(walk.above + folder.path), walk), *rules)
    return rules


def _loaded(file: str, base: int, walk: _Walk) -> tuple[ignore.Rules, ...]:
    """The rules of an ignore file; none if it cannot be read, which is an error: more is taken than was meant."""
    try:
        return (ignore.parse(_ignore_text(file), base),)
    except OSError as error:
        walk.skip(file, f"ignore file not used: {unreadable(error)}", is_error=True)
    except InputError as error:
        walk.skip(file, f"ignore file not used: {error.reason}", is_error=True)
    return ()


def _ignore_text(file: str) -> str:
    """The text of an ignore file; bytes that are no text stand in it as they do in the names of files."""
    data = read_configuration(Path(file))
    text = decode(data, file)[0] if data.startswith(_UTF16) else data.decode("utf-8", "surrogateescape")
    return text.removeprefix(BOM)


def _has_extension(name: str) -> bool:
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
