"""What a caller asks for, seen to be possible: wrong types and values are one clear line. Pure. For ``Index``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from quire.errors import OptionError
from quire.search.settings import SearchSettings


def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise _impossible(name, value, "a text")
    return value


def path(name: str, value: Any) -> str:
    """A path."""
    found = os.fsdecode(value) if isinstance(value, str | os.PathLike) else ""
    if not found or "\0" in found:
        raise _impossible(name, value, "a path")
    return found


def number(name: str, value: Any) -> int:
    """A whole number, at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _impossible(name, value, "a whole number, at least 1")
    return value


def seconds(name: str, value: Any) -> float:
    """A number, at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise _impossible(name, value, "a number of seconds, at least 0")
    return value


def texts(name: str, value: Any) -> list[str] | None:
    """One text, or some; None where nothing is asked for. An empty one is a variable that is not set."""
    if value is None:
        return None
    found: list[Any] = [value]
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        found = list(value)
    if not all(isinstance(each, str) for each in found):
        raise _impossible(name, value, "a text or a list of texts")
    if "" in found:
        raise _impossible(name, value, "a text that is not empty, or a list of such")
    return found


def folders(name: str, value: Any) -> dict[str, str]:
    """Folders by name."""
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        raise _impossible(name, value, 'folders by name, as in {"docs": "docs/"}')
    for tree, folder in value.items():
        if not isinstance(folder, str | os.PathLike):
            raise _impossible(f"{name}[{tree!r}]", folder, "a path")
    return {tree: os.fsdecode(folder) for tree, folder in value.items()}


def languages(name: str, value: Any) -> dict[str, str]:
    """Languages by the name of a tree."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for pair in value.items() for each in pair):
        raise _impossible(name, value, 'languages by the name of a tree, as in {"docs": "german"}')
    return dict(value)


def patterns(name: str, value: Any) -> dict[str, tuple[str, ...]]:
    """Patterns for paths by the name of a tree."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        raise _impossible(name, value, 'patterns by the name of a tree, as in {"docs": ["guides/**"]}')
    return {tree: tuple(texts(f"{name}[{tree!r}]", each) or ()) for tree, each in value.items()}


def search_settings(name: str, value: Any) -> SearchSettings:
    """How to rank and merge; the defaults where nothing is said."""
    if value is None:
        return SearchSettings()
    if not isinstance(value, SearchSettings):
        raise _impossible(name, value, "quire.search.settings.SearchSettings")
    return value


def known(name: str, wanted: Iterable[str], trees: Iterable[str]) -> None:
    """Names of trees that there are; ``name`` is the option, or the prefix with its colon, that asks for them."""
    there = sorted(trees)
    asker = name.removesuffix(":")
    for each in wanted:
        if each not in there:
            advice = f"there are: {', '.join(there) or 'none'}"
            raise OptionError(f"{asker}: no tree is called {each!r}", advice, option=asker)


def _impossible(name: str, value: Any, wanted: str) -> OptionError:
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return OptionError(f"{name}={shown} is not possible", f"it must be {wanted}", option=name)


_SHOWN = 60
