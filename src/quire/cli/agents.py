"""``quire agents``: the configuration of agents that use ``quire mcp``, shown, written, removed or tried."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

import click

from quire import DISTRIBUTION
from quire.cli.command_options import argument, option, quire_command, refuse
from quire.cli.config import toml_value, write_text
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.output import echo, message, visible
from quire.errors import InputError
from quire.model.operating_system import application_folder
from quire.read.frontmatter import load_toml
from quire.read.source import read_configuration, unread

_SNIPPET = """\
## Documentation

This project's documentation is indexed by quire. Before you read documentation files, use the tools of the MCP server
`quire`, or the command line:

- `search` (`quire search "QUESTION"`) finds the sections that answer a question.
- `outline` (`quire outline`) lists documents and headings with token counts.
- `get` (`quire get ID`) reads one section by its id, `path#slug` or `path:line`.
- `context` (`quire context FILE`) finds the documentation that concerns a source file.
"""
_SKILL = """\
---
name: quire
description: Search the documentation of this project with the command quire. Use it before you open documentation
  files, to answer a question about the project, or to find the documentation that concerns a source file or a diff.
---

# Search the documentation

- `quire search "QUESTION" --max-tokens 2000` prints the sections that answer a question, the best first.
- `quire outline --max-tokens 1000` lists documents and headings with ids and token counts.
- `quire get ID` prints one section by its id, `path#slug` or `path:line`.
- `quire context FILE` and `git diff | quire context --diff` find the documentation that concerns code.

Ask a plain question first. If the answer is missing, ask again with other words, then look at the outline. Read one
section with `get` instead of a whole file. quire reads changed files by itself. The exit code is 1 if nothing is found.
"""
_REQUIREMENT = f"{DISTRIBUTION}[mcp]"
UVX = ("uvx", "--from", _REQUIREMENT, "quire")  # how uv starts quire, on every machine
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")  # beside the programs of a virtual environment
_REQUESTS = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", '
    b'"capabilities": {}, "clientInfo": {"name": "quire agents", "version": "1"}}}\n'
    b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
    b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}\n'
)
_MOST_SECONDS = 60  # how long `--check` waits for an answer


class Agent(NamedTuple):
    """An agent and its files."""

    title: str
    config: str  # its configuration file, in the project's folder or the user's home
    instructions: str = ""  # the Markdown file that it reads first
    table: str = "mcpServers"  # under which key servers are, in JSON
    fields: Mapping[str, Any] = {}  # what else it wants to know about a server

    @property
    def file(self) -> Path:
        """The configuration file; an absolute one is the user's, for all projects."""
        return Path(os.path.expanduser(self.config))  # noqa: PTH111  Path's fails where there is no home


AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent("Claude Code", ".mcp.json", "CLAUDE.md"),
    "claude-desktop": Agent("Claude Desktop", f"{application_folder()}/Claude/claude_desktop_config.json"),
    "cursor": Agent("Cursor", ".cursor/mcp.json", "AGENTS.md"),
    "vscode": Agent("VS Code", ".vscode/mcp.json", "AGENTS.md", "servers", {"type": "stdio"}),
    "codex": Agent("Codex", "~/.codex/config.toml", "AGENTS.md", "mcp_servers"),
    "gemini": Agent("Gemini CLI", ".gemini/settings.json", "GEMINI.md"),
    "zed": Agent("Zed", ".zed/settings.json", "AGENTS.md", "context_servers"),
    "skill": Agent("A skill, for agents without MCP", ".claude/skills/quire/SKILL.md"),
}


@quire_command("quire agents claude-code", "quire agents --write claude-code")
def command(
    *,
    names: tuple[str, ...] = argument("[AGENT...]", type=click.Choice(list(AGENTS))),
    write: bool = option("Write the configuration and the instructions for these agents."),
    remove: bool = option("Remove what --write has written."),
    absolute: bool = option("Start this quire by its absolute path, also where uv is installed."),
    check: bool = option("Start the server as these agents do, and list its tools."),
) -> int:
    """AGENT is claude-code, claude-desktop, cursor, vscode, codex, gemini or zed; by default all are shown. --write
    adds the server quire to the agent's configuration and a short text to CLAUDE.md, AGENTS.md or GEMINI.md, between
    two markers; it may be run again. --remove takes both out again. Nothing else in the files changes. The server is
    started by uvx where uv is installed. --check starts the configured command and lists the tools of the server. For
    agents without MCP, skill is a SKILL.md that teaches the commands.
    """
    refuse(write + remove + check > 1, "--write, --remove and --check exclude each other")
    refuse((write or remove) and not names, f"name the agents: {', '.join(AGENTS)}")
    chosen = {name: AGENTS[name] for name in names or AGENTS}
    if check:
        return _check(chosen.values(), is_named=bool(names))
    program = _program(absolute=absolute)
    if not (write or remove):
        echo(_snippet(program), wraps=False)
        for name, agent in chosen.items():
            echo(visible(f"# {agent.title}: {agent.config}  (quire agents --write {name})"))
            echo(configuration(agent, "", program), wraps=False)
        return 0
    new: dict[Path, str] = {}
    for agent in chosen.values():  # all texts first, so that an error leaves every file as it was
        new[agent.file] = configuration(agent, new.get(agent.file, _read(agent.file)), () if remove else program)
        if agent.instructions:
            page = Path(agent.instructions)
            new[page] = _with_block(new.get(page, _read(page)), "" if remove else _snippet(program), "<!-- {} -->")
    for file, text in new.items():
        if text == _read(file):
            message(f"{file}: nothing to change")
            continue
        write_text(file, text)
        echo(visible(f"{file}: {'written' if text else 'removed'}"))
    if write and not absolute and Path(program[0]).is_absolute():
        advice = f"to share the files, install uv or pipx install '{_REQUIREMENT}', and write them again"
        message(f"quire is not on the PATH of a new shell, so the files have {program[0]}; {advice}")
    return 0


