"""The settings of ranking and merging, from ``quire.toml`` or Python. docs/search.md explains them.

``SearchSettings`` declares the default, range and meaning of each. A weight of 0 turns its part of the ranking off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, NamedTuple

from quire.errors import OptionError, impossible, near

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

SHARPNESS = 8
"""Scores are raised to this power before they are added up. A node that answers scores only about a tenth more than
nodes that mention the same words, and two of these should not beat it."""


class Key(NamedTuple):
    """A setting: a number in a range, or one of some words."""

    default: Any
    meaning: str
    least: float = 0
    most: float = NO_LIMIT
    words: tuple[str, ...] = ()

    def allows(self, value: Any) -> bool:
        """Whether it may have a value."""
        if self.words:
            return value in self.words
        kinds = int if isinstance(self.default, int) else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool) and self.least <= value <= self.most

    @property
    def range(self) -> str:
        """The possible values, for messages."""
        if self.words:
            return " or ".join(f'"{word}"' for word in self.words)
        kind = "a whole number" if isinstance(self.default, int) else "a number"
        limits = f"of at least {self.least:g}" if self.most == NO_LIMIT else f"from {self.least:g} to {self.most:g}"
        return f"{kind} {limits}"


def _key(default: Any, meaning: str, **limits: Any) -> Any:
    return field(default=default, metadata={"key": Key(default, meaning, **limits)})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The settings of ranking and merging."""

    boosts: Mapping[str, float] = field(default_factory=lambda: BOOSTS)
    """The weight of a word in each field; missing fields have the default, and 0 turns a field off."""
    tie: float = _key(0.4, "a word scores as in its best field, plus this part of the others", most=1)
    coordination: float = _key(2.0, "how often the rarity of a matching word is added", most=1000)
    adjacent: float = _key(
        0.8, "the extra weight of two words that are adjacent in the query and in a title", most=1000
    )
    title_coverage: float = _key(1.0, "the weight of the part of a title that the query covers", most=1000)
    stub_tokens: int = _key(300, "the title of a document with fewer tokens counts for less")
    in_links: float = _key(0.3, "the weight of links from other pages to a section", most=1000)
    page_links: float = _key(0.1, "the weight of links from other pages to any section of its page", most=1000)
    meaning: float = _key(0.05, "in the mode hybrid, the part of a score that is the similarity of vectors", most=1)
    match_cutoff: float = _key(
        0.15, "a section matches with at least this part of the best score in its document", most=1
    )
    relevance_cutoff: float = _key(
        0.01, "results with less than this part of the best score, times their rank, are left out", most=1
    )
    parent_rule: str = _key(
        "best",
        "a section replaces those below it if it has as many of the words as the best of them; any: if it has one",
        words=("best", "any"),
    )
    aggregation_threshold: float = _key(
        0.5, "more than this share of a section's children must match to be gathered", most=1
    )
    min_aggregation_matches: int = _key(2, "how many children must match to be gathered", least=1)
    score_cap_multiplier: float = _key(
        2.0, "a gathered section's score, at most this many times its best child's", least=1
    )
    per_document: int = _key(2, "so many results of a document keep their score, others a tenth; 0: all keep it")

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        if not isinstance(self.boosts, Mapping):
            raise impossible("boosts", self.boosts, f"it must be numbers by field: {', '.join(BOOSTS)}")
        for name in self.boosts:
            if name not in BOOSTS:
                problem = f"boosts: there is no field {name!r}{near(name, BOOSTS)}"
                raise OptionError(problem, f"the fields are {', '.join(BOOSTS)}", option="boosts")
        values = {f"boosts.{name}": boost for name, boost in self.boosts.items()}
        values |= {each.name: getattr(self, each.name) for each in fields(self) if each.metadata}
        for name, value in values.items():
            if not KEYS[name].allows(value):
                raise impossible(name, value, f"it must be {KEYS[name].range}")


_FIELDS = {"links": "texts of links to it", "file": "file's name", "folder": "folders above it"}
KEYS: Mapping[str, Key] = MappingProxyType(
    {each.name: each.metadata["key"] for each in fields(SearchSettings) if each.metadata}
    | {
        f"boosts.{name}": Key(boost, f"how much a match in the {_FIELDS.get(name, name)} weighs", most=1000)
        for name, boost in BOOSTS.items()
    }
)
"""Every setting by its name, in the order of ``quire config``."""
