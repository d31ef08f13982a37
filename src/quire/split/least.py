"""The minimum of `flow`: a run that is too small joins a neighbour, or the cut between them moves. Used by flow.py.

Before: the runs as they were packed. After: overlap.py, which makes pieces of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.blank import text_end
from quire.model import Finding
from quire.pieces import Piece
from quire.split.levels import lines
from quire.split.overlap import Run
from quire.split.plan import Plan
from quire.split.sentences import sentence_ends
from quire.split.units import NO_WRAP, Unit


class Least:
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
        about = sum([unit.tokens for unit in run])
        if self._plan.units.adds_up and about - len(run) - 2 >= self._least:
            return True
        return self._plan.units.counter.count(self._plan.units.text[run[0].start : run[-1].end]) >= self._least

    def _moved_back(self, before: Run, run: Run) -> list[Run] | None:
        """The cut moved back into the run before, as little as is needed: between blocks, else inside one."""
        before = self._plan.in_blocks(before)
        for cut in range(len(before) - 1, 0, -1):
            if not before[cut - 1].is_glued and (moved := self._sound(before[:cut], [*before[cut:], *run])):
                return moved
        for number in range(len(before) - 1, -1, -1):
            for place in reversed(self._places(before[number])):
                first, second = self._halves(before[number], place)
                if moved := self._sound([*before[:number], first], [second, *before[number + 1 :], *run]):
                    return moved
        return None

    def _moved_on(self, run: Run, after: Run) -> list[Run] | None:
        """The cut moved on into the run after, as little as is needed: between blocks, else inside one."""
        after = self._plan.in_blocks(after)
        for cut in range(1, len(after)):
            if not after[cut - 1].is_glued and (moved := self._sound([*run, *after[:cut]], after[cut:])):
                return moved
        for number, unit in enumerate(after):
            for place in self._places(unit):
                first, second = self._halves(unit, place)
                if moved := self._sound([*run, *after[:number], first], [second, *after[number + 1 :]]):
                    return moved
        return None

    def _sound(self, first: Run, second: Run) -> list[Run] | None:
        runs = [first, second]
        large_enough = all(self._is_large(run) for run in runs)
        return runs if large_enough and all(self._plan.run_fits(run) for run in runs) else None

    def _halves(self, unit: Unit, place: int) -> tuple[Unit, Unit]:
        """A unit cut in two at a place inside it."""
        end = text_end(self._plan.units.text, unit.start, place)
        return self._recounted(unit, unit.start, end, place), self._recounted(unit, place, unit.end, unit.stop)

    def _places(self, unit: Unit) -> Sequence[int]:
        """Where a unit may be cut in two: a paragraph after each of its sentences, a list after each of its items.

        Code and tables are cut at lines if they are cut anyway.
        """
        if unit.is_glued:
            return []
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

    def findings(self, pieces: Sequence[Piece]) -> list[Finding]:
        """One for each of ``pieces`` that is below the minimum all the same, unless it is the only one."""
        if len(pieces) < 2:
            return []
        text, count, least = self._plan.units.text, self._plan.units.counter.count, self._least
        small = [piece for piece in pieces if piece.own_tokens(text, count) < least]
        message = f"no cut that is permitted here gives a chunk of {least} tokens or more; it stays small"
        return self._plan.told([(piece.start, "below-minimum", message) for piece in small])
