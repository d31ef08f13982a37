"""What ``tokenizer=`` accepts: a name, the user's own tokenizer as a Hugging Face file or an object, or a function.

Special tokens that a tokenizer adds (``[CLS]``, ``[SEP]``) count. Nothing is loaded before the first count.
"""

from collections.abc import Callable, Mapping
from functools import cache
from os.path import isfile
from pathlib import Path
from typing import Any, cast

from quire.errors import OptionError, TokenizerError, is_panic
from quire.model.offsets import repaired
from quire.tokens.encodings import EncodingCounter
from quire.tokens.openai_models import ENCODINGS, encoding_of
from quire.tokens.token_counters import ESTIMATE_COUNTER, Count, TokenCounter, function_counter, name_of, remembered

_NAMED: Mapping[str, TokenCounter] = {
    **{name: EncodingCounter(name) for name in ENCODINGS},
    ESTIMATE_COUNTER.name: ESTIMATE_COUNTER,
}
"""One counter per name, so that a process loads a vocabulary at most once."""

NAMES = tuple(_NAMED)

_CHOICES = (
    f"choose {', '.join(NAMES)}, an OpenAI model such as gpt-4o, the path of a Hugging Face tokenizer.json, "
    "a tokenizer object, or a function that takes text and returns its number of tokens"
)


def resolve(tokenizer: object | None, default: str) -> TokenCounter:
    """The counter for ``tokenizer``, or for the name ``default`` if it is None."""
    tokenizer = default if tokenizer is None else tokenizer
    if isinstance(tokenizer, str | Path):
        return _by_name(tokenizer)
    if isinstance(tokenizer, TokenCounter):
        return tokenizer
    if callable(getattr(tokenizer, "encode", None)):
        return _counter(name_of(tokenizer), lambda: tokenizer)
    if callable(tokenizer):
        return function_counter(cast("Count", tokenizer))
    raise OptionError(f"no tokenizer: {tokenizer!r:.80}", _CHOICES, option="tokenizer")


def _by_name(tokenizer: str | Path) -> TokenCounter:
    name = str(tokenizer)
    is_file_name = isinstance(tokenizer, Path) or name.endswith(".json")
    known = None if is_file_name else _NAMED.get(name) or _NAMED.get(encoding_of(name) or "")
    if known is not None:
        return known
    if not isfile(name):  # noqa: PTH113  a name may be no path at all
        if is_file_name:
            raise TokenizerError(f"{name}: no such tokenizer file", _CHOICES)
        raise OptionError(f"unknown tokenizer {name!r:.80}", _CHOICES, option="tokenizer")
    file = Path(name).resolve()
    return _by_file(name, file, file.stat().st_mtime_ns)


@cache
def _by_file(name: str, file: Path, _modified: int) -> TokenCounter:
    """The counter of a file; another file with the same relative path, or a newer one, has its own."""
    return _counter(name, lambda: _read(name, file))


def _counter(name: str, tokenizer: Callable[[], Any]) -> TokenCounter:
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

    return TokenCounter(name, remembered(count))


def _read(name: str, file: Path) -> Any:
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415  an extra, and heavy
    except ImportError as error:
        raise TokenizerError(f"{name}: reading it needs a package", "run: pip install tokenizers") from error
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the package raises nothing narrower
        raise TokenizerError(
            f"{name}: not a Hugging Face tokenizer.json ({error})", "name that of a model, as it was downloaded"
        ) from error


def _count_with(tokenizer: Any, name: str) -> Count:
    if callable(getattr(tokenizer, "encode_ordinary", None)):  # tiktoken, whose encode refuses special tokens
        return lambda text: len(tokenizer.encode_ordinary(text))
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)  # inside a fast tokenizer of transformers
    if callable(getattr(inner, "no_truncation", None)):
        copy = type(inner).from_str(inner.to_str())
        copy.no_truncation()
        copy.no_padding()
        return lambda text: len(copy.encode(text))

    def count(text: str) -> int:
        ids = tokenizer.encode(text)
        if isinstance(ids, list | tuple):  # embedding models also have ``encode``, and return an array
            return len(ids)
        raise TokenizerError(f"tokenizer {name} encodes text as {type(ids).__name__}", "a list of token ids is needed")

    return count
