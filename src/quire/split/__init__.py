"""Document to pieces: one file per strategy.

tree.py, sections.py, packed.py, flow.py    the strategies
units.py                                    a document as a flat list of sections, blocks and parts of blocks
cut.py, reopen.py                           cutting a block that is too large, and what its parts need around them
sentences.py, words.py, graphemes.py, inline.py   where prose may be cut
overlap.py                                  the repeated sentences of flow
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Protocol

from quire.counter import TokenCounter
from quire.model import Document
from quire.options import Options
from quire.record import Pieces
from quire.size.sizer import Sizer


class Strategy(Protocol):
    """Cuts a document into pieces."""

    def __call__(self, document: Document, counter: TokenCounter, options: Options) -> tuple[Pieces, Sizer]:
        """The pieces of ``document``, and the sizer that knows their sizes."""


def pieces_of(document: Document, counter: TokenCounter, options: Options) -> tuple[Pieces, Sizer]:
    """The pieces of ``document``: ordered, not empty, and within the cap where the strategy has one for every block."""
    pieces, sizer = strategy(options.strategy)(document, counter, options)
    cap = 1 << 62 if options.strategy == "sections" else sizer.cap
    seen = 0
    for piece in pieces.pieces:
        assert seen <= piece.start < piece.end, "pieces overlap or are empty"
        assert piece.tokens <= cap, "a piece exceeds the cap"
        seen = piece.end
    return pieces, sizer


@cache
def strategy(name: str) -> Strategy:
    """The strategy with this name; its module is loaded on first use."""
    function: Strategy = getattr(import_module(f"quire.split.{name}"), name)
    return function
