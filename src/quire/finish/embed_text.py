"""Which breadcrumb goes above the text to embed.

``always`` prepends the full line, ``none`` nothing. ``conditional`` prepends what the text lacks:

    the full line    to a chunk with a heading, with only code, tables or lists, or with little text
    the title alone  to prose from the middle of a section
    nothing          where the line would only repeat the chunk's first heading
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.model import Document, Piece
from quire.options import Options
from quire.size.sizer import Sizer

_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})
"""Blocks that do not say what they are about."""


def line_above(  # noqa: PLR0917
    document: Document,
    piece: Piece,
    sizer: Sizer,
    options: Options,
    title: str | None,
    kinds: Sequence[str],
    overlap: str,
) -> str:
    """The breadcrumb line, with a blank line below it, that goes above the text of a piece.

    ``title`` is that of the first heading in it, if there is one.
    """
    breadcrumbs, section = sizer.breadcrumbs, piece.section
    if options.breadcrumb_mode == "none":
        return ""
    if options.breadcrumb_mode == "always" or options.strategy == "tree":
        return breadcrumbs.prefix(section)
    if title is not None:
        return "" if breadcrumbs.repeats(title, section) else breadcrumbs.prefix(section)
    if not section or _is_in_heading(document, piece) or _WITHOUT_CONTEXT.issuperset(kinds):
        return breadcrumbs.prefix(section)
    if _is_short(piece, sizer, options, overlap):
        return breadcrumbs.prefix(section)
    return "" if breadcrumbs.titles(section)[0] == document.title else breadcrumbs.prefix(0)


def _is_in_heading(document: Document, piece: Piece) -> bool:
    """Whether a piece starts inside a heading that was cut."""
    return piece.start < document.section_columns.body_starts[document.section_at(piece.start)]


def _is_short(piece: Piece, sizer: Sizer, options: Options, overlap: str) -> bool:
    """Whether a piece has less text of its own than the minimum and its overlap."""
    is_alone = not (piece.prefix or piece.suffix or overlap)
    tokens = piece.tokens if is_alone else sizer.size(piece.start, piece.end)
    return tokens < options.short + (sizer.count(overlap) if overlap else 0)
