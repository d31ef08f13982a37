"""What ``Index.update``, ``Index.trees`` and ``Index.status`` return."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quire.index.file_records import FileTable, Tree
from quire.index.folder import Folder
from quire.index.update_plan import UpdatePlan
from quire.model import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeInfo:
    """A tree of an index."""

    folder: Path  # the folder of its documents
    language: str  # the language of its documents
    files: int  # the number of files, without those that cannot be read
    nodes: int  # the number of nodes
    tokens: int  # the number of tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of an index."""

    version: int  # the format version on disk; this quire's if it is unknown
    size: int  # its size in bytes
    damaged: str | None = None  # what is wrong with its files; the fields below are then empty. None if nothing is.
    rebuild: str | None = None
    """Why the next update will rebuild it although nothing is damaged. The fields below are filled only if the format
    version is this quire's."""
    trees: Mapping[str, TreeInfo] = field(default_factory=dict)  # its trees by name
    segments: int = 0  # the number of engine segments
    outdated: tuple[str, ...] = ()  # the ids of documents that were added, changed or removed since the last update
    failed: tuple[Finding, ...] = ()  # files that cannot be read


def update_report(plan: UpdatePlan, files: FileTable, seconds: float) -> Update:
    """What an update has done, from its plan and the new file records."""
    stale = plan.stale
    readable = [task.record.id for task in stale.tasks if not files[task.record.id].failed]
    changed = sum(name in plan.known for name in readable)
    unreadable = [(task, files[task.record.id]) for task in stale.tasks if files[task.record.id].failed]
    failed = [finding for task, record in unreadable for finding in record.findings(os.fsdecode(task.file))]
    return Update(
        added=len(readable) - changed,
        changed=changed,
        removed=len(stale.removed),
        touched=stale.touched,
        unchanged=stale.unchanged,
        failed=(*stale.failed, *failed),
        rebuilt=plan.rebuild_reason,
        nodes=sum(record.nodes for record in files.values()),
        seconds=seconds,
    )


def tree_infos(folder: Folder, trees: Mapping[str, Tree], files: FileTable) -> dict[str, TreeInfo]:
    """The trees of an index by name."""
    infos = {}
    for name, tree in sorted(trees.items()):
        records = [record for record in files.values() if record.tree == name and not record.failed]
        infos[name] = TreeInfo(
            folder=folder.home / os.fsdecode(tree.folder),
            language=tree.language,
            files=len(records),
            nodes=sum(record.nodes for record in records),
            tokens=sum(record.tokens for record in records),
        )
    return infos
