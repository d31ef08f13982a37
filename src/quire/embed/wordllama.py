"""wordllama: static vectors of 256 numbers, offline, a thousand texts per second on one core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

_TEXTS, _TOKENS = 64, 65_536
"""How many texts are tokenized, and how many tokens added up at a time; they limit the memory."""


class WordLlama:
    """The model whose weights are in the package. It reads any number of tokens."""

    name = "wordllama-l2-supercat-256"
    window = 0
    batch = 2048

    def __init__(self) -> None:
        # Not imported: it has compiled code, which some platforms lack, and sets the level of the root logger.
        package = find_spec("wordllama")
        if package is None or not package.submodule_search_locations:
            raise ModuleNotFoundError(name="wordllama")
        folder = Path(package.submodule_search_locations[0])
        self.version = version("wordllama")
        weights = load_file(folder / "weights" / "l2_supercat_256.safetensors")
        self._table = weights["embedding.weight"].astype(np.float32)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def embed(self, texts: Sequence[str]) -> Any:
        """Vectors of length 1: the mean of the vectors of a text's tokens.

        wordllama's own ``embed`` pads all texts of a batch to the longest, which takes several times as long, and
        memory for as many copies of it.
        """
        vectors = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for first in range(0, len(texts), _TEXTS):
            encoded = self._tokenizer.encode_batch(list(texts[first : first + _TEXTS]), add_special_tokens=False)
            for row, tokens in enumerate(encoded, start=first):
                ids = np.minimum(tokens.ids, len(self._table) - 1)
                for at in range(0, len(ids), _TOKENS):
                    vectors[row] += self._table[ids[at : at + _TOKENS]].sum(axis=0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths == 0, 1, lengths)


load = cache(WordLlama)
