"""Texts to vectors: one protocol, a local model, and any OpenAI-compatible endpoint."""

from __future__ import annotations

from quire.embed.embedder import Embedder, FunctionEmbedder, passages, query_vector, resolve, vectors_of
from quire.embed.endpoint import Endpoint
from quire.embed.reranker import Reranker

__all__ = ["Embedder", "Endpoint", "FunctionEmbedder", "Reranker", "passages", "query_vector", "resolve", "vectors_of"]
