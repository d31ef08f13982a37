"""Groups of units as pieces, each with the last sentences of the piece before it. Used by flow.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from quire.options import FlowOptions
from quire.record import Piece
from quire.size.sizer import SLACK
from quire.split.sentences import sentence_ends
from quire.split.units import Units

UnitRange: TypeAlias = tuple[int, int]
"""The first unit of a piece, and one past its last."""

_NO_OVERLAP = frozenset({"code", "table", "html", "math", "rule"})
"""A piece that starts with one of these repeats nothing."""
_REPEATED = {"prose": frozenset({"paragraph"}), "always": frozenset({"paragraph", "list", "quote"})}
"""The kinds of block whose sentences are repeated."""


def with_overlap(units: Units, options: FlowOptions, groups: Sequence[UnitRange]) -> list[Piece]:
    """A piece for each group."""
    pieces: list[Piece] = []
    for number, (first, last) in enumerate(groups):
        piece = units.piece(first, last)
        if number and options.overlap_sentences and _may_repeat(units, first, options):
            start = _overlap_start(units, options, groups[number - 1], piece)
            if start is not None:
                tokens = units.sizer.size(start, piece.end, "", piece.suffix)
                piece = piece._replace(tokens=tokens, overlap_start=start)
        pieces.append(piece)
    return pieces


def _may_repeat(units: Units, first: int, options: FlowOptions) -> bool:
    """Whether a piece that starts with a unit repeats sentences: not code, and not the rest of a sentence."""
    kind = units.kinds[first]
    if kind in _NO_OVERLAP or (kind == "heading" and options.overlap == "prose") or first in units.prefixes:
        return False
    return _ends_sentence(units, first - 1)


def _ends_sentence(units: Units, number: int) -> bool:
    cut = units.slices.get(number)
    return cut is None or cut.ends_sentence


def _overlap_start(units: Units, options: FlowOptions, before: UnitRange, piece: Piece) -> int | None:
    """Where the sentences start that a piece repeats: as many as fit the cap below its breadcrumb."""
    sizer = units.sizer
    sections = {piece.section}
    if options.breadcrumb_mode == "conditional":
        sections.add(0)  # the title may be longer
    for start in reversed(_sentence_starts(units, options, before)):
        size = sizer.size(start, piece.end, "", piece.suffix)
        bounds = {"low": size - SLACK, "high": size + SLACK}
        if all(sizer.fits(start, piece.end, section, "", piece.suffix, **bounds) for section in sections):
            return start
    return None


def _sentence_starts(units: Units, options: FlowOptions, group: UnitRange) -> list[int]:
    """Where the sentences of the paragraphs at the end of a group start, the last one first."""
    starts: list[int] = []
    most, kinds = options.overlap_sentences, _REPEATED[options.overlap]
    for number in range(group[1] - 1, group[0] - 1, -1):
        if units.kinds[number] not in kinds or number in units.prefixes:
            break
        start = units.starts[number]
        ends = sentence_ends(units.document.text, start, units.ends[number])[:-1]
        is_whole = not number or _ends_sentence(units, number - 1)
        starts += reversed([start, *ends] if is_whole else ends)
        if len(starts) >= most or not is_whole:
            break
    return starts[:most]
