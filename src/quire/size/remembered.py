"""What was counted lately is not counted again. Used by custom.py and objects.py, whose counters may take long.

The same text is asked about more than once: whether it fits, how many tokens it has, how many it has to embed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_MOST = 1024
"""So many texts are remembered."""
_LONGEST = 16_384
"""Longer texts are rarely asked about twice, and would take much memory."""


def remembered(count: Callable[[str], int]) -> Callable[[str], int]:
    """``count``, which must always give the same answer, asked once about a text."""
    known = lru_cache(maxsize=_MOST)(count)
    return lambda text: known(text) if len(text) <= _LONGEST else count(text)
