"""Document to Pieces: one file a strategy. Before: parsing/. After: finish/."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quire.model import Strategy
from quire.split.flow import flow
from quire.split.packed import packed
from quire.split.sections import sections
from quire.split.tree import tree

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {"packed": packed, "flow": flow, "sections": sections, "tree": tree},
)
"""Every strategy by its name."""
