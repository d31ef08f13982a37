"""Runs of units to pieces, each with the sentences of the one before that are repeated in front of it. After: finish/.

Used by flow.py. Which sentences those are is found out when somebody asks: that is the dear part.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from quire.config import Options
from quire.pieces import Piece
from quire.split.plan import Plan
from quire.split.sentences import sentence_ends
from quire.split.units import Unit, composed

Run: TypeAlias = Sequence[Unit]
"""The units of one piece."""

_NO_OVERLAP = frozenset({"heading", "code", "table", "html", "math", "rule"})
"""A piece that starts with one of these is not led by sentences of the piece before."""


class Pieces:
    """Makes pieces of runs, each with as many of the last sentences of the one before as fit."""

    def __init__(self, plan: Plan, options: Options, runs: list[Run], *, are_exact: bool) -> None:
        self._plan = plan
        self._text = plan.units.text
        self._count = plan.units.counter.count
        self._most = options.overlap_sentences
        self._may_have_title = options.breadcrumb_mode == "conditional"
        self._runs = runs
        self._are_exact = are_exact  # whether the units' sizes add up to those of runs, whatever is in them

    def made(self) -> list[Piece]:
        """The pieces, in order; which sentences are repeated is found out when somebody asks."""
        section_at, made = self._plan.document.section_at, []
        before: Run | None = None
        for index, run in enumerate(self._runs):
            head, tail = run[0], run[-1]
            may_overlap = before is not None and self._may_overlap(before[-1], head)
            repeated = partial(self._overlap, index) if may_overlap else None
            tokens = self._tokens(run)
            made.append(Piece(head.start, tail.end, section_at(head.start), tokens, head.before, tail.after, repeated))
            before = run
        return made

    def _tokens(self, run: Run) -> int:
        head, tail = run[0], run[-1]
        if self._are_exact or (not (head.before or tail.after) and self._plan.add_up(run)):
            return self._plan.sum_of(run)
        return self._count(composed(self._plan.units.embedded, head, tail))

    def _may_overlap(self, before: Unit, head: Unit) -> bool:
        starts_with = "heading" if head.section > 0 else head.kind
        return self._most > 0 and starts_with not in _NO_OVERLAP and not head.before and before.ends_sentence

    def _overlap(self, index: int) -> int | None:
        """Where the sentences start that are repeated in front of a run."""
        run, plan, text = self._runs[index], self._plan, self._plan.units.embedded
        starts = self._sentence_starts(self._runs[index - 1])[: self._most]
        above = {plan.crumbs.prefix(plan.document.section_at(run[0].start))}
        if self._may_have_title:
            above.add(plan.crumbs.prefix(0))  # longer than the whole line, where that had to be shortened
        for start in reversed(starts):
            own = f"{text[start : run[-1].end]}{run[-1].after}"
            if all(self._count(line + own) <= plan.cap for line in above):
                return start
        return None

    def _sentence_starts(self, run: Run) -> list[int]:
        """Where the sentences of the paragraphs that end a run start, the last one first."""
        starts: list[int] = []
        for unit in reversed(self._plan.in_blocks(run)):
            if unit.kind != "paragraph" or unit.before:
                break
            ends = sentence_ends(self._text, unit.start, unit.end)[:-1]
            is_whole = self._plan.starts_sentence(unit.start)
            starts += reversed([unit.start, *ends] if is_whole else ends)
            if len(starts) >= self._most or not is_whole:
                break
        return starts
