"""What an update has to do: the requested trees and settings compared with the index, and the files with their records.

A file with the same size and times is not opened, unless it was written so shortly before it was read that a later edit
may have left the same times (git calls this racily clean). Any other file is hashed: if its bytes are the same, only
its times are updated.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec

from quire import __version__
from quire.dialects import COMMONMARK, DIALECTS
from quire.errors import IndexDamagedError, OptionError
from quire.index.engine import analysis, index_schema
from quire.index.engine.snapshot import Opened, Snapshot, newest_readable_trees, open_snapshot
from quire.index.file_records import (
    DEFAULT_LANGUAGE,
    TOKENIZER,
    FileRecord,
    FileTable,
    FolderTimes,
    IndexSettings,
    Tree,
    digest_of,
    folder_times,
    is_racy,
    languages_of,
    storable,
)
from quire.index.folder import Folder, Stamp, refuse_file, refuse_foreign_files, refuse_hidden_trees
from quire.model import Finding
from quire.options import Slugs, is_id_part
from quire.read.discover import Walk
from quire.read.source import unread

_TREE_OPTIONS = {
    "language": "languages", "include": "include", "exclude": "exclude", "slugs": "slugs", "dialect": "dialects",
}  # fmt: skip
"""The arguments of ``Index.update`` that set a field of a tree."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of ``Index.update``. A tree without an option keeps the option it has in the index."""

    trees: Mapping[str, str] | None  # folders by name; None: the trees in the index
    languages: Mapping[str, str]
    include: Mapping[str, tuple[str, ...]] = {}
    exclude: Mapping[str, tuple[str, ...]] = {}
    slugs: Mapping[str, str] = {}
    dialects: Mapping[str, str] = {}
    rebuild: bool = False


class Task(msgspec.Struct, frozen=True, array_like=True):
    """A file to read."""

    file: bytes  # the path to open, as the system encodes it
    language: str
    record: FileRecord  # its tree, path, size and times
    dialect: str = ""


class StaleFiles(msgspec.Struct, kw_only=True):
    """How the files on disk differ from the index."""

    tasks: list[Task] = []
    removed: Sequence[str] = ()  # document ids
    refreshed: list[FileRecord] = []  # the same content with other times, or no longer racy
    touched: int = 0  # how many of them have other times; the rest is not worth a commit
    unchanged: int = 0  # without the files that cannot be read
    failed: list[Finding] = []  # files that are known to be unreadable
    folders: dict[str, FolderTimes] = {}  # of the trees that were listed

    def __bool__(self) -> bool:
        return bool(self.tasks or self.removed or self.touched)


class UpdatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What an update has to do."""

    snapshot: Snapshot | None  # the last commit, unless the index must be rebuilt
    stamp: Stamp  # of the last commit
    rebuild_reason: str | None
    settings: IndexSettings  # the new settings
    stale: StaleFiles

    @property
    def known(self) -> FileTable:
        """The file records of the last commit."""
        return self.snapshot.files if self.snapshot is not None else {}

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do."""
        return self.snapshot is None or bool(self.stale) or self.snapshot.settings != self.settings


def plan_update(folder: Folder, request: Request, last: Opened | None = None) -> UpdatePlan:
    """Compare the index with the request and with the files on disk; ``last`` is a snapshot that was opened before."""
    try:
        snapshot, stamp = open_snapshot(folder, last)
        reason = None
    except IndexDamagedError as error:
        snapshot, stamp, reason = None, folder.stamp(), error.problem
    trees = _requested_trees(folder, request, snapshot.settings.trees if snapshot is not None else _old_trees(folder))
    refuse_file(folder.path)
    refuse_hidden_trees(folder.path, {name: Path(path) for name, path in (request.trees or {}).items()})
    if snapshot is None:
        refuse_foreign_files(folder.path)
    languages = languages_of(trees)
    if snapshot is not None:
        reason = "a rebuild was requested" if request.rebuild else rebuild_reason(snapshot.settings, trees)
        languages = snapshot.settings.languages if reason is None else languages
        snapshot = snapshot if reason is None else None
    if snapshot is None:
        trees = {name: msgspec.structs.replace(tree, auto_slugs="") for name, tree in trees.items()}
    settings = IndexSettings(index_schema.VERSION, __version__, TOKENIZER, languages, trees)
    names = trees if request.trees is None or snapshot is None else request.trees
    known = snapshot.files if snapshot is not None else {}
    listed = snapshot.folder_times if snapshot is not None and snapshot.settings.trees == trees else None
    stale = stale_files(folder.home, {name: trees[name] for name in names}, known, listed)
    return UpdatePlan(snapshot=snapshot, stamp=stamp, rebuild_reason=reason, settings=settings, stale=stale)


