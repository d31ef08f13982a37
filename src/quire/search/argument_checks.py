"""Checks the arguments of ``Index`` methods. A wrong type or value raises an ``OptionError``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from quire.errors import OptionError, impossible
from quire.search.ranking_settings import MAX_TOKENS, SearchSettings


def string(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise _impossible(name, value, "a string")
    return value


def path(name: str, value: Any) -> str:
    """A path."""
    found = os.fsdecode(value) if isinstance(value, str | os.PathLike) else ""
    if not found or "\0" in found:
        raise _impossible(name, value, "a path")
    return found


def positive(name: str, value: Any) -> int:
    """A whole number, at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _impossible(name, value, "a whole number, at least 1")
    return value


def positive_or_none(name: str, value: Any) -> int | None:
    """A whole number, at least 1, or None."""
    return None if value is None else positive(name, value)


def token_budget(name: str, value: Any) -> int | None:
    """The most tokens of an answer; None for no limit, which is written 0."""
    if value is None:
        return MAX_TOKENS
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _impossible(name, value, "a whole number, at least 0")
    return value or None


def seconds(name: str, value: Any) -> float:
    """A number, at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise _impossible(name, value, "a number of seconds, at least 0")
    return value


def strings(name: str, value: Any) -> list[str] | None:
    """One or more strings, or None. An empty string is an error: it is usually an unset variable."""
    if value is None:
        return None
    found: list[Any] = [value]
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        found = list(value)
    if not all(isinstance(each, str) for each in found):
        raise _impossible(name, value, "a string or a list of strings")
    if "" in found:
        raise _impossible(name, value, "a non-empty string or a list of them")
    return found


def folders(name: str, value: Any) -> dict[str, str]:
    """Folders by tree name."""
    _mapping(name, value, 'folders by name, as in {"docs": "docs/"}')
    for tree, folder in value.items():
        if not isinstance(folder, str | os.PathLike):
            raise _impossible(f"{name}[{tree!r}]", folder, "a path")
    return {tree: os.fsdecode(folder) for tree, folder in value.items()}


def by_tree(name: str, value: Any, example: str) -> dict[str, str]:
    """Languages, or other texts, by tree name."""
    wanted = f'{name} by the name of a tree, as in {{"docs": "{example}"}}'
    _mapping(name, {} if value is None else value, wanted)
    if value and not all(isinstance(each, str) for each in value.values()):
        raise _impossible(name, value, wanted)
    return dict(value or {})


def patterns(name: str, value: Any) -> dict[str, tuple[str, ...]]:
    """Path patterns by tree name."""
    _mapping(name, {} if value is None else value, 'patterns by the name of a tree, as in {"docs": ["guides/**"]}')
    return {tree: tuple(strings(f"{name}[{tree!r}]", each) or ()) for tree, each in (value or {}).items()}


def search_settings(name: str, value: Any) -> SearchSettings:
    """Search settings; None for the defaults."""
    if value is None:
        return SearchSettings()
    if not isinstance(value, SearchSettings):
        raise _impossible(name, value, "quire.search.ranking_settings.SearchSettings")
    return value


def known_trees(name: str, wanted: Iterable[str], trees: Iterable[str]) -> None:
    """Refuse unknown trees; ``name`` is the option, or the prefix ``tree:`` of a query, that names them."""
    known = sorted(trees)
    option = name.removesuffix(":")
    for each in wanted:
        if each not in known:
            advice = f"there are: {', '.join(known) or 'none'}"
            raise OptionError(f"{option}: no tree is called {each!r}", advice, option=option)


def _mapping(name: str, value: Any, wanted: str) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        raise _impossible(name, value, wanted)


def _impossible(name: str, value: Any, wanted: str) -> OptionError:
    return impossible(name, value, f"it must be {wanted}")


def meaning_weight(mode: object, hybrid: float) -> float:
    """The part of a score that is the similarity of vectors, by the mode of a search."""
    weights = {"words": 0.0, "hybrid": hybrid, "meaning": 1.0}
    if not isinstance(mode, str) or mode not in weights:
        raise _impossible("mode", mode, f"one of: {', '.join(weights)}")
    return weights[mode]
