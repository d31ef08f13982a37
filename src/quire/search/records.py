"""What a search answers with. Made by ``answer`` and ``Index.get``, shown by the surfaces. Frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from quire.model import Span

if TYPE_CHECKING:
    from quire.index.node import Node
    from quire.search.context import Given

How = Literal["match", "parent", "aggregated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One section that answers a query, whole unless a budget cut it."""

    id: str
    """The node's id; ``Index.get`` takes it."""
    score: float
    """How well it answers, the best section by itself 1; only the order within one search means something."""
    title: str
    """Its heading, or the document's title."""
    breadcrumb: tuple[str, ...]
    """The titles from the document's down to its own."""
    breadcrumb_line: str
    """The same in one line: ``> Title › Parent › Node``."""
    text: str
    """Its heading and everything below it; with ``complete=False`` only the most relevant parts."""
    tree: str
    """The tree that it is in."""
    path: str
    """The document, relative to the tree's folder."""
    depth: int
    """0 for a whole document, else the heading's level."""
    span: Span
    """Where it stands in the source, in characters: heading and everything below it."""
    byte_span: Span
    """The same in bytes of UTF-8."""
    lines: tuple[int, int]
    """Its first and last 1-based line."""
    tokens: int
    """How many tokens ``text`` has; with ``complete=False``, at most: what is put together is not counted again."""
    complete: bool = True
    """Whether ``text`` is the whole section."""
    parts: tuple[Span, ...] = ()
    """Which characters of the source ``text`` shows; one span where it is complete."""
    match_ranges: tuple[Span, ...] = ()
    """Where the query's words stand in ``text``."""
    how: How = "match"
    """Whether it matched by itself, took the place of what matched below it, or gathers its children."""
    constituents: tuple[str, ...] = ()
    """The ids of the nodes that matched in it, the best first; its own among them if it did."""
    explanation: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """With ``explain=True``: how its score and its merging came about."""


def hit_of(
    node: Node,
    given: Given,
    *,
    constituents: tuple[str, ...],
    score: float = 0.0,
    match_ranges: tuple[Span, ...] = (),
    how: How = "match",
    explanation: Mapping[str, Any] | None = None,
) -> Hit:
    """A section as an answer, with the text that is given for it."""
    return Hit(
        id=node.id,
        score=score,
        title=node.title,
        breadcrumb=node.breadcrumb,
        breadcrumb_line=node.breadcrumb_line,
        text=given.text,
        tree=node.tree,
        path=node.path,
        depth=node.depth,
        span=Span(node.start, node.full_end),
        byte_span=Span(node.byte_start, node.byte_full_end),
        lines=(node.line, node.full_last_line),
        tokens=given.tokens,
        complete=given.complete,
        parts=given.parts,
        match_ranges=match_ranges,
        how=how,
        constituents=constituents,
        explanation=explanation or {},
    )


class Results(list[Hit]):
    """The hits, the best first, with what the search did beside them."""

    def __init__(
        self,
        hits: Sequence[Hit] = (),
        *,
        query: str = "",
        ignored_terms: int = 0,
        partial: bool = False,
        corrections: Mapping[str, Sequence[str]] | None = None,
        phases: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(hits)
        self.query = query
        """As it was asked."""
        self.ignored_terms = ignored_terms
        """How many terms of the query were ignored because it has more than 64."""
        self.partial = partial
        """Whether nothing matched all of the query, so that these match only a part of it."""
        self.corrections = dict(corrections or {})
        """Words that occur nowhere, with what was looked for instead."""
        self.phases = dict(phases or {})
        """What each phase of the search counted."""