def plan_removal(folder: Folder, tree: str) -> UpdatePlan:
    """The removal of a tree from the index."""
    snapshot, stamp = open_snapshot(folder)
    if snapshot is None or tree not in snapshot.settings.trees:
        known = ", ".join(sorted(snapshot.settings.trees)) if snapshot is not None else "none"
        raise OptionError(f"{folder.path}: no tree is called {tree!r}", f"there are: {known}", option="tree")
    trees = {name: each for name, each in snapshot.settings.trees.items() if name != tree}
    stale = StaleFiles(removed=[name for name, record in snapshot.files.items() if record.tree == tree])
    settings = msgspec.structs.replace(snapshot.settings, trees=trees)
    return UpdatePlan(snapshot=snapshot, stamp=stamp, rebuild_reason=None, settings=settings, stale=stale)


def rebuild_reason(old: IndexSettings, trees: Mapping[str, Tree]) -> str | None:
    """Why an index with these settings must be rebuilt; None if it can be updated."""
    if old.quire != __version__:
        return f"it was made by quire {old.quire}"
    if old.tokenizer != TOKENIZER:
        return f"its tokens were counted with {old.tokenizer}"
    for name, tree in trees.items():
        if name in old.trees and tree.language != old.trees[name].language:
            return f"the language of {name} is {tree.language} now"
        dialects = {tree.dialect, old.trees[name].dialect} if name in old.trees else {tree.dialect}
        if len(dialects) > 1 and COMMONMARK in dialects:  # only its documents are parsed differently
            return f"the dialect of {name} is {tree.dialect or 'not given'} now"
    added = sorted(set(languages_of(trees)) - set(old.languages))
    return f"there is a new language: {', '.join(added)}" if added else None


def _old_trees(folder: Folder) -> Mapping[str, Tree]:
    """The trees of an index that cannot be opened."""
    try:
        pointer = folder.pointer()
    except IndexDamagedError:
        return newest_readable_trees(folder)
    return pointer.trees if pointer is not None else {}


def _requested_trees(folder: Folder, request: Request, known: Mapping[str, Tree]) -> dict[str, Tree]:
    """The trees of the index after the update. Invalid names and options raise an error."""
    trees = dict(known)
    names: dict[bytes, str] = {}
    for name, path in (request.trees or {}).items():
        if not is_id_part(name):
            advice = "use letters, digits, '-', '_' and '.'"
            raise OptionError(f"a tree cannot be called {name!r}", advice, option="trees")
        try:
            os.stat(path)  # noqa: PTH116  an empty path does not exist, but Path("") does
        except (OSError, ValueError) as error:
            raise unread(path, error) from error
        absolute = Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow links
        is_below = absolute.is_relative_to(folder.home)
        stored = os.fsencode(absolute.relative_to(folder.home) if is_below else absolute)
        other = names.setdefault(stored, name)
        if other != name:
            problem = f"the trees {other!r} and {name!r} are one folder"
            raise OptionError(problem, "leave one of them out", option="trees")
        trees[name] = msgspec.structs.replace(known.get(name) or Tree(b"", DEFAULT_LANGUAGE), folder=stored)
    for field, option in _TREE_OPTIONS.items():
        for name, value in getattr(request, option).items():
            _check_option(option, name, value, trees)
            trees[name] = msgspec.structs.replace(trees[name], **{field: value})
    for name, slugs in request.slugs.items():
        if name in known and slugs != known[name].slugs:
            trees[name] = msgspec.structs.replace(trees[name], auto_slugs="")
    if not trees:
        raise OptionError(f"{folder.path}: there is nothing in the index yet", 'name folders, as in {"docs": "docs/"}')
    return trees


def _check_option(option: str, name: str, value: Any, trees: Mapping[str, Tree]) -> None:
    if name not in trees:
        advice = f"there are: {', '.join(sorted(trees))}"
        raise OptionError(f"{option}: no tree is called {name!r}", advice, option=option)
    if option == "slugs" and value not in get_args(Slugs):
        raise OptionError(f"unknown slugs {value!r}", f"choose from: {', '.join(get_args(Slugs))}", option=option)
    if option == "dialects" and value and value not in DIALECTS:
        raise OptionError(f"unknown dialect {value!r}", f"choose from: {', '.join(DIALECTS)}", option=option)
    if option == "languages" and value not in analysis.LANGUAGES:
        raise OptionError(f"unknown language {value!r}", f"choose from: {', '.join(analysis.LANGUAGES)}", option=option)


