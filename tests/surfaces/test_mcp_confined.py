"""Only the served documents can be read, and over HTTP only by whom it may concern."""

from __future__ import annotations

import http.client
import json
import resource
import socket
import subprocess
from contextlib import ExitStack, suppress
from urllib.parse import quote, urlsplit

import pytest
from agent_clients import http_server, use
from mcp.shared.exceptions import MCPError
from processes import QUIRE

SECRET = "TOP-SECRET"


@pytest.fixture
def folder(docs):
    """A project with two trees, of which one is served, and files outside of both."""
    made = docs(
        {
            "project/docs/page.md": "# Page\n\nPublic text.\n",
            "project/docs/guides/one.md": "# One\n\nPublic guide.\n",
            "project/private/page.md": f"# Private\n\n{SECRET} of another tree.\n",
            "project/notes.md": f"# Notes\n\n{SECRET} beside the trees.\n",
            "outside/secret.md": f"# Secret\n\n{SECRET} outside.\n",
        }
    )
    (made / "project/docs/link.md").symlink_to(made / "outside/secret.md")
    (made / "project/docs/linked").symlink_to(made / "outside")
    return made / "project"


def names(folder) -> list[str]:
    outside = folder.parent / "outside" / "secret.md"
    plain = [
        "../notes.md",
        "../private/page.md",
        "docs/../notes.md",
        "docs:../notes.md",
        "docs:../../outside/secret.md",
        "docs:guides/../../notes.md",
        "notes.md",
        "private:page.md",
        "private:page.md#private",
        "private/page.md:1-3",
        "link.md",
        "docs:link.md",
        "linked/secret.md",
        str(outside),
        f"docs:{outside}",
        f"file://{outside}",
        f"/proc/self/root{outside}",
        f"~/../..{outside}",
        f"\\\\localhost\\share{outside}",
        f"C:{outside}",
        "..\\notes.md",
        "docs:..\\..\\outside\\secret.md",
        "//?/C:/secret.md",
        "page.md\0../../notes.md",
        "CON",
        "page.md::$DATA",
        ".../notes.md",
        "....//notes.md",
    ]
    return [
        *plain,
        *(quote(each, safe="") for each in plain),
        *(quote(quote(each, safe=""), safe="") for each in plain),
    ]


@pytest.mark.parametrize("served", ["docs", "docs/guides"])
def test_nothing_outside_the_served_documents_can_be_read(folder, served) -> None:
    (folder / "quire.toml").write_text('[trees]\ndocs = "docs"\nprivate = "private"\n')
    assert _in(folder, "index").returncode == 0

    async def work(client):
        asked = names(folder) + ([] if served == "docs" else ["page.md", "docs:page.md", "docs:page.md#page"])
        for name in asked:
            for tool, arguments in [
                ("get", {"id": name}),
                ("get", {"id": f"{name}:1-9"}),
                ("get", {"id": f"{name}#secret"}),
                ("outline", {"path": name}),
                ("search", {"query": "text secret outside", "path": name}),
            ]:
                result = await client.call_tool(tool, arguments)
                assert SECRET not in result.model_dump_json()
                assert result.is_error, (tool, arguments, result)
            for uri in (f"quire:///docs/{name}", f"quire:///{name}", f"quire://{name}", name):
                with pytest.raises(MCPError):
                    await client.read_resource(uri)
        everything = [
            await client.call_tool("search", {"query": "secret of page public private", "limit": 20}),
            await client.call_tool("outline", {}),
            await client.call_tool("status", {}),
            await client.list_resources(),
        ]
        texts = "".join(each.model_dump_json() for each in everything)
        assert SECRET not in texts
        assert "private:" not in texts
        assert ("page.md" in texts) == (served == "docs")
        assert "guides/one.md" in texts

    use(work, "stdio", "2026-07-28", served, folder=folder)


def test_a_configuration_cannot_lead_out_of_its_project(folder) -> None:
    (folder / "quire.toml").write_text('[trees]\nout = "../outside"\n')
    done = _in(folder, "mcp")
    assert done.returncode == 2
    assert b"leads out of the project's folder" in done.stderr


def _in(folder, *arguments):
    return subprocess.run([*QUIRE, *arguments], cwd=folder, input=b"", capture_output=True, check=False)


LIST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/list",
}


