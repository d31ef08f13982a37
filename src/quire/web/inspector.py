"""The server of the page: every call is a POST of a small JSON record to ``api/NAME``.

Only the browser that got the address may ask, on this machine, from this page: a foreign page cannot ask through a name
of its own that leads to this machine (Host), nor from its own origin (Origin), and no program can without the token.
Every answer forbids scripts, styles and requests from anywhere else.
"""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable, Mapping
from secrets import compare_digest
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quire import __version__
from quire.errors import NotFoundError, OptionError, QueryError, QuireError
from quire.index.file_records import storable
from quire.local_server import foreign_header, serve
from quire.model import Finding
from quire.record import Chunks
from quire.size import NAMES
from quire.web import chunk_view
from quire.web.assets import ASSETS, MEDIA_TYPES, asset
from quire.web.served_documents import MOST_BYTES, ServedDocuments
from quire.wire import to_json

Search = Callable[[str, ServedDocuments], dict[str, Any]]
"""The hits of a query, as ``score_explanation.search_record`` makes them."""
Options = Mapping[str, Any]
"""The strategy under its name, and options."""

_PASTED = "pasted.md"
"""The path of text that somebody pastes."""
_LONGEST_QUERY = 2_000
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


class CutRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document or a text, and how to cut it."""

    document: str | None = None
    text: str | None = None
    path: str = _PASTED  # of a text
    strategy: str = "packed"
    options: dict[str, int | bool | str] = {}
    chunk: int = 0
    near: int | None = None  # a position: the chunks around it are enough


class TextRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder, a filter or a query."""

    text: str = ""


