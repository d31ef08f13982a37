"""What a peer is, and what it makes of a document. Neighbours: a file a peer fills them in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quire.tokens import tokenizers

CAP = 512
"""The cap of every chunk, in tokens of o200k_base, for all that accept one."""

Count = Callable[[str], int]
count: Count = tokenizers.resolve("o200k_base", "o200k_base").count
"""quire's counter, which every tool is given that accepts one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk, as the judge looks at it."""

    text: str
    """What a user embeds."""
    own: str
    """The same without what the tool says it added: a breadcrumb, overlap, a table's header once more."""
    start: int | None = None
    """The first character in the document; None where the tool does not say."""
    end: int | None = None
    """One past the last."""
    headings: tuple[str, ...] = ()
    """The titles of headings that the tool reports with it."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool makes of a document."""

    pieces: Sequence[Piece]
    """The chunks, in order."""
    front: Mapping[str, Any] = field(default_factory=dict)
    """Front matter that it reports as metadata."""


Split = Callable[[str], Any]
"""From the text of a document to whatever the tool returns."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool with its settings."""

    name: str
    """How the tables call it."""
    packages: tuple[str, ...]
    """Distributions whose versions matter."""
    make: Callable[[], Split]
    """A new splitter as its documentation shows it, with tiktoken for exact counts. Only what it returns is timed.

    It is made anew for each round, so that nothing remembered from an earlier one is of use.
    """
    output: Callable[[str, Any], Output]
    """What it returned for a text, for the judge. Not timed."""
    given: Callable[[], Split] | None
    """The same with quire's counter; ``make`` if no counter makes a difference, None if it takes no other."""
    has_cap: bool = True
    """Whether it can be told a cap in tokens."""
    has_headings: bool = False
    """Whether it reports the headings above a chunk."""
    has_offsets: bool = False
    """Whether it reports where a chunk stands in the document."""
    note: str = ""
    """One sentence for somebody who chooses."""
