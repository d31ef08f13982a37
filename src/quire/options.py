"""The options of a run: one frozen record, validated once.

A strategy accepts the common options and its own. Any other option is an error that lists the valid names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, get_args

from quire.dialects import DIALECTS
from quire.errors import OptionError, impossible, near

BreadcrumbMode = Literal["conditional", "always", "none"]
Slugs = Literal[
    "github", "ascii", "docusaurus", "hugo", "blackfriday", "gitbook", "vitepress", "mkdocs", "pymdownx", "kramdown",
    "sphinx", "underscore", "auto",
]  # fmt: skip
Guard = Literal["raise", "drop", "warn"]
Overlap = Literal["prose", "always"]

DEFAULT_STRATEGY = "packed"
DEFAULT_TOKENIZER = "o200k_base"
DEFAULT_SLUGS = "github"
AUTO_SLUGS = "auto"
LEAST_CAP = 32
"""The smallest cap."""
SHORT = 64
"""Chunks below this many tokens are short, for strategies without a minimum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything that decides how a document is cut and what its chunks contain."""

    strategy: str = DEFAULT_STRATEGY
    """How to cut."""
    tokenizer: str = DEFAULT_TOKENIZER
    """The name of the token counter."""
    content_type: str = "doc"
    """The kind of content; the first part of every id."""
    breadcrumb_mode: BreadcrumbMode = "conditional"
    """When the breadcrumb line is put above the text to embed."""
    slugs: Slugs = "github"
    """The rule for ``header_slugs``: GitHub's, ASCII only, that of a documentation generator, or ``auto``."""
    dialect: str | None = None
    """The dialect of Markdown, which also sets the default of ``slugs``; by default all constructs are read."""
    timestamps: bool = False
    """Whether metadata contains the time; off, so that equal input gives equal bytes."""
    tree: str | None = None
    """`tree`: the first part of node ids; by default the content type."""
    min_tokens: int = 0
    """`sections`, `packed`, `flow`: smaller chunks are joined with others where possible."""
    max_tokens: int = 0
    """`sections`, `flow`: the cap."""
    max_depth: int = 6
    """`sections`: deeper headings are treated as text."""
    target: int = 0
    """`packed`: the approximate size of parts of long text, code and tables."""
    hard_cap: int = 0
    """`packed`: the cap."""
    merge_siblings: bool = True
    """`packed`: whether sibling sections may share a chunk."""
    target_tokens: int = 0
    """`flow`: the approximate size of a chunk."""
    overlap_sentences: int = 0
    """`flow`: how many sentences of the previous chunk are repeated."""
    overlap: Overlap = "prose"
    """`flow`: ``prose`` repeats sentences within running text, ``always`` also over headings and out of lists."""
    normalize: bool = False
    """`flow`: whether line ends, trailing spaces and repeated blank lines are normalised."""
    guard: Guard = "warn"
    """`flow`: what happens to a chunk that is not worth embedding."""

    @property
    def tree_name(self) -> str:
        """The first part of node ids."""
        return self.tree if self.tree is not None else self.content_type

    @property
    def cap(self) -> int | None:
        """The most tokens that a text to embed may have; None if the strategy has no cap."""
        return self.hard_cap or self.max_tokens or None

    @property
    def short(self) -> int:
        """Chunks with fewer tokens of their own need the full breadcrumb."""
        return self.min_tokens if "min_tokens" in OWN[self.strategy] else SHORT

    def fingerprint(self) -> str:
        """Equal for options that give equal output."""
        from hashlib import blake2b  # noqa: PLC0415  loads OpenSSL, which a search does not need

        return blake2b(repr(sorted(self.to_dict().items())).encode(), digest_size=8).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The options that this strategy reads, by name."""
        return {name: getattr(self, name) for name in ("strategy", *valid_names(self.strategy))}


COMMON = ("tokenizer", "content_type", "breadcrumb_mode", "slugs", "dialect", "timestamps")
OWN: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "packed": MappingProxyType({"target": 512, "hard_cap": 1024, "min_tokens": 64, "merge_siblings": True}),
        "flow": MappingProxyType(
            {
                "min_tokens": 64,
                "target_tokens": 400,
                "max_tokens": 512,
                "overlap_sentences": 2,
                "overlap": "prose",
                "normalize": True,
                "guard": "warn",
            }
        ),
        "sections": MappingProxyType({"min_tokens": 100, "max_tokens": 800, "max_depth": 3}),
        "tree": MappingProxyType({"tree": None}),
    }
)
"""Each strategy's own options with their defaults."""
TOKENIZERS: Mapping[str, str] = MappingProxyType({"sections": "estimate"})
"""Strategies with another default tokenizer."""

_ALIKE = (("hard_cap", "max_tokens"), ("target", "target_tokens"))
"""Options that mean the same in different strategies."""

