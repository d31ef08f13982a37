"""Tokenizer objects as counters: Hugging Face's, by file or by object, and what works like them. Neighbour: resolve.py.

Counts are of the text alone. No special tokens (``add_special_tokens=False``): a model adds those to an input as a
whole, and what it adds is the caller's to reserve. No truncation and no padding: both would hide a text that is too
long. The user's object is copied before they are switched off.

What an object is, its methods tell. A package is imported by the user, or, for a file, at the first count.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from quire.errors import TokenizerError, is_panic
from quire.size.custom import name_of
from quire.size.remembered import remembered
from quire.size.surrogates import repaired

_Count = Callable[[str], int]


class ObjectCounter:
    """Counts with a tokenizer object, which is made ready at the first count."""

    def __init__(self, name: str, load: Callable[[], _Count]) -> None:
        self.name = name
        self._load = load
        self._lock = Lock()
        self._ready: _Count | None = None

    def count(self, text: str) -> int:
        """How many tokens ``text`` has; nothing has none."""
        if not text:
            return 0
        try:
            count = self._ready or self._loaded()
            return count(repaired(text))
        except BaseException as error:
            if isinstance(error, TokenizerError) or not (isinstance(error, Exception) or is_panic(error)):
                raise
            said = " ".join(str(error).split())
            raise TokenizerError(f"tokenizer {self.name} fails ({said:.200})", "correct it, or use another") from error

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """Only where nothing is cut off: how the tokenizer cuts text before it merges is not known."""
        return at in (0, len(text))

    def _loaded(self) -> _Count:
        with self._lock:
            if self._ready is None:
                self._ready = remembered(self._load())
            return self._ready


def is_tokenizer(thing: object) -> bool:
    """Whether ``thing`` can encode text."""
    return callable(getattr(thing, "encode", None))


def from_object(tokenizer: Any) -> ObjectCounter:
    """A counter for an object that encodes text."""
    name = name_of(tokenizer)
    return ObjectCounter(name, lambda: _counting(tokenizer, name))


def from_file(path: str) -> ObjectCounter:
    """A counter for a ``tokenizer.json``."""
    return ObjectCounter(path, lambda: _counting(_read(path), path))


def _read(path: str) -> Any:
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra, and heavy
    except ImportError as error:
        raise TokenizerError(f"{path}: reading it takes a package", "run: pip install tokenizers") from error
    try:
        return Tokenizer.from_file(path)
    except Exception as error:  # the package raises nothing narrower
        raise TokenizerError(
            f"{path}: not a Hugging Face tokenizer.json ({error})", "name that of a model, as it was downloaded"
        ) from error


def _counting(tokenizer: Any, name: str) -> _Count:
    if callable(getattr(tokenizer, "encode_ordinary", None)):  # tiktoken's: its encode refuses special tokens
        return lambda text: len(tokenizer.encode_ordinary(text))
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)  # what a fast tokenizer of transformers wraps
    if callable(getattr(inner, "no_truncation", None)):
        whole = _untrimmed(inner, name)
        return lambda text: len(whole.encode(text, add_special_tokens=False))
    return lambda text: _length(tokenizer.encode(text, add_special_tokens=False), name)


def _untrimmed(tokenizer: Any, name: str) -> Any:
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
    if isinstance(ids, list | tuple):  # and no array: an embedding model has an ``encode``, too
        return len(ids)
    raise TokenizerError(f"tokenizer {name} encodes text as {type(ids).__name__}", "a list of token ids is needed")
