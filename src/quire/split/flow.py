"""The ``flow`` strategy: blocks in order, packed towards a target within a strict range.

The whole pipeline, in order:

parse            parsing/
flatten          units.py: the blocks of the document in order
split oversized  cut.py
pack             here; flow_minimum.py keeps the minimum
overlap          overlap.py: the sentences that a piece repeats
normalise        normalize.py
attach metadata  finish/assemble.py
guard            finish/guard.py
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import accumulate

from quire.counter import TokenCounter
from quire.model import Document, Pieces
from quire.normalize import irregular_places, normalized
from quire.options import Options
from quire.size.sizer import Sizer, furthest
from quire.split.flow_minimum import Minimum
from quire.split.overlap import Run, with_overlap
from quire.split.units import Grain, Units, whole_document


def flow(document: Document, counter: TokenCounter, options: Options) -> tuple[Pieces, Sizer]:
    """Pieces of ``min_tokens`` to ``max_tokens`` tokens, about ``target_tokens`` each."""

    def section_of(start: int, _: int) -> int:
        return max(document.section_at(start), 0)

    irregular = irregular_places(document.text) if options.normalize else ()
    sizer = Sizer(document, counter, options, section_of, text_of=partial(normalized, document), irregular=irregular)
    whole = whole_document(document, sizer)
    if whole is not None:
        return Pieces((whole,)), sizer
    grain = Grain(opens_all=True, block_limit=options.max_tokens, target=options.target_tokens)
    units = Units(document, sizer, grain)
    if not units:
        return Pieces(()), sizer
    minimum = Minimum(units, options.min_tokens)
    runs = minimum.applied(_packed_runs(units, options))
    pieces = with_overlap(units, options, runs, minimum.torn)
    return Pieces(
        pieces, sorted([*units.findings(pieces), *minimum.findings(pieces)], key=lambda each: each.line)
    ), sizer


def _packed_runs(units: Units, options: Options) -> list[Run]:
    """Runs of units up to the target, each closed before a heading where that leaves enough."""
    items, size = units.items, len(units)
    totals = [0, *accumulate([units.sizer.size(unit.start, unit.stop) for unit in items])]
    enough = max(options.min_tokens, options.target_tokens // 2)
    ends = [end for end in range(1, size + 1) if units.may_end(end)]
    if not ends or ends[-1] != size:
        ends.append(size)
    runs: list[Run] = []
    start = at = 0
    while start < size:
        guess = bisect_right(ends, options.target_tokens + totals[start], lo=at, key=totals.__getitem__) - 1
        best = max(furthest(ends, at, partial(units.fits, start), guess, stop=guess + 1), at) if guess >= at else at
        place = best
        while ends[best] < size and place >= at and totals[ends[place]] - totals[start] >= enough:
            following = items[ends[place]]
            if following.kind == "heading" and following.leads:
                best = place  # close before the heading
                break
            place -= 1
        runs.append(items[start : ends[best]])
        start, at = ends[best], best + 1
    return runs
