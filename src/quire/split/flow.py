"""The ``flow`` strategy: blocks in order, packed towards a target within a strict range. Before: parsing/.

The whole pipeline, in its order, with where each stage is:

    parse            parsing/
    flatten          flatten.py: sections, and their blocks where it takes them, in order
    split oversized  flatten.py with ladder.py
    pack             here
    overlap          here: which sentences, when asked; finish/assemble.py puts them in front
    normalise        finish/normalize.py
    attach metadata  finish/assemble.py
    guard            finish/guard.py
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from quire.config import Options
from quire.model import Cut, Document, Finding, Piece, TokenCounter
from quire.offsets import lines_at
from quire.split.flatten import Grain
from quire.split.plan import Plan, plan_of
from quire.split.sentences import sentence_ends
from quire.split.units import Unit, blank_behind, closing
from quire.split.whole import whole

Run = Sequence[Unit]
"""The units of one piece."""

_NO_OVERLAP = frozenset({"heading", "code", "table", "html", "math", "rule"})
"""A piece that starts with one of these is not led by sentences of the piece before."""


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
    ranged = range_.applied(runs)
    pieces = _Pieces(plan, options, ranged, are_exact=plan.units.are_exact and not range_.has_halved).made()
    return Cut(pieces, [*plan.findings(), *_below_minimum(plan, pieces, options)])


class _Packing:
    """Makes runs of units up to the target, each closed before a heading where that leaves enough.

    A section is one unit until a run has to be closed inside it: most are never looked into.
    """

    def __init__(self, plan: Plan, options: Options) -> None:
        self._plan = plan
        self._target = options.target_tokens
        self._enough = max(options.min_tokens, options.target_tokens // 2)
        self._run: list[Unit] = []
        self._sums = [0]  # of the tokens, up to each unit of the run

    def runs(self) -> list[Run]:
        """The runs, in order."""
        runs: list[Run] = []
        waiting = list(reversed(self._plan.units.items))
        while True:
            self._take(waiting)
            unit = waiting.pop() if waiting else None
            unit = self._given_back(unit, waiting)
            if unit is None:
                return [*runs, self._run]
            cut = self._before_heading(unit)
            if not cut and unit.section >= 0:
                waiting += reversed(self._plan.blocks_of(unit))
            elif cut := cut or self._late():
                waiting.append(unit)
                waiting += reversed(self._run[cut:])
                runs.append(self._run[:cut])
                self._run, self._sums = [], [0]
            else:  # nothing but headings: they are not parted from what is below them
                self._run.append(unit)
                self._sums.append(self._sums[-1] + unit.tokens)

    def _take(self, waiting: list[Unit]) -> None:
        """Take units that wait up to the target; a block to begin with is taken, however large."""
        run, sums, target = self._run, self._sums, self._target
        total = sums[-1]
        while waiting:
            unit = waiting[-1]
            total += unit[3]
            if total > target and (run or unit.section >= 0):
                return
            run.append(waiting.pop())
            sums.append(total)

    def _given_back(self, following: Unit | None, waiting: list[Unit]) -> Unit | None:
        """The unit that follows a run, when it has given back what does not stay within the cap.

        Headings keep the first unit below them: without it they could not be a run.
        """
        while any(not unit.is_glued for unit in self._run[:-1]) and not self._plan.run_fits(self._run):
            if following is not None:
                waiting.append(following)
            following = self._run.pop()
            self._sums.pop()
        return following

    def _before_heading(self, following: Unit) -> int:
        """How many units of the run stand before its last heading, or before all of it, if that is enough; else 0."""
        for cut in range(len(self._run), 0, -1):
            if self._run[cut - 1].is_glued:
                continue
            if self._sums[cut] < self._enough:
                return 0
            unit = following if cut == len(self._run) else self._run[cut]
            if unit.is_glued or unit.section > 0:
                return cut
        return 0

    def _late(self) -> int:
        """How many units the run may keep at most, so that it ends with no heading."""
        return next((cut for cut in range(len(self._run), 0, -1) if not self._run[cut - 1].is_glued), 0)


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
        """A paragraph cut in two after each of its sentences, or a list after each of its items, but the last."""
        if unit.before or unit.after or unit.is_glued or unit.kind not in ("paragraph", "list"):
            return []
        text = self._plan.units.text
        places = self._plan.item_starts(unit.start, unit.end)
        if unit.kind == "paragraph":
            places = sentence_ends(text, unit.start, unit.end)[:-1]
        return [
            (self._recounted(unit, unit.start, _rstripped(text, unit.start, end)), self._recounted(unit, end, unit.end))
            for end in places
        ]

    def _recounted(self, unit: Unit, start: int, end: int) -> Unit:
        self.has_halved = True
        tokens = self._plan.units.counter.count(self._plan.units.text[start:end])
        return unit._replace(start=start, end=end, tokens=tokens, stop=end)


def _rstripped(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip(" \t\r\n"))


class _Pieces:
    """Makes pieces of runs, each with as many of the last sentences of the one before as fit."""

    def __init__(self, plan: Plan, options: Options, runs: list[Run], *, are_exact: bool) -> None:
        self._plan = plan
        self._text = plan.units.text
        self._count = plan.units.counter.count
        self._most = options.overlap_sentences
        self._may_have_title = options.breadcrumb_mode == "conditional"
        self._runs = runs
        self._are_exact = are_exact  # whether the units' sizes add up to those of runs

    def made(self) -> list[Piece]:
        """The pieces, in order; which sentences are repeated is found out when somebody asks."""
        section_at, made = self._plan.document.section_at, []
        before: Run | None = None
        for index, run in enumerate(self._runs):
            head, tail = run[0], run[-1]
            after = closing(head, tail)
            may_overlap = before is not None and self._may_overlap(before[-1], head)
            repeated = partial(self._overlap, index) if may_overlap else None
            tokens = self._tokens(run, after)
            made.append(Piece(head.start, tail.end, section_at(head.start), tokens, head.before, after, repeated))
            before = run
        return made

    def _tokens(self, run: Run, after: str) -> int:
        tail = run[-1]
        if self._are_exact:
            return sum([unit[3] for unit in run]) - blank_behind(self._text, self._plan.units.counter, tail, tail.stop)
        return self._count(f"{run[0].before}{self._text[run[0].start : tail.end]}{after}")

    def _may_overlap(self, before: Unit, head: Unit) -> bool:
        starts_with = "heading" if head.section > 0 else head.kind
        return self._most > 0 and starts_with not in _NO_OVERLAP and not head.before and before.ends_sentence

    def _overlap(self, index: int) -> int | None:
        """Where the sentences start that are repeated in front of a run."""
        run, plan, text = self._runs[index], self._plan, self._text
        starts = self._sentence_starts(self._runs[index - 1])[: self._most]
        above = {plan.lines.prefix(plan.document.section_at(run[0].start))}
        if self._may_have_title:
            above.add(plan.lines.prefix(0))  # longer than the whole line, where that had to be shortened
        for start in reversed(starts):
            own = f"{text[start : run[-1].end]}{closing(run[0], run[-1])}"
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


def _below_minimum(plan: Plan, pieces: list[Piece], options: Options) -> list[Finding]:
    if len(pieces) < 2:
        return []
    small = [piece for piece in pieces if piece.tokens < options.min_tokens]
    lines = lines_at(plan.units.text, [piece.start for piece in small])
    return [
        Finding(
            code="below-minimum",
            path=plan.document.source.name,
            line=line,
            message=f"no cut that is permitted here gives a chunk of {options.min_tokens} tokens or more",
        )
        for line in lines
    ]
