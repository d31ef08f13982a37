"""What a search returns: ``Hit`` and ``Results``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from quire.model import Span

How = Literal["match", "parent", "aggregated"]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One section that matches a query, whole unless a token budget shortened it."""

    id: str
    """The node's id, for ``Index.get``."""
    score: float
    """1 for the best node; comparable only within one search."""
    title: str
    """Its heading, or the document's title."""
    breadcrumb: tuple[str, ...]
    """The titles from the document's to its own."""
    breadcrumb_line: str
    """The same on one line: ``> Title › Parent › Node``."""
    text: str
    """Its heading and its own text, then what is below it, as far as the token budget allows."""
    tree: str
    """Its tree."""
    path: str
    """The document, relative to the tree's folder."""
    language: str
    """The language of its tree."""
    depth: int
    """0 for a whole document, else the heading level."""
    span: Span
    """Heading and everything below it, in characters of the source."""
    byte_span: Span
    """The same in bytes of UTF-8."""
    lines: tuple[int, int]
    """Its first and last 1-based line."""
    tokens: int
    """The token count of ``text``; with ``complete=False`` an upper bound."""
    complete: bool = True
    """Whether ``text`` is the whole section, with everything below it."""
    parts: tuple[Span, ...] = ()
    """The spans of the source that ``text`` shows; one if it is complete."""
    how: How = "match"
    """Whether it matched by itself, replaces matches below it, or replaces its children."""
    constituents: tuple[str, ...] = ()
    """The ids of the nodes that matched in it, the best first; its own if it did."""
    explanation: Mapping[str, Any] = {}
    """With ``explain=True``: how its score and its merging came about."""

    def __hash__(self) -> int:
        return hash((self.id, self.score, self.text))


class Results(list[Hit]):
    """The hits, the best first, with details of the search."""

    def __init__(
        self,
        hits: Sequence[Hit] = (),
        *,
        query: str = "",
        ignored_terms: int = 0,
        corrections: Mapping[str, Sequence[str]] | None = None,
        below_cutoff: int = 0,
        over_budget: int = 0,
        unknown_words: Sequence[str] = (),
        words_alike: Sequence[str] = (),
        phases: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(hits)
        self.query = query
        """As typed."""
        self.ignored_terms = ignored_terms
        """How many terms of the query were ignored because it has more than 64."""
        self.corrections = dict(corrections or {})
        """Words that do not occur, with the words searched instead; ``auth*`` stands for words that start so."""
        self.below_cutoff = below_cutoff
        """How many results were left out because they score much less than the best."""
        self.over_budget = over_budget
        """How many results were left out because they do not fit the token budget."""
        self.unknown_words = tuple(unknown_words)
        """Words that do not occur, and for which nothing was searched instead."""
        self.words_alike = tuple(words_alike)
        """If nothing was found: words of the documents that begin as the query's first unknown word does."""
        self.phases = dict(phases or {})
        """What each phase of the search counted."""