def post(url: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", parts.path, json.dumps(LIST).encode() if body is None else body, {**HEADERS, **named})
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()


def test_http_is_for_this_machine(folder) -> None:
    with http_server("docs", folder=folder) as url:
        assert post(url)[0] == 200
        assert post(url, Origin="http://localhost:6274")[0] == 200
        for origin in (
            "http://evil.example",
            "http://localhost.evil.example",
            "null",
            "file://",
            "http://127.0.0.1@evil",
        ):
            assert post(url, Origin=origin)[0] == 403
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "169.254.169.254", ""):
            assert post(url, Host=host)[0] in (400, 421)
        assert post(url, Host="localhost:1")[0] == 200
        assert post(url, b"x" * 1_100_000)[0] == 413
        assert post(url, b"not json")[0] == 400
        assert post(url)[0] == 200


def test_half_open_connections_do_not_keep_others_out(folder) -> None:
    with http_server("docs", folder=folder) as url, ExitStack() as stack:
        parts = urlsplit(url)
        for _ in range(700):
            connection = stack.enter_context(socket.create_connection((parts.hostname, parts.port)))
            connection.sendall(b"POST /mcp HTTP/1.1\r\nHo")
        assert post(url)[0] == 200


def test_there_are_no_streams_that_keep_others_out(folder) -> None:
    with http_server("docs", folder=folder) as url, ExitStack() as stack:
        parts = urlsplit(url)
        for method in ("GET", "DELETE", "HEAD"):
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
            stack.callback(connection.close)
            connection.request(method, parts.path, headers={"Accept": "text/event-stream"})
            assert connection.getresponse().status == 405
        connections = []
        for _ in range(600):
            connections.append(stack.enter_context(socket.create_connection((parts.hostname, parts.port))))
            connections[-1].sendall(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        for connection in connections:  # the server may refuse a new one while it answers so many of one client
            with suppress(ConnectionResetError):
                assert connection.recv(12) in {b"", b"HTTP/1.1 405"}
        assert post(url)[0] == 200


LARGE = [
    ("context", {"path": "x.go", "text": "func (" * 150_000}),
    ("context", {"path": "a/" * 400_000}),
    ("context", {"path": "x", "text": f"+++ b/{'a/' * 400_000}"}),
    ("check", {"text": '[{"quote":"a","source":"b"},' * 2_000}),
    ("get", {"id": "a/" * 400_000}),
    ("outline", {"path": "**/*a" * 150_000}),
]


def test_large_arguments_are_answered_soon(folder) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with http_server("docs", folder=folder) as url:
        for tool, arguments in LARGE:
            call = _legacy("tools/call", name=tool, arguments=arguments)
            status, answer = post(url, call, MCP_Protocol_Version="2025-11-25")
            assert (status, b'"result":' in answer) == (200, True), tool
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 20


def _legacy(method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode()


INITIALIZE = _legacy(
    "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "test", "version": "1"}
)


def test_clients_that_vanish_leave_no_session(folder) -> None:
    with http_server("docs", folder=folder) as url:
        assert {post(url, INITIALIZE, MCP_Protocol_Version="2025-11-25")[0] for _ in range(300)} == {200}


def test_calls_with_one_id_are_all_answered(folder) -> None:
    search = _legacy("tools/call", name="search", arguments={"query": "public"})
    with http_server("docs", folder=folder) as url, ExitStack() as stack:
        parts = urlsplit(url)
        connections = []
        for _ in range(120):
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
            stack.callback(connection.close)
            connection.request("POST", parts.path, search, {**HEADERS, "MCP-Protocol-Version": "2025-11-25"})
            connections.append(connection)
        for connection in connections[::2]:
            connection.close()
        for connection in connections[1::2]:
            assert b"Public" in connection.getresponse().read()


def test_other_machines_need_a_token(folder) -> None:
    refused = _in(folder, "mcp", "--http", "--host", "0.0.0.0", "docs")
    assert refused.returncode == 2
    assert b"QUIRE_MCP_TOKEN" in refused.stderr
    with http_server("docs", "--host", "0.0.0.0", folder=folder, environment={"QUIRE_MCP_TOKEN": "sesame"}) as any_url:
        url = any_url.replace("0.0.0.0", "127.0.0.1")
        assert post(url)[0] == 401
        assert post(url, Authorization="Bearer wrong")[0] == 401
        assert post(url, Authorization="sesame")[0] == 401
        assert post(url, Authorization="Bearer sesame", Host="docs.example")[0] == 200
        assert post(url, Authorization="Bearer sesame", Origin="http://evil.example")[0] == 403


def test_a_port_in_use_is_an_error(folder) -> None:
    with http_server("docs", folder=folder) as url:
        port = str(urlsplit(url).port)
        done = _in(folder, "mcp", "--http", "--port", port, "docs")
        assert done.returncode == 2
        assert b"choose another --port" in done.stderr
