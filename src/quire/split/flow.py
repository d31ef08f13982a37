"""The ``flow`` strategy: blocks in order, packed towards a target within a strict range. Before: parsing/.

The whole pipeline, in its order, with where each stage is:

    parse            parsing/
    flatten          flatten.py: sections, and their blocks where it takes them, in order
    split oversized  flatten.py with ladder.py
    pack             here
    overlap          overlap.py: which sentences, when asked; finish/assemble.py puts them in front
    normalise        finish/normalize.py
    attach metadata  finish/assemble.py
    guard            finish/guard.py
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.blank import text_end
from quire.config import Options
from quire.counter import TokenCounter
from quire.model import Document, Finding
from quire.pieces import Cut, Piece
from quire.split.flatten import Grain
from quire.split.levels import lines
from quire.split.overlap import Pieces, Run
from quire.split.plan import CLOSE, Plan, plan_of
from quire.split.sentences import sentence_ends
from quire.split.units import NO_WRAP, Unit
from quire.split.whole import whole


def flow(document: Document, counter: TokenCounter, options: Options) -> Cut:
    """Pieces of ``min_tokens`` to ``max_tokens`` tokens, about ``target_tokens`` each."""
    piece = whole(document, counter, options, options.max_tokens, below_root=False)
    if piece is not None:
        return Cut((piece,))
    most = options.max_tokens
    grain = Grain(most, oversized=most, target=options.target_tokens, goes_by_length=True)
    plan = plan_of(document, counter, options, grain)
    if not plan.units:
        return Cut(())
    is_one = plan.fits(0, len(plan.units), plan.section_of(0))
    runs = [plan.units.items] if is_one else _Packing(plan, options).runs()
    range_ = _Range(plan, options.min_tokens)
    ranged = [part for run in range_.applied(runs) for part in plan.within_cap(run)]
    pieces = Pieces(plan, options, ranged, are_exact=plan.are_exact and not range_.has_halved).made()
    return Cut(pieces, [*plan.findings(pieces), *_below_minimum(plan, pieces, options)])


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
        self._ends.append(self._ends[-1] if unit.is_glued else len(self.units))

    def pop(self) -> Unit:
        """Give the last unit back."""
        self.sums.pop()
        self._ends.pop()
        return self.units.pop()

    def end(self, most: int) -> int:
        """How many units, of at most so many, a run may keep: it does not end with one that is glued to the next."""
        return self._ends[most]

    @property
    def may_shrink(self) -> bool:
        """Whether something is left without the last unit: headings keep the first one below them."""
        return self._ends[-2] > 0


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
        while True:
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
        while run.may_shrink and (run.sums[-1] > room or not plan.run_fits(run.units)):
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
            if unit.is_glued or unit.section > 0:
                return cut
            cut = run.end(cut - 1)
        return 0


class _Range:
    """Brings runs up to the minimum: a small one joins a neighbour, or the cut between them moves."""

    def __init__(self, plan: Plan, least: int) -> None:
        self._plan = plan
        self._least = least
        self.has_halved = False
        """Whether a unit was cut in two."""

    def applied(self, runs: list[Run]) -> list[Run]:
        """The runs, with as few below the minimum as permitted cuts allow."""
        done: list[Run] = []
        waiting = list(reversed(runs))
        while waiting:
            run = waiting.pop()
            if self._is_large(run) or not (done or waiting):
                done.append(run)
            elif done and self._plan.run_fits([*done[-1], *run]):
                done[-1] = [*done[-1], *run]
            elif waiting and self._plan.run_fits([*run, *waiting[-1]]):
                waiting[-1] = [*run, *waiting[-1]]
            elif done and (moved := self._moved_back(done[-1], run)):
                done[-1:] = moved
            elif waiting and (moved := self._moved_on(run, waiting[-1])):
                done.append(moved[0])
                waiting[-1] = moved[1]
            else:
                done.append(run)
        return done

    def _is_large(self, run: Run) -> bool:
        """Whether a run's own text reaches the minimum; counted only where the sum is close."""
        about = sum(unit.tokens for unit in run)
        if self._plan.units.adds_up and about - len(run) - 2 >= self._least:
            return True
        return self._plan.units.counter.count(self._plan.units.text[run[0].start : run[-1].end]) >= self._least

    def _moved_back(self, before: Run, run: Run) -> list[Run] | None:
        """The cut moved back into the run before, as little as is needed: between blocks, else inside one."""
        before = self._plan.in_blocks(before)
        for cut in range(len(before) - 1, 0, -1):
            if not before[cut - 1].is_glued and (moved := self._sound(before[:cut], [*before[cut:], *run])):
                return moved
        for place in range(len(before) - 1, -1, -1):
            for first, second in reversed(self._halves(before[place])):
                if moved := self._sound([*before[:place], first], [second, *before[place + 1 :], *run]):
                    return moved
        return None

    def _moved_on(self, run: Run, after: Run) -> list[Run] | None:
        """The cut moved on into the run after, as little as is needed: between blocks, else inside one."""
        after = self._plan.in_blocks(after)
        for cut in range(1, len(after)):
            if not after[cut - 1].is_glued and (moved := self._sound([*run, *after[:cut]], after[cut:])):
                return moved
        for place, unit in enumerate(after):
            for first, second in self._halves(unit):
                if moved := self._sound([*run, *after[:place], first], [second, *after[place + 1 :]]):
                    return moved
        return None

    def _sound(self, first: Run, second: Run) -> list[Run] | None:
        runs = [first, second]
        large_enough = all(self._is_large(run) for run in runs)
        return runs if large_enough and all(self._plan.run_fits(run) for run in runs) else None

    def _halves(self, unit: Unit) -> list[tuple[Unit, Unit]]:
        """A paragraph cut in two after each of its sentences, a list after each of its items, but the last.

        Code and tables are cut at lines if they are cut anyway.
        """
        if unit.is_glued:
            return []
        text = self._plan.units.text
        return [
            (
                self._recounted(unit, unit.start, text_end(text, unit.start, place), place),
                self._recounted(unit, place, unit.end, unit.stop),
            )
            for place in self._places(unit)
        ]

    def _places(self, unit: Unit) -> Sequence[int]:
        """Where a unit may be cut in two."""
        text = self._plan.units.text
        if unit.kind in ("code", "table") and unit.wrap is not None and unit.wrap.before:
            opening = unit.wrap.before
            header = len(lines(opening, 0, len(opening))) if unit.start <= unit.wrap.first else 0
            closing = unit.kind == "code" and unit.end >= unit.wrap.last
            return lines(text, unit.start, unit.end)[header : -2 if closing else -1]
        if unit.before or unit.after:
            return []
        if unit.kind == "paragraph":
            return sentence_ends(text, unit.start, unit.end)[:-1]
        return self._plan.item_starts(unit.start, unit.end) if unit.kind == "list" else []

    def _recounted(self, unit: Unit, start: int, end: int, stop: int) -> Unit:
        self.has_halved = True
        tokens = self._plan.units.counter.count(self._plan.units.text[start:stop])
        before, after = (unit.wrap or NO_WRAP).around(start, end)
        return unit._replace(start=start, end=end, tokens=tokens, stop=stop, before=before, after=after)


def _below_minimum(plan: Plan, pieces: list[Piece], options: Options) -> list[Finding]:
    if len(pieces) < 2:
        return []
    text, count, least = plan.units.text, plan.units.counter.count, options.min_tokens
    small = [piece for piece in pieces if piece.own_tokens(text, count) < least]
    message = f"no cut that is permitted here gives a chunk of {least} tokens or more"
    return plan.told([(piece.start, "below-minimum", message) for piece in small])
