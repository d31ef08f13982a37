"""Vector stores kept in step with documents: ``sync`` writes what changed and nothing else.

sync_engine.py  what to embed, to use again and to delete; the order that survives a kill
mirror.py       the rows and the log of documents that a store has; generations
store.py        its rows, one per chunk or passage; the calls that a store has; ``lancedb:DIR#TABLE`` and the like
lancedb.py, pgvector.py, chroma.py, qdrant.py   one module per store
"""

from __future__ import annotations

from quire.stores.store import Store
from quire.stores.sync_engine import SyncReport, sync, sync_parts

__all__ = ["Store", "SyncReport", "sync", "sync_parts"]