class Inspector:
    """The answers to the page's calls."""

    def __init__(self, documents: ServedDocuments, options_of: Callable[[str], Options], search: Search) -> None:
        self._documents = documents
        self._options_of = options_of
        self._search = search
        self._calls: dict[str, tuple[Any, Callable[[Any], Any]]] = {
            "start": (TextRequest, self._start),
            "refresh": (TextRequest, self._refresh),
            "folder": (TextRequest, lambda asked: documents.listing(asked.text)),
            "filter": (TextRequest, lambda asked: documents.matching(asked.text)),
            "search": (TextRequest, self._find),
            "document": (CutRequest, self._document),
            "cut": (CutRequest, self._bands),
            "chunk": (CutRequest, self._chunk),
            "verify": (CutRequest, lambda asked: chunk_view.violations(self._cut(asked))),
        }

    def app(self) -> Starlette:
        """The application, not yet confined."""
        routes = [
            Route("/", self._page),
            Route("/{name:str}", self._asset),
            Route("/api/{name:str}", self._answer, methods=["POST"]),
        ]
        return Starlette(routes=routes, max_body_size=2 * MOST_BYTES)

    async def _page(self, request: Request) -> Response:
        return Response(asset("inspector.html"), media_type="text/html")

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:
            return Response("not found\n", 404, media_type="text/plain")
        return Response(asset(name), media_type=MEDIA_TYPES[name.rpartition(".")[2]])

    async def _answer(self, request: Request) -> Response:
        """The result of a call, or what is wrong with it."""
        kind, call = self._calls.get(request.path_params["name"], (None, None))
        if call is None:
            return _json({"error": "no such call"}, 404)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return _json({"error": "send JSON"}, 415)
        try:
            return _json(await run_in_threadpool(call, msgspec.json.decode(await request.body(), type=kind)))
        except (QuireError, msgspec.DecodeError, OSError) as error:
            return _problem(error)

    def _start(self, asked: TextRequest) -> dict[str, Any]:
        return {
            "version": __version__,
            "first": self._documents.first(),
            **self._tree(),
            "defaults": self._defaults(""),
            **chunk_view.option_table(),
        }

    def _tree(self) -> dict[str, Any]:
        return {"documents": len(self._documents), "root": self._documents.listing("")}

    def _refresh(self, asked: TextRequest) -> dict[str, Any]:
        """Look for documents again; the page asks for it when it has drawn the first one."""
        self._documents.refresh()
        return self._tree()

    def _defaults(self, root: str) -> Options:
        options = self._options_of(root)
        return {name: options[name] for name in options if options[name] is not None and name != "substitutions"}

    def _document(self, asked: CutRequest) -> dict[str, Any]:
        text, path, findings = self._text(asked)
        served = self._documents.get(asked.document) if asked.document else None
        defaults = self._defaults(served.root if served else "")
        document = chunk_view.parsed(text, path, self._options_of(served.root if served else ""))
        record = chunk_view.document_record(document, findings)
        return {**record, "defaults": defaults, "file": storable(str(served.file)) if served else "-"}

    def _text(self, asked: CutRequest) -> tuple[str, str, tuple[Finding, ...]]:
        """The text, the path in ids, and the findings of decoding."""
        if asked.document is not None:
            text, findings = self._documents.text(asked.document)
            return text, storable(self._documents.get(asked.document).path), findings
        if asked.text is None or "\0" in asked.path:
            raise NotFoundError("no document", "name one, or send a text")
        return asked.text, asked.path, ()

    def _bands(self, asked: CutRequest) -> dict[str, Any]:
        if asked.near is None:
            return chunk_view.cut_record(self._cut(asked))
        text, path, strategy = self._what(asked)
        return chunk_view.part_record(text, path, strategy, asked.near, **self._all_options(asked))

    def _cut(self, asked: CutRequest) -> Chunks:
        return chunk_view.cut(*self._what(asked), **self._all_options(asked))

    def _all_options(self, asked: CutRequest) -> dict[str, Any]:
        """The options of the page, and the substitutions of the document's tree."""
        root = self._documents.get(asked.document).root if asked.document else ""
        return {**asked.options, "substitutions": self._options_of(root).get("substitutions")}

    def _what(self, asked: CutRequest) -> tuple[str, str, str]:
        """The text, its path and the strategy."""
        text, path, _ = self._text(asked)
        self._refuse_tokenizer_file(asked)
        return text, path, asked.strategy

    def _refuse_tokenizer_file(self, asked: CutRequest) -> None:
        """A tokenizer may be a file, and the page may read none but the documents."""
        root = self._documents.get(asked.document).root if asked.document else ""
        allowed = {*NAMES, self._options_of(root).get("tokenizer")}
        if (name := asked.options.get("tokenizer", NAMES[0])) not in allowed:
            problem = f"tokenizer {name!r:.80} is not one of the page's"
            raise OptionError(problem, "name it when you start quire web", option="tokenizer")

    def _chunk(self, asked: CutRequest) -> dict[str, Any]:
        chunks = self._cut(asked)
        if not 0 <= asked.chunk < len(chunks):
            raise NotFoundError(f"there is no chunk {asked.chunk}")
        return chunk_view.chunk_record(chunks[asked.chunk])

    def _find(self, asked: TextRequest) -> dict[str, Any]:
        return self._search(asked.text[:_LONGEST_QUERY], self._documents)


def _json(value: Any, status: int = 200) -> Response:
    return Response(to_json(value), status, media_type="application/json")


def _problem(error: Exception) -> Response:
    """What is wrong. A wrong option or query is an answer like others: a browser would log any other status."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    status = 200 if isinstance(error, OptionError | QueryError) else 404 if isinstance(error, NotFoundError) else 400
    return _json({"error": text, "option": getattr(error, "option", "")}, status)


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


def serve_inspector(inspector: Inspector, listener: socket.socket, token: str) -> None:
    """Answer requests until Ctrl-C."""
    gc.freeze()
    # A cut makes many records and no cycles; collecting takes a fifth to a third of its time.
    gc.set_threshold(100_000, 50, 50)
    app = Confined(inspector.app(), token, listener.getsockname()[1])
    serve(app, listener, lifespan="off", timeout_graceful_shutdown=3)
