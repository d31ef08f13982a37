"""Many documents: on all cores of a machine, or on a cluster. Used by cli/ and index/.

arrow.py          ``chunk_batch``: a record batch of documents to one of chunks, for any engine that runs on Arrow
documents.py      ``map_documents``: a function over the documents of a folder or URL, here or on a cluster
parts.py          the parts of such a run: listing, reading, writing
ray_engine.py     the engine ``ray``
workers.py        how many processes to start, and which batches of documents they get
process_pool.py   runs a function over the batches in several processes; results in order
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["chunk_batch", "embed_batch", "map_documents"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'quire.run' has no attribute {name!r}")
    home = "documents" if name == "map_documents" else "arrow"
    return getattr(import_module(f"quire.run.{home}"), name)
