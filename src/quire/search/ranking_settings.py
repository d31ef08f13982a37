"""The weights of ranking and merging, from ``quire.toml`` or Python. docs/search.md explains them.

A weight of 0 turns its part of the ranking off.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from quire.errors import OptionError, near

BOOSTS: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("title", "headings", "body", "links", "description", "file"), 1.0) | {"folder": 0.5, "tags": 0.5}
)
"""The weight of a word in each field."""

MAX_TOKENS = 8_000
"""The most tokens of an answer, unless said otherwise."""
MAX_EXTENDED = 2_000
"""The most tokens of such an answer if it shows what is below a section: most answers are in a section's own text."""
NO_LIMIT = 10**9
"""The maximum of numbers without a useful one."""
RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "boosts": (0, 1000),
        "tie": (0, 1),
        "coordination": (0, 1000),
        "adjacent": (0, 1000),
        "title_coverage": (0, 1000),
        "stub_tokens": (0, NO_LIMIT),
        "in_links": (0, 1000),
        "page_links": (0, 1000),
        "meaning": (0, 1),
        "match_cutoff": (0, 1),
        "relevance_cutoff": (0, 1),
        "aggregation_threshold": (0, 1),
        "min_aggregation_matches": (1, NO_LIMIT),
        "score_cap_multiplier": (1, NO_LIMIT),
    }
)
"""The minimum and maximum of each number."""

SHARPNESS = 8
"""Scores are raised to this power before they are added up. A node that answers scores only about a tenth more than
nodes that mention the same words, and two of these should not beat it."""


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of ranking and merging."""

    boosts: Mapping[str, float] = msgspec.field(default_factory=lambda: BOOSTS)
    """The weight of a word in each field; missing fields have the default, and 0 turns a field off."""
    tie: float = 0.4
    """A word scores as in its best field, plus this part of the others."""
    coordination: float = 2.0
    """A word that matches adds its rarity so many times, whatever the field."""
    adjacent: float = 0.8
    """The extra weight of two words that are adjacent in the query and in a title."""
    title_coverage: float = 1.0
    """The weight of the part of a title that the query covers."""
    stub_tokens: int = 300
    """The title of a document with fewer tokens, and less than a fourth of the average, counts for less: a stub."""
    in_links: float = 0.3
    """The weight of links from other pages to a section."""
    page_links: float = 0.1
    """The weight of links from other pages to any section of its page."""
    meaning: float = 0.05
    """In the mode ``hybrid``, the part of a score that is the similarity of vectors."""
    match_cutoff: float = 0.15
    """A node matches if it has at least this part of the best score in its document."""
    relevance_cutoff: float = 0.01
    """A result is left out if it has less than this part of the best score, times the number of results before it."""
    aggregation_threshold: float = 0.5
    """More than this part of a parent's children must match for the parent to replace them."""
    min_aggregation_matches: int = 2
    """At least so many of them must match."""
    score_cap_multiplier: float = 2.0
    """A parent that replaces its children scores their sum, at most this many times the best of them."""

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        if not isinstance(self.boosts, Mapping):
            raise _impossible("boosts", self.boosts, f"numbers by field: {', '.join(BOOSTS)}")
        for name, boost in self.boosts.items():
            if name not in BOOSTS:
                problem = f"boosts: there is no field {name!r}{near(name, BOOSTS)}"
                raise OptionError(problem, f"the fields are {', '.join(BOOSTS)}", option="boosts")
            _check_number(f"boosts.{name}", boost, RANGES["boosts"])
        for name in (each for each in self.__struct_fields__ if each != "boosts"):
            _check_number(name, getattr(self, name), RANGES[name], is_whole=name == "min_aggregation_matches")


def _check_number(name: str, value: Any, limits: tuple[float, float], *, is_whole: bool = False) -> None:
    least, most = limits
    kinds = (int,) if is_whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        upwards = f"of at least {least:g}" if most == NO_LIMIT else f"from {least:g} to {most:g}"
        raise _impossible(name, value, f"a {'whole ' * is_whole}number {upwards}")


def _impossible(name: str, value: Any, wanted: str) -> OptionError:
    return OptionError(f"{name}={value!r} is not possible", f"it must be {wanted}", option=name)
