"""The parts of a long node, for answers that must be short. Used by ``nodes``.

They tile the node's text: each begins at the start of a line and ends where the next begins. A part is a run of whole
blocks, or some lines of a block that is long by itself. Sizes are in characters; only the result is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quire.model import Block

LONG = 800
"""Above this many characters, some 200 tokens, a node has parts, and a block is cut at line ends."""
_LINES = 500
"""How many characters of a long block go into a part."""
_LEAST = 250
"""A part has at least about this many characters: a sentence alone answers little."""


def cuts_in(text: str, blocks: Iterable[Block], offset: int) -> list[int]:
    """Where the parts of ``text``, which starts at ``offset``, begin but for the first; none if it cannot be cut."""
    return list(_joined(_units(text, blocks, offset)))


def _units(text: str, blocks: Iterable[Block], offset: int) -> Iterator[tuple[int, bool]]:
    """Where a part may begin, and whether the one before must not end there: below a heading."""
    after_heading = False
    for block in blocks:
        start, end = block.start - offset, min(block.end - offset, len(text))
        if start > 0:
            yield start, after_heading
        if end - start > LONG:
            yield from ((at, False) for at in _line_ends(text, max(start, 0), end))
        after_heading = block.kind == "heading"


def _line_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Line ends inside a long block, some way apart."""
    while end - start > _LINES:
        at = text.rfind("\n", start, start + _LINES) + 1 or text.find("\n", start + _LINES, end) + 1
        if not at:
            return
        yield at
        start = at


def _joined(units: Iterable[tuple[int, bool]]) -> Iterator[int]:
    """The places to cut at: not so soon after one another that a part would be small."""
    begun = 0
    for at, is_tied in units:
        if at - begun >= _LEAST and not is_tied:
            begun = at
            yield at
