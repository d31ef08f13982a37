"""Bytes to ``Source``: the first stage, before ``parsing``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from quire.read.source import decode, make_source, read_file

if TYPE_CHECKING:
    from quire.read.discover import Walk

__all__ = ["Walk", "decode", "make_source", "read_file"]


def __getattr__(name: str) -> Any:
    """``Walk`` is loaded on first use: an index that is up to date needs none."""
    if name == "Walk":
        return import_module("quire.read.discover").Walk
    raise AttributeError(f"module 'quire.read' has no attribute {name!r}")
