"""A text with its matches marked, whole or shortened to the lines around them. Pure; ``search`` and ``get`` show it.

Positions are characters of the text; matches are in order, and none is over another. No control character of a
document reaches the terminal.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

from quire.blank import BLANK
from quire.cli.shown import visible
from quire.model import Span

_LINE_END = re.compile("\r\n?|\n")
_MOST_LINES = 12
"""How many lines of a long text are shown."""
_LARGE, _SMALL = 11, 5
"""How many lines side by side are shown, beside the first: in one run, or in each of two."""
_ENOUGH = 0.6
"""Which part of all matches one run must have; else there are two."""
_FRONT_MATTER = ("---", "+++")
_ROWS = 4
"""How many rows of the terminal one line may take."""
_BEFORE = 0.25
"""Which part of a shortened line stands before its first match."""


class Shown(NamedTuple):
    """A text to show."""

    lines: list[str]
    """Made safe, with the matches marked."""
    left_out: int
    """How many lines are missing."""


Mark = Callable[[str], str]
"""Marks what matches; gets text that is safe."""


def whole(text: str, ranges: Sequence[Span], mark: Mark) -> Shown:
    """All of a text; blank lines around it do not count."""
    return Shown([_line(text, span, ranges, mark) for span in _lines(text)], 0)


def shortened(text: str, ranges: Sequence[Span], mark: Mark, room: int) -> Shown:
    """The first line, and those lines side by side that have most matches."""
    spans = _lines(text)
    matches = [len(_within(span, ranges)) for span in spans]
    kept = _kept(matches, 0 if text[slice(*spans[0])] not in _FRONT_MATTER else matches.index(max(matches)))
    lines: list[str] = []
    for before, number in pairwise([-1, *kept]):
        if number > before + 1:
            lines.append("…")
        lines.append(_clipped(text, spans[number], ranges, mark, _ROWS * room))
    return Shown(lines, len(spans) - len(kept))


def _lines(text: str) -> list[Span]:
    """Where the lines are, without their ends, from the first that is not blank to the last."""
    start = len(text) - len(text.lstrip("\r\n"))
    end = len(text.rstrip(BLANK))
    edges = [start]
    for found in _LINE_END.finditer(text, start, end):
        edges += found.span()
    edges.append(max(start, end))
    return [Span(*each) for each in zip(edges[::2], edges[1::2], strict=True)]


def _kept(matches: Sequence[int], first: int) -> list[int]:
    """The numbers of the lines to show, in order, given how many matches each has."""
    lines = len(matches)
    if lines <= _MOST_LINES + 2:  # saying that two lines are missing takes as much room
        return list(range(lines))
    sums = [0, *accumulate(matches)]
    large = _best(sums, range(lines - _LARGE + 1), _LARGE)
    kept = {first, *range(large, large + _LARGE)}
    if sums[large + _LARGE] - sums[large] < _ENOUGH * sums[-1]:
        small = _best(sums, range(lines - _SMALL + 1), _SMALL)
        others = [start for start in range(lines - _SMALL + 1) if abs(start - small) >= _SMALL]
        other = _best(sums, others, _SMALL)
        kept = {first, *range(small, small + _SMALL), *range(other, other + _SMALL)}
    kept |= {number + 1 for number in kept if number + 2 in kept}  # one line takes no more room than its absence
    return sorted(kept)


def _best(sums: Sequence[int], starts: Sequence[int], size: int) -> int:
    """Where a run of ``size`` lines has most matches: in the middle of the first such places."""
    found = [sums[start + size] - sums[start] for start in starts]
    first = last = found.index(max(found))
    while last + 1 < len(found) and found[last + 1] == found[first] and starts[last + 1] == starts[last] + 1:
        last += 1
    return starts[(first + last) // 2] if found[first] else starts[0]


def _within(span: Span, ranges: Sequence[Span]) -> list[Span]:
    """The parts of ``ranges`` that are in ``span``."""
    first = bisect_right(ranges, span.start, key=attrgetter("end"))
    last = bisect_left(ranges, span.end, key=attrgetter("start"))
    return [Span(max(each.start, span.start), min(each.end, span.end)) for each in ranges[first:last]]


def _line(text: str, span: Span, ranges: Sequence[Span], mark: Mark) -> str:
    return "".join(_parts(text, span, _within(span, ranges), mark))


def _parts(text: str, span: Span, ranges: Sequence[Span], mark: Mark) -> Iterator[str]:
    done = span.start
    for each in ranges:
        yield _safe(text[done : each.start])
        yield mark(_safe(text[each.start : each.end]))
        done = each.end
    yield _safe(text[done : span.end])


def _safe(text: str) -> str:
    """``visible``, but tabs stay: what is shown may be code that somebody takes over."""
    return "\t".join(map(visible, text.split("\t")))


def _clipped(text: str, span: Span, ranges: Sequence[Span], mark: Mark, most: int) -> str:
    """A line of at most ``most`` characters, around its first match."""
    inside = _within(span, ranges)
    if span.end - span.start <= most:
        return _line(text, span, inside, mark)
    first = inside[0].start if inside else span.start
    start = max(span.start, min(first - int(most * _BEFORE), span.end - most))
    window = Span(start, min(span.end, start + most))
    before, after = "…" if start > span.start else "", "…" if window.end < span.end else ""
    return before + _line(text, window, inside, mark) + after
