"""The ``flow`` strategy: blocks in order, packed towards a target within a strict range."""

from bisect import bisect_right
from itertools import pairwise

from quire.cut.sentences import sentence_ends
from quire.cut.units import UnitRange, Units, make_units, whole_document
from quire.model.chunk_record import Piece
from quire.model.document import Document, Finding, findings_at
from quire.model.options import FlowOptions
from quire.tokens.sizer import Sizer, longest_that_fits

_NO_OVERLAP = frozenset({"code", "table", "html", "math", "rule"})
"""A piece that starts with one of these repeats nothing."""
_REPEATED = {"prose": frozenset({"paragraph"}), "always": frozenset({"paragraph", "list", "quote"})}
"""The kinds of block whose sentences are repeated."""


def flow(document: Document, sizer: Sizer, options: FlowOptions) -> tuple[list[Piece], list[Finding]]:
    """Pieces of ``min_tokens`` to ``max_tokens`` tokens, about ``target_tokens`` each."""
    whole = whole_document(document, sizer, options)
    if whole is not None:
        return [whole], []
    units = make_units(document, sizer, opens_all=True, limit=options.max_tokens, target=options.target_tokens)
    whole = whole_document(document, sizer, options, units)
    if whole is not None or not units.ends:
        return [whole] if whole else [], []
    groups = units.without_small(_packed(units, options), options.min_tokens)
    pieces = [units.piece(*group) for group in groups]
    if options.overlap_sentences:
        for number, (before, (first, _)) in enumerate(pairwise(groups), 1):
            kind = units.kinds[first]
            is_fresh = first not in units.prefixes and first - 1 not in units.torn  # not the rest of code or a sentence
            if is_fresh and kind not in _NO_OVERLAP and (kind != "heading" or options.overlap == "always"):
                pieces[number] = _with_overlap(units, options, before, pieces[number])
    message = f"a chunk below {options.min_tokens} tokens that fits neither of its neighbours; it stays small"
    small = [first for first, last in groups if units.is_below(first, last, options.min_tokens)]
    notes = [(units.starts[first], "below-minimum", message) for first in small] if len(groups) > 1 else []
    return pieces, [*units.findings(pieces), *findings_at(document.source, notes)]


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


def _with_overlap(units: Units, options: FlowOptions, before: UnitRange, piece: Piece) -> Piece:
    """A piece with the last sentences of the units ``before``: as many as fit the cap below its breadcrumb."""
    sizer, sections = units.sizer, {piece.section}
    if options.breadcrumb_mode == "conditional":
        sections.add(0)  # the title may be longer
    for start in reversed(_sentence_starts(units, options, before)):
        tokens = sizer.size(start, piece.end, "", piece.suffix)
        bounds = sizer.bounds(tokens)
        if all(sizer.fits(start, piece.end, section, "", piece.suffix, bounds) for section in sections):
            return piece._replace(tokens=tokens, overlap_start=start)
    return piece


def _sentence_starts(units: Units, options: FlowOptions, group: UnitRange) -> list[int]:
    """Where the sentences of the paragraphs at the end of a group start, the last one first."""
    starts: list[int] = []
    most, kinds = options.overlap_sentences, _REPEATED[options.overlap]
    for number in range(group[1] - 1, group[0] - 1, -1):
        if units.kinds[number] not in kinds or number in units.prefixes:
            break
        start = units.starts[number]
        ends = sentence_ends(units.document.text, start, units.ends[number])[:-1]
        is_whole = number - 1 not in units.torn
        starts += reversed([start, *ends] if is_whole else ends)
        if len(starts) >= most or not is_whole:
            break
    return starts[:most]
