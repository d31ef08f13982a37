"""The ``packed`` strategy: sections whole where they fit, packed into their parents, greedily from the top.

A document that fits is one piece. Otherwise its own text opens a piece, which takes the children in order while they
fit; a child that does not fit opens the next piece, or is packed by the same rule.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from quire.model import Document, Finding
from quire.options import PackedOptions
from quire.record import Piece
from quire.size.sizer import Sizer
from quire.split.units import HEADING_PARTED, Units, node_firsts, whole_document


def packed(document: Document, sizer: Sizer, options: PackedOptions) -> tuple[list[Piece], list[Finding]]:
    """Pieces of at most ``max_tokens`` tokens, each as much of one section as fits."""
    whole = whole_document(document, sizer, document.enclosing_section)
    if whole is not None:
        return [whole], []
    target, least = options.target_tokens, options.min_tokens
    units = Units(document, sizer, limit=target, target=target, least=least)
    pieces = _Packing(units, options).pieces
    return pieces, units.findings(pieces)


class _Packing:
    """The pieces so far, and the rule that makes more. A node is known by its position."""

    def __init__(self, units: Units, options: PackedOptions) -> None:
        self._units, self._options, lists = units, options, units.document.section_columns
        self._sections = [number for number, position in enumerate(lists.positions) if position >= 0]
        starts = [lists.starts[number] for number in self._sections]
        self._after = [bisect_left(starts, lists.ends[number]) for number in self._sections]  # the node behind each
        self._firsts = node_firsts(units)
        self.pieces: list[Piece] = []
        size = len(units.ends)
        if size and units.fits(0, size):
            self._emit(0, size)
        elif size:
            self._pack(0, 0)

    def _emit(self, first: int, last: int) -> None:
        """Make a piece of the units ``first`` to before ``last``."""
        self.pieces.append(self._units.piece(first, last))

    def _pack(self, node: int, first: int) -> None:
        """Pack a node that does not fit; its first piece starts at the unit ``first``, with what leads it."""
        fits, firsts, after = self._units.fits, self._firsts, self._after
        child, last_child = node + 1, after[node]
        least = max(self._options.min_tokens, 1)  # a heading without text is always too short to be a piece
        leads = child < last_child and self._units.is_short(self._sections[node], least)
        end = firsts[child]
        start = self._pack_own_text(node, first, end, leads=leads)
        may_join = self._options.merge_siblings or node > 0
        while child < last_child:
            following = after[child]
            child_start, child_end = firsts[child], firsts[following]
            if start >= 0 and may_join and fits(start, child_end):
                end = child_end
            elif start >= 0 and leads and child == node + 1:
                self._pack(child, start)
                start = -1
            else:
                if start >= 0:
                    self._emit(start, end)
                start, end = child_start, child_end
                if not fits(start, end):
                    self._pack(child, start)
                    start = -1
                elif not self._options.merge_siblings:
                    self._emit(start, end)
                    start = -1
            child = following
        if start >= 0:
            self._emit(start, end)

    def _pack_own_text(self, node: int, first: int, end: int, *, leads: bool) -> int:
        """Emit all but the last piece of a node's own text; returns where that one starts, -1 if none is open."""
        units = self._units
        if first == end:
            return -1
        if not units.fits(first, end):
            groups = self._none_small(units.filled(first, end, self._options.target_tokens))
            *full, (first, _) = [fitting for group in groups for fitting in self._fitting(*group)]
            for start, last in full:
                self._emit(start, last)
        if node == 0 and not leads:
            self._emit(first, end)  # text above the first heading is a piece by itself
            return -1
        return first

    def _fitting(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """A group as it is, or several where a heading cannot stay with its text, which is a finding."""
        units = self._units
        while last - first > 1 and not units.fits(first, last):
            cut = next((end for end in range(last - 1, first + 1, -1) if units.fits(first, end)), first + 1)
            units.notes.append((units.starts[cut - 1], "heading-too-long", HEADING_PARTED))
            yield first, cut
            first = cut
        yield first, last

    def _none_small(self, groups: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Groups of a section's own text: one below the minimum joins the one before it, the first the one after it."""
        units, least, joined = self._units, self._options.min_tokens, groups[:1]
        for first, last in groups[1:]:
            start, end = joined[-1]
            is_small = not units.is_at_least(first, last, least) or (
                len(joined) == 1 and not units.is_at_least(start, end, least)
            )
            if is_small and units.fits(start, last):
                joined[-1] = start, last
            else:
                joined.append((first, last))
        return joined
