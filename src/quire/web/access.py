"""Who may ask: the browser that got the address, on this machine, from this page.

A foreign page cannot ask through a name of its own that leads to this machine (Host), nor from its own origin (Origin),
and no program can without the token. Every answer forbids scripts, styles and requests from anywhere else.
"""

from __future__ import annotations

from secrets import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quire.local_server import foreign_header

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
"""Sent with every answer."""
_PROBLEMS = {
    "Host": "this address is for 127.0.0.1 and localhost only",
    "Origin": "the request comes from another page",
}


class Confined:
    """An application behind the token; its paths follow ``/TOKEN``."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        problem = _PROBLEMS.get(foreign_header(Headers(scope=scope), self._port), "")
        _, _, rest = scope["path"].partition("/")
        token, slash, path = rest.partition("/")
        if not problem and not (slash and compare_digest(token.encode("utf-8", "surrogateescape"), self._token)):
            problem = "open the whole address that quire web printed"
        inner = PlainTextResponse(f"Refused: {problem}.\n", 403) if problem else self._app
        await inner({**scope, "path": f"/{path}", "raw_path": b"", "root_path": ""}, receive, _with_headers(send))


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return send_with_headers
