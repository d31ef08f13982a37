"""The protocol of an embedder, and how a text longer than its window becomes passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from quire.errors import invalid_value
from quire.options import DEFAULT_TOKENIZER
from quire.pipeline import chunk
from quire.size import resolve as counter_of

NAMES = ("wordllama", "minilm")
"""The embedders that have a name."""

_LEAST_WINDOW = 32


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    An embedder may also have ``count(text)``, the tokens of a text as ``window`` counts them (by default those of
    ``o200k_base``), and ``batch``, how many texts to embed at a time.
    """

    name: str
    """The model. Vectors of different models are never mixed."""
    version: str
    """The model's version. Another version is another model."""
    window: int
    """How many tokens of a text the model reads; 0 for any number."""

    def embed(self, texts: Sequence[str]) -> Any:
        """An array with one row per text."""


class FunctionEmbedder:
    """An embedder made of any function from a list of texts to their vectors."""

    def __init__(
        self, function: Callable[[list[str]], Any], *, name: str = "", version: str = "", window: int = 0
    ) -> None:
        self._function = function
        self.name = name or getattr(function, "__qualname__", type(function).__name__)
        self.version = version
        self.window = window

    def embed(self, texts: Sequence[str]) -> Any:
        """The function's result."""
        return self._function(list(texts))


def resolve(embedder: object) -> Embedder:
    """The embedder of that name, the embedder itself, or one made of a function."""
    if isinstance(embedder, str):
        if embedder not in NAMES:
            rule = f"choose {' or '.join(NAMES)}, or give quire.embed.Endpoint(url, model), an embedder or a function"
            raise invalid_value("embedder", embedder, rule)
        made: Embedder = import_module(f"quire.embed.{embedder}").load()
        return made
    if not isinstance(embedder, Embedder):
        if not callable(embedder):
            rule = "it must be a name, a function, or have embed, name, version and window"
            raise invalid_value("embedder", embedder, rule)
        embedder = FunctionEmbedder(embedder)
    if embedder.window and embedder.window < _LEAST_WINDOW:
        raise invalid_value("window", embedder.window, f"it must be 0, for no limit, or at least {_LEAST_WINDOW}")
    return embedder


def passages(text: str, embedder: Embedder) -> list[str]:
    """The text, or its parts if it is longer than the embedder's window. They are in order, and none is too long."""
    window = embedder.window
    if not window or len(text.encode("utf-8", "replace")) <= window:  # a token has at least one byte
        return [text]
    count = getattr(embedder, "count", None) or counter_of(None, DEFAULT_TOKENIZER).count
    if count(text) <= window:
        return [text]
    sizes: Any = {"target_tokens": window, "max_tokens": window, "min_tokens": 0}
    made = chunk(text, path="", title="", syntax="text", tokenizer=count, breadcrumb_mode="none", **sizes)
    spans = [each.source_position for each in made]
    return [text[span.char_start : span.char_end] for span in spans] or [text]
