"""What an index says of itself: ``Index.trees`` and ``Index.status``. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quire.model import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeInfo:
    """A tree of an index."""

    folder: Path
    """Where its documents are."""
    language: str
    """The language that they are in."""
    files: int
    """How many there are, without those that cannot be read."""
    nodes: int
    """How many nodes they have."""
    tokens: int
    """How many tokens they have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How an index is."""

    version: int
    """The version of what is on disk; this quire's where that cannot be told."""
    size: int
    """How many bytes it takes on disk."""
    damaged: str | None = None
    """What is wrong with its files, and then no more is known; None if they hold what was written."""
    rebuild: str | None = None
    """Why the next update makes it anew, though nothing is damaged: another version of quire made it. What follows is
    known only if the version of the index is this quire's."""
    trees: Mapping[str, TreeInfo] = field(default_factory=dict)
    """Its trees by name."""
    segments: int = 0
    """Into how many parts the engine has it."""
    outdated: tuple[str, ...] = ()
    """The ids of documents that changed, came or went since the last update."""
    failed: tuple[Finding, ...] = ()
    """What cannot be read."""
