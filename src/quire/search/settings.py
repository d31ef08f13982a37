"""How the search ranks and merges: set in ``quire.toml`` or in Python, with the same limits. Used by ``phases``.

Defaults are measured: docs/search.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from quire.errors import OptionError, near

BOOSTS: Mapping[str, float] = MappingProxyType(
    {"title": 1.0, "headings": 1.0, "body": 1.0, "front": 1.0, "file": 1.0, "folder": 0.5, "tags": 0.5}
)
"""How much a word counts in each field."""

NO_LIMIT = 10**9
"""The most that a number can be of which more is only the same again."""
RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "boosts": (0, 1000),
        "tie": (0, 1),
        "adjacent": (0, 1000),
        "aggregation_threshold": (0, 1),
        "min_aggregation_matches": (1, NO_LIMIT),
        "score_cap_multiplier": (1, NO_LIMIT),
    }
)
"""The least and the most that each number can be."""

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

    def __post_init__(self) -> None:
        """Refuse what is not possible."""
        if not isinstance(self.boosts, Mapping):
            raise _impossible("boosts", self.boosts, f"numbers by field: {', '.join(BOOSTS)}")
        for name, boost in self.boosts.items():
            if name not in BOOSTS:
                problem = f"boosts: there is no field {name!r}{near(name, BOOSTS)}"
                raise OptionError(problem, f"the fields are {', '.join(BOOSTS)}", option="boosts")
            _refuse_impossible(f"boosts.{name}", boost, RANGES["boosts"])
        for name, limits in RANGES.items():
            if name != "boosts":
                _refuse_impossible(name, getattr(self, name), limits, is_whole=name == "min_aggregation_matches")


def _refuse_impossible(name: str, value: Any, limits: tuple[float, float], *, is_whole: bool = False) -> None:
    least, most = limits
    kinds = (int,) if is_whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        upwards = f"of at least {least:g}" if most == NO_LIMIT else f"from {least:g} to {most:g}"
        raise _impossible(name, value, f"a {'whole ' * is_whole}number {upwards}")


def _impossible(name: str, value: Any, wanted: str) -> OptionError:
    return OptionError(f"{name}={value!r} is not possible", f"it must be {wanted}", option=name)
