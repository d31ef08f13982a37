"""The ``flow`` strategy: blocks in order, packed towards a target within a strict range.

The whole pipeline, in order:

parse            parsing/
flatten          units.py: the blocks of the document in order
split oversized  cut.py
pack             here: towards the target, then small groups join a neighbour
overlap          overlap.py: the sentences that a piece repeats
normalise        normalize.py
attach metadata  finish/assemble.py
guard            finish/guard.py
"""

from __future__ import annotations

from bisect import bisect_right

from quire.counter import TokenCounter
from quire.model import Document, Finding, findings_at
from quire.normalize import regular_text
from quire.options import FlowOptions
from quire.record import Piece, Pieces
from quire.size.sizer import Sizer, longest_that_fits
from quire.split.overlap import UnitRange, with_overlap
from quire.split.units import Units, whole_document


def flow(document: Document, counter: TokenCounter, options: FlowOptions) -> tuple[Pieces, Sizer]:
    """Pieces of ``min_tokens`` to ``max_tokens`` tokens, about ``target_tokens`` each."""
    sizer = Sizer(document, counter, options, regular_text(document) if options.normalize else None)
    whole = whole_document(document, sizer, document.first_section)
    if whole is not None:
        return Pieces((whole,)), sizer
    target, cap = options.target_tokens, options.max_tokens
    units = Units(document, sizer, opens_all=True, limit=cap, target=target)
    size = len(units.ends)
    if not size:
        return Pieces(()), sizer
    groups = [(0, size)] if units.fits(0, size) else _none_small(units, _packed(units, options), options.min_tokens)
    pieces = with_overlap(units, options, groups)
    findings = [*units.findings(pieces), *_small(units, pieces, groups, options.min_tokens)]
    return Pieces(pieces, sorted(findings, key=lambda finding: finding.line)), sizer


def _packed(units: Units, options: FlowOptions) -> list[UnitRange]:
    """Groups of units up to the target, each closed before a heading where that leaves enough."""
    totals, size = units.totals, len(units.ends)
    target, enough = options.target_tokens, max(options.min_tokens, options.target_tokens // 2)
    ends = units.possible_ends(0, size)
    groups: list[UnitRange] = []
    start = at = 0
    while start < size:
        guess = bisect_right(ends, target + totals[start], lo=at, key=totals.__getitem__) - 1

        def fits(number: int, start: int = start) -> bool:
            return units.fits(start, ends[number])

        best = max(longest_that_fits(at, guess + 1, fits, guess), at) if guess > at else at
        if ends[best] < size:
            best = _before_heading(units, ends, at, best, totals[start] + enough)
        groups.append((start, ends[best]))
        start, at = ends[best], best + 1
    return groups


def _before_heading(units: Units, ends: list[int], first: int, best: int, enough: int) -> int:
    """The last of ``ends`` up to ``best`` before a heading, if the sum up to it is ``enough``; else ``best``."""
    at = best
    while at >= first and units.totals[ends[at]] >= enough:
        if units.kinds[ends[at]] == "heading" and units.stays_with_next[ends[at]]:
            return at
        at -= 1
    return best


def _none_small(units: Units, groups: list[UnitRange], minimum: int) -> list[UnitRange]:
    """A group below the minimum joins the one before it, or else the one after it, where both fit together."""
    done: list[UnitRange] = []
    waiting = groups[::-1]
    while waiting:
        first, last = waiting.pop()
        if units.is_at_least(first, last, minimum):
            done.append((first, last))
        elif done and units.fits(done[-1][0], last):
            done[-1] = done[-1][0], last
        elif waiting and units.fits(first, waiting[-1][1]):
            waiting[-1] = first, waiting[-1][1]
        else:
            done.append((first, last))
    return done


def _small(units: Units, pieces: list[Piece], groups: list[UnitRange], minimum: int) -> list[Finding]:
    """A finding for each piece that is still below the minimum, unless it is the only one."""
    if len(pieces) < 2:
        return []
    message = f"a chunk below {minimum} tokens that fits neither of its neighbours; it stays small"
    small = [piece for piece, group in zip(pieces, groups, strict=True) if not units.is_at_least(*group, minimum)]
    return findings_at(units.document.source, [(piece.start, "below-minimum", message) for piece in small])
