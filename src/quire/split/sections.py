"""The ``sections`` strategy: a piece for each section down to a depth; small ones join, large ones are cut.

Three passes: split at headings, join what is small, cut what is large between its blocks. A block stays whole, even if
it alone is above the cap; that is a finding. Before: plan.py. After: finish/.
"""

from __future__ import annotations

from typing import NamedTuple

from quire.config import Options
from quire.counter import TokenCounter
from quire.model import Block, Document, Finding, findings_at
from quire.pieces import Cut, Piece
from quire.split.flatten import Grain
from quire.split.plan import Plan, plan_of


class _Part(NamedTuple):
    """A section, or several that have joined; it has the place of the first."""

    first: int
    last: int
    section: int
    """Whose heading path it has."""
    number: int
    """The section that it is, or starts with."""
    depth: int
    parent: int | None
    has_text: bool
    """Whether there is something besides headings in it."""


def sections(document: Document, counter: TokenCounter, options: Options) -> Cut:
    """Pieces of at most ``max_tokens``, where a single block allows it."""
    plan = plan_of(document, counter, options, Grain(options.max_tokens))
    if not plan.units:
        return Cut(())
    parts = _joined(plan, _split(plan, options.max_depth), options)
    pieces = [plan.piece(part.first, part.last, part.section) for part in parts]
    large = [piece for part, piece in zip(parts, pieces, strict=True) if not _fits(plan, part)]
    sized = [(piece, piece.tokens) for piece in large]
    return Cut(pieces, [*plan.findings(pieces), *_over_cap(plan, sized), *_without_line(plan, sized)])


def _split(plan: Plan, max_depth: int) -> list[_Part]:
    """A part for the text above the first heading, and for each heading down to ``max_depth``."""
    nodes = [node for node in plan.document.nodes[1:] if node.depth <= max_depth]
    starts = [*map(plan.nodes.start, nodes), len(plan.units)]
    parts = [_Part(0, starts[0], 0, 0, 0, None, has_text=True)] if starts[0] else []
    items = plan.units.items
    for node, first, last in zip(nodes, starts, starts[1:], strict=False):
        number, depth, _, start, *_ = node
        # The section itself; the one that holds it too, where headings with nothing below them lead it.
        section = number if items[first][0] == start else plan.holder(first, last)
        parts.append(_Part(first, last, section, number, depth, node.parent, plan.has_text(first, last)))
    return parts


def _joined(plan: Plan, parts: list[_Part], options: Options) -> list[_Part]:
    """One pass: a small part joins the one before it, or else its own first child; a large one is cut.

    The pieces of one that is cut join as parts do: the first the part before it, if it is small, the last a small part.
    """
    joined: list[_Part] = []
    index = 0
    while index < len(parts):
        part, after = parts[index], index + 1
        if _is_small(plan, part, options):
            whole, end = _up_to_text(parts, index)
            if whole.has_text and _may_follow(plan, joined, whole):
                joined[-1], index = _together(joined[-1], whole), end
                continue
            if after < len(parts):
                following, end = _up_to_text(parts, after)
                if _takes_next(plan, part, following):
                    part, after = _together(part, following), end
        pieces = [part] if _fits(plan, part) else _cut(plan, part, options.max_depth)
        if len(pieces) > 1 and _is_small(plan, pieces[0], options) and _may_follow(plan, joined, pieces[0]):
            joined[-1] = _together(joined[-1], pieces.pop(0))
        joined += pieces
        index = after
    return joined


def _up_to_text(parts: list[_Part], index: int) -> tuple[_Part, int]:
    """A part with those behind it up to the first that has text, and where it goes on: no heading is left at an end."""
    end = index
    while not parts[end].has_text and end + 1 < len(parts):
        end += 1
    return parts[index]._replace(last=parts[end].last, has_text=parts[end].has_text), end + 1


def _is_small(plan: Plan, part: _Part, options: Options) -> bool:
    if part.depth == 0:
        return False  # text above the first heading joins nothing
    if not part.has_text:
        return True
    is_large = plan.units.is_at_least(part.first, part.last, options.min_tokens)
    return not is_large


def _may_follow(plan: Plan, joined: list[_Part], part: _Part) -> bool:
    """Whether a part may join the last one so far."""
    if not joined or (joined[-1].depth, joined[-1].parent) != (part.depth, part.parent):
        return False
    return _fits(plan, _together(joined[-1], part))


def _takes_next(plan: Plan, part: _Part, following: _Part) -> bool:
    """A part without text takes whatever follows, for a heading is not left alone; others their first child."""
    if not part.has_text:
        return True
    return following.parent == part.number and plan.fits(part.first, following.last, part.section)


def _together(first: _Part, second: _Part) -> _Part:
    return first._replace(last=second.last, has_text=first.has_text or second.has_text)


def _fits(plan: Plan, part: _Part) -> bool:
    return plan.fits(part.first, part.last, part.section)


def _cut(plan: Plan, part: _Part, max_depth: int) -> list[_Part]:
    """The pieces of a part that does not fit."""
    (first, last), *rest = plan.filled(part.first, part.last, plan.cap, part.section)
    others = [(first, last, _deepest(plan, first, last, max_depth)) for first, last in rest]
    return [
        part._replace(first=first, last=last, section=section)
        for first, last, section in [(first, last, part.section), *others]
    ]


def _deepest(plan: Plan, first: int, last: int, max_depth: int) -> int:
    """The deepest section, not below ``max_depth``, that holds these units."""
    section = plan.document.sections[plan.holder(first, last)]
    while section.depth > max_depth and section.parent is not None:
        section = plan.document.sections[section.parent]
    return section.number


def _over_cap(plan: Plan, pieces: list[tuple[Piece, int]]) -> list[Finding]:
    """A finding for each block that alone is above the cap."""
    count, text = plan.units.counter.count, plan.document.text
    blocks = [_largest(plan, piece) for piece, size in pieces if size > plan.cap]
    sizes = [count(text[block.start : block.end]) for block in blocks]
    message = "a block with {} tokens is above the cap of {}, or leaves no room for the heading above it; "
    message += "sections keeps blocks whole"
    notes = [
        (block.start, "block-over-cap", message.format(size, plan.cap))
        for block, size in zip(blocks, sizes, strict=True)
    ]
    return findings_at(plan.document.source, notes)


def _without_line(plan: Plan, pieces: list[tuple[Piece, int]]) -> list[Finding]:
    """A finding for each piece that fits, but not below its breadcrumb."""
    full = [piece for piece, size in pieces if size <= plan.cap]
    message = f"a block that stays whole leaves no room for the breadcrumb within the cap of {plan.cap}"
    return findings_at(plan.document.source, [(piece.start, "breadcrumb-left-out", message) for piece in full])


def _largest(plan: Plan, piece: Piece) -> Block:
    return max(plan.document.blocks_between(piece.start, piece.end), key=lambda block: block.end - block.start)
