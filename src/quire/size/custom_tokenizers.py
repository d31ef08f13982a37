"""Counters from the user's own tokenizer: a Hugging Face file, a tokenizer object, or any function ``str -> int``.

Special tokens that a tokenizer adds to its input (``[CLS]``, ``[SEP]``) count. Truncation and padding are switched off
on a copy of the object, because both would hide a text that is too long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from quire.errors import TokenizerError, is_panic
from quire.offsets import repaired

_LONGEST_REMEMBERED = 16_384
_Count = Callable[[str], int]


@dataclass(frozen=True)
class FunctionCounter:
    """Counts with a function whose counts may not add up."""

    name: str
    count: _Count

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """Only where nothing is cut off."""
        return at in (0, len(text))


def from_function(function: _Count) -> FunctionCounter:
    """A counter that checks what ``function`` returns."""
    name = _name_of(function)

    def count(text: str) -> int:
        tokens: object = function(text)
        if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0:
            return tokens
        raise TokenizerError(
            f"tokenizer {name} returned {tokens!r:.80} for a text of {len(text)} characters",
            "it must return the number of tokens, an int that is not negative",
        )

    return FunctionCounter(name, _remembered(count))


def from_object(tokenizer: Any) -> FunctionCounter:
    """A counter for an object with an ``encode`` method."""
    return _counter(_name_of(tokenizer), lambda: tokenizer)


def from_file(name: str, file: Path) -> FunctionCounter:
    """A counter for a ``tokenizer.json``, which users call ``name``."""
    return _counter(name, lambda: _read(name, file))


def _counter(name: str, tokenizer: Callable[[], Any]) -> FunctionCounter:
    """A counter that reads or copies its tokenizer at the first count."""
    prepared = cache(lambda: _count_with(tokenizer(), name))

    def count(text: str) -> int:
        try:
            return prepared()(repaired(text))
        except BaseException as error:
            if isinstance(error, TokenizerError) or not (isinstance(error, Exception) or is_panic(error)):
                raise
            message = " ".join(str(error).split())
            raise TokenizerError(f"tokenizer {name} fails ({message:.200})", "correct it, or use another") from error

    return FunctionCounter(name, _remembered(count))


def _remembered(count: _Count) -> _Count:
    """``count`` with a memory: a text is often counted to see if it fits, and again for its record."""
    cached_count = lru_cache(maxsize=1024)(count)

    def remembered(text: str) -> int:
        if not text:
            return 0
        return cached_count(text) if len(text) <= _LONGEST_REMEMBERED else count(text)

    return remembered


def _read(name: str, file: Path) -> Any:
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415  an extra, and heavy
    except ImportError as error:
        raise TokenizerError(f"{name}: reading it takes a package", "run: pip install tokenizers") from error
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the package raises nothing narrower
        raise TokenizerError(
            f"{name}: not a Hugging Face tokenizer.json ({error})", "name that of a model, as it was downloaded"
        ) from error


def _count_with(tokenizer: Any, name: str) -> _Count:
    if callable(getattr(tokenizer, "encode_ordinary", None)):  # tiktoken, whose encode refuses special tokens
        return lambda text: len(tokenizer.encode_ordinary(text))
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)  # inside a fast tokenizer of transformers
    if callable(getattr(inner, "no_truncation", None)):
        copy = _without_truncation(inner, name)
        return lambda text: len(copy.encode(text))
    return lambda text: _length(tokenizer.encode(text), name)


def _without_truncation(tokenizer: Any, name: str) -> Any:
    try:
        copy = type(tokenizer).from_str(tokenizer.to_str())
    except Exception as error:  # the package raises nothing narrower
        raise TokenizerError(
            f"tokenizer {name} cannot be copied ({error})",
            "give a function that takes text and returns a number instead",
        ) from error
    copy.no_truncation()
    copy.no_padding()
    return copy


def _length(ids: object, name: str) -> int:
    if isinstance(ids, list | tuple):  # embedding models also have ``encode``, and return an array
        return len(ids)
    raise TokenizerError(f"tokenizer {name} encodes text as {type(ids).__name__}", "a list of token ids is needed")


def _name_of(thing: object) -> str:
    """Where a function or class was defined. Never its address, which differs between runs."""
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{getattr(named, '__qualname__', '')}"
