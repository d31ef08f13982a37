"""Pieces to Chunks. Before: split/. After: the caller, check/ and the writers.

ids.py        what chunks are called
place.py      where they stand, below which headings, what kinds of block they hold
embed.py      when the breadcrumb stands above the text
assemble.py   everything that is known of a chunk, put together
guard.py      chunks that are not worth embedding
"""

from __future__ import annotations

from quire.finish.assemble import assemble
from quire.finish.guard import guarded
from quire.normalize import normalized

__all__ = ["assemble", "guarded", "normalized"]
