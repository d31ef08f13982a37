"""Posts JSON to an endpoint: retries with growing pauses, a rate limit, a time limit.

Keys come from the environment only, and are never part of a message. Redirects are not followed: the key would go
along.
"""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Sequence
from string import Template
from threading import Event, Lock
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from quire.errors import EmbedderError, OptionError

_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_SHOWN = 200


class JsonClient:
    """Posts to ``url``/``name``. The key is in the first of the environment variables ``keys`` that is set.

    ``time_limit`` is for one request, with all retries.
    """

    def __init__(
        self,
        url: str,
        name: str,
        *,
        keys: Sequence[str],
        headers: Sequence[str] = (),
        per_minute: float = 0,
        time_limit: float = 300,
    ) -> None:
        self.url, self.host = _checked_url(url, name, keys[0])
        self.keys = keys
        self._headers = headers
        self._pace = Pace(per_minute)
        self._time_limit = time_limit
        self._open = build_opener(_NoRedirects).open

    def post(self, body: dict[str, Any], stopped: Event) -> Any:
        """The JSON of the answer, after as many attempts as the time limit allows; None once ``stopped`` is set."""
        deadline = time.monotonic() + self._time_limit
        pause = _FIRST_PAUSE
        wait = self._pace.delay(time.monotonic())
        request = self._request(body)
        while not stopped.wait(wait):
            wait = pause
            try:
                left = max(deadline - time.monotonic(), 0.001)
                with self._open(request, timeout=left) as answer:
                    return self._json(answer.read())
            except HTTPError as error:
                with error:
                    problem = self._said(error)
                if error.code not in _TRY_AGAIN:
                    raise self.error(problem, "check the URL, the model and the key") from None
                wait = _seconds(error.headers.get("Retry-After"), pause)
            except ValueError:  # its message would show the value
                raise self.error("the key or a header is no text that can be sent", "correct it") from None
            except (URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
                problem = f"no answer ({self._hidden(str(getattr(error, 'reason', error)) or type(error).__name__)})"
            if time.monotonic() + wait > deadline:
                raise self.error(problem, f"gave up after {self._time_limit:g} s; try again later") from None
            pause = min(2 * pause, _LONGEST_PAUSE)
        return None

    def _json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError:
            raise self.error("the answer is not JSON", "check the URL") from None

    def error(self, problem: str, advice: str) -> EmbedderError:
        """An error of this endpoint."""
        return EmbedderError(f"{self.url}: {problem}", advice)

    def _request(self, body: dict[str, Any]) -> Request:
        headers = {"Content-Type": "application/json"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        headers |= dict(map(self._header, self._headers))
        data = json.dumps(body).encode()
        return Request(self.url, data=data, headers=headers, method="POST")  # noqa: S310  checked: http or https

    def _key(self) -> str:
        return next((value for name in self.keys if (value := os.environ.get(name, "").strip())), "")

    def _header(self, header: str) -> tuple[str, str]:
        """The name and the value, with the values of environment variables."""
        name, _, value = header.partition(":")
        try:
            return name, Template(value.strip()).substitute(os.environ).strip()
        except KeyError as error:
            problem = f"the header {name} needs the environment variable {error.args[0]}"
            raise self.error(problem, "set it") from None
        except ValueError:
            raise self.error(f"the header {name} has a $ without a name", "write $$ for a $") from None

    def _said(self, error: HTTPError) -> str:
        """Status and message of an answer, on one line."""
        try:
            said = json.loads(error.read(10_000))["error"]["message"]
        except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
            said = error.reason
        return f"status {error.code}: {self._hidden(' '.join(str(said).split()))}"

    def _hidden(self, text: str) -> str:
        """``text`` without keys, which some endpoints repeat, shortened."""
        for secret in filter(None, [self._key(), *(self._header(header)[1] for header in self._headers)]):
            text = text.replace(secret, "…")
        return text[:_SHOWN]


class Pace:
    """Spreads requests evenly, so that there are at most so many per minute; 0 for any number."""

    def __init__(self, per_minute: float) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = Lock()

    def delay(self, now: float) -> float:
        """How many seconds the request that is made ``now`` has to wait."""
        with self._lock:
            start = max(now, self._next)
            self._next = start + self._gap
        return start - now


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Make a redirect an error."""


def _checked_url(url: str, name: str, key: str) -> tuple[str, str]:
    """The address to post to, and its host."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise OptionError("the endpoint is not a URL", "it must start with https:// or http://", option="endpoint")
    if parts.username or parts.password or (parts.query and not parts.query.startswith("api-version=")):
        advice = f"put the key into the environment variable {key}"
        raise OptionError("the endpoint's URL has a user, a password or a query", advice, option="endpoint")
    path = parts.path.rstrip("/").removesuffix(f"/{name}")
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{path}/{name}{query}", host


def _seconds(text: str | None, otherwise: float) -> float:
    """The seconds in a Retry-After header; a date is not understood."""
    try:
        return max(float(text or ""), 0.0)
    except ValueError:
        return otherwise
