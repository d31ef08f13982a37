"""Static models: a text's vector is the mean of the vectors of its tokens. No network, no GPU."""

import json
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load
from tokenizers import Tokenizer

from quire.errors import EmbedderError

_TEXTS, _TOKENS = 64, 65_536
"""How many texts are tokenized, and how many tokens added up at a time; they limit the memory."""


class StaticModel:
    """A model of two files. It reads any number of tokens."""

    window = 0
    batch = 2048

    def __init__(self, weights: Path, tokenizer: Path, name: str, version: str = "") -> None:
        try:
            data, tokens = weights.read_bytes(), tokenizer.read_bytes()
            tensors, model = load(data), json.loads(tokens)["model"]
            self._vectors = tensors["embedding.weight" if "embedding.weight" in tensors else "embeddings"]
            self._rows, self._weights = tensors.get("mapping"), tensors.get("weights")
            self._tokenizer = Tokenizer.from_buffer(tokens)
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            advice = "name a folder with model.safetensors and tokenizer.json, as model2vec saves them"
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise EmbedderError(f"{weights.parent}: not a static model: {reason}", advice) from error
        self._unknown = model["unk_id"] if "unk_id" in model else self._tokenizer.token_to_id(model["unk_token"] or "")
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.name, self.version = name, version or blake2b(data + tokens, digest_size=6).hexdigest()

    def embed(self, texts: Sequence[str]) -> Any:
        """Vectors of length 1. Tokens that the model does not know are left out."""
        vectors = np.zeros((len(texts), self._vectors.shape[1]), dtype=np.float32)
        for first in range(0, len(texts), _TEXTS):
            encoded = self._tokenizer.encode_batch(list(texts[first : first + _TEXTS]), add_special_tokens=False)
            for row, tokens in enumerate(encoded, start=first):
                ids = np.array([id_ for id_ in tokens.ids if id_ != self._unknown], dtype=np.int64)
                for at in range(0, len(ids), _TOKENS):
                    some = ids[at : at + _TOKENS]
                    rows = some if self._rows is None else self._rows[some]
                    found = self._vectors[np.minimum(rows, len(self._vectors) - 1)]
                    weighted = found if self._weights is None else found * self._weights[some][:, None]
                    vectors[row] += weighted.sum(axis=0, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths == 0, 1, lengths)


@cache
def load_wordllama() -> StaticModel:
    """The model whose files are in the package wordllama, read without its own code: that is slower."""
    package = find_spec("wordllama")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError(name="wordllama")
    folder = Path(package.submodule_search_locations[0])
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return StaticModel(weights, tokenizer, "wordllama-l2-supercat-256", version("wordllama"))


@cache
def load_folder(folder: Path) -> StaticModel:
    """The model of a folder, named by it; its version is a hash of its files."""
    return StaticModel(folder / "model.safetensors", folder / "tokenizer.json", folder.resolve().name)
