"""When the breadcrumb stands above the text to embed, and how much of it. Used by assemble.py.

`always` prepends the full line, `none` nothing. `conditional` prepends what the text lacks:

    the full line    to a chunk that holds a heading, or only code, tables or lists, or is short
    the title alone  to prose from the middle of a section
    nothing          where the line would only say what the chunk's first heading says
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from quire import crumbs
from quire.config import Options
from quire.counter import TokenCounter, adds_up
from quire.model import Document
from quire.offsets import utf8_length

_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})


def are_without_context(kinds: Iterable[str]) -> bool:
    """Whether blocks of these kinds do not say what they are about."""
    return _WITHOUT_CONTEXT.issuperset(kinds)


class Above(NamedTuple):
    """What stands above a text."""

    line: str
    """The breadcrumb line, short enough for the cap; empty for none."""
    prefix: str
    """The line with the blank line below it."""
    most: int
    """It has no more bytes, and no more tokens where counts add up."""


NOTHING = Above("", "", 0)


class Lines:
    """The breadcrumb lines of a document's sections, each made once."""

    def __init__(self, document: Document, counter: TokenCounter, options: Options) -> None:
        cap = options.cap
        self._document = document
        self._counter = counter
        self._half_cap = None if cap is None else cap // 2
        self._titles: dict[int, tuple[str, ...]] = {0: ()}
        self._known: dict[int, Above] = {}
        self.add_up = adds_up(counter)
        """Whether no text has more tokens than bytes."""

    def titles(self, section: int) -> tuple[str, ...]:
        """The headings that lead to a section, itself included."""
        known = self._titles.get(section)
        if known is None:
            heading = self._document.sections[section]
            known = self._titles[section] = (*self.titles(heading.parent or 0), heading.title)
        return known

    def full(self, section: int) -> Above:
        """The full line of a section."""
        known = self._known.get(section)
        if known is None:
            line, size = self._fitted(self._document.title, self.titles(section))
            known = self._known[section] = Above(line, f"{line}\n\n", size + 2) if line else NOTHING
        return known

    def title_alone(self, section: int) -> Above:
        """The document's title; nothing where the headings of a section say it."""
        titles = self.titles(section)
        return NOTHING if titles and titles[0] == self._document.title else self.full(0)

    def is_said_by(self, line: str, heading: str) -> bool:
        """Whether a heading says what ``line`` says."""
        if crumbs.SEPARATOR in line and ">" not in heading:
            return False  # it says more; the heading need not be made a line to see that
        return line == self._fitted("", (heading,))[0]

    def _fitted(self, title: str, titles: tuple[str, ...]) -> tuple[str, int]:
        """As much of the full line as half of the cap has room for, and how many bytes it has."""
        most = self._half_cap
        line = crumbs.full_line(title, titles)
        size = utf8_length(line)
        if most is None or (self.add_up and size + 2 <= most):
            return line, size  # it has no more tokens than bytes
        line, _ = crumbs.fitted(title, titles, most, self._counter.count)
        return line, utf8_length(line)
