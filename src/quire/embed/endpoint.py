"""Models behind endpoints: embeddings as OpenAI serves them, a few requests at once, and rerankers."""

import http.client
import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from string import Template
from threading import Event, Lock
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from quire.embed.embed_settings import EmbedSettings
from quire.errors import EmbedderError, OptionError, invalid_value
from quire.model.options import DEFAULT_TOKENIZER
from quire.model.validation import convert
from quire.tokens.openai_models import encoding_of
from quire.tokens.tokenizers import resolve as counter_of

KEY_VARIABLE, _RERANK_VARIABLE = "QUIRE_EMBED_KEY", "QUIRE_RERANK_KEY"
_OPENAI_HOST, _OPENAI_VARIABLE = "api.openai.com", "OPENAI_API_KEY"
_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_SHOWN = 200
_MOST_CHARACTERS = 20_000  # of a text that is sent to be ranked; models read less
LEAST_WINDOW, _USUAL_WINDOW = 32, 8191
_WINDOW_NAMES = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx", "n_ctx_train")
"""How vLLM, OpenRouter and Together, Mistral and LM Studio, Groq, and llama.cpp (in ``meta``) call it."""


class Endpoint:
    """Embeds with a model behind an endpoint: ``Endpoint("https://api.openai.com/v1", "text-embedding-3-small")``.

    The options are those of ``[embed]`` in quire.toml. The key is that of QUIRE_EMBED_KEY; for api.openai.com,
    OPENAI_API_KEY serves, too. No key is sent if there is none.
    """

    def __init__(self, url: str, model: str, **options: Any) -> None:
        self._settings = settings = convert(EmbedSettings, {**options, "endpoint": url, "model": model})
        self._client = JsonClient(url, "embeddings", KEY_VARIABLE, settings)
        if not model:
            raise invalid_value("model", model, "name the model of the endpoint")
        self.count = counter_of(encoding_of(model), DEFAULT_TOKENIZER).count
        dimensions = f"{settings.dimensions} dimensions" if settings.dimensions else ""
        prefix = f"prefix {settings.passage_prefix!r}" if settings.passage_prefix else ""
        self.name, self.version = model, ", ".join(filter(None, [settings.version, dimensions, prefix]))
        self.batch = settings.batch * settings.requests_at_once
        if settings.window and not self.window >= LEAST_WINDOW:
            raise invalid_value("window", settings.window, f"it must be 0, for no limit, or at least {LEAST_WINDOW}")

    @cached_property
    def window(self) -> int:
        """The tokens that are left for a text: the window of the settings or of the endpoint's table of models."""
        window = self._settings.window
        if window is None:
            window = self._table_window() or _USUAL_WINDOW
        return window and max(window - self.count(self._settings.passage_prefix), 1)

    def _table_window(self) -> int:
        """What ``GET /models`` says about the model; 0 if it says nothing. OpenAI has no such number."""
        client = JsonClient(self._settings.endpoint, "models", KEY_VARIABLE, self._settings, beside="embeddings")
        with suppress(ValueError, KeyError, TypeError):
            models = json.loads(client.send(None, Event()) or "{}")["data"]
            [model] = [model for model in models if model["id"] == self.name]
            said = [{**model, **(model.get("meta") or {})}.get(name) for name in _WINDOW_NAMES]
            return next((size for size in said if isinstance(size, int) and size >= LEAST_WINDOW), 0)
        return 0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text; an endpoint that does not answer in time, or not well, is an EmbedderError."""
        return self._vectors([f"{self._settings.passage_prefix}{text}" for text in texts])

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query."""
        return self._vectors([f"{self._settings.query_prefix}{text}"])[0]

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        stopped = Event()

        def answer_or_stop(batch: list[str]) -> list[list[float]]:
            try:
                return self._answer(stopped, batch)
            except BaseException:
                stopped.set()  # the other requests then return nothing
                raise

        with ThreadPoolExecutor(self._settings.requests_at_once) as threads:
            try:
                return [vector for vectors in threads.map(answer_or_stop, self._batches(texts)) for vector in vectors]
            finally:
                stopped.set()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
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
        content = self._client.send(body, stopped)
        if stopped.is_set():
            return []
        vectors: list[list[float]] = []
        with suppress(ValueError, KeyError, TypeError):
            items = sorted(json.loads(content)["data"], key=lambda item: item["index"])
            vectors = [[float(number) for number in item["embedding"]] for item in items]
        is_even = len(vectors) == len(texts) and len({len(vector) for vector in vectors}) == 1
        if not is_even or not all(vector and all(map(math.isfinite, vector)) for vector in vectors):
            problem = f"the answer does not have {len(texts)} vectors of one length"
            raise self._client.error(problem, "is it an OpenAI-compatible URL, and a model of embeddings?")
        return vectors


