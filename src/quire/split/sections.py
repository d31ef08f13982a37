"""The ``sections`` strategy: a piece for each section down to a depth; small ones join, large ones are cut.

Three passes: split at headings, join small sections, cut large ones between their blocks. A block stays whole even if
it alone exceeds the cap; that is a finding.
"""

from __future__ import annotations

from typing import NamedTuple

from quire.counter import TokenCounter
from quire.model import Document, Finding, Piece, Pieces, findings_at
from quire.options import Options
from quire.size.sizer import Sizer
from quire.split.units import Units, node_firsts


class _Part(NamedTuple):
    """A section, or several that have joined; it has the place of the first."""

    first: int
    last: int
    section: int
    """The section that gives the heading path."""
    number: int
    """The section that it starts with."""
    depth: int
    parent: int
    has_text: bool
    """Whether it contains anything besides headings."""


def sections(document: Document, counter: TokenCounter, options: Options) -> tuple[Pieces, Sizer]:
    """Pieces of at most ``max_tokens``, where single blocks allow it."""
    sizer = Sizer(document, counter, options)
    units = Units(document, sizer, document.holder)
    parts = _joined(units, _split(units, options.max_depth), options) if units.ends else []
    pieces = [units.piece(part.first, part.last, part.section) for part in parts]
    findings = [*units.findings(pieces), *_over_cap(units, pieces)]
    return Pieces(pieces, findings), sizer


def _split(units: Units, max_depth: int) -> list[_Part]:
    """A part for the text above the first heading, and for each heading down to ``max_depth``."""
    lists, node_starts = units.document.section_columns, node_firsts(units)
    numbers = [
        number for number, position in enumerate(lists.positions) if position > 0 and lists.depths[number] <= max_depth
    ]
    starts = [*(node_starts[lists.positions[number]] for number in numbers), len(units.ends)]
    parts = [_Part(0, starts[0], 0, 0, 0, -1, has_text=True)] if starts[0] else []
    for number, first, last in zip(numbers, starts, starts[1:], strict=False):
        has_text = any(kind != "heading" for kind in units.kinds[first:last])
        parts.append(_Part(first, last, number, number, lists.depths[number], lists.parents[number], has_text))
    return parts


def _joined(units: Units, parts: list[_Part], options: Options) -> list[_Part]:
    """One pass from left to right: a small part joins the one before it, or else its own first child.

    A part that does not fit is cut, and its pieces join in the same way: a small first one the part before it.
    """
    joined: list[_Part] = []
    index = 0
    while index < len(parts):
        part, after = parts[index], index + 1
        if _is_small(units, part, options):
            whole, end = _up_to_text(parts, index)
            if whole.has_text and _may_follow(units, joined, whole):
                joined[-1], index = _together(joined[-1], whole), end
                continue
            if after < len(parts):
                following, end = _up_to_text(parts, after)
                if _takes_next(units, part, following):
                    part, after = _together(part, following), end
        pieces = [part] if _fits(units, part) else _cut(units, part, options.max_depth)
        if len(pieces) > 1 and _is_small(units, pieces[0], options) and _may_follow(units, joined, pieces[0]):
            joined[-1] = _together(joined[-1], pieces.pop(0))
        joined += pieces
        index = after
    return joined


def _up_to_text(parts: list[_Part], index: int) -> tuple[_Part, int]:
    """A part with those behind it up to the first that has text, and the index behind them."""
    end = index
    while not parts[end].has_text and end + 1 < len(parts):
        end += 1
    return parts[index]._replace(last=parts[end].last, has_text=parts[end].has_text), end + 1


def _is_small(units: Units, part: _Part, options: Options) -> bool:
    if part.depth == 0:
        return False  # text above the first heading joins nothing
    return not part.has_text or _body_tokens(units, part) < options.min_tokens


def _body_tokens(units: Units, part: _Part) -> int:
    """The tokens of a part without the line of its own heading."""
    starts, heading = units.document.block_columns.starts, units.document.section_columns.blocks[part.number]
    end = units.ends[part.last - 1]
    start = starts[heading + 1] if heading + 1 < len(starts) else end
    return units.sizer.size(max(start, units.starts[part.first]), end) if start < end else 0


def _may_follow(units: Units, joined: list[_Part], part: _Part) -> bool:
    """Whether a part may join the last one so far: a sibling, if both fit."""
    if not joined or (joined[-1].depth, joined[-1].parent) != (part.depth, part.parent):
        return False
    return _fits(units, _together(joined[-1], part))


def _takes_next(units: Units, part: _Part, following: _Part) -> bool:
    """A part without text takes whatever follows, since a heading is not left alone; others their first child."""
    return not part.has_text or (following.parent == part.number and _fits(units, _together(part, following)))


def _together(first: _Part, second: _Part) -> _Part:
    section = first.section if first.has_text else second.section
    return first._replace(last=second.last, section=section, has_text=first.has_text or second.has_text)


def _fits(units: Units, part: _Part) -> bool:
    return units.fits(part.first, part.last, part.section)


def _cut(units: Units, part: _Part, max_depth: int) -> list[_Part]:
    """The pieces of a part that does not fit."""
    runs = units.filled(part.first, part.last, units.sizer.cap, part.section)
    pieces = [
        part._replace(first=first, last=last, section=_deepest(units, first, last, max_depth)) for first, last in runs
    ]
    if any(kind != "heading" for kind in units.kinds[runs[0][0] : runs[0][1]]):
        pieces[0] = pieces[0]._replace(section=part.section)
    return pieces


def _deepest(units: Units, first: int, last: int, max_depth: int) -> int:
    """The deepest section, not below ``max_depth``, that contains these units."""
    lists = units.document.section_columns
    section = units.section_of(units.starts[first], units.ends[last - 1])
    while lists.depths[section] > max_depth:
        section = lists.parents[section]
    return section


def _over_cap(units: Units, pieces: list[Piece]) -> list[Finding]:
    """A finding for each block that exceeds the cap, or leaves no room for its breadcrumb."""
    sizer, notes = units.sizer, []
    for piece in pieces:
        if piece.tokens <= sizer.sure or sizer.fits(piece.start, piece.end, piece.section):
            continue
        if piece.tokens > sizer.cap:
            blocks = units.document.blocks_between(piece.start, piece.end)
            block = max(blocks, key=lambda each: each.end - each.start)
            size = sizer.size(block.start, block.end)
            message = (
                f"block of {size} tokens exceeds the cap of {sizer.cap}, alone or with its heading; it stays whole"
            )
            notes.append((block.start, "block-over-cap", message))
        else:
            message = f"block that stays whole leaves no room for its breadcrumb within the cap of {sizer.cap}"
            notes.append((piece.start, "breadcrumb-left-out", message))
    return findings_at(units.document.source, sorted(notes))
