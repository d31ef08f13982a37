"""A document that fits as a whole is one piece: nothing in it needs a closer look. Before: parsing/. After: finish/.

Asked first by packed.py and flow.py. Half of all pages are that short.
"""

from __future__ import annotations

from quire import crumbs
from quire.blank import trimmed
from quire.config import Options
from quire.counter import TokenCounter, adds_up
from quire.model import Document
from quire.pieces import Piece

_CHARACTERS = 4
"""A text with more characters than so many times the cap hardly fits; then it is not counted in vain."""
_SLACK = 3
"""So far the sum of a line's tokens and those of the text below it may be off, where counts add up."""


def whole(document: Document, counter: TokenCounter, options: Options, cap: int, *, below_root: bool) -> Piece | None:
    """The document as one piece, if it fits below the breadcrumb of its root, or of the section that it starts with.

    None where it does not, and where its length says that it hardly will.
    """
    text = document.text
    start, end = trimmed(text, document.source.body_start, len(text))
    if start == end or end - start > cap * _CHARACTERS:
        return None
    own = text[start:end]
    size = counter.count(own)
    if size > cap:
        return None
    section = 0 if below_root else document.section_at(start)
    line, tokens = _line_above(document, section, counter, options, cap)
    fits = adds_up(counter) and size + tokens + _SLACK <= cap
    if not fits and counter.count(f"{line}\n\n{own}" if line else own) > cap:
        return None
    return Piece(start, end, section, size)


def _line_above(document: Document, section: int, counter: TokenCounter, options: Options, cap: int) -> tuple[str, int]:
    """The breadcrumb of a section, and how many tokens it has with the blank line below it."""
    if options.breadcrumb_mode == "none":
        return "", 0
    titles = [each.title for each in document.path_to(document.sections[section])]
    return crumbs.fitted(document.title, titles, cap // 2, counter.count)
