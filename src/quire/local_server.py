"""A server on this machine: listening, running, and which requests come from here.

The Host and Origin headers must name this machine, so that no web page can reach the server through a browser.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quire.errors import OptionError

_LOCAL = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::([0-9]{1,5}))?", re.IGNORECASE)


def foreign_header(scope: Scope, port: int | None = None) -> str:
    """``Host`` or ``Origin`` if that header names another machine, or not ``port`` of this one; else empty."""
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    scheme = "^http://" if port else "^https?://"  # at a port of this machine, there is the page of quire alone
    origins = [re.sub(scheme, "", origin) for origin in headers.getlist("origin")]
    if not all(_is_local(origin, port) for origin in origins):
        return "Origin"
    return "" if len(hosts) == 1 and _is_local(hosts[0], port) else "Host"


def _is_local(host: str, port: int | None) -> bool:
    match = _LOCAL.fullmatch(host)
    return match is not None and (port is None or match[1] == str(port))


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


def serve(app: ASGIApp, listener: socket.socket, **options: Any) -> None:
    """Answer requests until interrupted."""
    config = uvicorn.Config(
        app,
        http="h11",  # httptools accepts headers that HTTP forbids
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        **options,
    )
    uvicorn.Server(config).run([listener])
