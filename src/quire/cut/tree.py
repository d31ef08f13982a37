"""The ``tree`` strategy: a piece for every node that has text of its own; the heading is its title, not its text."""

from quire.model.chunk_record import Piece
from quire.model.document import Document, Finding
from quire.model.options import Options
from quire.tokens.sizer import Sizer


def tree(document: Document, sizer: Sizer, _options: Options) -> tuple[list[Piece], list[Finding]]:
    """One piece for each node with text."""
    lists, text, count = document.section_columns, document.text, sizer.count
    spans = zip(lists.text_starts, lists.text_ends, lists.positions, strict=True)
    pieces = [
        Piece(start, end, number, count(text[start:end]))
        for number, (start, end, position) in enumerate(spans)
        if start < end and position >= 0
    ]
    return pieces, []
