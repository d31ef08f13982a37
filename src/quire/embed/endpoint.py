"""Models behind endpoints: embeddings as OpenAI serves them, a few requests at once; rerankers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import Any

from quire.counter import encoding_of
from quire.embed.http_client import JsonClient
from quire.embed_settings import EmbedSettings
from quire.errors import invalid_value
from quire.options import DEFAULT_TOKENIZER
from quire.size import resolve as counter_of
from quire.validation import convert

KEY_VARIABLE, _RERANK_KEY_VARIABLE = "QUIRE_EMBED_KEY", "QUIRE_RERANK_KEY"
_OPENAI_HOST, _OPENAI_VARIABLE = "api.openai.com", "OPENAI_API_KEY"
_MOST_CHARACTERS = 20_000
"""Of a text that is sent to a reranker; models read less."""


class Endpoint:
    """Embeds with a model behind an endpoint: ``Endpoint("https://api.openai.com/v1", "text-embedding-3-small")``.

    The options are those of ``[embed]`` in quire.toml. The key is that of QUIRE_EMBED_KEY; for api.openai.com,
    OPENAI_API_KEY serves, too. No key is sent if there is none.
    """

    def __init__(self, url: str, model: str, **options: Any) -> None:
        self._settings = settings = convert(EmbedSettings, {**options, "endpoint": url, "model": model})
        self._client = JsonClient(
            url,
            "embeddings",
            keys=[KEY_VARIABLE],
            headers=settings.headers,
            per_minute=settings.requests_per_minute,
            time_limit=settings.time_limit,
        )
        if self._client.host == _OPENAI_HOST:
            self._client.keys = [KEY_VARIABLE, _OPENAI_VARIABLE]
        if not model:
            raise invalid_value("model", model, "name the model of the endpoint")
        self.count = counter_of(encoding_of(model), DEFAULT_TOKENIZER).count
        self.name = model
        self.version = _version(settings)
        self.window = settings.window and max(settings.window - self.count(settings.passage_prefix), 1)
        self.batch = settings.batch * settings.requests_at_once

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text; an endpoint that does not answer in time, or not well, is an EmbedderError."""
        return self._vectors([f"{self._settings.passage_prefix}{text}" for text in texts])

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query."""
        return self._vectors([f"{self._settings.query_prefix}{text}"])[0]

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        stopped = Event()
        with ThreadPoolExecutor(self._settings.requests_at_once) as threads:
            try:
                answers = threads.map(partial(self._answer_or_stop, stopped), self._batches(texts))
                return [vector for vectors in answers for vector in vectors]
            finally:
                stopped.set()

    def _answer_or_stop(self, stopped: Event, texts: list[str]) -> list[list[float]]:
        """The vectors of a batch; an error stops all other requests, which then return nothing."""
        try:
            return self._answer(stopped, texts)
        except BaseException:
            stopped.set()
            raise

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The texts of each request, in order."""
        batch: list[str] = []
        tokens = 0
        for text in texts:
            size = self.count(text)
            if batch and (len(batch) == self._settings.batch or tokens + size > self._settings.batch_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch

    def _answer(self, stopped: Event, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self.name, "input": texts, "encoding_format": "float"}
        if self._settings.dimensions:
            body["dimensions"] = self._settings.dimensions
        if (answer := self._client.post(body, stopped)) is None and stopped.is_set():
            return []
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            vectors = [[float(number) for number in item["embedding"]] for item in items]
        except (ValueError, KeyError, TypeError):
            advice = "is it an OpenAI-compatible URL?"
            raise self._client.error("the answer is not a list of embeddings", advice) from None
        is_even = len(vectors) == len(texts) and len({len(vector) for vector in vectors}) == 1
        if not is_even or not all(vector and all(map(math.isfinite, vector)) for vector in vectors):
            problem = f"the answer does not have {len(texts)} vectors of one length"
            raise self._client.error(problem, "choose another model")
        return vectors


def _version(settings: EmbedSettings) -> str:
    """The version with all else that vectors depend on."""
    dimensions = f"{settings.dimensions} dimensions" if settings.dimensions else ""
    prefix = f"prefix {settings.passage_prefix!r}" if settings.passage_prefix else ""
    return ", ".join(filter(None, [settings.version, dimensions, prefix]))


class Reranker:
    """Says how well texts answer a query, as Cohere and Jina serve it, or TEI, which needs no name of a model."""

    def __init__(self, url: str, model: str = "") -> None:
        self._client = JsonClient(url, "rerank", keys=[_RERANK_KEY_VARIABLE])
        self._model = model

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text."""
        cut = [text[:_MOST_CHARACTERS] for text in texts]
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
