"""wordllama: static vectors of 256 numbers, offline, a thousand texts per second on one core."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from quire.embed.static_model import StaticModel


@cache
def load() -> StaticModel:
    """The model whose files are in the package, read without wordllama's own code.

    That has compiled parts, which some platforms lack, sets the level of the root logger, and pads all texts of a batch
    to the longest, which takes several times as long.
    """
    package = find_spec("wordllama")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError(name="wordllama")
    folder = Path(package.submodule_search_locations[0])
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return StaticModel(weights, tokenizer, "wordllama-l2-supercat-256", version("wordllama"))
