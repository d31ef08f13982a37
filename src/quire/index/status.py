"""The state of an index and of its trees."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from quire.index.file_records import EXPECTED, FAILED, FILES, LINK_FOUND, LINK_LOST, NODES, TOKENS, Signs, TreeRecord
from quire.model.document import Finding


class TreeInfo(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A tree of an index."""

    folder: Path  # the folder of its documents
    language: str  # the language of its documents
    files: int  # the number of files, without those that cannot be read
    nodes: int  # the number of nodes
    tokens: int  # the number of tokens
    expected_files: int  # the number of all files while the first build goes on, or was interrupted; else ``files``
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
    engine: str = ""  # the store that answers, and what it lacks; empty for an index in a folder
    segments: int = 0  # the number of engine segments
    outdated: tuple[str, ...] = ()  # the ids of documents that were added, changed or removed since the last update
    failed: tuple[Finding, ...] = ()  # files that cannot be read
    vectors: str = ""  # the model of its vectors; empty if it has none
    without_vectors: int = 0  # the number of nodes that search by meaning does not find


def tree_info(home: Path, tree: TreeRecord, signs: Signs) -> TreeInfo:
    """What an index has of a tree, whose folder may be relative to ``home``."""
    signs = Counter(signs)
    return TreeInfo(
        folder=home / os.fsdecode(tree.folder),
        language=tree.language,
        files=signs[FILES] - signs[FAILED],
        nodes=signs[NODES],
        tokens=signs[TOKENS],
        expected_files=(signs[EXPECTED] or signs[FILES]) - signs[FAILED],
        dialect=tree.dialect,
        slugs=tree.slugs,
        slug_rule=tree.slug_rule,
        internal_links=signs[LINK_FOUND] + signs[LINK_LOST],
        resolved_links=signs[LINK_FOUND],
    )
