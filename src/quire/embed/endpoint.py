"""Any OpenAI-compatible endpoint: batches, retries with growing pauses, a rate limit, a time limit.

The key comes from the environment only, and is never part of a message. Redirects are not followed: the key would go
along.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import time
from collections.abc import Sequence
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from quire.errors import EmbedderError, OptionError, invalid_value

KEY_VARIABLE = "QUIRE_EMBED_KEY"
_OPENAI_HOST, _OPENAI_VARIABLE = "api.openai.com", "OPENAI_API_KEY"
_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_SHOWN = 200


class Endpoint:
    """Embeds with a model behind an endpoint: ``Endpoint("https://api.openai.com/v1", "text-embedding-3-small")``.

    ``time_limit`` is for one batch, with all retries. The key is that of QUIRE_EMBED_KEY; for api.openai.com,
    OPENAI_API_KEY serves, too. No key is sent if there is none.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        version: str = "",
        window: int = 8191,
        batch: int = 128,
        requests_per_minute: float = 0,
        time_limit: float = 300,
    ) -> None:
        self._url, self._host = _checked_url(url)
        if not model:
            raise invalid_value("model", model, "name the model of the endpoint")
        if batch < 1:
            raise invalid_value("batch", batch, "it must be at least 1")
        self.name = model
        self.version = version
        self.window = window
        self.batch = batch
        self._pace = Pace(requests_per_minute)
        self._time_limit = time_limit
        self._open = build_opener(_NoRedirects).open

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text; an endpoint that does not answer in time, or not well, is an EmbedderError."""
        made: list[list[float]] = []
        for first in range(0, len(texts), self.batch):
            some = list(texts[first : first + self.batch])
            body = json.dumps({"model": self.name, "input": some, "encoding_format": "float"}).encode()
            made += self._vectors(self._answer(body), len(some))
        return made

    def _answer(self, body: bytes) -> bytes:
        """The body of the answer, after as many attempts as the time limit allows."""
        deadline = time.monotonic() + self._time_limit
        pause = _FIRST_PAUSE
        time.sleep(self._pace.delay(time.monotonic()))
        while True:
            problem, wait = "", pause
            try:
                left = max(deadline - time.monotonic(), 0.001)
                with self._open(self._request(body), timeout=left) as answer:
                    content: bytes = answer.read()
                    return content
            except HTTPError as error:
                problem = self._said(error)
                if error.code not in _TRY_AGAIN:
                    raise self._error(problem, "check the URL, the model and the key") from None
                wait = _seconds(error.headers.get("Retry-After"), pause)
            except (URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
                problem = f"no answer ({self._hidden(str(getattr(error, 'reason', error)) or type(error).__name__)})"
            if time.monotonic() + wait > deadline:
                raise self._error(problem, f"gave up after {self._time_limit:g} s; try again later") from None
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _request(self, body: bytes) -> Request:
        headers = {"Content-Type": "application/json"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        return Request(self._url, data=body, headers=headers, method="POST")  # noqa: S310  checked: http or https

    def _key(self) -> str:
        names = [KEY_VARIABLE, *([_OPENAI_VARIABLE] if self._host == _OPENAI_HOST else [])]
        return next((value for name in names if (value := os.environ.get(name, "").strip())), "")

    def _vectors(self, answer: bytes, count: int) -> list[list[float]]:
        try:
            items = sorted(json.loads(answer)["data"], key=lambda item: item["index"])
            vectors = [[float(number) for number in item["embedding"]] for item in items]
        except (ValueError, KeyError, TypeError):
            raise self._error("the answer is not a list of embeddings", "is it an OpenAI-compatible URL?") from None
        is_even = len(vectors) == count and len({len(vector) for vector in vectors}) == 1
        if not is_even or not all(vector and all(map(math.isfinite, vector)) for vector in vectors):
            raise self._error(f"the answer does not have {count} vectors of one length", "choose another model")
        return vectors

    def _said(self, error: HTTPError) -> str:
        """Status and message of an answer, on one line."""
        try:
            content = error.read(10_000)
            said = json.loads(content)["error"]["message"]
        except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
            said = error.reason
        return f"status {error.code}: {self._hidden(' '.join(str(said).split()))}"

    def _hidden(self, text: str) -> str:
        """``text`` without the key, which some endpoints repeat, shortened."""
        key = self._key()
        return (text.replace(key, "…") if key else text)[:_SHOWN]

    def _error(self, problem: str, advice: str) -> EmbedderError:
        return EmbedderError(f"{self._url}: {problem}", advice)


class Pace:
    """Spreads requests evenly, so that there are at most so many per minute; 0 for any number."""

    def __init__(self, per_minute: float) -> None:
        if per_minute < 0:
            raise invalid_value("requests_per_minute", per_minute, "it must be at least 0")
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = 0.0

    def delay(self, now: float) -> float:
        """How many seconds the request that is made ``now`` has to wait."""
        start = max(now, self._next)
        self._next = start + self._gap
        return start - now


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Make a redirect an error."""


def _checked_url(url: str) -> tuple[str, str]:
    """The address to post to, and its host."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise OptionError("the endpoint is not a URL", "it must start with https:// or http://", option="endpoint")
    if parts.username or parts.password or parts.query:
        advice = f"put the key into the environment variable {KEY_VARIABLE}"
        raise OptionError("the endpoint's URL has a user, a password or a query", advice, option="endpoint")
    path = parts.path.rstrip("/").removesuffix("/embeddings")
    return f"{parts.scheme}://{parts.netloc}{path}/embeddings", host


def _seconds(text: str | None, otherwise: float) -> float:
    """The seconds in a Retry-After header; a date is not understood."""
    try:
        return max(float(text or ""), 0.0)
    except ValueError:
        return otherwise
