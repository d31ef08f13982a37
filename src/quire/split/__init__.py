"""Document to Pieces: one file a strategy. Before: parsing/. After: finish/."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quire.model import Strategy
from quire.split.tree import tree

STRATEGIES: Mapping[str, Strategy] = MappingProxyType({"tree": tree})
"""Every strategy by its name."""
