"""Which breadcrumb goes above the text to embed: `always` the full line, `none` nothing, `conditional` one of three.

the full line    for a chunk with a heading, with only code, tables or lists, or with little text
the title alone  for prose from the middle of a section
nothing          where the line would only repeat the chunk's first heading
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.model.document import Document
from quire.model.options import Options
from quire.model.record import Piece
from quire.tokens.sizer import Sizer

_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})  # blocks that do not say what they are about


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
    lines, section = sizer.breadcrumbs, piece.section
    if title is not None:
        return "" if lines.repeats(title, section) else lines.prefix(section)
    is_in_heading = piece.start < document.section_columns.body_starts[document.section_at(piece.start)]  # it was cut
    if not section or is_in_heading or _WITHOUT_CONTEXT.issuperset(kinds) or _is_short(piece, sizer, options, overlap):
        return lines.prefix(section)
    return "" if lines.path(section)[0] == document.title else lines.prefix(0)


def _is_short(piece: Piece, sizer: Sizer, options: Options, overlap: str) -> bool:
    """Whether a piece has less text of its own than the minimum and its overlap."""
    is_alone = not (piece.prefix or piece.suffix or overlap)
    tokens = piece.tokens if is_alone else sizer.size(piece.start, piece.end)
    return tokens < options.short + (sizer.count(overlap) if overlap else 0)
