"""A document that fits as a whole is one piece: nothing in it needs a closer look. Before: parsing/. After: finish/.

Asked first by packed.py and flow.py. Half of all pages are that short.
"""

from __future__ import annotations

from collections.abc import Callable

from quire.blank import trimmed
from quire.config import Options
from quire.counter import TokenCounter, adds_up
from quire.crumbs import Breadcrumbs
from quire.model import Document
from quire.normalize import embedded_text
from quire.pieces import Piece
from quire.split.units import JOINT

_CHARACTERS = 4
"""A text with more characters than so many times the cap hardly fits; then it is not counted in vain."""


def whole(
    document: Document, counter: TokenCounter, options: Options, cap: int, section_of: Callable[[int, int], int]
) -> Piece | None:
    """The document as one piece, if it fits below the breadcrumb of the section that has its text, by ``section_of``.

    None where it does not, and where its length says that it hardly will.
    """
    text = document.text
    start, end = trimmed(text, document.source.body_start, len(text))
    if start == end or end - start > cap * _CHARACTERS:
        return None
    own = embedded_text(document, counter, options)[start:end]
    size = counter.count(own)
    if size > cap:
        return None
    section = section_of(start, end)
    crumbs = Breadcrumbs(document, counter, options)
    fits = adds_up(counter) and size + crumbs.tokens(section) + JOINT <= cap
    if not fits and counter.count(crumbs.prefix(section) + own) > cap:
        return None
    return Piece(start, end, section, size)
