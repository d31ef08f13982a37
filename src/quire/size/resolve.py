"""A name, a file, an object or a callable -> a TokenCounter. Neighbours: one module for each kind of counter.

Nothing is loaded here: a counter loads what it needs when it counts for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from quire.errors import OptionError, TokenizerError
from quire.size.custom import CallableCounter
from quire.size.encodings import ENCODINGS, EncodingCounter
from quire.size.estimate import Estimate
from quire.size.models import encoding_of
from quire.size.objects import from_file, from_object, is_tokenizer

if TYPE_CHECKING:
    from quire.counter import TokenCounter

NAMED: Mapping[str, TokenCounter] = MappingProxyType(
    {**{name: EncodingCounter(name) for name in ENCODINGS}, "estimate": Estimate()}
)
"""The counters that have a name; one of each, so that a vocabulary is loaded at most once in a process."""

NAMES = tuple(NAMED)

_FILES = Lock()


def resolve(tokenizer: object | None, default: str) -> TokenCounter:
    """The counter that ``tokenizer`` stands for; ``default`` names the one to take for None."""
    if tokenizer is None:
        tokenizer = default
    if isinstance(tokenizer, str | Path):
        return _by_text(tokenizer)
    if _is_counter(tokenizer):
        return cast("TokenCounter", tokenizer)
    if is_tokenizer(tokenizer):
        return from_object(tokenizer)
    if callable(tokenizer):
        return CallableCounter(cast("Callable[[str], int]", tokenizer))
    raise OptionError(f"no tokenizer: {tokenizer!r:.80}", _CHOICES, option="tokenizer")


_CHOICES = (
    f"choose {', '.join(NAMES)}, an OpenAI model such as gpt-4o, the path of a Hugging Face tokenizer.json, "
    "a tokenizer object, or a function that takes text and returns its number of tokens"
)


def _by_text(tokenizer: str | Path) -> TokenCounter:
    if isinstance(tokenizer, str):
        if tokenizer in NAMED:
            return NAMED[tokenizer]
        encoding = None if tokenizer.endswith(".json") else encoding_of(tokenizer)
        if encoding is not None:
            return NAMED[encoding]
        if not tokenizer.endswith(".json") and not _is_file(tokenizer):
            raise OptionError(f"unknown tokenizer {tokenizer!r:.80}", _CHOICES, option="tokenizer")
    with _FILES:
        return _by_file(str(tokenizer))


@cache
def _by_file(path: str) -> TokenCounter:
    if not _is_file(path):
        raise TokenizerError(f"{path}: no such tokenizer file", _CHOICES)
    return from_file(path)


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name too long for a path, or with a NUL in it
        return False


def _is_counter(tokenizer: object) -> bool:
    """Whether it is a counter already; told by what it can do, since any object may follow the protocol."""
    methods = ("count", "cuts_cleanly")
    return all(callable(getattr(tokenizer, method, None)) for method in methods) and hasattr(tokenizer, "name")
