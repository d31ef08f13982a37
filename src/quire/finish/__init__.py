"""Pieces to Chunks: ids, breadcrumbs, positions. Before: split/. After: the caller, check.py and the writers."""

from __future__ import annotations

from quire.finish.assemble import assemble

__all__ = ["assemble"]
