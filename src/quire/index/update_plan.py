"""What an update has to do: the requested trees and settings compared with the index, and the files that changed."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec

from quire import __version__
from quire.errors import IndexDamagedError, OptionError
from quire.index.changed_files import StaleFiles, stale_files
from quire.index.engine.snapshot import Opened, Snapshot, open_snapshot
from quire.index.file_records import EXPECTED, NODES, FileRecord, IndexSettings, TreeRecord, languages_of
from quire.index.folder import Folder, Stamp, refuse_folder
from quire.model.dialects import COMMONMARK, DIALECTS, DOCS_BUILDER
from quire.model.document import Finding
from quire.model.options import AUTO_SLUGS, Slugs
from quire.model.trees import DEFAULT_LANGUAGE, NAME, Language, Patterns, Reading
from quire.read.source import unread
from quire.read.substitution_files import substitution_files, tree_substitutions

_FIELDS = {"languages": "language", "dialects": "dialect"}
"""The fields of a tree that arguments of ``Index.update`` set, where their names differ."""
_CHOICES = {"slugs": get_args(Slugs), "dialects": ("", *DIALECTS), "languages": get_args(Language)}
"""The values that some of these arguments may have."""


def _by_tree(noun: str, example: str) -> msgspec.Meta:
    return msgspec.Meta(extra={"rule": f'{noun} by the name of a tree, as in {{"docs": {example}}}'})


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of ``Index.update``. A tree without an option keeps the option it has in the index."""

    trees: Annotated[dict[str, str] | None, _by_tree("folders", '"docs/"')]  # None: the trees in the index
    languages: Annotated[dict[str, str], _by_tree("languages", '"german"')]
    include: Annotated[dict[str, Patterns], _by_tree("patterns", '["guides/**"]')] = {}
    exclude: Annotated[dict[str, Patterns], _by_tree("patterns", '["guides/**"]')] = {}
    slugs: Annotated[dict[str, str], _by_tree("slugs", f'"{AUTO_SLUGS}"')] = {}
    dialects: Annotated[dict[str, str], _by_tree("dialects", '"mkdocs"')] = {}
    reading: dict[str, Reading] = {}
    rebuild: bool = False


