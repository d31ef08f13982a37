"""quire beside what a user would pick instead: one file a peer, one judge of what went wrong, one clock.

record      what a peer is, and what it makes of a document
own, …      a file for each: quire itself, and the others by their names
truth       a document as an independent parser sees it
align       where the text of chunks stands in it
judge       what went wrong
speed       how long it took
tokenizers  quire with counters that it knows nothing of
plot        the picture
report      the page
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.record import Peer

MODULES = ("own", "semantic_text_splitter", "langchain", "llama_index", "chonkie", "semchunk", "haystack")


def load() -> tuple[list[Peer], dict[str, str]]:
    """The peers that are installed, and why the others are not here."""
    _offline()
    peers: list[Peer] = []
    gaps: dict[str, str] = {}
    for name in MODULES:
        try:
            module = importlib.import_module(f"benchmarks.peers.{name}")
        except ImportError as error:
            gaps[name.replace("_", "-")] = f"not installed: {error}"
        else:
            peers += module.PEERS
    return peers, gaps


def rank_files() -> Path | None:
    """The vocabularies of tiktoken: litellm's wheel has them. Found without importing it."""
    spec = importlib.util.find_spec("litellm")
    places: Sequence[str] | None = spec.submodule_search_locations if spec else None
    folder = Path(places[0]) / "litellm_core_utils" / "tokenizers" if places else None
    return folder if folder is not None and folder.is_dir() else None


def _offline() -> None:
    """Nothing is fetched, nothing is reported home."""
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    os.environ["HF_HUB_OFFLINE"] = "1"
    folder = rank_files()
    if folder is not None:
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
