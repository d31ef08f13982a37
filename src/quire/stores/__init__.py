"""Vector stores kept in step with documents: ``sync`` writes what changed and nothing else. One module per store."""

from quire.stores.node_index import NodeIndex
from quire.stores.node_rows import Copied, copy_nodes
from quire.stores.read_nodes import copy_documents
from quire.stores.store import Store
from quire.stores.sync_documents import Documents, SyncReport, sync

__all__ = ["Copied", "Documents", "NodeIndex", "Store", "SyncReport", "copy_documents", "copy_nodes", "sync"]
