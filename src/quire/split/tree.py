"""The ``tree`` strategy: a piece for every node of the heading tree that has text of its own.

Never split, never merged: the size of a piece is the author's. The heading's line is the chunk's title, not text.
"""

from __future__ import annotations

from quire.config import Options
from quire.counter import TokenCounter
from quire.model import Document
from quire.pieces import Cut, Piece


def tree(document: Document, counter: TokenCounter, options: Options) -> Cut:
    """One piece for each node with a body."""
    text, count = document.text, counter.count
    return Cut(
        [
            Piece(node.text_start, node.text_end, node.number, count(text[node.text_start : node.text_end]))
            for node in document.nodes
            if node.text_start < node.text_end
        ]
    )