def stale_files(
    home: Path, trees: Mapping[str, Tree], known: FileTable, listed: Callable[[str], FolderTimes] | None = None
) -> StaleFiles:
    """Compare the files of some trees with their records; the folders of trees are relative to ``home``.

    ``listed`` returns the folders of a tree as they were when all its files got records. If they are the same, they are
    not listed again.
    """
    stale = StaleFiles()
    untouched: list[str] = []  # nearly all files
    seen: set[str] = set()
    for name, tree in trees.items():
        top, now = str(home / os.fsdecode(tree.folder)), time.time_ns()
        before = {} if listed is None else listed(name)
        times, own = folder_times(before), list[str]()
        is_known = partial(_is_untouched, f"{name}:", known, own)
        others = _others(top, name, known, is_known) if before and times == before else None
        if others is None:
            own.clear()
            found = Walk(top, tree.include, tree.exclude, is_known=is_known)
            errors = sorted(each for each in found.skipped if each.is_error)
            stale.failed += [Finding(code="unreadable", path=each.path, line=0, message=each.reason) for each in errors]
            watched = [os.fsencode(each) for each in found.watched]
            times |= folder_times(each for each in watched if each not in times)
            is_sure = not errors and not is_racy(max(map(max, times.values()), default=now), now)
            stale.folders[name] = {each: times[each] for each in watched if each in times} if is_sure else {}
            others = list(zip(found.paths, found.files, strict=True))
        untouched += own
        if others:
            seen.update(untouched)
        for path, file in sorted(others):
            current = _current_record(file, name, storable(path))
            if current is not None:  # else it was deleted since it was found
                _compare(stale, file, tree, current, known.get(current.id), is_seen=current.id in seen)
                seen.add(current.id)
    stale.unchanged += len(untouched)
    if len(untouched) < len(known):
        seen.update(untouched)
        stale.removed = sorted(each for each in known.keys() - seen if known[each].tree in trees)
    return stale


def _others(
    top: str, tree: str, known: FileTable, is_known: Callable[[str, str], bool]
) -> list[tuple[str, str]] | None:
    """The paths and files of documents that may have changed; None if one is missing, or has another name on disk."""
    files = [(record.path, f"{top}/{record.path}") for record in known.values() if record.tree == tree]
    others = [each for each in files if not is_known(*each)]
    return others if all(os.path.lexists(file) for _, file in others) else None


def _compare(
    stale: StaleFiles, file: str, tree: Tree, current: FileRecord, old: FileRecord | None, *, is_seen: bool
) -> None:
    """Add one file to the list it belongs to."""
    is_touched = old is None or _times(current) != _times(old)
    if is_seen:
        message = f"another file has the id {current.id} too; rename one"
        stale.failed.append(Finding(code="same-id", path=file, line=0, message=message))
        stale.folders.pop(current.tree, None)  # so that it is found again
    elif old is None or not _has_same_content(file, current, old, is_touched=is_touched):
        stale.tasks.append(Task(os.fsencode(file), tree.language, current, tree.dialect))
    else:
        stale.failed += old.findings(file) if old.failed else ()
        if is_touched or (old.racy and not current.racy):
            times = {name: getattr(current, name) for name in ("size", "mtime_ns", "ctime_ns", "racy")}
            stale.refreshed.append(msgspec.structs.replace(old, **times))
        stale.touched += is_touched
        stale.unchanged += not is_touched and not old.failed


def _is_untouched(prefix: str, known: FileTable, untouched: list[str], path: str, file: str) -> bool:
    """Whether a file that was read without trouble has the same size and times; its id is then added to a list."""
    old = known.get(document_id := prefix + path)
    if old is None or old.racy or old.failed:
        return False
    try:
        status = os.stat(file)  # noqa: PTH116  Path.stat is slower, and there may be thousands of files
    except OSError:
        return False
    if status.st_mtime_ns != old.mtime_ns or status.st_size != old.size or status.st_ctime_ns != old.ctime_ns:
        return False
    untouched.append(document_id)
    return True


def _times(record: FileRecord) -> tuple[int, int, int]:
    return record.size, record.mtime_ns, record.ctime_ns


def _has_same_content(file: str, current: FileRecord, old: FileRecord, *, is_touched: bool) -> bool:
    """Whether a file is still as it was read, or still cannot be read."""
    if not old.digest:
        return not is_touched and not digest_of_file(file)
    return not (is_touched or old.racy) or (current.size == old.size and digest_of_file(file) == old.digest)


def _current_record(file: str, tree: str, path: str) -> FileRecord | None:
    """A record with the size and times of a file; None if it does not exist."""
    now = time.time_ns()
    try:
        status = os.stat(file)  # noqa: PTH116  Path.stat is slower, and there may be thousands of files
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return FileRecord(tree, path, 0, 0, 0, racy=False)
    mtime, ctime = status.st_mtime_ns, status.st_ctime_ns
    return FileRecord(tree, path, status.st_size, mtime, ctime, racy=is_racy(max(mtime, ctime), now))


def digest_of_file(file: str) -> bytes:
    """The hash of a file's bytes; empty if they cannot be read."""
    try:
        return digest_of(Path(file).read_bytes())
    except OSError:
        return b""
