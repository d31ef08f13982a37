"""The protocol: requests are answered in threads, with progress while the index is updated, and can be cancelled.

Over HTTP, only this machine may connect without a token. With a token, any Host is accepted, because a browser does
not know the token.
"""

import hmac
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from threading import Timer
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Scope

from quire import __version__
from quire.errors import NotFoundError, OptionError, QuireError
from quire.mcp.answers import Service, offset_of
from quire.mcp.tools import SCHEME, TOOLS, VECTOR_TOOLS, get_section, uri
from quire.search.vector_files import current_folder
from quire.web.local_server import foreign_header, guarded, listen, serve
from quire.workspace.workspace import Workspace

_THREADS = 16
_PROGRESS_EVERY = 0.1
_WARM_UP_AFTER = 0.2
_PAGE = 100  # how many resources a list or a completion has at once
_TTL, _TOOLS_TTL = 1_000, 3_600_000  # milliseconds: documents are compared once in a second, tools do not change
_PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MAX_BODY = 1_048_576
_DOCUMENT_URI = f"{SCHEME}:///{{tree}}/{{+path}}"
_MARKDOWN = "text/markdown"

WarmUp = Callable[[], object]
Context = ServerRequestContext[Any, Any]
Cursor = types.PaginatedRequestParams | None
ReadResult = types.ReadResourceResult
Result = TypeVar("Result")


class _AbandonedError(Exception):
    """Nobody waits for the update or the answer any more."""


class AgentServer:
    """A server for agents; ``warm_up`` is called soon after the first answer, while the agent reads it."""

    def __init__(self, service: Service, *, warm_up: WarmUp | None = None) -> None:
        self._service = service
        self._warm_up = warm_up
        self._workspace = service.workspace
        has_vectors = current_folder(self._workspace.index_folder) is not None
        self._tools = VECTOR_TOOLS if has_vectors else TOOLS
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._waiting: dict[int, ServerSession] = {}
        self._reported = 0.0
        self.protocol = Server(
            "quire",
            version=__version__,
            instructions=self._instructions(),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_completion=self._complete,
        )

    def serve_stdio(self) -> None:
        """Serve standard input and output until the input ends."""

        async def run() -> None:
            async with stdio_server() as (read, write):
                await self.protocol.run(read, write, self.protocol.create_initialization_options())

        anyio.run(run)

    def _instructions(self) -> str:
        infos, folders = self._workspace.tree_infos(), self._workspace.folders.items()
        sizes = {name: f", {tree.files:,} documents, {tree.tokens:,} tokens" for name, tree in infos.items()}
        trees = "; ".join(f"{name} ({path}{sizes.get(name, '')})" for name, path in folders)
        return (
            f"Documentation: {trees}. For a question, call search: it returns whole sections with ids. To see what "
            "there is, call outline, then get one section instead of reading files. Changed files are read within a "
            "second. An answer that ends with a cursor goes on if you pass the cursor. If nothing is found, the "
            "documentation does not say it."
        )

    async def _in_thread(self, context: Context, work: Callable[[], Result]) -> Result:
        """The result of ``work``, on an index that is up to date."""
        key = id(context)
        self._waiting[key] = context.session
        try:
            refreshed = partial(self._refreshed, key, work)
            return await anyio.to_thread.run_sync(refreshed, abandon_on_cancel=True, limiter=self._threads)
        finally:
            del self._waiting[key]

    def _refreshed(self, key: int, work: Callable[[], Result]) -> Result:
        self._workspace.refresh_sometimes(self._on_progress)
        if key not in self._waiting:
            raise _AbandonedError
        result = work()
        if self._warm_up is not None:
            timer, self._warm_up = Timer(_WARM_UP_AFTER, self._warm_up), None
            timer.daemon = True
            timer.start()
        return result

    def _on_progress(self, done: int, total: int, path: str) -> None:
        if not self._waiting:
            raise _AbandonedError
        if time.monotonic() >= self._reported + _PROGRESS_EVERY or done == total:
            self._reported = time.monotonic()
            anyio.from_thread.run(self._report, done, total, path)

    async def _report(self, done: int, total: int, path: str) -> None:
        for session in list(self._waiting.values()):
            await session.report_progress(done, total, f"indexing {path}")

    async def _list_tools(self, context: Context, params: Cursor) -> types.ListToolsResult:
        read_only = partial(types.Tool, annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False))
        tools = [
            read_only(name=name, title=tool.title, description=tool.__doc__, input_schema=tool.schema())
            for name, tool in self._tools.items()
        ]
        return types.ListToolsResult(tools=tools, ttl_ms=_TOOLS_TTL, cache_scope="public")

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self._tools:
            names = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:40]!r}; the tools are {names}")
        values = params.arguments or {}
        try:
            call = self._tools[params.name].checked(values)
            answer = await self._in_thread(context, partial(call.answer, self._service))
        except QuireError as error:
            max_tokens = values.get("max_tokens")
            limit = self._service.limit(max_tokens if isinstance(max_tokens, int) and max_tokens > 0 else None)
            return types.CallToolResult(content=[types.TextContent(text=limit.clipped(str(error)))], is_error=True)
        record = dict(answer.record)
        return types.CallToolResult(content=[types.TextContent(text=answer.text)], structured_content=record)

    async def _list_resources(self, context: Context, params: Cursor) -> types.ListResourcesResult:
        with _protocol_errors():
            start = offset_of((params and params.cursor) or "")
            documents = await self._in_thread(context, self._workspace.documents)
        end = start + _PAGE
        resources = [
            types.Resource(uri=uri(document.id), name=document.id, title=document.title, mime_type=_MARKDOWN)
            for document in documents[start:end]
        ]
        cursor = str(end) if end < len(documents) else None
        return types.ListResourcesResult(resources=resources, next_cursor=cursor, ttl_ms=_TTL)

    async def _list_templates(self, context: Context, params: Cursor) -> types.ListResourceTemplatesResult:
        forms = {"document": _DOCUMENT_URI, "section": f"{_DOCUMENT_URI}#{{slug}}"}.items()
        templates = [types.ResourceTemplate(name=name, uri_template=form, mime_type=_MARKDOWN) for name, form in forms]
        return types.ListResourceTemplatesResult(resource_templates=templates, ttl_ms=_TOOLS_TTL, cache_scope="public")

    async def _read_resource(self, context: Context, params: types.ReadResourceRequestParams) -> ReadResult:
        resource = str(params.uri)
        with _protocol_errors(uri=resource):
            hit = await self._in_thread(context, lambda: get_section(self._workspace, _node_id(resource)))
        contents = types.TextResourceContents(uri=resource, text=hit.text, mime_type=_MARKDOWN)
        return ReadResult(contents=[contents], ttl_ms=_TTL)

    async def _complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        others = (params.context and params.context.arguments) or {}
        complete = partial(_completions, self._workspace, params.argument.name, params.argument.value, others)
        is_ours = isinstance(params.ref, types.ResourceTemplateReference)
        with _protocol_errors():
            values = await self._in_thread(context, complete) if is_ours else []
        page = types.Completion(values=values[:_PAGE], total=len(values), has_more=len(values) > _PAGE)
        return types.CompleteResult(completion=page)


