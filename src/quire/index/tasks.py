"""What there is to read, and what became of it: the records between ``plan``, ``reading`` and ``update``."""

from __future__ import annotations

import msgspec

from quire.index.engine.fields import NodeFields
from quire.index.files import Note


class Task(msgspec.Struct, frozen=True, array_like=True):
    """A file to read."""

    file: bytes
    """What to open, as the system spells it."""
    tree: str
    """The tree that it is in."""
    path: str
    """Its path in the tree, storable."""
    language: str
    """The language of the tree."""
    size: int = 0
    """About how many bytes it has."""

    @property
    def id(self) -> str:
        """The document's id."""
        return f"{self.tree}:{self.path}"


class Reading(msgspec.Struct, frozen=True, array_like=True):
    """What became of it."""

    digest: bytes = b""
    """The hash of its bytes; empty if they could not be read."""
    title: str = ""
    """The document's title."""
    tokens: int = 0
    """How many tokens it has."""
    nodes: NodeFields = NodeFields()
    """Its nodes, as the engine takes them."""
    outline: bytes = b""
    """Its heading tree."""
    notes: tuple[Note, ...] = ()
    """What reading found; of many only the first."""
    failed: bool = False
    """Whether it could not be read, for the reason that its note gives."""


def digest_of(data: bytes) -> bytes:
    """The hash by which a file is known."""
    from hashlib import blake2b  # noqa: PLC0415  where nothing has changed, nothing is hashed

    return blake2b(data, digest_size=16).digest()
