"""The ``packed`` strategy: sections whole where they fit, packed into their parents, greedily from the top.

The document, or a heading with all that belongs to it, is one piece if it fits. If not, its own text starts a piece,
which takes the children in order while they fit; one that does not fit starts the next piece, or is packed the same
way itself. Before: plan.py. After: finish/.
"""

from __future__ import annotations

from functools import partial

from quire.config import Options
from quire.counter import TokenCounter
from quire.model import Document, Section
from quire.pieces import Cut, Piece
from quire.split.flatten import Grain, holder
from quire.split.plan import CLOSE, Plan, plan_of
from quire.split.whole import whole


def packed(document: Document, counter: TokenCounter, options: Options) -> Cut:
    """Pieces of at most ``hard_cap`` tokens, each as much of one section as fits."""
    piece = whole(document, counter, options, options.hard_cap, partial(holder, document))
    if piece is not None:
        return Cut((piece,))
    grain = Grain(options.hard_cap, oversized=options.target, target=options.target, least=options.min_tokens)
    plan = plan_of(document, counter, options, grain)
    if not plan.units:
        return Cut(())
    packing = _Packing(plan, options)
    if plan.fits(0, len(plan.units)):
        packing.emit(0, len(plan.units))
    else:
        packing.pack(document.sections[0], 0)
    return Cut(packing.pieces, plan.findings(packing.pieces))


class _Packing:
    """The pieces so far, and the rule that makes more."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self._plan = plan
        self._options = options
        self._holder = partial(holder, plan.document)
        self.pieces: list[Piece] = []

    def emit(self, first: int, last: int) -> None:
        """Make a piece of the units ``first`` to before ``last``."""
        for run in self._plan.within_cap(self._plan.units.items[first:last], self._holder):
            self.pieces.append(self._plan.piece(first, first + len(run)))
            first += len(run)

    def pack(self, section: Section, first: int) -> None:
        """Pack a section that does not fit; ``first`` is where its first piece starts, with headings that lead it."""
        plan = self._plan
        own_end = plan.nodes.own_end(section)
        leads = self._leads(section)
        start = self._own(section, first, own_end, leads=leads)
        end = own_end
        for number, child in enumerate(plan.nodes.children(section)):
            child_end = plan.nodes.end(child)
            if start is not None and self._may_join(section) and plan.fits(start, child_end):
                end = child_end
                continue
            if start is not None and leads and number == 0:
                self.pack(child, start)
                start = None
                continue
            if start is not None:
                self.emit(start, end)
            start, end = self._begin(child)
        if start is not None:
            self.emit(start, end)

    def _own(self, section: Section, first: int, own_end: int, *, leads: bool) -> int | None:
        """Where the piece that is open after a section's own text starts; None if none is."""
        plan = self._plan
        if first == own_end:
            return None
        if not plan.fits(first, own_end):
            *full, (first, _) = self._none_small(plan.filled(first, own_end, self._options.target))
            for start, end in full:
                self.emit(start, end)
        if section.depth == 0 and not leads:
            self.emit(first, own_end)  # text above the first heading stands by itself
            return None
        return first

    def _none_small(self, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Runs of one section's own text: one below the minimum joins that before it, the first that behind it.

        Up to the cap: only that governs what stands together.
        """
        plan, about, most, made = self._plan, self._plan.units.about, self._plan.cap + CLOSE, runs[:1]
        for first, last in runs[1:]:
            start, end = made[-1]
            is_near = about(start, last) <= most  # seen first, for mostly it is not
            is_small = is_near and (self._is_small(first, last) or (len(made) == 1 and self._is_small(start, end)))
            if is_small and plan.fits(start, last):
                made[-1] = start, last
            else:
                made.append((first, last))
        return made

    def _is_small(self, first: int, last: int) -> bool:
        return not self._plan.units.is_at_least(first, last, self._options.min_tokens)

    def _leads(self, section: Section) -> bool:
        """Whether its own text is too short to stand alone."""
        plan = self._plan
        least = max(self._options.min_tokens, 1)  # a heading without text never stands alone
        return plan.nodes.has_children(section) and plan.is_short(section, least)

    def _may_join(self, section: Section) -> bool:
        """Whether a child may join the open piece: in the strict reading sections at the top share none."""
        return self._options.merge_siblings or section.depth > 0

    def _begin(self, child: Section) -> tuple[int | None, int]:
        """Start a piece with a child, or pack it if it is too large; the start of the open piece and its end."""
        plan = self._plan
        start, end = plan.nodes.start(child), plan.nodes.end(child)
        if not plan.fits(start, end):
            self.pack(child, start)
            return None, end
        if not self._options.merge_siblings:
            self.emit(start, end)
            return None, end
        return start, end
