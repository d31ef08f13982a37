"""What the breadcrumb of each section costs. Used by whole.py, flatten.py and plan.py, which keep room for it."""

from __future__ import annotations

from functools import cached_property

from quire import crumbs
from quire.config import Options
from quire.counter import TokenCounter, adds_up
from quire.model import Document
from quire.offsets import utf8_length


def _longest(document: Document) -> int:
    """No line is longer, in bytes; and none has more tokens than bytes."""
    size, separator = utf8_length, len(crumbs.SEPARATOR)
    lengths = [len(document.title) if document.title.isascii() else size(document.title)]
    for section in document.sections[1:]:
        title = section[2]
        lengths.append(lengths[section.parent or 0] + separator + (len(title) if title.isascii() else size(title)))
    return min(max(lengths), crumbs.LIMIT * 4) + size(crumbs.ELLIPSIS)


class Crumbs:
    """The breadcrumb lines of a document's sections, each short enough for the cap."""

    def __init__(self, document: Document, counter: TokenCounter, options: Options, cap: int) -> None:
        self._document = document
        self._counter = counter
        self._off = options.breadcrumb_mode == "none"
        self._half_cap = cap // 2
        self._known: dict[int, tuple[str, int]] = {}
        self._reserves: dict[int, int] = {}

    @cached_property
    def most(self) -> int:
        """No prefix has more tokens; for decisions that are clear without counting one."""
        if self._off:
            return 0
        return min(self._half_cap, _longest(self._document) + 2) if adds_up(self._counter) else self._half_cap

    def prefix(self, section: int) -> str:
        """The line with the blank line below it; nothing where none is wanted."""
        return self._of(section)[0]

    def tokens(self, section: int) -> int:
        """How many tokens the prefix has."""
        return self._of(section)[1]

    def reserve(self, section: int) -> int:
        """The most tokens that the prefix of a section, or of one above it, has."""
        known = self._reserves.get(section)
        if known is None:
            parent = self._document.sections[section].parent
            own = self.tokens(section)
            known = own if parent is None else max(own, self.reserve(parent))
            self._reserves[section] = known
        return known

    def _of(self, section: int) -> tuple[str, int]:
        known = self._known.get(section)
        if known is None:
            known = ("", 0) if self._off else self._made(section)
            self._known[section] = known
        return known

    def _made(self, section: int) -> tuple[str, int]:
        document = self._document
        titles = [each.title for each in document.path_to(document.sections[section])]
        line, tokens = crumbs.fitted(document.title, titles, self._half_cap, self._counter.count)
        return f"{line}\n\n" if line else "", tokens
