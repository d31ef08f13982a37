"""The ``flow`` strategy: blocks in order, packed towards a target within a strict range. Before: parsing/.

The whole pipeline, in its order, with where each stage is:

    parse            parsing/
    flatten          flatten.py: sections, and their blocks where it takes them, in order
    split oversized  flatten.py with ladder.py
    pack             here; least.py has the minimum
    overlap          overlap.py: which sentences, when asked; finish/assemble.py puts them in front
    normalise        normalize.py
    attach metadata  finish/assemble.py
    guard            finish/guard.py
"""

from __future__ import annotations

from bisect import bisect_left

from quire.config import Options
from quire.counter import TokenCounter
from quire.model import Document
from quire.pieces import Cut
from quire.split.flatten import Grain
from quire.split.least import Least
from quire.split.overlap import Pieces, Run
from quire.split.plan import CLOSE, Plan, largest, plan_of
from quire.split.units import Unit
from quire.split.whole import whole


def flow(document: Document, counter: TokenCounter, options: Options) -> Cut:
    """Pieces of ``min_tokens`` to ``max_tokens`` tokens, about ``target_tokens`` each."""

    def first_section(start: int, _: int) -> int:
        return document.section_at(start)

    piece = whole(document, counter, options, options.max_tokens, first_section)
    if piece is not None:
        return Cut((piece,))
    most = options.max_tokens
    grain = Grain(most, oversized=most, target=options.target_tokens, goes_by_length=True)
    plan = plan_of(document, counter, options, grain)
    if not plan.units:
        return Cut(())
    is_one = plan.fits(0, len(plan.units), plan.section_of(0))
    runs = [plan.units.items] if is_one else _Packing(plan, options).runs()
    least = Least(plan, options.min_tokens)
    ranged = [part for run in least.applied(runs) for part in plan.within_cap(run, first_section)]
    pieces = Pieces(plan, options, ranged, are_exact=plan.are_exact and not least.has_halved).made()
    return Cut(pieces, [*plan.findings(pieces), *least.findings(pieces)])


class _Open:
    """A run that is not closed, with what is asked of it again and again."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.sums = [0]
        """Of the tokens, up to each unit."""
        self._ends = [0]

    def __len__(self) -> int:
        return len(self.units)

    def add(self, unit: Unit, total: int) -> None:
        """Take a unit, with which the run has so many tokens."""
        self.units.append(unit)
        self.sums.append(total)
        self._ends.append(self._ends[-1] if unit.leads else len(self.units))

    def pop(self) -> Unit:
        """Give the last unit back."""
        self.sums.pop()
        self._ends.pop()
        return self.units.pop()

    def end(self, most: int) -> int:
        """How many units, of at most so many, a run may keep: it does not end with one that leads the next."""
        return self._ends[most]

    @property
    def least(self) -> int:
        """How many units a run keeps at least: headings, and the first one below them."""
        return bisect_left(self._ends, 1)


class _Packing:
    """Makes runs of units up to the target, each closed before a heading where that leaves enough.

    A section is one unit until a run has to be closed inside it: most are never looked into.
    """

    def __init__(self, plan: Plan, options: Options) -> None:
        self._plan = plan
        self._target = options.target_tokens
        self._enough = max(options.min_tokens, options.target_tokens // 2)
        self._run = _Open()

    def runs(self) -> list[Run]:
        """The runs, in order."""
        runs: list[Run] = []
        waiting = list(reversed(self._plan.units.items))
        while True:  # each time a run is closed, a section becomes blocks, or a run of headings grows
            self._take(waiting)
            unit = waiting.pop() if waiting else None
            unit = self._given_back(unit, waiting)
            if unit is None:
                return [*runs, self._run.units]
            cut = self._before_heading(unit)
            if not cut and unit.section >= 0:
                waiting += reversed(self._plan.blocks_of(unit))
            elif cut := cut or self._run.end(len(self._run)):
                waiting.append(unit)
                waiting += reversed(self._run.units[cut:])
                runs.append(self._run.units[:cut])
                self._run = _Open()
            else:  # nothing but headings: they are not parted from what is below them
                self._run.add(unit, self._run.sums[-1] + unit.tokens)

    def _take(self, waiting: list[Unit]) -> None:
        """Take units that wait up to the target; a block to begin with is taken, however large."""
        run, target = self._run, self._target
        total = run.sums[-1]
        while waiting:
            unit = waiting[-1]
            total += unit[3]
            if total > target and (run.units or unit.section >= 0):
                return
            run.add(waiting.pop(), total)

    def _given_back(self, following: Unit | None, waiting: list[Unit]) -> Unit | None:
        """The unit that follows a run, when it has given back what does not stay within the cap."""
        run, plan = self._run, self._plan
        if not run.units:
            return following
        # What the sum tells is not counted: what stands in front of the first unit may leave room for few.
        room = plan.cap + CLOSE - plan.units.added(run.units[0].before)
        least, most = run.least, len(run)
        if least >= most or (run.sums[-1] <= room and plan.run_fits(run.units)):
            return following  # the usual case
        kept = largest(least, most - 1, lambda end: run.sums[end] <= room and plan.run_fits(run.units[:end]))
        for _ in range(kept, most):
            if following is not None:
                waiting.append(following)
            following = run.pop()
        return following

    def _before_heading(self, following: Unit) -> int:
        """How many units of the run stand before its last heading, or before all of it, if that is enough; else 0."""
        run = self._run
        cut = run.end(len(run))
        while cut and run.sums[cut] >= self._enough:
            unit = following if cut == len(run) else run.units[cut]
            # The parts of a heading that had to be cut lead nothing: a run is not closed between them.
            if unit.section > 0 or (unit.leads and unit.kind == "heading"):
                return cut
            cut = run.end(cut - 1)
        return 0
