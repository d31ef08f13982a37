"""The ``packed`` strategy: sections whole where they fit, packed into their parents, greedily from the top.

A document that fits is one piece. Otherwise its own text opens a piece, which takes the children in order while they
fit; a child that does not fit opens the next piece, or is packed by the same rule.
"""

from __future__ import annotations

from quire.counter import TokenCounter
from quire.model import Document, Piece, Pieces, Section
from quire.options import Options
from quire.size.sizer import Sizer
from quire.split.units import Grain, Units, whole_document


def packed(document: Document, counter: TokenCounter, options: Options) -> tuple[Pieces, Sizer]:
    """Pieces of at most ``hard_cap`` tokens, each as much of one section as fits."""
    sizer = Sizer(document, counter, options, document.holder)
    whole = whole_document(document, sizer)
    if whole is not None:
        return Pieces((whole,)), sizer
    grain = Grain(block_limit=options.target, target=options.target, least=options.min_tokens)
    units = Units(document, sizer, grain)
    packing = _Packing(units, options)
    if units:
        packing.pack(document.sections[0], 0)
    return Pieces(packing.pieces, units.findings(packing.pieces)), sizer


class _Packing:
    """The pieces so far, and the rule that makes more."""

    def __init__(self, units: Units, options: Options) -> None:
        self._units = units
        self._options = options
        self.pieces: list[Piece] = []

    def emit(self, first: int, last: int) -> None:
        """Make a piece of the units ``first`` to before ``last``."""
        self.pieces += self._units.pieces(first, last)

    def pack(self, node: Section, first: int) -> None:
        """Pack a node that does not fit; its first piece starts at the unit ``first``, with what leads it."""
        units = self._units
        end = units.own_after(node)
        children = list(units.children(node))
        leads = bool(children) and self._is_short(node)
        start = self._pack_own_text(node, first, end, leads=leads)
        may_join = self._options.merge_siblings or node.depth > 0
        for number, child in enumerate(children):
            child_end = units.after(child)
            if start is not None and may_join and units.fits(start, child_end):
                end = child_end
                continue
            if start is not None and leads and number == 0:
                self.pack(child, start)
                start = None
                continue
            if start is not None:
                self.emit(start, end)
            start, end = self._open(child)
        if start is not None:
            self.emit(start, end)

    def _pack_own_text(self, node: Section, first: int, end: int, *, leads: bool) -> int | None:
        """Emit all but the last piece of a node's own text; returns where that one starts, if it is still open."""
        units = self._units
        if first == end:
            return None
        if not units.fits(first, end):
            *full, (first, _) = self._none_small(units.filled(first, end, self._options.target))
            for start, last in full:
                self.emit(start, last)
        if node.depth == 0 and not leads:
            self.emit(first, end)  # text above the first heading is a piece by itself
            return None
        return first

    def _none_small(self, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Runs of one section's own text: one below the minimum joins the run before it, the first the one after it."""
        units, made = self._units, runs[:1]
        for first, last in runs[1:]:
            start, end = made[-1]
            is_small = self._is_small(first, last) or (len(made) == 1 and self._is_small(start, end))
            if is_small and units.fits(start, last):
                made[-1] = start, last
            else:
                made.append((first, last))
        return made

    def _is_small(self, first: int, last: int) -> bool:
        return not self._units.is_at_least(first, last, self._options.min_tokens)

    def _is_short(self, node: Section) -> bool:
        """Whether a node's own text is too short to be a piece; a heading without text always is."""
        start, end = self._units.own_text(node)
        return not self._units.sizer.is_at_least(max(self._options.min_tokens, 1), start, end)

    def _open(self, child: Section) -> tuple[int | None, int]:
        """Start a piece with a child, or pack it if it does not fit; the start of the open piece, and its end."""
        units = self._units
        start, end = units.first(child), units.after(child)
        if not units.fits(start, end):
            self.pack(child, start)
            return None, end
        if not self._options.merge_siblings:
            self.emit(start, end)
            return None, end
        return start, end