class Update(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What an update has done."""

    added: int = 0  # new files
    changed: int = 0  # files with new content
    removed: int = 0  # files that are gone
    touched: int = 0  # files with new times and the same content
    unchanged: int = 0  # all other files
    failed: tuple[Finding, ...] = ()  # files that cannot be read, reported at every update; all others are in the index
    rebuilt: str | None = None  # why the whole index was rebuilt; None if it was not, or if it is new
    nodes: int = 0  # the number of nodes in the index
    seconds: float = 0.0  # the duration


class UpdatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What an update has to do."""

    snapshot: Snapshot | None  # the last commit, unless the index must be rebuilt
    stamp: Stamp  # of the last commit
    rebuild_reason: str | None = None
    keeps_current: bool = False  # whether the index that is rebuilt answers until the new one is complete
    settings: IndexSettings  # the new settings
    stale: StaleFiles

    def old(self, document_id: str) -> FileRecord | None:
        """The record of a file at the last commit."""
        return self.snapshot.file(document_id) if self.snapshot is not None else None

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do."""
        return self.snapshot is None or bool(self.stale) or self.snapshot.settings != self.settings

    def report(self, snapshot: Snapshot | None, seconds: float) -> Update:
        """What was done; ``snapshot`` is the new commit."""
        stale = self.stale
        return Update(
            added=stale.added,
            changed=stale.changed,
            removed=len(stale.removed),
            touched=stale.touched,
            unchanged=stale.unchanged,
            failed=tuple(stale.failed),
            rebuilt=self.rebuild_reason,
            nodes=snapshot.totals.get(NODES, 0) if snapshot else 0,
            seconds=seconds,
        )


def plan_update(folder: Folder, request: Request, last: Opened | None = None) -> UpdatePlan:
    """Compare the index with the request and with the files on disk; ``last`` is a snapshot that was opened before."""
    reason = None
    try:
        snapshot, stamp = open_snapshot(folder, last)
    except IndexDamagedError as error:
        snapshot, stamp, reason = None, folder.stamp(), error.problem
    trees = _requested_trees(folder, request, folder.trees() if snapshot is None else snapshot.settings.trees)
    refuse_folder(folder.path, request.trees or {})
    if snapshot is not None:
        reason = "a rebuild was requested" if request.rebuild else _rebuild_reason(snapshot.settings, trees)
    if snapshot is None or reason is not None or EXPECTED in snapshot.totals:  # its first build was interrupted
        trees = {name: msgspec.structs.replace(tree, auto_slugs="", auto_dialect="") for name, tree in trees.items()}
        settings, stale = IndexSettings(__version__, languages_of(trees), trees), stale_files(folder.home, trees)
        plan = UpdatePlan(snapshot=None, stamp=stamp, rebuild_reason=reason, settings=settings, stale=stale)
        return msgspec.structs.replace(plan, keeps_current=snapshot is not None)
    asked, before = trees if request.trees is None else request.trees, snapshot.settings.trees
    read = {name: tree for name, tree in trees.items() if name in asked or tree != before.get(name)}
    stale = stale_files(folder.home, read, snapshot)
    settings = msgspec.structs.replace(snapshot.settings, trees=trees)
    return UpdatePlan(snapshot=snapshot, stamp=stamp, settings=settings, stale=stale)


def plan_removal(folder: Folder, tree: str) -> UpdatePlan:
    """The removal of a tree from the index."""
    refuse_folder(folder.path, {})
    snapshot, stamp = open_snapshot(folder)
    if snapshot is None or tree not in snapshot.settings.trees:
        names = ", ".join(sorted(snapshot.settings.trees)) if snapshot is not None else "none"
        raise OptionError(f"{folder.path}: no tree is called {tree!r}", f"there are: {names}", option="tree")
    trees = {name: other for name, other in snapshot.settings.trees.items() if name != tree}
    stale = StaleFiles(removed=[name for name, record in snapshot.files.items() if record.tree == tree])
    settings = msgspec.structs.replace(snapshot.settings, trees=trees)
    return UpdatePlan(snapshot=snapshot, stamp=stamp, settings=settings, stale=stale)


def next_rebuild(folder: Folder, settings: IndexSettings) -> str | None:
    """Why the next update will rebuild an index; None if it will not."""
    trees = {name: _add_variables(folder.home, tree, tree) for name, tree in settings.trees.items()}
    return _rebuild_reason(settings, trees)


def _rebuild_reason(old: IndexSettings, trees: Mapping[str, TreeRecord]) -> str | None:
    """Why an index with these settings must be rebuilt; None if it can be updated."""
    if old.quire != __version__:
        return f"it was made by quire {old.quire}"
    for name, tree in trees.items():
        before = old.trees.get(name, tree)
        if tree.language != before.language:
            return f"the language of {name} is {tree.language} now"
        # Only these dialects are parsed differently.
        if tree.dialect != before.dialect and {tree.dialect, before.dialect} & {COMMONMARK, DOCS_BUILDER}:
            return f"the dialect of {name} is {tree.dialect or 'not given'} now"
        texts, texts_before = ((each.reading.encoding, each.reading.errors, each.variables) for each in (tree, before))
        if texts != texts_before:
            return f"the encoding or the substitutions of {name} have changed"
    added = sorted(set(languages_of(trees)) - set(old.languages))
    return f"there is a new language: {', '.join(added)}" if added else None


def _requested_trees(folder: Folder, request: Request, current: Mapping[str, TreeRecord]) -> dict[str, TreeRecord]:
    """The trees of the index after the update."""
    trees = dict(current)
    names: dict[bytes, str] = {}
    for name, path in (request.trees or {}).items():
        if not NAME.fullmatch(name):
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
        trees[name] = msgspec.structs.replace(current.get(name) or TreeRecord(b"", DEFAULT_LANGUAGE), folder=stored)
    for option in ("languages", "include", "exclude", "slugs", "dialects", "reading"):
        for name, value in getattr(request, option).items():
            trees[name] = _with_option(trees, name, option, value)
    if not trees:
        raise OptionError(f"{folder.path}: there is nothing in the index yet", 'name folders, as in {"docs": "docs/"}')
    return {name: _add_variables(folder.home, tree, current.get(name)) for name, tree in trees.items()}


def _with_option(trees: Mapping[str, TreeRecord], name: str, option: str, value: Any) -> TreeRecord:
    field, choices = _FIELDS.get(option, option), _CHOICES.get(option)
    if name not in trees:
        advice = f"there are: {', '.join(sorted(trees))}"
        raise OptionError(f"{option}: no tree is called {name!r}", advice, option=option)
    if choices and value not in choices:
        advice = f"choose from: {', '.join(filter(None, choices))}"
        raise OptionError(f"unknown {field} {value!r}", advice, option=option)
    changes = {field: (value,) if option in ("include", "exclude") and isinstance(value, str) else value}
    if option == "slugs" and value != trees[name].slugs:
        changes["auto_slugs"] = ""
    return msgspec.structs.replace(trees[name], **changes)


def _add_variables(home: Path, tree: TreeRecord, old: TreeRecord | None) -> TreeRecord:
    """A tree with the values of its template variables; files that have not changed are not read again."""
    top = home / os.fsdecode(tree.folder)
    files = substitution_files(top if top.is_dir() else top.parent)
    times = tuple((os.fsencode(file), file.stat().st_mtime_ns) for file in files)
    if old and times == old.variable_files and tree.reading.substitutions == old.reading.substitutions:
        return tree
    variables = tree_substitutions(files, tree.reading.substitutions)
    return msgspec.structs.replace(tree, variables=variables, variable_files=times)
