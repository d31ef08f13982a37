"""Checks the arguments of ``Index`` methods. A wrong type or value raises an ``OptionError``."""

import os
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from msgspec import Meta, structs

from quire.errors import OptionError, invalid_value
from quire.search.conditions import conditions
from quire.search.ranking_settings import Boosts, SearchSettings
from quire.trees import Reading
from quire.validation import check, convert


def string(name: str, value: Any) -> str:
    """A string."""
    text: str = check(name, value, str)
    return text


def path(name: str, value: Any) -> str:
    """A path."""
    text = os.fsdecode(value) if isinstance(value, str | os.PathLike) else ""
    if not text or "\0" in text:
        raise invalid_value(name, value, "must be a path")
    return text


def positive(name: str, value: Any) -> int:
    """A whole number, at least 1."""
    number: int = check(name, value, Annotated[int, Meta(ge=1)])
    return number


def positive_or_none(name: str, value: Any) -> int | None:
    """A whole number, at least 1, or None."""
    return None if value is None else positive(name, value)


def token_budget(name: str, value: Any, default: int) -> int | None:
    """The most tokens of an answer; None for no limit, which is written 0."""
    budget: int = default if value is None else check(name, value, Annotated[int, Meta(ge=0)])
    return budget or None


def readings(value: Any) -> dict[str, Reading]:
    """How the files of trees are read, by the name of the tree."""
    tables: dict[str, Any] = check("reading", value or {}, dict[str, Any])
    return {
        tree: how if isinstance(how, Reading) else convert(Reading, how, lambda key: f"reading.{key}")
        for tree, how in tables.items()
    }


def seconds(name: str, value: Any) -> float:
    """A number, at least 0."""
    number: float = check(name, value, Annotated[float, Meta(ge=0)])
    return number


def strings(name: str, value: Any) -> list[str] | None:
    """One or more strings, or None. An empty string is an error: it is usually an unset variable."""
    if value is None:
        return None
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    texts = list(value) if is_list else [value]
    if not all(isinstance(text, str) and text for text in texts):
        raise invalid_value(name, value, "must be a text that is not empty, or a list of them")
    return texts


def folders(name: str, value: Any) -> dict[str, str]:
    """Folders by tree name."""
    table = _by_tree(name, value, 'folders by name, as in {"docs": "docs/"}')
    return {tree: path(f"{name}[{tree!r}]", folder) for tree, folder in table.items()}


def by_tree(name: str, value: Any, example: str) -> dict[str, str]:
    """Languages, or other texts, by tree name."""
    rule = f'{name} by the name of a tree, as in {{"docs": "{example}"}}'
    table = _by_tree(name, value or {}, rule)
    if not all(isinstance(text, str) for text in table.values()):
        raise invalid_value(name, value, f"must be {rule}")
    return table


def patterns(name: str, value: Any) -> dict[str, tuple[str, ...]]:
    """Path patterns by tree name."""
    table = _by_tree(name, value or {}, 'patterns by the name of a tree, as in {"docs": ["guides/**"]}')
    return {tree: tuple(strings(f"{name}[{tree!r}]", texts) or ()) for tree, texts in table.items()}


def search_settings(name: str, value: Any) -> SearchSettings:
    """Search settings; None for the defaults."""
    if value is None or value == SearchSettings():
        return SearchSettings()
    if not isinstance(value, SearchSettings):
        raise invalid_value(name, value, "must be quire.search.ranking_settings.SearchSettings")
    boosts: Any = value.boosts  # or a dict
    table = structs.asdict(boosts) if isinstance(boosts, Boosts) else boosts
    settings = convert(SearchSettings, {**structs.asdict(value), "boosts": table}, what="setting")
    conditions("search.where", settings.where.keys())
    return settings


def known_trees(name: str, wanted: Iterable[str], trees: Iterable[str]) -> None:
    """Refuse unknown trees; ``name`` is the option, or the prefix ``tree:`` of a query, that names them."""
    known = sorted(trees)
    option = name.removesuffix(":")
    for tree in wanted:
        if tree not in known:
            advice = f"there are: {', '.join(known) or 'none'}"
            raise OptionError(f"{option}: no tree is called {tree!r}", advice, option=option)


def meaning_weight(mode: object, hybrid: float) -> float:
    """The share of a score that is the similarity of vectors, by the mode of a search."""
    weights = {"words": 0.0, "hybrid": hybrid, "meaning": 1.0}
    if not isinstance(mode, str) or mode not in weights:
        raise invalid_value("mode", mode, f"must be one of: {', '.join(weights)}")
    return weights[mode]


def _by_tree(name: str, value: Any, rule: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(tree, str) for tree in value):
        raise invalid_value(name, value, f"must be {rule}")
    return dict(value)
