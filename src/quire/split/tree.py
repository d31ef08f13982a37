"""The ``tree`` strategy: a piece for every node of the heading tree that has text of its own.

Never split, never merged: the size of a piece is the author's. The heading's line is the chunk's title, not text.
"""

from __future__ import annotations

from quire.config import Options
from quire.model import Document, Piece, TokenCounter
from quire.offsets import trimmed


def tree(document: Document, counter: TokenCounter, options: Options) -> tuple[Piece, ...]:
    """One piece for each node with a body."""
    text, first = document.text, document.source.text_start
    pieces: list[Piece] = []
    for node in document.nodes:
        start, end = trimmed(text, max(node.body_start, first), max(node.body_end, first))
        if start < end:
            pieces.append(Piece(start, end, node.number, counter.count(text[start:end])))
    return tuple(pieces)