def _snippet(program: Sequence[str], text: str = _SNIPPET) -> str:
    name = shlex.join(program)
    return text if name == "quire" else f"{text}\nIf `quire` is not on the PATH, call it as `{name}`.\n"


def _new_shell_path() -> str:
    folders = (Path(folder) for folder in os.get_exec_path())
    return os.pathsep.join(
        str(folder) for folder in folders if not any((folder.parent / name).exists() for name in _ENVIRONMENT)
    )


def _program(*, absolute: bool) -> Sequence[str]:
    """How a new shell starts quire, on every machine if possible: by uv, from the PATH, else by its absolute path."""
    for program in () if absolute else (UVX, ["quire"]):
        if shutil.which(program[0], path=_new_shell_path()):
            return program
    folders = (str(Path(file).absolute().parent) for file in (sys.argv[0], sys.executable))
    return [shutil.which("quire", path=os.pathsep.join(folders)) or "quire"]


def _check(agents: Iterable[Agent], *, is_named: bool) -> int:
    """Print the tools of the servers that agents start; agents without one only if they were named."""
    answers: list[Sequence[str]] = []
    for agent in agents:
        command, text = [], _read(agent.file)
        with suppress(ValueError, LookupError, TypeError, AttributeError):  # no server
            settings = load_toml(text) if agent.file.suffix == ".toml" else json.loads(text)
            server = settings[agent.table]["quire"]
            command = [str(word) for word in (server["command"], *server.get("args", ()))]
        if command or is_named:
            tools, problem = _listed_tools(*command) if command else ([], "there is no server quire")
            answers.append(tools)
            if tools:
                echo(visible(f"{agent.config}: {', '.join(tools)}"))
            else:
                message(f"{agent.config}: {problem}; quire agents --write configures this quire")
    if not answers:
        message("no agent here has a server quire; quire agents --write AGENT adds it")
    return 0 if answers and all(answers) else NOTHING_FOUND


def _listed_tools(command: str, *arguments: str) -> tuple[list[str], str]:
    """The tools of the server that a command starts in a new shell, and the problem if there are none."""
    program = shutil.which(command, path=_new_shell_path())
    if program is None:
        return [], f"{command} is not on the PATH of a new shell"
    tools, said = [], "no output"
    pipe = subprocess.PIPE
    with subprocess.Popen([program, *arguments], 0, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT) as process:  # noqa: S603  the user's own configuration
        assert process.stdin
        assert process.stdout
        limit = Timer(_MOST_SECONDS, process.kill)
        limit.start()
        with suppress(BrokenPipeError):
            process.stdin.write(_REQUESTS)
        try:
            for line in process.stdout:
                try:
                    answer = json.loads(line)
                    if answer["id"] == 2:
                        tools = [tool["name"] for tool in answer["result"]["tools"]]
                        break
                except (ValueError, TypeError, LookupError):  # no answer to a request
                    said = line.decode(errors="replace").strip() or said
        finally:
            limit.cancel()
            process.kill()
    return tools, f"{command} gives no answer: {said}"


def configuration(agent: Agent, old: str, program: Sequence[str]) -> str:
    """The text of an agent's file with a server that ``program`` starts, or without one if it is empty."""
    if agent.file.suffix == ".md":
        return _snippet(program, _SKILL) if program else ""
    server: dict[str, Any] = {}
    if program:
        command, *arguments = program
        is_personal = agent.file.is_absolute()  # such a file knows neither the PATH nor the folder of the project
        command = (shutil.which(command, path=_new_shell_path()) or command) if is_personal else command
        folder = [str(Path.cwd())] if is_personal else []
        server = {**agent.fields, "command": command, "args": [*arguments, "mcp", *folder]}
    if agent.file.suffix == ".toml":
        values = (f"{name} = {toml_value(value)}\n" for name, value in server.items())
        return _with_block(old, f"[{agent.table}.quire]\n{''.join(values)}" if server else "", "# {}")
    try:
        settings: Any = json.loads(old) if old.strip() else {}
        servers = settings.get(agent.table, {})
    except (ValueError, AttributeError):
        servers = None
    if not isinstance(servers, dict):
        advice = "add it by hand: quire agents shows what"
        raise InputError(agent.config, "is not plain JSON with a table of servers", advice)
    settings[agent.table] = {name: value for name, value in servers.items() if name != "quire"}
    settings[agent.table] |= {"quire": server} if server else {}
    settings = {name: value for name, value in settings.items() if value or name != agent.table}
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n" if settings else ""


def _with_block(old: str, block: str, marker: str) -> str:
    """A text with ``block`` between markers, in the place of an earlier one; without markers if it is empty."""
    start, end = marker.format("quire:start"), marker.format("quire:end")
    new = f"{start}\n{block}{end}\n" if block else ""
    pattern = re.compile(rf"\n?^{re.escape(start)}\r?$.*?^{re.escape(end)}\r?$\n?", re.MULTILINE | re.DOTALL)
    if pattern.search(old):
        return pattern.sub(lambda match: f"{chr(10) * match[0].startswith(chr(10))}{new}" if new else "", old, count=1)
    return f"{old.rstrip()}\n\n{new}" if old.strip() and new else new or old


def _read(file: Path) -> str:
    try:
        return read_configuration(file).decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise unread(str(file), error) from error
