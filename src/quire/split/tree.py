"""The ``tree`` strategy: a piece for every node of the heading tree that has text of its own.

Never split, never merged. The heading's line is the chunk's title, not part of its text.
"""

from __future__ import annotations

from quire.counter import TokenCounter
from quire.model import Document, Piece, Pieces
from quire.options import Options
from quire.size.sizer import Sizer


def tree(document: Document, counter: TokenCounter, options: Options) -> tuple[Pieces, Sizer]:
    """One piece for each node with text."""
    pieces = [
        Piece(node.text_start, node.text_end, node.number)
        for node in document.sections
        if node.position is not None and node.text_start < node.text_end
    ]
    return Pieces(pieces), Sizer(document, counter, options, document.holder)
