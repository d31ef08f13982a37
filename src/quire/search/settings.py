"""How the search ranks and merges: set in ``quire.toml``, used by ``phases``. Defaults are measured: docs/search.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

BOOSTS: Mapping[str, float] = MappingProxyType(
    {"title": 1.0, "headings": 1.0, "body": 1.0, "front": 1.0, "file": 1.0, "folder": 0.5, "tags": 0.5}
)
"""How much a word counts in each field."""

SHARPNESS = 8
"""Scores are sharpened by this power before they are added up: that of a node that answers is only by a tenth or so
above those of nodes that mention the same words, and two of these should not beat it."""

NEAR = 0.5
"""From this part of its document's best score on, sharpened, a node counts as a match whatever it says itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How the search ranks and merges."""

    boosts: Mapping[str, float] = field(default_factory=lambda: BOOSTS)
    """How much a word counts in each field; one that is missing counts as by default, 0 leaves it out."""
    tie: float = 0.4
    """A word counts as in the best of the fields that have it, plus this much of the others."""
    adjacent: float = 0.5
    """How much two words count extra that follow each other in the query and in a title."""
    aggregation_threshold: float = 0.5
    """More than this part of a parent's children must match for the parent to take their place."""
    min_aggregation_matches: int = 2
    """At least so many of them."""
    score_cap_multiplier: float = 2.0
    """A parent that gathers its children scores their sum, at most this many times the best of them."""
