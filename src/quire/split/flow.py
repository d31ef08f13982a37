"""The ``flow`` strategy: blocks in order, packed towards a target within a strict range.

The whole pipeline, in order:

parse            parsing/
flatten          units.py: the blocks of the document in order
split oversized  cut.py
pack             here: towards the target, then small runs join a neighbour
overlap          overlap.py: the sentences that a piece repeats
normalise        normalize.py
attach metadata  finish/assemble.py
guard            finish/guard.py
"""

from __future__ import annotations

from bisect import bisect_right

from quire.counter import TokenCounter
from quire.model import Document, Finding, Piece, Pieces, findings_at
from quire.normalize import regular_text
from quire.options import Options
from quire.size.sizer import Sizer, furthest
from quire.split.overlap import Run, with_overlap
from quire.split.units import Units, whole_document


def flow(document: Document, counter: TokenCounter, options: Options) -> tuple[Pieces, Sizer]:
    """Pieces of ``min_tokens`` to ``max_tokens`` tokens, about ``target_tokens`` each."""
    section_of = document.first_section
    sizer = Sizer(document, counter, options, regular_text(document) if options.normalize else None)
    whole = whole_document(document, sizer, section_of)
    if whole is not None:
        return Pieces((whole,)), sizer
    target, cap = options.target_tokens, options.max_tokens
    units = Units(document, sizer, section_of, opens_all=True, limit=cap, target=target)
    size = len(units.ends)
    if not size:
        return Pieces(()), sizer
    runs = [(0, size)] if units.fits(0, size) else _none_small(units, _packed_runs(units, options), options.min_tokens)
    pieces = with_overlap(units, options, runs)
    findings = [*units.findings(pieces), *_small(units, pieces, runs, options.min_tokens)]
    return Pieces(pieces, sorted(findings, key=lambda each: each.line)), sizer


def _packed_runs(units: Units, options: Options) -> list[Run]:
    """Runs of units up to the target, each closed before a heading where that leaves enough."""
    totals, kinds, leads, size = units.totals, units.kinds, units.leads, len(units.ends)
    target, enough = options.target_tokens, max(options.min_tokens, options.target_tokens // 2)
    ends = [end for end in range(1, size) if not leads[end - 1]]
    ends.append(size)
    runs: list[Run] = []
    start = at = 0
    while start < size:
        guess = bisect_right(ends, target + totals[start], lo=at, key=totals.__getitem__) - 1
        best = at
        if guess > at:
            best = max(furthest(at, guess + 1, lambda end, start=start: units.fits(start, ends[end]), guess), at)  # type: ignore[misc]
        place = best
        while ends[best] < size and place >= at and totals[ends[place]] - totals[start] >= enough:
            following = ends[place]
            if kinds[following] == "heading" and leads[following]:
                best = place  # close before the heading
                break
            place -= 1
        runs.append((start, ends[best]))
        start, at = ends[best], best + 1
    return runs


def _none_small(units: Units, runs: list[Run], minimum: int) -> list[Run]:
    """A run below the minimum joins the one before it, or else the one after it, where both fit together."""
    done: list[Run] = []
    waiting = runs[::-1]
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


def _small(units: Units, pieces: list[Piece], runs: list[Run], minimum: int) -> list[Finding]:
    """A finding for each piece that is still below the minimum, unless it is the only one."""
    if len(pieces) < 2:
        return []
    message = f"a chunk below {minimum} tokens that fits neither of its neighbours; it stays small"
    small = [piece for piece, run in zip(pieces, runs, strict=True) if not units.is_at_least(*run, minimum)]
    return findings_at(units.document.source, [(piece.start, "below-minimum", message) for piece in small])
