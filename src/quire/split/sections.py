"""The ``sections`` strategy: a piece for each section down to a depth; small ones join, large ones are cut.

Three passes: split at headings, join small sections, cut large ones between their blocks. A block stays whole even if
it alone exceeds the cap; that is a finding.
"""

from __future__ import annotations

from typing import NamedTuple

from quire.counter import TokenCounter
from quire.model import Document, Finding, findings_at
from quire.offsets import trimmed
from quire.options import SectionsOptions
from quire.record import Piece, Pieces
from quire.size.sizer import Sizer
from quire.split.units import Units, node_firsts


class _Group(NamedTuple):
    """A section, or several that have joined; depth and parent are those of the first."""

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


def sections(document: Document, counter: TokenCounter, options: SectionsOptions) -> tuple[Pieces, Sizer]:
    """Pieces of at most ``max_tokens``, where single blocks allow it."""
    sizer = Sizer(document, counter, options)
    units = Units(document, sizer)
    groups = _joined(units, _split(units, options.max_depth), options) if units.ends else []
    pieces = [units.piece(group.first, group.last, group.section) for group in groups]
    findings = [*units.findings(pieces), *_over_cap(units, pieces)]
    return Pieces(pieces, findings), sizer


def _split(units: Units, max_depth: int) -> list[_Group]:
    """A group for the text above the first heading, and for each heading down to ``max_depth``."""
    lists, node_starts = units.document.section_columns, node_firsts(units)
    numbers = [
        number for number, position in enumerate(lists.positions) if position > 0 and lists.depths[number] <= max_depth
    ]
    starts = [*(node_starts[lists.positions[number]] for number in numbers), len(units.ends)]
    groups = [_Group(0, starts[0], 0, 0, 0, -1, has_text=True)] if starts[0] else []
    for number, first, last in zip(numbers, starts, starts[1:], strict=False):
        has_text = any(kind != "heading" for kind in units.kinds[first:last])
        groups.append(_Group(first, last, number, number, lists.depths[number], lists.parents[number], has_text))
    return groups


def _joined(units: Units, groups: list[_Group], options: SectionsOptions) -> list[_Group]:
    """One pass from left to right: a small group joins the one before it, or else its own first child.

    A group that does not fit is cut, and its pieces join in the same way: a small first one the group before it.
    """
    joined: list[_Group] = []
    index = 0
    while index < len(groups):
        group, after = groups[index], index + 1
        if _is_small(units, group, options):
            whole, end = _up_to_text(groups, index)
            if whole.has_text and _may_follow(units, joined, whole):
                joined[-1], index = _together(joined[-1], whole), end
                continue
            if after < len(groups):
                following, end = _up_to_text(groups, after)
                if _takes_next(units, group, following):
                    group, after = _together(group, following), end
        pieces = [group] if _fits(units, group) else _cut(units, group, options.max_depth)
        if len(pieces) > 1 and _is_small(units, pieces[0], options) and _may_follow(units, joined, pieces[0]):
            joined[-1] = _together(joined[-1], pieces.pop(0))
        joined += pieces
        index = after
    return joined


def _up_to_text(groups: list[_Group], index: int) -> tuple[_Group, int]:
    """A group with those behind it up to the first that has text, and the index behind them."""
    end = index
    while not groups[end].has_text and end + 1 < len(groups):
        end += 1
    return groups[index]._replace(last=groups[end].last, has_text=groups[end].has_text), end + 1


def _is_small(units: Units, group: _Group, options: SectionsOptions) -> bool:
    if group.depth == 0:
        return False  # text above the first heading joins nothing
    least = options.min_tokens
    if not group.has_text or not units.is_at_least(group.first, group.last, least):
        return True
    lists = units.document.section_columns
    heading, below, end = lists.starts[group.number], lists.body_starts[group.number], units.ends[group.last - 1]
    most_tokens = (below - heading) * (1 if units.sizer.adds_up and units.document.text.isascii() else 4)
    if units.is_at_least(group.first, group.last, least + most_tokens):
        return False
    start, _ = trimmed(units.document.text, max(below, units.starts[group.first]), end)
    return units.sizer.size(start, end) < least  # the line of its own heading does not count


def _may_follow(units: Units, joined: list[_Group], group: _Group) -> bool:
    """Whether a group may join the last one so far: a sibling, if both fit."""
    if not joined or (joined[-1].depth, joined[-1].parent) != (group.depth, group.parent):
        return False
    return _fits(units, _together(joined[-1], group))


def _takes_next(units: Units, group: _Group, following: _Group) -> bool:
    """A group without text takes whatever follows, since a heading is not left alone; others their first child."""
    return not group.has_text or (following.parent == group.number and _fits(units, _together(group, following)))


def _together(first: _Group, second: _Group) -> _Group:
    section = first.section if first.has_text else second.section
    return first._replace(last=second.last, section=section, has_text=first.has_text or second.has_text)


def _fits(units: Units, group: _Group) -> bool:
    return units.fits(group.first, group.last, group.section)


def _cut(units: Units, group: _Group, max_depth: int) -> list[_Group]:
    """The pieces of a group that does not fit."""
    ranges = units.filled(group.first, group.last, units.sizer.cap, group.section)
    pieces = [
        group._replace(first=first, last=last, section=_deepest(units, first, last, max_depth))
        for first, last in ranges
    ]
    if any(kind != "heading" for kind in units.kinds[ranges[0][0] : ranges[0][1]]):
        pieces[0] = pieces[0]._replace(section=group.section)
    return pieces


def _deepest(units: Units, first: int, last: int, max_depth: int) -> int:
    """The deepest section, not below ``max_depth``, that contains these units."""
    lists = units.document.section_columns
    section = units.section(first, last)
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
            block = max(blocks, key=lambda block: block.end - block.start)
            size = sizer.size(block.start, block.end)
            problem = f"block of {size} tokens exceeds the cap of {sizer.cap}, alone or with its heading"
            notes.append((block.start, "block-over-cap", f"{problem}; it stays whole"))
        else:
            message = f"block that stays whole leaves no room for its breadcrumb within the cap of {sizer.cap}"
            notes.append((piece.start, "breadcrumb-left-out", message))
    return findings_at(units.document.source, sorted(notes))
