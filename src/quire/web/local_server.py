"""A server on this machine: listening, running, limits of time and connections, and which requests come from here.

No web page can reach it through a browser. A connection that is slow to send a request or to read an answer is closed.
"""

import asyncio
import os
import re
import socket
from collections.abc import Callable
from secrets import compare_digest
from threading import Timer
from types import FrameType
from typing import Any

import h11
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from quire.errors import OptionError

SECONDS = {h11.IDLE: 10, h11.SEND_BODY: 60}
"""The most seconds until a whole header has come, after the last answer; and from there until the body has."""
_READ_SECONDS = 60  # the most seconds in which a client reads nothing of an answer that waits for it
MOST_CONNECTIONS = 512
MOST_PER_CLIENT = 448  # the rest is for others
_GRACE = 1  # seconds for answers that are under way when the server is stopped
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Sent with every answer to the page of ``quire web``."""
_PROBLEMS = {
    "Host": "this address is for 127.0.0.1 and localhost only",
    "Origin": "the request comes from another page",
}


def foreign_header(scope: Scope, port: int | None = None) -> str:
    """``Host`` or ``Origin`` if that header names another machine, or not ``port`` of this one; else empty."""
    headers, at_port = Headers(scope=scope), f":{port}" if port else "(?::[0-9]{1,5})?"
    is_local = re.compile(rf"(?i:127\.0\.0\.1|localhost|\[::1\]){at_port}").fullmatch
    hosts = headers.getlist("host")
    scheme = "^http://" if port else "^https?://"  # at a port of this machine, there is the page of quire alone
    origins = [re.sub(scheme, "", origin) for origin in headers.getlist("origin")]
    if not all(map(is_local, origins)):
        return "Origin"
    return "" if len(hosts) == 1 and is_local(hosts[0]) else "Host"


def page_refusal(token: str, port: int, scope: Scope) -> Response | None:
    """The answer to a request that is not of this page, or whose path does not start with ``/TOKEN/``."""
    problem = _PROBLEMS.get(foreign_header(scope, port), "")
    first, *below = scope["path"].removeprefix("/").split("/", 1)
    if not problem and not (below and compare_digest(first.encode("utf-8", "surrogateescape"), token.encode())):
        problem = "open the whole address that quire web printed"
    return PlainTextResponse(f"Refused: {problem}.\n", 403) if problem else None


def guarded(app: ASGIApp, refusal: Callable[[Scope], Response | None], **headers: str) -> ASGIApp:
    """An application that gets all requests but those with a ``refusal``; every answer has ``headers``."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        refused = refusal(scope) if scope["type"] == "http" else None
        await (refused or app)(scope, receive, send_with_headers)

    return answer


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=socket.SOMAXCONN)
    except OSError as error:
        raise OptionError(f"cannot listen at {host}:{port}: {error.strerror}", "choose another --port") from error


class _Connection(H11Protocol):
    """A connection with limits. It is h11's, because httptools accepts headers that HTTP forbids."""

    awaited: Any = None  # the part of a request that comes next, as a state of h11
    since = 0.0
    _receiving: asyncio.TimerHandle | None = None
    _sending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        alive = [each for each in self.connections if isinstance(each, _Connection) and not each.transport.is_closing()]
        of_client = [each for each in alive if each.client and self.client and each.client[0] == self.client[0]]
        for connections, most in ((of_client, MOST_PER_CLIENT), (alive, MOST_CONNECTIONS - 1)):
            if len(connections) > most:
                waiting = [each for each in connections if each.awaited is h11.IDLE]  # this one is the last of them
                min(waiting, key=lambda each: each.since).transport.abort()
                return

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Start the time limit of the part of a request that comes next; more bytes of it do not extend the limit."""
        if self.awaited is (awaited := self.conn.their_state):
            return
        self.awaited, self.since = awaited, self.loop.time()
        if self._receiving:
            self._receiving.cancel()
        seconds = SECONDS.get(awaited)
        self._receiving = self.loop.call_later(seconds, self.transport.abort) if seconds else None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._sending = self.loop.call_later(_READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._sending:
            self._sending.cancel()


class _Server(uvicorn.Server):
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop within two seconds, whatever threads do: a thread that is stuck would be waited for."""
        super().handle_exit(sig, frame)
        timer = Timer(_GRACE + 0.5, os._exit, (128 + sig,))
        timer.daemon = True
        timer.start()


def serve(app: ASGIApp, listener: socket.socket, **options: Any) -> None:
    """Answer requests until interrupted."""
    # uvicorn also counts connections that are closing, of which one client may have many.
    options |= {"limit_concurrency": 2 * MOST_CONNECTIONS, "timeout_graceful_shutdown": _GRACE}
    options |= {"ws": "none", "log_level": "warning", "access_log": False, "server_header": False}
    _Server(uvicorn.Config(app, http=_Connection, **options)).run([listener])
