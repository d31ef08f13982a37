"""Rerankers behind endpoints: how well each text answers a query."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from threading import Event

from quire.embed.embed_settings import EmbedSettings
from quire.embed.endpoint import JsonClient

_KEY_VARIABLE = "QUIRE_RERANK_KEY"
_MOST_CHARACTERS = 20_000  # of a text that is sent; models read less


class Reranker:
    """Says how well texts answer a query, as Cohere and Jina serve it, or TEI, which needs no name of a model."""

    def __init__(self, url: str, model: str = "") -> None:
        self._client = JsonClient(url, "rerank", _KEY_VARIABLE, EmbedSettings())
        self._model = model

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text."""
        cut = [text[:_MOST_CHARACTERS] for text in texts]
        form = {"model": self._model, "documents": cut} if self._model else {"texts": cut, "truncate": True}
        content = self._client.send({"query": query, **form}, Event())
        try:
            answer = json.loads(content)
            items = answer if isinstance(answer, list) else answer["results"]
            scores = {item["index"]: float(item.get("relevance_score", item.get("score"))) for item in items}
            ranked = [scores[index] for index in range(len(texts))]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._client.error("the answer does not have one score per text", "is it a reranker?") from None
        if not all(map(math.isfinite, ranked)):
            raise self._client.error("the answer has scores that are no numbers", "choose another model")
        return ranked
