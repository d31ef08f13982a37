"""Which breadcrumb goes above the text to embed.

``always`` prepends the full line, ``none`` nothing. ``conditional`` prepends what the text lacks:

    the full line    to a chunk with a heading, with only code, tables or lists, or with little text
    the title alone  to prose from the middle of a section
    nothing          where the line would only repeat the chunk's first heading
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.model import Document, Piece, Section
from quire.options import Options
from quire.size.sizer import Sizer

_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})
"""Blocks that do not say what they are about."""


def prefix_of(
    document: Document,
    piece: Piece,
    sizer: Sizer,
    options: Options,
    *,
    contained: Sequence[Section],
    kinds: Sequence[str],
    overlap: str,
    tokens: int,
) -> str:
    """The breadcrumb line, with a blank line below it, that goes above the text of a piece."""
    breadcrumbs, section = sizer.breadcrumbs, piece.section
    if options.breadcrumb_mode == "none":
        return ""
    if options.breadcrumb_mode == "always" or options.strategy == "tree":
        return breadcrumbs.prefix(section)
    if contained:
        return "" if breadcrumbs.repeats(contained[0].title, section) else breadcrumbs.prefix(section)
    if not section or _is_in_heading(document, piece):
        return breadcrumbs.prefix(section)
    if _is_short(piece, sizer, options, overlap, tokens) or _WITHOUT_CONTEXT.issuperset(kinds):
        return breadcrumbs.prefix(section)
    return "" if breadcrumbs.titles(section)[0] == document.title else breadcrumbs.prefix(0)


def _is_in_heading(document: Document, piece: Piece) -> bool:
    """Whether a piece starts inside a heading that was cut."""
    return piece.start < document.sections[document.section_at(piece.start)].body_start


def _is_short(piece: Piece, sizer: Sizer, options: Options, overlap: str, tokens: int) -> bool:
    """Whether a piece has less text of its own than the minimum and its overlap."""
    least = options.short + (sizer.count(overlap) if overlap else 0)
    if piece.prefix or piece.suffix or overlap:
        return not sizer.is_at_least(least, piece.start, piece.end)
    return tokens < least
