"""The state of an index and of its trees."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import LINK_FOUND, LINK_LOST, TreeRecord
from quire.index.folder import Folder
from quire.model import Finding
from quire.options import AUTO_SLUGS

CLEARLY_BETTER = 1.1
"""How many times as many links another rule for anchors must lead to a section before it is recommended."""


class TreeInfo(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A tree of an index."""

    folder: Path  # the folder of its documents
    language: str  # the language of its documents
    files: int  # the number of files, without those that cannot be read
    nodes: int  # the number of nodes
    tokens: int  # the number of tokens
    dialect: str  # its dialect of Markdown; empty if it was not given
    slugs: str  # the rule for anchors, or "auto"
    slug_rule: str  # the rule that is tried first for ``PATH#ANCHOR``: ``slugs``, or what "auto" has chosen
    internal_links: int  # the number of links to documents of the tree, found or not
    resolved_links: int  # how many of them lead to a document


class Status(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The state of an index."""

    version: int  # the format version on disk; this quire's if it is unknown
    size: int  # its size in bytes
    damaged: str | None = None  # what is wrong with its files; the fields below are then empty. None if nothing is.
    rebuild: str | None = None
    """Why the next update will rebuild it although nothing is damaged. The fields below are filled only if the format
    version is this quire's."""
    trees: Mapping[str, TreeInfo] = {}  # its trees by name
    segments: int = 0  # the number of engine segments
    outdated: tuple[str, ...] = ()  # the ids of documents that were added, changed or removed since the last update
    failed: tuple[Finding, ...] = ()  # files that cannot be read
    vectors: str = ""  # the model of its vectors; empty if it has none
    without_vectors: int = 0  # the number of nodes that search by meaning does not find
    better_slugs: Mapping[str, str] = {}
    """The rule that "auto" would choose for a tree if the index were rebuilt, if it is clearly better."""


def better_slugs(folder: Folder, trees: Mapping[str, TreeRecord]) -> dict[str, str]:
    """Slug rules that resolve clearly more links than the configured one."""
    automatic = {name: tree for name, tree in trees.items() if tree.slugs == AUTO_SLUGS}
    if not automatic:
        return {}
    from quire.index.update import tree_slugs  # noqa: PLC0415  loads the parser

    choices = {name: tree_slugs(folder.home, tree) for name, tree in automatic.items()}
    return {
        name: choice.rule
        for name, choice in choices.items()
        if choice.found[choice.rule] > CLEARLY_BETTER * choice.found[trees[name].slug_rule]
    }


def tree_info(folder: Folder, snapshot: Snapshot, name: str, tree: TreeRecord) -> TreeInfo:
    """What an index has of a tree."""
    records = [record for record in snapshot.files.values() if record.tree == name and not record.failed]
    signs = snapshot.signs(name)
    return TreeInfo(
        folder=folder.home / os.fsdecode(tree.folder),
        language=tree.language,
        files=len(records),
        nodes=sum(record.nodes for record in records),
        tokens=sum(record.tokens for record in records),
        dialect=tree.dialect,
        slugs=tree.slugs,
        slug_rule=tree.slug_rule,
        internal_links=signs.get(LINK_FOUND, 0) + signs.get(LINK_LOST, 0),
        resolved_links=signs.get(LINK_FOUND, 0),
    )
