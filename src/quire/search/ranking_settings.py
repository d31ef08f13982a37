"""The weights of ranking and merging, from ``quire.toml`` or Python. docs/search.md explains the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from quire.errors import OptionError, near

BOOSTS: Mapping[str, float] = MappingProxyType(
    {"title": 1.0, "headings": 1.0, "body": 1.0, "front": 1.0, "file": 1.0, "folder": 0.5, "tags": 0.5}
)
"""The weight of a word in each field."""

NO_LIMIT = 10**9
"""The maximum of numbers without a useful one."""
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
"""The minimum and maximum of each number."""

SHARPNESS = 8
"""Scores are raised to this power before they are added up. A node that answers scores only about a tenth more than
nodes that mention the same words, and two of these should not beat it."""

NEAR_BEST = 0.5
"""A node with at least this part of its document's best sharpened score takes part in merging, whatever its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The weights of ranking and merging."""

    boosts: Mapping[str, float] = field(default_factory=lambda: BOOSTS)
    """The weight of a word in each field; missing fields have the default, and 0 turns a field off."""
    tie: float = 0.4
    """A word scores as in its best field, plus this part of the others."""
    adjacent: float = 0.5
    """The extra weight of two words that are adjacent in the query and in a title."""
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
        for name, limits in RANGES.items():
            if name != "boosts":
                _check_number(name, getattr(self, name), limits, is_whole=name == "min_aggregation_matches")


def _check_number(name: str, value: Any, limits: tuple[float, float], *, is_whole: bool = False) -> None:
    least, most = limits
    kinds = (int,) if is_whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        upwards = f"of at least {least:g}" if most == NO_LIMIT else f"from {least:g} to {most:g}"
        raise _impossible(name, value, f"a {'whole ' * is_whole}number {upwards}")


def _impossible(name: str, value: Any, wanted: str) -> OptionError:
    return OptionError(f"{name}={value!r} is not possible", f"it must be {wanted}", option=name)
