"""``quire agents``: the configuration of agents that use ``quire mcp``, shown, written or removed."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from quire.cli.output import echo, message, visible
from quire.errors import InputError
from quire.read.source import read_configuration, unread
from quire.write.atomic_file import explained, replacing

_START, _END = "quire:start", "quire:end"
_SNIPPET = """\
## Documentation

This project's documentation is indexed by quire. Before you read documentation files, use the tools of the MCP server
`quire`, or the command line:

- `search` (`quire search "QUESTION"`) finds the sections that answer a question.
- `outline` (`quire manifest`) lists documents and headings with token counts.
- `get` (`quire get ID`) reads one section by its id, `path#slug` or `path:line`.
- `quire context FILE` finds the documentation that concerns a source file.
"""


class Agent(NamedTuple):
    """An agent and its files."""

    title: str
    config: str
    """Its configuration file, in the project's folder or the user's home."""
    instructions: str = ""
    """The Markdown file that it reads first."""
    table: str = "mcpServers"
    """Under which key servers are, in JSON."""
    fields: Mapping[str, Any] = {}
    """What else it wants to know about a server."""

    @property
    def is_personal(self) -> bool:
        """Whether the file is the user's, for all projects; a server must then be told the folder."""
        return self.config.startswith(("~", "/"))

    @property
    def file(self) -> Path:
        """The configuration file."""
        return Path(os.path.expanduser(self.config))  # noqa: PTH111  Path's fails where there is no home


def _claude_desktop() -> str:
    if sys.platform == "win32":
        return os.path.join(os.environ.get("APPDATA", "~"), "Claude", "claude_desktop_config.json")  # noqa: PTH118
    folder = "~/Library/Application Support" if sys.platform == "darwin" else "~/.config"
    return f"{folder}/Claude/claude_desktop_config.json"


AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent("Claude Code", ".mcp.json", "CLAUDE.md"),
    "claude-desktop": Agent("Claude Desktop", _claude_desktop()),
    "cursor": Agent("Cursor", ".cursor/mcp.json", "AGENTS.md"),
    "vscode": Agent("VS Code", ".vscode/mcp.json", "AGENTS.md", "servers", {"type": "stdio"}),
    "codex": Agent("Codex", "~/.codex/config.toml", "AGENTS.md", "mcp_servers"),
    "gemini": Agent("Gemini CLI", ".gemini/settings.json", "GEMINI.md"),
    "zed": Agent("Zed", ".zed/settings.json", "AGENTS.md", "context_servers"),
}


@click.command()
@click.argument("names", nargs=-1, metavar="[AGENT...]", type=click.Choice(list(AGENTS)))
@click.option("--write", is_flag=True, help="Write the configuration and the instructions for these agents.")
@click.option("--remove", is_flag=True, help="Remove what --write has written.")
def command(*, names: tuple[str, ...], write: bool, remove: bool) -> int:
    """Show or write the configuration of agents.

    AGENT is claude-code, claude-desktop, cursor, vscode, codex, gemini or zed; by default all are shown. --write adds
    the server quire to the agent's configuration and a short text to CLAUDE.md, AGENTS.md or GEMINI.md, between two
    markers; it may be run again. --remove takes both out again. Nothing else in the files changes.
    """
    if write and remove:
        raise click.UsageError("--write and --remove exclude each other")
    if (write or remove) and not names:
        raise click.UsageError(f"name the agents: {', '.join(AGENTS)}")
    chosen = {name: AGENTS[name] for name in names or AGENTS}
    if not (write or remove):
        _show(chosen)
        return 0
    new: dict[Path, str] = {}
    for agent in chosen.values():  # all texts first, so that an error leaves every file as it was
        old = new.get(agent.file, _read(agent.file))
        new[agent.file] = _configuration(agent, old, remove=remove)
        if agent.instructions:
            page = Path(agent.instructions)
            new[page] = _with_block(new.get(page, _read(page)), "" if remove else _SNIPPET, "<!-- {} -->")
    for file, text in new.items():
        _write(file, text)
    return 0


def _show(agents: Mapping[str, Agent]) -> None:
    echo(_SNIPPET, wraps=False)
    for name, agent in agents.items():
        echo(visible(f"# {agent.title}: {agent.config}  (quire agents --write {name})"))
        echo(_configuration(agent, "", remove=False), wraps=False)


def _server(agent: Agent) -> dict[str, Any]:
    """How the agent starts the server; a personal file does not know the folder of the project."""
    if not agent.is_personal:
        return {**agent.fields, "command": "quire", "args": ["mcp"]}
    folder = Path.cwd()
    command = shutil.which("quire") or "quire"
    return {**agent.fields, "command": command, "args": ["mcp", str(folder), "--index", str(folder / ".quire")]}


def _configuration(agent: Agent, old: str, *, remove: bool) -> str:
    server = _server(agent)
    if agent.file.suffix == ".toml":
        values = "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in server.items())
        return _with_block(old, "" if remove else f"[{agent.table}.quire]\n{values}", "# {}")
    try:
        settings: Any = json.loads(old) if old.strip() else {}
        servers = settings.get(agent.table, {})
    except (ValueError, AttributeError):
        servers = None
    if not isinstance(servers, dict):
        problem = "is not plain JSON with a table of servers"
        raise InputError(str(agent.config), problem, "add it by hand: quire agents shows what")
    servers = {name: value for name, value in servers.items() if name != "quire"}
    if not remove:
        servers["quire"] = server
    settings = {name: value for name, value in settings.items() if name != agent.table or servers}
    if servers:
        settings[agent.table] = servers
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n" if settings else ""


def _with_block(old: str, block: str, marker: str) -> str:
    """A text with ``block`` between markers, in the place of an earlier one; without markers if it is empty."""
    start, end = marker.format(_START), marker.format(_END)
    new = f"{start}\n{block}{end}\n" if block else ""
    pattern = re.compile(rf"\n?^{re.escape(start)}\r?$.*?^{re.escape(end)}\r?$\n?", re.MULTILINE | re.DOTALL)
    if pattern.search(old):
        return pattern.sub(lambda found: f"{chr(10) * found[0].startswith(chr(10))}{new}" if new else "", old, count=1)
    return f"{old.rstrip()}\n\n{new}" if old.strip() and new else new or old


def _read(file: Path) -> str:
    try:
        return read_configuration(file).decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise unread(str(file), error) from error


def _write(file: Path, text: str) -> None:
    """Write a file if it changes; an empty one is removed."""
    if text == _read(file):
        message(f"{file}: nothing to change")
        return
    with explained(file):
        if text:
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as stream:
                stream.write(text.encode())
        else:
            file.unlink()
    echo(visible(f"{file}: {'written' if text else 'removed'}"))
