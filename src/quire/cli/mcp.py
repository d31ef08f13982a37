"""``quire mcp``: serve documents to agents over the Model Context Protocol."""

from __future__ import annotations

import os
import signal
from functools import partial
from importlib.util import find_spec

import click

from quire.cli.cut_options import tokenizer_option
from quire.cli.output import message
from quire.cli.shared_options import index_option, paths_argument, quire_command
from quire.counter import ENCODINGS
from quire.errors import MissingExtraError
from quire.mcp.token_limit import LEAST_TOKENS
from quire.mcp.tools import DEFAULT_TOKENS, Tools
from quire.options import DEFAULT_TOKENIZER
from quire.size import resolve
from quire.size.encodings import PYTHON_WORK
from quire.workspace import Workspace, display_path

_TOKEN = "QUIRE_MCP_TOKEN"  # noqa: S105  the name of an environment variable
_LONG_TEXT = "a\n" * (max(PYTHON_WORK.values()) // 2 + 1)  # so long that the counting engine is loaded


@quire_command("quire mcp docs", "quire mcp docs --http --port 8765")
@paths_argument
@click.option("--http", "is_http", is_flag=True, help="Serve streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="The address for --http. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, help="The port; 0: any free one. [default: 8765]")
@click.option("--chatgpt", is_flag=True, help="Offer the tools that ChatGPT connectors expect: search and fetch.")
@click.option(
    "--max-tokens",
    type=click.IntRange(LEAST_TOKENS),
    metavar="N",
    help=f"Maximum tokens of an answer if a call does not say. [default: {DEFAULT_TOKENS:,}]",
)
@tokenizer_option
@index_option
def command(
    *,
    paths: tuple[str, ...],
    is_http: bool,
    host: str,
    port: int,
    chatgpt: bool,
    max_tokens: int | None,
    tokenizer: str | None,
    index_folder: str | None,
) -> int:
    """Serve documents to agents over the Model Context Protocol.

    PATH is a folder or a file; by default quire serves all trees of quire.toml, else the current folder. Nothing else
    can be read. The tools are search, outline, get, context and status; while calls come, the index is brought up to
    date once in a second. Needs the extra: pip install 'quire-md[mcp]'.

    --http serves this machine only. Another --host needs a token in the environment variable QUIRE_MCP_TOKEN, which
    clients send as a bearer token.
    """
    if find_spec("mcp") is None:
        raise MissingExtraError("mcp")
    from quire.mcp import server  # noqa: PLC0415  load the package mcp, which takes a second

    with Workspace.open(paths, index=index_folder) as workspace:
        settings = workspace.settings
        workspace.check_index_folder()
        counter = resolve(tokenizer or settings.chunk.get("tokenizer"), DEFAULT_TOKENIZER)
        warm_up = partial(counter.count, _LONG_TEXT) if counter.name in ENCODINGS else None
        configured = settings.search.max_tokens if "search.max_tokens" in settings.values else DEFAULT_TOKENS
        tools = Tools(workspace, counter.count, max(max_tokens or configured, LEAST_TOKENS))
        agent_server = server.AgentServer(tools, for_chatgpt=chatgpt, warm_up=warm_up)
        names = ", ".join(display_path(workspace.folders[tree] / path) for tree, path in workspace.scopes)
        if is_http:
            token = os.environ.get(_TOKEN, "")
            server.serve_http(agent_server, host, port, token, lambda url: message(f"serving {names} at {url}"))
        else:
            message(f"serving {names}; an agent starts this command itself, see `quire agents`")
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would wait for the input to end
            agent_server.serve_stdio()
    return 0
