"""``quire mcp``: serve documents to agents over the Model Context Protocol."""

import os
import signal
from functools import partial
from importlib.util import find_spec

from quire.cli.command_options import PATHS, option, quire_command
from quire.cli.cut_options import TOKENIZER
from quire.cli.open_workspace import INDEX
from quire.cli.output import message
from quire.errors import MissingExtraError
from quire.mcp.answers import DEFAULT_TOKENS, LEAST_TOKENS, Service
from quire.model.options import DEFAULT_TOKENIZER
from quire.tokens.encodings import PYTHON_WORK
from quire.tokens.openai_models import ENCODINGS
from quire.tokens.tokenizers import resolve
from quire.workspace.selected_trees import display_path
from quire.workspace.workspace import Workspace

_TOKEN = "QUIRE_MCP_TOKEN"  # noqa: S105  the name of an environment variable
_LONG_TEXT = "a\n" * (max(PYTHON_WORK.values()) // 2 + 1)  # so long that the counting engine is loaded


@quire_command("quire mcp docs", "quire mcp docs --http --port 8765")
def command(
    *,
    paths: tuple[str, ...] = PATHS,
    is_http: bool = option("Serve streamable HTTP instead of standard input and output.", "--http"),
    host: str = option("The address for --http. [default: 127.0.0.1]", "ADDRESS", default="127.0.0.1"),
    port: int = option("The port; 0: any free one. [default: 8765]", least=0, most=65535, default=8765),
    max_tokens: int | None = option(
        f"Maximum tokens of an answer if a call does not say. [default: {DEFAULT_TOKENS:,}]", least=LEAST_TOKENS
    ),
    tokenizer: str | None = TOKENIZER,
    index_folder: str | None = INDEX,
) -> int:
    """PATH is a folder or a file; by default quire serves all trees of quire.toml, else the current folder. Nothing
    else can be read. The tools are search, outline, get, context, check and status; a call updates the index first, at
    most once a second. Needs the extra: pip install 'quire-md[mcp]'.

    --http serves this machine only. Another --host needs a token in the environment variable QUIRE_MCP_TOKEN, which
    clients send as a bearer token.
    """
    if find_spec("mcp") is None:
        raise MissingExtraError("mcp")
    from quire.mcp import server  # noqa: PLC0415  load the package mcp, which takes a second

    with Workspace.open(paths, index=index_folder) as workspace:
        settings = workspace.settings
        counter = resolve(tokenizer or settings.chunk.get("tokenizer"), DEFAULT_TOKENIZER)
        warm_up = partial(counter.count, _LONG_TEXT) if counter.name in ENCODINGS else None
        configured = settings.search.max_tokens if "search.max_tokens" in settings.values else DEFAULT_TOKENS
        service = Service(workspace, counter.count, max(max_tokens or configured, LEAST_TOKENS))
        agent_server = server.AgentServer(service, warm_up=warm_up)
        names = ", ".join(display_path(workspace.folders[tree] / path) for tree, path in workspace.scopes)
        if is_http:
            token = os.environ.get(_TOKEN, "")
            server.serve_http(agent_server, host, port, token, lambda url: message(f"serving {names} at {url}"))
        else:
            message(f"serving {names}; an agent starts this command itself, see `quire agents`")
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would wait for the input to end
            agent_server.serve_stdio()
    return 0
