"""Text that UTF-8 cannot hold -> text that it can. Neighbours: the engines and tokenizer objects, which take UTF-8."""

from __future__ import annotations

import re

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def repaired(text: str) -> str:
    """``text`` with U+FFFD for every lone surrogate, and pairs joined: what tiktoken does before it counts."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
