"""Where the nodes of the heading tree start and end among the units. Part of plan.py, for packed.py and sections.py.

Headings with nothing below them are no nodes; they lead the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from quire.model import Document, Section


class Nodes:
    """The nodes of a document, each with its units."""

    def __init__(self, document: Document, firsts: Sequence[int], units: int) -> None:
        self._document = document
        self._firsts = [*firsts, units]  # the first unit of each section

    def start(self, section: Section) -> int:
        """The first unit of a section: its heading, and headings with nothing below them that lead it."""
        return self._unit_of[section.position or 0]

    def end(self, section: Section) -> int:
        """One past the last unit of all that belongs to a section."""
        return self._unit_of[self._after[section.position or 0]]

    def own_end(self, section: Section) -> int:
        """One past the last unit of a section's own text: where the next node starts."""
        return self._unit_of[(section.position or 0) + 1]

    def has_children(self, section: Section) -> bool:
        """Whether there are nodes below a section."""
        position = section.position or 0
        return self._after[position] > position + 1

    def children(self, section: Section) -> Iterator[Section]:
        """The nodes directly below a section."""
        nodes, after = self._document.nodes, self._after
        position = section.position or 0
        end, position = after[position], position + 1
        while position < end:
            yield nodes[position]
            position = after[position]

    @cached_property
    def _unit_of(self) -> list[int]:
        """The first unit of each node, by its position, and the number of units."""
        first: list[int] = []
        lead = -1  # the first of the headings with nothing below them that stand right before
        for section, unit, following in zip(self._document.sections, self._firsts, self._firsts[1:], strict=False):
            if section.position is not None:
                first.append(unit if lead < 0 else lead)
                lead = -1
            elif following > unit + 1:
                lead = -1  # too long to lead, so it was cut
            elif lead < 0:
                lead = unit
        return [*first, self._firsts[-1]]

    @cached_property
    def _after(self) -> list[int]:
        """For each node, by its position, the position of the next one that does not belong to it."""
        nodes = self._document.nodes
        after = [len(nodes)] * len(nodes)
        above: list[int] = []
        for position, node in enumerate(nodes):
            while above and nodes[above[-1]].end <= node.start:
                after[above.pop()] = position
            above.append(position)
        return after
