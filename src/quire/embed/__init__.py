"""Texts to vectors: one protocol, and one module per provider.

embedder.py     the protocol; what an embedder may be; texts longer than a model's window
wordllama.py    static vectors, offline
endpoint.py     any OpenAI-compatible endpoint; rerankers
http_client.py  requests to endpoints
"""

from __future__ import annotations

from quire.embed.embedder import Embedder, FunctionEmbedder, passages, query_vector, resolve, vectors_of
from quire.embed.endpoint import Endpoint, Reranker

__all__ = ["Embedder", "Endpoint", "FunctionEmbedder", "Reranker", "passages", "query_vector", "resolve", "vectors_of"]
