"""Document to pieces: one file per strategy.

tree.py, sections.py, packed.py, flow.py    the strategies
units.py                                    a document as a flat list of sections, blocks and parts of blocks
cut.py, reopen.py                           cutting a block that is too large, and what its parts need around them
levels.py, sentences.py, words.py           where a block may be cut
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TypeAlias

from quire.model import Document, Finding
from quire.normalize import regular_text
from quire.options import FlowOptions, Options
from quire.record import Piece
from quire.size.sizer import Sizer
from quire.token_counters import TokenCounter

Strategy: TypeAlias = Callable[[Document, Sizer, Options], tuple[Sequence[Piece], Sequence[Finding]]]
"""Cuts a document into pieces: ordered and disjoint, together all of the text as the laws demand."""


def pieces_of(
    document: Document, counter: TokenCounter, options: Options
) -> tuple[Sequence[Piece], Sequence[Finding], Sizer]:
    """The pieces of ``document``, findings about cuts that could not keep every rule, and what knows their sizes."""
    is_normalized = isinstance(options, FlowOptions) and options.normalize
    sizer = Sizer(document, counter, options, regular_text(document) if is_normalized else None)
    pieces, findings = strategy(options.strategy)(document, sizer, options)
    cap = 1 << 62 if options.strategy == "sections" else sizer.cap  # where a block stays whole
    seen = 0
    for piece in pieces:
        assert seen <= piece.start < piece.end, "pieces overlap or are empty"
        assert piece.tokens <= cap, "a piece exceeds the cap"
        seen = piece.end
    return pieces, findings, sizer


@cache
def strategy(name: str) -> Strategy:
    """The strategy with this name; its module is loaded on first use."""
    function: Strategy = getattr(import_module(f"quire.split.{name}"), name)
    return function