def _node_id(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    tree, _, path = unquote(parts.path.removeprefix("/")).partition("/")
    if parts.scheme != SCHEME or parts.netloc or parts.query or not path:
        raise NotFoundError(f"{text[:200]}: no such resource", f"the form is {_DOCUMENT_URI}")
    return f"{tree}:{path}#{unquote(parts.fragment)}" if parts.fragment else f"{tree}:{path}"


def _completions(workspace: Workspace, argument: str, start: str, others: Mapping[str, str]) -> list[str]:
    """The values of a template's argument that start with ``start``; ``others`` are the other arguments."""
    documents = [document for document in workspace.documents() if others.get("tree") in (None, "", document.tree)]
    if argument in ("tree", "path"):
        values = [getattr(document, argument) for document in documents]
    else:
        ids = [document.id for document in documents if document.path == others.get("path")]
        values = [node.slug for document_id in ids for node in workspace.index.outline(document_id) if node.slug]
    return [value for value in dict.fromkeys(values) if value.startswith(start)]


@contextmanager
def _protocol_errors(**data: str) -> Iterator[None]:
    try:
        yield
    except QuireError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), data or None) from error


def _refusal(token: str, scope: Scope) -> PlainTextResponse | None:
    foreign, credentials = foreign_header(scope), Headers(scope=scope).get("authorization", "").encode("latin-1")
    if foreign == "Origin":
        return PlainTextResponse("Origin is not allowed", 403)
    if foreign and not token:
        return PlainTextResponse("Host is not allowed", 421)
    if token and not hmac.compare_digest(credentials, b"Bearer " + token.encode()):
        return PlainTextResponse("a bearer token is needed", 401, {"WWW-Authenticate": "Bearer"})
    if scope["method"] != "POST":  # a stream that is never used would keep others out
        return PlainTextResponse("there is nothing to listen to", 405, {"Allow": "POST"})
    return None


def serve_http(server: AgentServer, host: str, port: int, token: str, on_start: Callable[[str], None]) -> None:
    """Serve until interrupted. ``on_start`` gets the URL. Without a token, only a loopback address is possible."""
    if host not in _LOOPBACK and not token:
        problem = f"{host} can be reached from other machines"
        raise OptionError(problem, "set QUIRE_MCP_TOKEN to a token, or leave out --host")
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # `guarded` does it
    app: ASGIApp = server.protocol.streamable_http_app(
        streamable_http_path=_PATH, max_request_body_size=_MAX_BODY, stateless_http=True, transport_security=security
    )
    with listen(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        on_start(f"http://{name}:{listener.getsockname()[1]}{_PATH}")
        serve(guarded(app, partial(_refusal, token)), listener)
