"""The ``packed`` strategy: sections whole where they fit, packed into their parents, greedily from the top.

A section alone fits up to the cap, several together up to ``join_tokens``.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from quire.cut.units import HEADING_PARTED, UnitRange, Units, is_short, make_units, whole_document
from quire.model.chunk_record import Piece
from quire.model.document import Document, Finding, Note
from quire.model.options import PackedOptions
from quire.tokens.sizer import Sizer


def packed(document: Document, sizer: Sizer, options: PackedOptions) -> tuple[list[Piece], list[Finding]]:
    """Pieces of at most ``max_tokens`` tokens, each as much of one section as fits."""
    whole = whole_document(document, sizer, options)
    if whole is not None:
        return [whole], []
    target, fill, least = options.target_tokens, options.fill_tokens, options.min_tokens
    units = make_units(document, sizer, limit=target, target=target, fill=fill, least=least)
    whole = whole_document(document, sizer, options, units)
    if whole is not None or not units.ends:
        return [whole] if whole else [], []
    packing = _Packing(units, options)
    pieces = [units.piece(*group) for group in packing.joined()]
    return pieces, units.findings(pieces, packing.notes)


class _Packing:
    """The groups so far, and the rule that makes more. A node is known by its position."""

    def __init__(self, units: Units, options: PackedOptions) -> None:
        self._units, self._options, self._join = units, options, options.join_tokens
        lists = units.document.section_columns
        self._sections = [number for number, position in enumerate(lists.positions) if position >= 0]
        starts = [lists.starts[number] for number in self._sections]
        self._after = [bisect_left(starts, lists.ends[number]) for number in self._sections]  # the node behind each
        self._firsts = units.node_firsts()
        self._groups: list[UnitRange] = []
        self._preamble = 0  # how many groups have only text above the first heading
        self.notes: list[Note] = []
        self._pack(0, 0)

    def joined(self) -> list[UnitRange]:
        """The groups; a small one joins a neighbour, but not the preamble, and only if siblings may share a piece."""
        preamble, others = self._groups[: self._preamble], self._groups[self._preamble :]
        least = self._options.min_tokens if self._options.merge_siblings else 0
        return [*preamble, *self._units.without_small(others, least)]

    def _fits(self, first: int, last: int) -> bool:
        """Whether units may be one piece."""
        units, firsts = self._units, self._firsts
        if not units.fits(first, last):
            return False
        is_one = self._join >= units.sizer.cap or firsts[bisect_right(firsts, first)] >= last
        return is_one or units.is_below(first, last, self._join + 1)

    def _pack(self, node: int, first: int) -> None:
        """Pack a node that does not fit; its first piece starts at the unit ``first``, with what leads it."""
        fits, firsts, after = self._fits, self._firsts, self._after
        child, last_child = node + 1, after[node]
        least = max(self._options.min_tokens, 1)  # a heading without text is always too short to be a piece
        leads = child < last_child and is_short(self._units.document, self._units.sizer, self._sections[node], least)
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
                    self._groups.append((start, end))
                start, end = child_start, child_end
                if not fits(start, end):
                    self._pack(child, start)
                    start = -1
                elif not self._options.merge_siblings:
                    self._groups.append((start, end))
                    start = -1
            child = following
        if start >= 0:
            self._groups.append((start, end))

    def _pack_own_text(self, node: int, first: int, end: int, *, leads: bool) -> int:
        """Emit all but the last piece of a node's own text; returns where that one starts, -1 if none is open."""
        units = self._units
        if first == end:
            return -1
        if not units.fits(first, end):
            groups = units.without_small(units.filled(first, end, self._options.fill_tokens), self._options.min_tokens)
            *full, (first, _) = [fitting for group in groups for fitting in self._fitting(*group)]
            self._groups += full
        if node == 0 and not leads:
            self._groups.append((first, end))  # text above the first heading is a piece by itself
            self._preamble = len(self._groups)
            return -1
        return first

    def _fitting(self, first: int, last: int) -> Iterator[UnitRange]:
        """A group as it is, or several where a heading cannot stay with its text, which is a finding."""
        units = self._units
        while last - first > 1 and not units.fits(first, last):
            cut = next((end for end in range(last - 1, first + 1, -1) if units.fits(first, end)), first + 1)
            self.notes.append((units.starts[cut - 1], "heading-too-long", HEADING_PARTED))
            yield first, cut
            first = cut
        yield first, last
