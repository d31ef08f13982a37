"""What ``tokenizer=`` accepts: a name, a file, an object or a function. Loads nothing before the first count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import cast

from quire.counter import ENCODINGS, ESTIMATE, TokenCounter, encoding_of, estimated
from quire.errors import OptionError, TokenizerError
from quire.size.custom_tokenizers import FunctionCounter, from_file, from_function, from_object
from quire.size.encodings import EncodingCounter

_NAMED: Mapping[str, TokenCounter] = MappingProxyType(
    {**{name: EncodingCounter(name) for name in ENCODINGS}, ESTIMATE: FunctionCounter(ESTIMATE, estimated)}
)
"""One counter per name, so that a process loads a vocabulary at most once."""

NAMES = tuple(_NAMED)

_CHOICES = (
    f"choose {', '.join(NAMES)}, an OpenAI model such as gpt-4o, the path of a Hugging Face tokenizer.json, "
    "a tokenizer object, or a function that takes text and returns its number of tokens"
)
_FILES = Lock()


def resolve(tokenizer: object | None, default: str) -> TokenCounter:
    """The counter for ``tokenizer``, or for the name ``default`` if it is None."""
    if tokenizer is None:
        tokenizer = default
    if isinstance(tokenizer, str | Path):
        return _by_name(tokenizer)
    if all(hasattr(tokenizer, name) for name in ("name", "count", "cuts_cleanly")):
        return cast("TokenCounter", tokenizer)
    if callable(getattr(tokenizer, "encode", None)):
        return from_object(tokenizer)
    if callable(tokenizer):
        return from_function(cast("Callable[[str], int]", tokenizer))
    raise OptionError(f"no tokenizer: {tokenizer!r:.80}", _CHOICES, option="tokenizer")


def _by_name(tokenizer: str | Path) -> TokenCounter:
    if isinstance(tokenizer, str) and not tokenizer.endswith(".json"):
        name = encoding_of(tokenizer) or tokenizer
        if name in _NAMED:
            return _NAMED[name]
        if not _is_file(tokenizer):
            raise OptionError(f"unknown tokenizer {tokenizer!r:.80}", _CHOICES, option="tokenizer")
    name = str(tokenizer)
    if not _is_file(name):
        raise TokenizerError(f"{name}: no such tokenizer file", _CHOICES)
    file = Path(name).resolve()
    with _FILES:
        return _by_file(name, file, file.stat().st_mtime_ns)


@cache
def _by_file(name: str, file: Path, _modified: int) -> TokenCounter:
    """The counter of a file; another file with the same relative path, or a newer one, has its own."""
    return from_file(name, file)


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # too long for a path, or with a NUL in it
        return False
