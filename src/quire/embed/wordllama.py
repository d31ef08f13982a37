"""wordllama: static vectors of 256 numbers, offline, hundreds of texts per second on one core."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from quire.errors import MissingExtraError

try:
    import wordllama
except ImportError as error:
    raise MissingExtraError("wordllama", error.name) from error


class WordLlama:
    """The model whose weights are in the package. It reads any number of tokens."""

    name = "wordllama-l2-supercat-256"
    window = 0
    batch = 2048

    def __init__(self) -> None:
        self.version = version("wordllama")
        # Without these arguments it looks in another folder and downloads what is already there.
        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed(self, texts: Sequence[str]) -> Any:
        """Vectors of length 1."""
        return self._model.embed(list(texts), norm=True)


def load() -> WordLlama:
    """The embedder."""
    return WordLlama()
