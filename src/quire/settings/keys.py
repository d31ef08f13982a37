"""Every value that can be set: its type, its range, what it means. Pure; ``files`` and ``load`` check with it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from quire.errors import OptionError
from quire.options import COMMON, OWN, is_id_part
from quire.search.ranking_settings import NO_LIMIT, RANGES, SearchSettings

PREFIX = "QUIRE_"
"""How the names of environment variables begin."""
_FIELDS = {"front": "front matter", "file": "file's name", "folder": "folders above it"}
"""How fields are called where their names do not say it."""


_MERGING = {
    "aggregation_threshold": "more than this share of a section's children must match to be gathered",
    "min_aggregation_matches": "how many children must match to be gathered",
    "score_cap_multiplier": "a gathered section's score, at most this many times its best child's",
}
"""What decides about merging, with what it means."""


class Key(NamedTuple):
    """A number that can be set."""

    default: float
    least: float
    most: float
    meaning: str

    @property
    def is_whole(self) -> bool:
        """Whether it has to be a whole number."""
        return isinstance(self.default, int)

    @property
    def range(self) -> str:
        """What it may be, in words."""
        kind = "a whole number" if self.is_whole else "a number"
        limits = f"of at least {self.least:g}" if self.most == NO_LIMIT else f"from {self.least:g} to {self.most:g}"
        return f"{kind} {limits}"


def _numbers() -> Iterable[tuple[str, Key]]:
    own = SearchSettings()
    yield "search.limit", Key(10, 1, 10_000, "how many results at most")
    yield "search.max_tokens", Key(0, 0, NO_LIMIT, "how many tokens all results may have together; 0: no limit")
    for name, meaning in _MERGING.items():
        yield f"search.{name}", Key(getattr(own, name), *RANGES[name], meaning)
    for field, boost in own.boosts.items():
        meaning = f"how much a match in the {_FIELDS.get(field, field)} weighs"
        yield f"search.boosts.{field}", Key(float(boost), *RANGES["boosts"], meaning)


NUMBERS: Mapping[str, Key] = MappingProxyType(dict(_numbers()))
"""The numbers by name, in the order in which they are shown."""
TREE_KEYS = ("path", "language", "include", "exclude")
"""What a tree's own table may have."""
TABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "": ("index", "chunk", "search", "trees"),
        "chunk": ("strategy", *COMMON, *dict.fromkeys(name for own in OWN.values() for name in own)),
        "search": (*dict.fromkeys(name.split(".")[1] for name in NUMBERS),),
        "search.boosts": tuple(name.split(".")[2] for name in NUMBERS if name.startswith("search.boosts.")),
    }
)
"""The tables of a file with the names that each may have."""


def checked(name: str, value: Any, where: str) -> float:
    """A number that is possible for ``name``; ``where`` begins the message if it is not."""
    key = NUMBERS[name]
    kinds = (int,) if key.is_whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not key.least <= value <= key.most:
        raise impossible(where, value, f"it must be {key.range}")
    return value if key.is_whole else float(value)


def impossible(where: str, value: Any, rule: str) -> OptionError:
    """What to say of a value that cannot be; ``where`` names it, and ``rule`` says what can."""
    return OptionError(f"{where} = {shown(value):.80} is not possible", rule)


def variable(name: str) -> str:
    """The environment variable of a value."""
    return PREFIX + name.replace(".", "_").upper()


def shown(value: Any) -> str:
    """A value as TOML would have it, or nearly."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return f"[{', '.join(map(shown, value))}]"
    try:
        return f'"{value}"' if isinstance(value, str) else str(value)
    except ValueError:  # Python writes no number of so many digits
        return "a number of thousands of digits"


def tree_name(text: str, taken: Container[str]) -> str:
    """A tree's name that is like ``text``, and not among those that are ``taken``."""
    made = "".join(char if is_id_part(char) else "-" for char in text).strip("-.") or "tree"
    name, number = made, 1
    while name in taken:
        number += 1
        name = f"{made}-{number}"
    return name
