"""The heading tree of a document without its text: what merging needs. Made by ``reading``, read by the search.

It is kept in the record of the file. So a search reads only the nodes that it shows, not all that match.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quire.index.files import FileRecord
from quire.index.node import NO_PARENT, Ancestor, Node, parent_of


class Spot(msgspec.Struct, frozen=True, gc=False):
    """Where a node stands."""

    document_id: str
    """The id of the document."""
    number: int
    """The number of the document in the index."""
    position: int
    """Its place among the nodes of the document; 0 is the document itself."""
    depth: int
    """0 for the document, else the heading's level."""
    ancestors: tuple[Ancestor, ...]
    """From the document down to its parent; empty for the document."""


class Outline:
    """The heading tree of one document."""

    def __init__(self, record: FileRecord) -> None:
        self._id, self._number = record.id, record.number
        self._branches = _DECODER.decode(record.outline)
        self._ancestors: dict[int, tuple[Ancestor, ...]] = {NO_PARENT: ()}

    def spot(self, position: int) -> Spot:
        """Where a node stands."""
        branch = self._branches[position]
        return Spot(self._id, self._number, position, branch.depth, self._down_to(branch.parent))

    def last(self, position: int) -> int:
        """The position of the last node below one; its own where there is none."""
        return self._branches[position].last

    def _down_to(self, position: int) -> tuple[Ancestor, ...]:
        """From the document down to a node."""
        known = self._ancestors.get(position)
        if known is None:
            branch = self._branches[position]
            known = (*self._down_to(branch.parent), Ancestor(position, branch.depth, branch.children))
            self._ancestors[position] = known
        return known


class _Branch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    depth: int
    parent: int
    children: int
    last: int


def outline(nodes: Sequence[Node]) -> bytes:
    """The heading tree of a document, packed."""
    return _ENCODER.encode([_Branch(node.depth, parent_of(node.ancestors), node.children, node.last) for node in nodes])


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[_Branch])
