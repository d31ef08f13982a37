"""The ``flow`` strategy: blocks in order, packed towards a target within a strict range. Before: parsing/.

The whole pipeline, in its order, with where each stage is:

    parse            parsing/
    flatten          plan.py: the blocks at document level, in order
    split oversized  plan.py with ladder.py
    pack             here
    overlap          here: which sentences; finish/assemble.py puts them in front
    normalise        finish/normalize.py
    attach metadata  finish/assemble.py
    guard            finish/guard.py
"""

from __future__ import annotations

from quire.config import Options
from quire.model import Cut, Document, Finding, Piece, TokenCounter
from quire.offsets import lines_at
from quire.split.flatten import Grain
from quire.split.plan import Plan, plan_of
from quire.split.sentences import sentence_ends
from quire.split.units import Unit, closing

Run = list[Unit]
"""The units of one piece."""

_NO_OVERLAP = frozenset({"heading", "code", "table", "html", "math", "rule"})
"""A piece that starts with one of these is not led by sentences of the piece before."""


def flow(document: Document, counter: TokenCounter, options: Options) -> Cut:
    """Pieces of ``min_tokens`` to ``max_tokens`` tokens, about ``target_tokens`` each."""
    grain = Grain(options.max_tokens, oversized=options.max_tokens, target=options.target_tokens)
    plan = plan_of(document, counter, options, grain)
    if not plan.units:
        return Cut(())
    if plan.fits(0, len(plan.units), plan.section_of(0)):
        runs = [list(plan.units.items)]
    else:
        runs = [list(plan.units.items[first:last]) for first, last in _packed(plan, options)]
    ranged = _Range(plan, options.min_tokens).applied(runs)
    pieces = _overlapped(plan, ranged, options)
    return Cut(pieces, [*plan.findings(), *_below_minimum(plan, pieces, options)])


def _packed(plan: Plan, options: Options) -> list[tuple[int, int]]:
    """Runs of units up to the target, closed before a heading where that leaves enough."""
    runs: list[tuple[int, int]] = []
    start, end, last = 0, 1, len(plan.units)
    while end < last:
        section = plan.section_of(start)
        is_full = plan.units.about(start, end + 1) > options.target_tokens or not plan.fits(start, end + 1, section)
        cut = _closing(plan, start, end, options) if is_full else None
        if cut is None:
            end += 1
        else:
            runs.append((start, cut))
            start, end = cut, cut + 1
    return [*runs, (start, last)]


def _closing(plan: Plan, start: int, end: int, options: Options) -> int | None:
    """Where to close a run that is full at ``end``: before a heading, else as late as possible, else nowhere."""
    enough = max(options.min_tokens, options.target_tokens // 2)
    late: int | None = None
    for cut in range(end, start, -1):
        if not plan.may_end(cut):
            continue
        if late is None:
            late = cut
        if plan.units.about(start, cut) < enough:
            break
        if plan.units.items[cut].is_glued:
            return cut
    return late


class _Range:
    """Brings runs up to the minimum: a small one joins a neighbour, or the cut between them moves."""

    def __init__(self, plan: Plan, least: int) -> None:
        self._plan = plan
        self._least = least

    def applied(self, runs: list[Run]) -> list[Run]:
        """The runs, with as few below the minimum as permitted cuts allow."""
        done: list[Run] = []
        waiting = list(reversed(runs))
        while waiting:
            run = waiting.pop()
            if self._is_large(run) or not (done or waiting):
                done.append(run)
            elif done and self._fits(done[-1] + run):
                done[-1] = done[-1] + run
            elif waiting and self._fits(run + waiting[-1]):
                waiting[-1] = run + waiting[-1]
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

    def _fits(self, run: Run) -> bool:
        plan = self._plan
        prefix = plan.lines.prefix(plan.document.section_at(run[0].start))
        text = f"{prefix}{run[0].before}{plan.units.text[run[0].start : run[-1].end]}{closing(run[0], run[-1])}"
        return plan.units.counter.count(text) <= plan.cap

    def _moved_back(self, before: Run, run: Run) -> list[Run] | None:
        """The cut moved back into the run before, as little as is needed: between blocks, else inside one."""
        for cut in range(len(before) - 1, 0, -1):
            if not before[cut - 1].is_glued and (moved := self._sound(before[:cut], before[cut:] + run)):
                return moved
        for place in range(len(before) - 1, -1, -1):
            for first, second in reversed(self._halves(before[place])):
                if moved := self._sound([*before[:place], first], [second, *before[place + 1 :], *run]):
                    return moved
        return None

    def _moved_on(self, run: Run, after: Run) -> list[Run] | None:
        """The cut moved on into the run after, as little as is needed: between blocks, else inside one."""
        for cut in range(1, len(after)):
            if not after[cut - 1].is_glued and (moved := self._sound(run + after[:cut], after[cut:])):
                return moved
        for place, unit in enumerate(after):
            for first, second in self._halves(unit):
                if moved := self._sound([*run, *after[:place], first], [second, *after[place + 1 :]]):
                    return moved
        return None

    def _sound(self, first: Run, second: Run) -> list[Run] | None:
        runs = [first, second]
        large_enough = all(self._is_large(run) for run in runs)
        return runs if large_enough and all(self._fits(run) for run in runs) else None

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
        tokens = self._plan.units.counter.count(self._plan.units.text[start:end])
        return unit._replace(start=start, end=end, tokens=tokens, stop=end)


def _rstripped(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip(" \t\r\n"))


def _overlapped(plan: Plan, runs: list[Run], options: Options) -> list[Piece]:
    """Pieces, each with as many of the last sentences of the one before as fit."""
    pieces: list[Piece] = []
    for index, run in enumerate(runs):
        overlap = _overlap(plan, runs[index - 1], run, options.overlap_sentences) if index else None
        section = plan.document.section_at(run[0].start)
        text = f"{run[0].before}{plan.units.text[run[0].start : run[-1].end]}{closing(run[0], run[-1])}"
        tokens = plan.units.counter.count(text)
        pieces.append(
            Piece(run[0].start, run[-1].end, section, tokens, run[0].before, closing(run[0], run[-1]), overlap)
        )
    return pieces


def _overlap(plan: Plan, before: Run, run: Run, most: int) -> int | None:
    """Where the sentences start that are repeated in front of ``run``."""
    if not most or run[0].kind in _NO_OVERLAP or run[0].before or not before[-1].ends_sentence:
        return None
    text = plan.units.text
    starts: list[int] = []
    for unit in reversed(before):
        if unit.kind != "paragraph" or unit.before:
            break
        ends = sentence_ends(text, unit.start, unit.end)[:-1]
        is_whole = plan.starts_sentence(unit.start)
        starts += reversed([unit.start, *ends] if is_whole else ends)
        if len(starts) >= most or not is_whole:
            break
    prefix = plan.lines.prefix(plan.document.section_at(run[0].start))
    for start in reversed(starts[:most]):
        if plan.units.counter.count(f"{prefix}{text[start : run[-1].end]}{closing(run[0], run[-1])}") <= plan.cap:
            return start
    return None


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
