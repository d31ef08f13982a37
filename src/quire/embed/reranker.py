"""A model behind an endpoint that says how well texts answer a query, as Cohere, Jina and TEI serve it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from threading import Event
from typing import Any

from quire.embed.http_client import JsonClient

KEY_VARIABLE = "QUIRE_RERANK_KEY"
_LONGEST = 20_000
"""Characters of a text that are sent; rerankers read less."""


class Reranker:
    """Scores texts by a model. Without the name of one, requests have the form of TEI, which serves one model."""

    def __init__(self, url: str, model: str = "") -> None:
        self._client = JsonClient(url, "rerank", keys=[KEY_VARIABLE])
        self._model = model

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text."""
        cut = [text[:_LONGEST] for text in texts]
        form = {"model": self._model, "documents": cut} if self._model else {"texts": cut, "truncate": True}
        answer: Any = self._client.post({"query": query, **form}, Event())
        try:
            items = answer if isinstance(answer, list) else answer["results"]
            scores = {item["index"]: float(item.get("relevance_score", item.get("score"))) for item in items}
            ranked = [scores[index] for index in range(len(texts))]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._client.error("the answer does not have one score per text", "is it a reranker?") from None
        if not all(map(math.isfinite, ranked)):
            raise self._client.error("the answer has scores that are no numbers", "choose another model")
        return ranked
