"""Lone surrogates, which UTF-8 cannot hold."""

from __future__ import annotations

import re

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def repaired(text: str) -> str:
    """``text`` with U+FFFD for every lone surrogate, and pairs joined, as tiktoken does before it counts."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
