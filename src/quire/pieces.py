"""What a strategy makes of a document: pieces. Before: model.py has the document. After: record.py has the chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from quire.config import Options
from quire.counter import TokenCounter
from quire.model import Document, Finding
from quire.normalize import RegularText


class Piece(NamedTuple):
    """A part of a document that a strategy has cut out, to be made into a chunk."""

    start: int
    """Its first character."""
    end: int
    """One past its last character."""
    section: int
    """The number of the section that gives the heading path."""
    size: int | Callable[[], int]
    """How many tokens its text has, with what is added around it, or how to find out."""
    before: str = ""
    """What is added in front, so that it stands alone: an opening fence, a table's header."""
    after: str = ""
    """What is added behind: a closing fence."""
    repeated: int | Callable[[], int | None] | None = None
    """Where the end of the piece before starts that is repeated in front of this one, or how to find out."""

    @property
    def tokens(self) -> int:
        """How many tokens its text has, with what is added around it."""
        return self.size if isinstance(self.size, int) else self.size()

    def own_tokens(self, text: str | RegularText, count: Callable[[str], int]) -> int:
        """How many tokens its own part of ``text`` has, without what is added around it."""
        return count(text[self.start : self.end]) if self.before or self.after else self.tokens

    @property
    def overlap(self) -> int | None:
        """Where the end of the piece before starts that is repeated in front of this one; None for none."""
        return self.repeated() if callable(self.repeated) else self.repeated


class Cut(NamedTuple):
    """What a strategy makes of a document."""

    pieces: Sequence[Piece]
    """Ordered, disjoint, with no text between them but what the laws allow."""
    findings: Sequence[Finding] = ()
    """What could not be had."""


class Strategy(Protocol):
    """Cuts a document into pieces."""

    def __call__(self, document: Document, counter: TokenCounter, options: Options) -> Cut:
        """The pieces of ``document``."""