class Reranker:
    """Says how well texts answer a query, as Cohere and Jina serve it, or TEI, which needs no name of a model."""

    def __init__(self, url: str, model: str = "") -> None:
        self._client = JsonClient(url, "rerank", _RERANK_VARIABLE, EmbedSettings())
        self._model = model

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text."""
        cut = [text[:_MOST_CHARACTERS] for text in texts]
        form = {"model": self._model, "documents": cut} if self._model else {"texts": cut, "truncate": True}
        content = self._client.send({"query": query, **form}, Event())
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            answer = json.loads(content)
            items = answer if isinstance(answer, list) else answer["results"]
            scores = {item["index"]: float(item.get("relevance_score", item.get("score"))) for item in items}
            ranked = [scores[index] for index in range(len(texts))]
            if all(map(math.isfinite, ranked)):
                return ranked
        raise self._client.error("the answer does not have one number per text", "is it a reranker?")


class JsonClient:
    """Sends JSON to ``url``/``name``: retries with growing pauses, a rate limit, a time limit.

    The key is in the environment variable ``key``, and never part of a message. Redirects are not followed: the key
    would go along.
    """

    def __init__(self, url: str, name: str, key: str, settings: EmbedSettings, beside: str = "") -> None:
        self.url, host = _checked_url(url, name, key, beside)
        self._keys = [key, _OPENAI_VARIABLE] if host == _OPENAI_HOST else [key]
        self._headers, self._time_limit = settings.headers, settings.time_limit
        self._gap = 60 / settings.requests_per_minute if settings.requests_per_minute else 0.0
        self._next, self._lock = 0.0, Lock()  # when the next request may be made
        self._open = build_opener(_NoRedirects).open

    def send(self, body: dict[str, Any] | None, stopped: Event) -> bytes:
        """The answer, after as many attempts as the time limit allows; empty once ``stopped`` is set.

        Without a body it is a GET request; if that is refused, the answer is empty.
        """
        deadline, pause = time.monotonic() + self._time_limit, _FIRST_PAUSE
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self._secret_headers()}
        request = Request(self.url, data=data, headers=headers)  # noqa: S310  checked: http or https
        delay = self.rate_delay(time.monotonic())
        while not stopped.wait(delay):
            delay = pause
            try:
                left = max(deadline - time.monotonic(), 0.001)
                with self._open(request, timeout=left) as answer:
                    return bytes(answer.read())
            except HTTPError as error:
                with error:
                    problem = self._said(error)
                if error.code not in _TRY_AGAIN:
                    if body is None:
                        return b""
                    raise self.error(problem, "check the URL, the model and the key") from None
                with suppress(ValueError):  # a date is not understood
                    delay = max(float(error.headers.get("Retry-After") or pause), 0.0)
            except ValueError:  # its message would show the value
                raise self.error("the key or a header is no text that can be sent", "correct it") from None
            except (URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
                problem = f"no answer ({self._hidden(str(getattr(error, 'reason', error)) or type(error).__name__)})"
            if time.monotonic() + delay > deadline:
                raise self.error(problem, f"gave up after {self._time_limit:g} s; try again later") from None
            pause = min(2 * pause, _LONGEST_PAUSE)
        return b""

    def rate_delay(self, now: float) -> float:
        """How many seconds the request that is made ``now`` has to wait, so that requests are spread evenly."""
        with self._lock:
            start = max(now, self._next)
            self._next = start + self._gap
        return start - now

    def error(self, problem: str, advice: str) -> EmbedderError:
        """An error of this endpoint."""
        return EmbedderError(f"{self.url}: {problem}", advice)

    def _secret_headers(self) -> dict[str, str]:
        """The key, and the headers of the settings with the values of environment variables."""
        keys = [value for name in self._keys if (value := os.environ.get(name, "").strip())]
        headers = {"Authorization": f"Bearer {keys[0]}"} if keys else {}
        for header in self._headers:
            name, _, value = header.partition(":")
            try:
                headers[name] = Template(value.strip()).substitute(os.environ).strip()
            except KeyError as error:
                problem = f"the header {name} needs the environment variable {error.args[0]}"
                raise self.error(problem, "set it") from None
            except ValueError:
                raise self.error(f"the header {name} has a $ without a name", "write $$ for a $") from None
        return headers

    def _said(self, error: HTTPError) -> str:
        """Status and message of an answer, on one line."""
        try:
            said = json.loads(error.read(10_000))["error"]["message"]
        except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
            said = error.reason
        return f"status {error.code}: {self._hidden(' '.join(str(said).split()))}"

    def _hidden(self, text: str) -> str:
        """``text`` without keys, which some endpoints repeat, shortened."""
        for secret in filter(None, self._secret_headers().values()):
            text = text.replace(secret.removeprefix("Bearer "), "…")
        return text[:_SHOWN]


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None: ...


def _checked_url(url: str, name: str, key: str, beside: str) -> tuple[str, str]:
    """The address to send to, and its host. ``url`` may end with the name, or with that of the one ``beside`` it."""
    with suppress(ValueError):
        parts = urlsplit(url)
        is_secret = parts.username or parts.password or (parts.query and not parts.query.startswith("api-version="))
        if parts.scheme in ("http", "https") and parts.hostname and not is_secret:
            path = parts.path.rstrip("/").removesuffix(f"/{beside or name}")
            return parts._replace(path=f"{path}/{name}", fragment="").geturl(), parts.hostname
    advice = f"it starts with https:// or http://; put the key into the environment variable {key}"
    raise OptionError("the endpoint is not a URL without user, password and query", advice, option="endpoint")
