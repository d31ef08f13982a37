"""Which package counts in bulk. Neighbours: encodings.py asks; one module an engine.

toktok-rs is the fastest. It has no wheel for Windows on ARM and for musl, where splintr-rs has one; both carry their
vocabulary. tiktoken is what many have already; it counts with quire's copy of the vocabulary. None needs a network.
"""

from __future__ import annotations

from collections.abc import Callable

from quire.errors import TokenizerError
from quire.size import splintr_engine, tiktoken_engine, toktok_engine

ENGINES: tuple[Callable[[str], Callable[[str], int]], ...] = (
    toktok_engine.load,
    splintr_engine.load,
    tiktoken_engine.load,
)
"""The best first; each raises ImportError where its package is missing."""


def load(encoding: str) -> Callable[[str], int]:
    """A function that counts tokens of ``encoding``; takes a while."""
    for engine in ENGINES:
        try:
            return engine(encoding)
        except ImportError:  # the next one will do, at another speed
            continue
    raise TokenizerError(
        f"counting tokens of {encoding} takes a package that is not installed",
        "run: pip install toktok-rs (or splintr-rs, or tiktoken), or count with tokenizer='estimate'",
    )
