"""The server over streamable HTTP: who may connect, and how much at once.

Without a token, only this machine may connect. With a token, any Host is accepted, because a browser does not know the
token.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from quire.errors import OptionError
from quire.local_server import foreign_header, listen, serve
from quire.mcp.server import AgentServer

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MAX_BODY = 1_048_576
_MAX_CONNECTIONS = 512
_MAX_SESSIONS = 256


class Gate:
    """Answers requests that are not allowed."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        foreign = foreign_header(headers)
        if foreign == "Origin":
            return PlainTextResponse("Origin is not allowed", 403)
        if not self._token:
            return PlainTextResponse("Host is not allowed", 421) if foreign else None
        credentials = headers.get("authorization", "").encode("latin-1")
        if not hmac.compare_digest(credentials, b"Bearer " + self._token):
            return PlainTextResponse("a bearer token is needed", 401, {"WWW-Authenticate": "Bearer"})
        return None


def serve_http(server: AgentServer, host: str, port: int, token: str, on_start: Callable[[str], None]) -> None:
    """Serve until interrupted. ``on_start`` gets the URL. Without a token, only a loopback address is possible."""
    if host not in LOOPBACK and not token:
        raise OptionError(
            f"{host} can be reached from other machines", "set QUIRE_MCP_TOKEN to a token, or leave out --host"
        )
    app = server.protocol.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=_MAX_BODY,
        max_sessions=_MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # Gate does it
    )
    with listen(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        on_start(f"http://{name}:{listener.getsockname()[1]}{PATH}")
        serve(Gate(app, token), listener, limit_concurrency=_MAX_CONNECTIONS, timeout_graceful_shutdown=1)
