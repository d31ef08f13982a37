"""Many documents: on all cores of a machine, or on a cluster. Used by cli/ and index/."""

from quire import lazy_names

__all__, __getattr__ = lazy_names(
    __name__, {"engines": "map_documents", "dataset": "chunk_batch chunk_schema embed_batch"}
)
