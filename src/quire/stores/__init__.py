"""Vector stores kept in step with documents: ``sync`` writes what changed and nothing else.

sync_engine.py  what to embed, to use again and to delete; the order that survives a kill
run_sync.py     the same for parts that other processes or machines cut and embed: ``quire run --to``
documents.py    the documents of a folder, with a hash that says whether they changed
row.py          what a store gets: one row per chunk, or per passage of a long one
target.py       ``lancedb:DIR#TABLE`` and the like; the interface of a store
lancedb.py, pgvector.py, chroma.py, qdrant.py   one module per store
"""

from __future__ import annotations

from quire.stores.documents import documents
from quire.stores.sync_engine import SyncReport, sync, sync_documents
from quire.stores.target import Store

__all__ = ["Store", "SyncReport", "documents", "sync", "sync_documents"]
