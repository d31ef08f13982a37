"""Pieces to chunks.

assemble.py  every field of a chunk, with the breadcrumb above its text and the ids
guard.py     chunks that are not worth embedding
"""

from quire.finish.assemble import assemble
from quire.finish.guard import guarded

__all__ = ["assemble", "guarded"]
