"""Many documents: on all cores of a machine, or on a cluster. Used by cli/ and index/."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["chunk_batch", "embed_batch", "map_documents"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'quire.run' has no attribute {name!r}")
    home = "engines" if name == "map_documents" else "arrow"
    return getattr(import_module(f"quire.run.{home}"), name)