_TYPES: Mapping[str, type] = MappingProxyType(
    {"content_type": str, "tree": str, "timestamps": bool, "tokenizer": str, "merge_siblings": bool, "normalize": bool},
)
_CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "breadcrumb_mode": get_args(BreadcrumbMode),
        "slugs": get_args(Slugs),
        "dialect": tuple(DIALECTS),
        "guard": get_args(Guard),
        "overlap": get_args(Overlap),
    },
)
_RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "min_tokens": (0, 10**9),
        "max_tokens": (LEAST_CAP, 10**9),
        "hard_cap": (LEAST_CAP, 10**9),
        "target": (1, 10**9),
        "target_tokens": (1, 10**9),
        "overlap_sentences": (0, 100),
        "max_depth": (1, 6),
    }
)


def valid_names(strategy: str) -> tuple[str, ...]:
    """The options that ``strategy`` accepts."""
    return (*COMMON, *OWN[strategy])


Shown = Callable[[str], str]
"""Turns an option's name into the name used in messages; the command line has other names."""


def build(strategy: str, given: Mapping[str, Any], shown: Shown = str) -> Options:
    """Options for ``strategy``. An unknown option or an impossible value raises an OptionError."""
    try:
        # With their types, because 64 == 64.0.
        return _built(strategy, tuple((name, value, type(value)) for name, value in given.items()), shown)
    except TypeError:  # an unhashable value; validation raises an error that names it
        return _validated(strategy, given, shown)


@lru_cache(maxsize=256)
def _built(strategy: str, given: tuple[tuple[str, Any, type], ...], shown: Shown) -> Options:
    """Validates once for any number of documents."""
    return _validated(strategy, {name: value for name, value, _ in given}, shown)


def _validated(strategy: str, given: Mapping[str, Any], shown: Shown) -> Options:
    if strategy not in OWN:
        hint = near(strategy, OWN, repr)
        raise OptionError(
            f"unknown strategy {strategy!r:.80}{hint}", f"choose from: {', '.join(OWN)}", option="strategy"
        )
    refuse_others(strategy, given, repr, ("title", "path", "syntax"))
    chosen = {**OWN[strategy], **given}
    for name, value in chosen.items():
        rule = _broken_rule(name, value)
        if rule:
            raise impossible(shown(name), value, rule)
    if chosen.get("dialect"):
        chosen.setdefault("slugs", DIALECTS[chosen["dialect"]].slugs)
    _fit_together(chosen, given, shown)
    return Options(strategy=strategy, **chosen)


def refuse_others(strategy: str, given: Iterable[str], shown: Shown, besides: Iterable[str]) -> None:
    """Raise an OptionError for options that ``strategy`` does not have; ``besides`` are also allowed."""
    valid = valid_names(strategy)
    for name in given:
        if name not in valid:
            advice = f"valid options: {', '.join(map(shown, (*besides, *valid)))}"
            raise OptionError(_not_an_option(name, strategy, shown), advice, option=name)


def _not_an_option(name: str, strategy: str, shown: Shown) -> str:
    """Which strategy has the option and what this one calls it, or else a similar name."""
    owners = [each for each, own in OWN.items() if name in own]
    if not owners:
        return f"unknown option {shown(name[:80])} for strategy {strategy!r}{near(name, valid_names(strategy), shown)}"
    here = next((each for alike in _ALIKE if name in alike for each in alike if each in OWN[strategy]), None)
    hint = f" ({strategy} calls it {shown(here)})" if here else ""
    return f"option {shown(name)} is one of {' and '.join(map(repr, owners))}, not of strategy {strategy!r}{hint}"


def _fit_together(chosen: dict[str, Any], given: Mapping[str, Any], shown: Shown) -> None:
    """Check that targets and minimums are below the cap; lower those that are defaults."""
    cap_name = "hard_cap" if "hard_cap" in chosen else "max_tokens"
    cap = chosen.get(cap_name)
    if cap is None:
        return
    for name, most, what in (("target", cap, ""), ("target_tokens", cap, ""), ("min_tokens", cap // 2, "half of ")):
        if chosen.get(name, 0) <= most:
            continue
        if name in given:
            rule = f"{shown(name)} may be at most {what}{shown(cap_name)}={cap}"
            raise impossible(shown(name), given[name], rule)
        chosen[name] = most


def _broken_rule(name: str, value: Any) -> str | None:
    """The rule that a value breaks; None if it is valid."""
    default = next(each.default for each in fields(Options) if each.name == name)
    if value is None and default is None:
        return None
    if name in _CHOICES and value not in _CHOICES[name]:
        return f"choose from: {', '.join(map(repr, _CHOICES[name]))}"
    wanted = _TYPES.get(name)
    if wanted is not None and not isinstance(value, wanted):
        return f"it must be {_describe(wanted)}"
    if name in ("content_type", "tree") and not is_id_part(value):
        return "it begins every id: letters, digits, '-', '_' and '.'"
    return _broken_range(value, *_RANGES[name]) if name in _RANGES else None


def _broken_range(value: Any, least: int, most: int) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return "it must be a whole number"
    if value < least:
        return f"it must be at least {least}"
    return f"it must be at most {most}" if value > most else None


def is_id_part(value: str) -> bool:
    """Whether ids may begin with ``value``: a content type, the name of a tree."""
    return bool(value) and all(char.isalnum() or char in "-_." for char in value)


def _describe(wanted: type) -> str:
    return {str: "a text", bool: "True or False"}[wanted]
