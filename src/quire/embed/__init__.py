"""Texts to vectors: one protocol, and one module per provider.

embedder.py    the protocol; what an embedder may be; texts longer than a model's window
wordllama.py   static vectors, offline
minilm.py      all-MiniLM-L6-v2, offline
endpoint.py    any OpenAI-compatible endpoint
"""

from __future__ import annotations

from quire.embed.embedder import Embedder, FunctionEmbedder, passages, resolve
from quire.embed.endpoint import Endpoint

__all__ = ["Embedder", "Endpoint", "FunctionEmbedder", "passages", "resolve"]
