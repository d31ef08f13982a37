"""Pieces to chunks.

assemble.py         every field of a chunk, and the ids
breadcrumb_mode.py  which breadcrumb goes above its text
guard.py            chunks that are not worth embedding
"""

from quire.finish.assemble import assemble
from quire.finish.guard import guarded

__all__ = ["assemble", "guarded"]
