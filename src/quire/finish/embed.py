"""When the breadcrumb stands above the text to embed, and how much of it. Used by assemble.py.

`always` prepends the full line, `none` nothing. `conditional` prepends what the text lacks:

    the full line    to a chunk that holds a heading, or only code, tables or lists, or is short
    the title alone  to prose from the middle of a section
    nothing          where the line would only say what the chunk's first heading says
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from quire.crumbs import Breadcrumbs
from quire.model import Document
from quire.pieces import Piece

_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})
"""Blocks that do not say what they are about."""


def lacking(document: Document, crumbs: Breadcrumbs, piece: Piece, is_short: Callable[[], bool]) -> int | None:
    """The section whose breadcrumb the text of a piece lacks; None if it lacks nothing.

    That is its own section, or the document, whose breadcrumb is the title alone.
    """
    section = piece.section
    first, last = headings_in(document, piece)
    if first < last:
        return None if crumbs.is_said_by(document.sections[first].title, section) else section
    if not section:
        return section  # the title, whatever the text lacks
    is_in_heading = first > 1 and piece.start < document.sections[first - 1].body_start
    if is_in_heading or is_short() or _is_without_context(document, piece):
        return section
    return None if crumbs.titles(section)[0] == document.title else 0


def headings_in(document: Document, piece: Piece) -> tuple[int, int]:
    """The numbers of the first section whose heading starts in a piece, and one past the last."""
    starts = document.section_starts
    return bisect_left(starts, piece.start, 1), bisect_left(starts, piece.end, 1)


def _is_without_context(document: Document, piece: Piece) -> bool:
    return all(block.kind in _WITHOUT_CONTEXT for block in document.blocks_between(piece.start, piece.end))
