"""Runs of units as pieces, each with the last sentences of the piece before it. Used by flow.py."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from quire.model import Piece
from quire.options import Options
from quire.split.sentences import sentence_ends
from quire.split.units import Unit, Units

Run: TypeAlias = Sequence[Unit]
"""The units of one piece."""

_NO_OVERLAP = frozenset({"heading", "code", "table", "html", "math", "rule"})
"""A piece that starts with one of these repeats nothing."""


def with_overlap(units: Units, options: Options, runs: Sequence[Run], torn: AbstractSet[int]) -> list[Piece]:
    """A piece for each run. ``torn`` are the starts of units inside a sentence."""
    made: list[Piece] = []
    before: Run | None = None
    for run in runs:
        head, tail = run[0], run[-1]
        section = units.sizer.section_of(head.start, tail.end)
        repeats = before is not None and options.overlap_sentences > 0 and _may_repeat(before[-1], head, torn)
        start = _overlap_start(units, options, before, run, torn) if repeats and before is not None else None
        made.append(Piece(head.start, tail.end, section, head.prefix, tail.suffix, start))
        before = run
    return made


def _may_repeat(before: Unit, head: Unit, torn: AbstractSet[int]) -> bool:
    return head.kind not in _NO_OVERLAP and not head.prefix and head.start not in torn and before.ends_sentence


def _overlap_start(units: Units, options: Options, before: Run, run: Run, torn: AbstractSet[int]) -> int | None:
    """Where the sentences start that a run repeats: as many as fit the cap below its breadcrumb."""
    sizer, head, tail = units.sizer, run[0], run[-1]
    section = units.sizer.section_of(head.start, tail.end)
    above = {section, 0} if options.breadcrumb_mode == "conditional" else {section}  # the title alone may be longer
    for start in reversed(_sentence_starts(units, options, before, torn)):
        if all(sizer.fits(start, tail.end, "", tail.suffix, section=each) for each in above):
            return start
    return None


def _sentence_starts(units: Units, options: Options, run: Run, torn: AbstractSet[int]) -> list[int]:
    """Where the sentences of the paragraphs at the end of a run start, the last one first."""
    starts: list[int] = []
    for unit in reversed(run):
        if unit.kind != "paragraph" or unit.prefix:
            break
        ends = sentence_ends(units.text, unit.start, unit.end)[:-1]
        is_whole = unit.start not in torn
        starts += reversed([unit.start, *ends] if is_whole else ends)
        if len(starts) >= options.overlap_sentences or not is_whole:
            break
    return starts[: options.overlap_sentences]
