"""What the tests of ``quire.tokens`` share: the reference and the documents."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support import shared

ENCODINGS = ("o200k_base", "cl100k_base")


def _rank_files() -> Path | None:
    """litellm's folder of rank files, found without importing litellm."""
    spec = importlib.util.find_spec("litellm")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / "litellm_core_utils" / "tokenizers" if places else None


@pytest.fixture(scope="session")
def reference() -> Callable[[str], Callable[[str], int]]:
    """tiktoken itself, with the rank files as OpenAI publishes them: an encoding's name -> a counting function."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken, the reference, is not installed")
    folder = _rank_files()
    if folder is None or not folder.is_dir():
        pytest.skip("litellm, which brings tiktoken's rank files, is not installed")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)

    def counting(name: str) -> Callable[[str], int]:
        encode = tiktoken.get_encoding(name).encode_ordinary
        return lambda text: len(encode(text))

    return counting


@pytest.fixture(scope="session")
def documents() -> list[str]:
    """Every Markdown document of the shared data."""
    return [data.decode() for name, data in shared.documents() if name.endswith(".md")]
