"""``quire mcp`` with the official client, over real standard input and output and real HTTP, in both protocols."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import product

import anyio
import pytest
from agent_clients import MODES, TRANSPORTS, text_of, use
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference
from processes import QUIRE, start

from quire.tokens import tokenizers

WAYS = list(product(TRANSPORTS, MODES))
AUTH = "# Auth\n\nHow to sign in.\n\n## OAuth\n\nUse a token that expires.\n\n## Passwords\n\nAvoid passwords.\n"


@pytest.fixture
def folder(docs):
    """A project with a tree of three documents."""
    return docs(
        {
            "docs/auth.md": AUTH,
            "docs/guides/tables.md": "# Tables\n\nA table is cut between rows.\n",
            "docs/guides/Ünï code.md": "# Ünïcode\n\nFile names with spaces, unlike [that](tables.md).\n",
            "quire.toml": '[trees]\ndocs = "docs"\n',
        }
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_session(folder, way) -> None:
    """One connection for everything that changes nothing, as a server takes a second to start."""

    async def work(client):
        await check_discovery(client)
        await check_every_tool(client)
        await check_resources_and_completion(client, folder)
        await check_errors_of_tools(client)

        if mode != "legacy":  # it has no such fields
            await check_caching(client)

    transport, mode = way
    use(work, transport, "legacy" if mode == "legacy" else "auto", folder=folder)


async def check_discovery(client) -> None:
    assert client.server_info.name == "quire"
    assert "docs" in client.instructions
    assert "search" in client.instructions
    assert "nothing is found" in client.instructions
    tools = (await client.list_tools()).tools
    assert all(tool.title and tool.title != tool.name for tool in tools)
    assert [tool.name for tool in tools] == ["search", "outline", "get", "context", "check", "status"]
    assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in tools)
    assert all(isinstance(each["type"], str) for tool in tools for each in tool.input_schema["properties"].values())
    listed = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    count = tokenizers.resolve(None, "o200k_base").count
    assert count(json.dumps(listed, separators=(",", ":"))) <= 620
    assert count(json.dumps(listed[4], separators=(",", ":"))) <= 80  # check, with its annotations
    described = {key: listed[4][key] for key in ("name", "description", "inputSchema")}
    assert count(json.dumps(described, separators=(",", ":"))) <= 60


async def check_caching(client) -> None:
    for listed in (await client.list_tools(), await client.list_resource_templates()):
        assert (listed.ttl_ms, listed.cache_scope) == (3_600_000, "public")
    for read in (await client.list_resources(), await client.read_resource("quire:///docs/auth.md")):
        assert (read.ttl_ms, read.cache_scope) == (1_000, "private")


async def check_every_tool(client) -> None:
    found = await client.call_tool("search", {"query": "oauth token"})
    assert text_of(found).startswith("[1] docs:auth.md#oauth (auth.md:5-7, ")
    assert "> Auth › OAuth\n## OAuth\n\nUse a token that expires." in text_of(found)
    [first] = found.structured_content["results"]
    assert first["id"] == "docs:auth.md#oauth"
    assert first["path"] == "auth.md:5-7"
    assert first["breadcrumb"] == "Auth › OAuth"
    assert first["tokens"] > 5
    assert found.structured_content["total"] == 1

    places = await client.call_tool("search", {"query": "oauth token", "list": True})
    assert text_of(places) == f"docs:auth.md#oauth:5-7 OAuth ({first['tokens']}) 1.00\n\n[1 of 1 sections]"
    assert places.structured_content["results"] == [
        {"id": "docs:auth.md#oauth", "lines": [5, 7], "title": "OAuth", "tokens": first["tokens"], "score": 1.0}
    ]
    nothing = await client.call_tool("search", {"query": "zeppelin", "list": True})
    assert text_of(nothing) == "[nothing found]"

    outline = await client.call_tool("outline", {})
    assert "docs:auth.md Auth (" in text_of(outline)
    assert "  #oauth OAuth 5-7 (" in text_of(outline)
    outline = await client.call_tool("outline", {"path": "guides/"})
    assert [row[0] for row in outline.structured_content["rows"]] == [
        "docs:guides/tables.md",
        "docs:guides/Ünï code.md",
    ]

    for name in ("docs:auth.md#oauth", "auth.md#oauth", "docs/auth.md#oauth", "auth.md:5-7", "auth.md:6"):
        section = await client.call_tool("get", {"id": name})
        assert section.structured_content["text"].strip() == "## OAuth\n\nUse a token that expires."
    whole = await client.call_tool("get", {"id": "auth.md"})
    assert whole.structured_content["text"] == AUTH
    own = await client.call_tool("get", {"id": "auth.md#auth", "children": False})
    assert own.structured_content["text"] == "# Auth\n\nHow to sign in.\n\n"
    named = await client.call_tool("get", {"id": "tables.md#tables"})  # the only document with this file name
    assert named.structured_content["id"] == "docs:guides/tables.md#tables"
    unicode = await client.call_tool("get", {"id": "guides/Ünï code.md"})
    assert "File names with spaces" in text_of(unicode)

    diff = {"path": "x.py", "text": "+++ b/src/sign_in.py\n+ token = oauth()"}
    for arguments, first_id in (({"path": "src/oauth.py"}, "docs:auth.md#oauth"), (diff, "docs:auth.md#auth")):
        found = await client.call_tool("context", arguments)
        assert found.structured_content["results"][0]["id"] == first_id
    found = await client.call_tool("context", {"path": "docs/auth.md", "text": AUTH})  # the file itself is left out
    assert "docs:auth.md" not in [each["id"].partition("#")[0] for each in found.structured_content["results"]]

    text = '"Use a token that expires" [docs:auth.md#oauth], "Use a token that never expires" [auth.md]'
    checked = await client.call_tool("check", {"text": text})
    assert checked.structured_content["quotations"] == [
        {"status": "found", "quote": "Use a token that expires", "places": ["docs:auth.md:7-7"]},
        {
            "status": "altered",
            "quote": "Use a token that never expires",
            "places": ["docs:auth.md:7-7"],
            "difference": "Use a token that {+never+} expires",
        },
    ]
    assert text_of(checked).endswith("[1 of 2 found]")
    missing = await client.call_tool("check", {"text": "no quotation"})
    assert text_of(missing) == "[0 of 0 found]"

    status = await client.call_tool("status", {})
    assert status.structured_content["rows"][0][:2] == ["docs", 3]
    assert ", 1 tree, 0 unreadable files\n" in status.content[0].text


async def check_resources_and_completion(client, folder) -> None:
    listed = (await client.list_resources()).resources
    assert [each.name for each in listed] == ["docs:auth.md", "docs:guides/tables.md", "docs:guides/Ünï code.md"]
    for each in listed:
        [content] = (await client.read_resource(each.uri)).contents
        assert content.text == (folder / each.name.replace(":", "/")).read_text()
    templates = (await client.list_resource_templates()).resource_templates
    section = next(each for each in templates if each.name == "section")
    values = {"tree": "docs", "path": "auth.md", "slug": "oauth"}
    given: dict[str, str] = {}
    for name, value in values.items():
        reference = ResourceTemplateReference(uri=section.uri_template)
        found = await client.complete(reference, {"name": name, "value": value[:2]}, given)
        assert value in found.completion.values
        given[name] = value
    uri = section.uri_template.replace("+", "").format(**values)
    [content] = (await client.read_resource(uri)).contents
    assert content.text.startswith("## OAuth")
    with pytest.raises(MCPError, match="not in the index"):
        await client.read_resource("quire:///docs/nowhere.md")


async def check_errors_of_tools(client) -> None:
    for tool, arguments, words in [
        ("get", {"id": "auth.md#oath"}, "similar: docs:auth.md#oauth"),
        ("get", {"id": " "}, "id is missing"),
        ("get", {"id": "auth.md", "cursor": "5-00000000"}, "leave out the cursor"),
        ("search", {}, "query is missing"),
        ("search", {"query": "x", "limit": 0}, "from 1 to 20"),
        ("search", {"query": "x", "max_tokens": 63}, "at least 64"),
        ("search", {"query": "x", "max_tokens": "many"}, "must be a whole number, at least 64"),
        ("search", {"query": "x", "paths": "guides"}, "did you mean path?"),
        ("search", {"query": "x", "tree": "nodocs"}, "no document matches nodocs:/; outline lists folders"),
        ("search", {"query": "oauth", "path": "nowhere/"}, "no document matches"),
        ("outline", {"path": "nowhere"}, "outline without a path"),
    ]:
        result = await client.call_tool(tool, arguments)
        assert result.is_error, (tool, arguments)
        assert words in text_of(result)
    assert not (await client.call_tool("search", {"q": "oauth", "limit": "3"})).is_error
    with pytest.raises(MCPError, match="the tools are search"):
        await client.call_tool("find", {"query": "x"})


async def searched_until(client, query: str, expected: str) -> None:
    """Search again and again, as files are looked at once in a second."""
    with anyio.fail_after(60):
        while expected not in text_of(await client.call_tool("search", {"query": query})):
            pass


@pytest.mark.parametrize("way", WAYS)
def test_an_edit_is_searchable_soon(folder, way) -> None:
    async def work(client):
        (folder / "docs" / "auth.md").write_text(AUTH.replace("expires", "gallops"))
        await searched_until(client, "gallops", "that gallops")
        (folder / "docs" / "new").mkdir()
        (folder / "docs" / "new" / "page.md").write_text("# Giraffe\n\nIt is tall.\n")
        await searched_until(client, "giraffe", "new/page.md")
        (folder / "docs" / "new" / "page.md").unlink()
        await searched_until(client, "giraffe", "nothing found")
        (folder / "docs" / ".gitignore").write_text("guides/\n")
        await searched_until(client, "rows", "nothing found")
        (folder / "docs" / ".gitignore").write_text("nodes/\n")
        await searched_until(client, "rows", "tables.md")

    use(work, *way, folder=folder)


@pytest.mark.parametrize("way", WAYS)
def test_progress_while_indexing(folder, way) -> None:
    for number in range(40):
        (folder / "docs" / f"{number}.md").write_text(f"# Page {number}\n\nText.\n")
    steps = []

    async def progress(done, total, text) -> None:
        steps.append((done, total, text))

    async def work(client):
        return await client.call_tool("search", {"query": "page 7"}, progress_callback=progress)

    assert "7.md" in text_of(use(work, *way, folder=folder))
    assert steps[-1][:2] == (43, 43)
    assert [done for done, _, _ in steps] == sorted(done for done, _, _ in steps)
    assert all(text.startswith("indexing ") for _, _, text in steps)


@pytest.mark.parametrize("way", WAYS)
def test_a_cancelled_call_stops_and_the_next_one_is_answered(folder, way) -> None:
    for number in range(300):
        (folder / "docs" / f"{number}.md").write_text(f"# Page {number}\n\n{'Some text. ' * 50}\n")

    async def work(client):
        with anyio.CancelScope() as scope:

            async def cancel(done, total, text) -> None:
                scope.cancel()

            await client.call_tool("search", {"query": "page"}, progress_callback=cancel)
        assert scope.cancelled_caught
        return await client.call_tool("status", {})

    assert use(work, *way, folder=folder).structured_content["rows"][0][1] == 303


@pytest.mark.parametrize("way", WAYS)
def test_200_calls_at_once(folder, way) -> None:
    async def work(client):
        answers = {}

        async def call(number) -> None:
            tool, arguments = [
                ("search", {"query": "oauth token"}),
                ("get", {"id": "auth.md#passwords"}),
                ("outline", {}),
                ("status", {}),
            ][number % 4]
            answers[number] = text_of(await client.call_tool(tool, arguments))

        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(call, number)
        return answers

    answers = use(work, *way, folder=folder)
    assert len(answers) == 200
    assert {answers[number] for number in range(200)} == {answers[number] for number in range(4)}


@pytest.mark.parametrize("way", WAYS)
def test_the_index_is_rebuilt_and_sources_are_deleted_while_serving(folder, way) -> None:
    def quire(*arguments) -> None:
        subprocess.run([*QUIRE, *arguments], cwd=folder, check=True, capture_output=True)

    async def work(client):
        async def search() -> str:
            return text_of(await client.call_tool("search", {"query": "oauth"}))

        first = await search()
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, quire, "index", "--rebuild")
            for _ in range(20):
                assert (await search()).startswith(first.removesuffix("]"))
        shutil.rmtree(folder / ".quire")
        assert await search() == first
        for file in (folder / ".quire").rglob("*.json"):
            file.write_bytes(b"damaged")
        assert await search() == first
        (folder / "docs" / "auth.md").unlink()
        await searched_until(client, "oauth", "[nothing found]")
        (folder / "docs").rename(folder / "gone")
        missing = await client.call_tool("search", {"query": "oauth"})
        assert missing.is_error
        assert "docs" in text_of(missing)
        (folder / "gone").rename(folder / "docs")
        (folder / "docs" / "auth.md").write_text(AUTH)
        await searched_until(client, "oauth", first)

    use(work, *way, folder=folder)


def _messages(folder, *lines: object, environment: dict[str, str] | None = None) -> tuple[int, list[object]]:
    """The exit code and the messages of a server whose input ends after ``lines``."""
    done = subprocess.run(
        [*QUIRE, "mcp"],
        cwd=folder,
        input="".join(f"{json.dumps(line)}\n" for line in lines).encode(),
        capture_output=True,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def test_the_end_of_input_ends_the_process(folder) -> None:
    assert _messages(folder) == (0, [])
    code, [answer] = _messages(folder, INITIALIZE)
    assert code == 0
    assert answer["result"]["protocolVersion"] == "2025-11-25"
    assert answer["result"]["serverInfo"]["name"] == "quire"


def test_the_end_of_input_during_indexing_ends_the_process(folder) -> None:
    for number in range(300):
        (folder / "docs" / f"{number}.md").write_text(f"# Page {number}\n\n{'Some text. ' * 50}\n")
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    code, answers = _messages(folder, INITIALIZE, ready, call)
    assert code == 0
    assert answers[0]["id"] == 1


@pytest.mark.parametrize(("option", "code"), [([], -2), (["--http", "--port", "0"], 130)])
def test_ctrl_c_ends_the_process(folder, option, code) -> None:
    server = start("mcp", str(folder / "docs"), "--index", str(folder / ".quire"), *option, stdin=subprocess.PIPE)
    assert b"serving" in server.stderr.readline()
    if not option:  # it has begun to read
        server.stdin.write(f"{json.dumps(INITIALIZE)}\n".encode())
        assert b'"id":1' in server.stdout.readline()
    server.send_signal(2)
    assert server.wait() == code
    server.communicate()


NOISE = """
import os, sys, warnings
def hook(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".md"):
        print("noise")
        os.write(1, b"noise from below\\n")
        warnings.warn("noisy")
sys.addaudithook(hook)
"""


def test_only_the_protocol_is_on_standard_output(folder, tmp_path) -> None:
    (folder / "docs" / "broken.md").write_bytes(b"# Caf\xe9\n")
    noise = tmp_path / "noise"
    noise.mkdir()
    (noise / "sitecustomize.py").write_text(NOISE)
    paths = os.pathsep.join(filter(None, [str(noise), os.environ.get("PYTHONPATH", "")]))

    async def work(client):
        found = await client.call_tool("search", {"query": "oauth"})
        status = await client.call_tool("status", {})
        return text_of(found), status.structured_content

    found, status = use(work, "stdio", "legacy", folder=folder, environment={"PYTHONPATH": paths})
    assert "docs:auth.md#oauth" in found
    assert status["unreadable"] == 1
    assert "broken.md" in status["notes"][0]
