"""The options of a run: one frozen record, validated once. Neighbours: the surfaces fill it, every stage reads it.

A strategy accepts the common options and its own; anything else is refused by name, with the valid names.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, get_args

from quire.errors import OptionError

BreadcrumbMode = Literal["conditional", "always", "none"]
Slugs = Literal["github", "ascii"]

DEFAULT_STRATEGY = "tree"
DEFAULT_TOKENIZER = "o200k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything that decides how a document is cut and how its chunks are written down."""

    strategy: str = DEFAULT_STRATEGY
    """How to cut."""
    tokenizer: str = DEFAULT_TOKENIZER
    """The name of the token counter."""
    content_type: str = "doc"
    """What kind of content it is; the first part of every id."""
    breadcrumb_mode: BreadcrumbMode = "conditional"
    """When the breadcrumb line stands above the text to embed."""
    slugs: Slugs = "github"
    """Which rule makes ``header_slugs``: GitHub's own, or ASCII only."""
    timestamps: bool = False
    """Whether metadata says when a chunk was made; off, so that equal input gives equal bytes."""
    tree: str | None = None
    """The tree strategy only: the first part of node ids; the content type where not given."""

    @property
    def tree_name(self) -> str:
        """The first part of node ids."""
        return self.tree if self.tree is not None else self.content_type

    def fingerprint(self) -> str:
        """Equal for options that give equal output."""
        return hashlib.blake2b(repr(sorted(self.to_dict().items())).encode(), digest_size=8).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The options that this strategy reads, by name."""
        return {name: getattr(self, name) for name in ("strategy", *valid_names(self.strategy))}


COMMON = ("tokenizer", "content_type", "breadcrumb_mode", "slugs", "timestamps")
OWN: Mapping[str, Mapping[str, Any]] = MappingProxyType({"tree": MappingProxyType({"tree": None})})
"""Each strategy's own options with their defaults."""

_TYPES: Mapping[str, type] = MappingProxyType(
    {"content_type": str, "tree": str, "timestamps": bool, "tokenizer": str},
)
_CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"breadcrumb_mode": get_args(BreadcrumbMode), "slugs": get_args(Slugs)},
)


def valid_names(strategy: str) -> tuple[str, ...]:
    """The options that ``strategy`` accepts."""
    return (*COMMON, *OWN[strategy])


def build(strategy: str, given: Mapping[str, Any]) -> Options:
    """Options for ``strategy`` from what the caller gave; what cannot be honoured is refused here."""
    try:
        return _built(strategy, tuple(given.items()))
    except TypeError:  # a value that cannot be a key; it is refused by name
        return _validated(strategy, given)


@lru_cache(maxsize=256)
def _built(strategy: str, given: tuple[tuple[str, Any], ...]) -> Options:
    """Validated once, however many documents follow."""
    return _validated(strategy, dict(given))


def _validated(strategy: str, given: Mapping[str, Any]) -> Options:
    if strategy not in OWN:
        raise OptionError(f"unknown strategy {strategy!r}{_near(strategy, OWN)}; choose from: {', '.join(OWN)}")
    valid = valid_names(strategy)
    for name in given:
        if name not in valid:
            raise OptionError(
                f"unknown option {name!r} for strategy {strategy!r}{_near(name, valid)}; "
                f"valid options: {', '.join(('title', 'path', 'syntax', *valid))}"
            )
    chosen = {**OWN[strategy], **given}
    for name, value in chosen.items():
        _check(name, value)
    return Options(strategy=strategy, **chosen)


def _check(name: str, value: Any) -> None:
    default = next(each.default for each in fields(Options) if each.name == name)
    if value is None and default is None:
        return
    if name in _CHOICES and value not in _CHOICES[name]:
        choices = ", ".join(repr(choice) for choice in _CHOICES[name])
        raise OptionError(f"{name}={value!r} is not possible; choose from: {choices}")
    wanted = _TYPES.get(name)
    if wanted is not None and not isinstance(value, wanted):
        raise OptionError(f"{name}={value!r} is not possible; it must be {_describe(wanted)}")
    if name in ("content_type", "tree") and not _is_id_part(value):
        raise OptionError(f"{name}={value!r} is not possible; it begins every id: letters, digits, '-', '_' and '.'")


def _is_id_part(value: str) -> bool:
    return bool(value) and all(char.isalnum() or char in "-_." for char in value)


def _describe(wanted: type) -> str:
    return {str: "a text", bool: "True or False"}[wanted]


def _near(name: str, names: Any) -> str:
    close = difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
