"""Texts to vectors: one protocol, a local model, and any OpenAI-compatible endpoint."""

from quire import lazy_names

__all__, __getattr__ = lazy_names(
    __name__,
    {"embedder": "Embedder FunctionEmbedder passages resolve", "endpoint": "Endpoint Reranker"},
)
