"""``quire agents`` and ``quire context``."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

import quire
from quire.cli.agents import AGENTS
from quire.cli.command_group import COMMANDS

AUTH = "# Auth\n\nHow to sign in.\n\n## OAuth\n\nUse a token that expires.\n\n## Passwords\n\nAvoid passwords.\n"


@pytest.fixture
def project(docs, monkeypatch):
    folder = docs(
        {
            "docs/auth.md": AUTH,
            "docs/tables.md": "# Tables\n\nA table is cut between rows.\n",
            "docs/guides/rows.md": "# Rows\n\nRows of a table.\n",
            "src/auth/oauth.py": "class TokenStore:\n    def refresh_token(self):\n        return self.tables\n",
            "quire.toml": '[trees]\ndocs = "docs"\n',
        }
    )
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("APPDATA", str(folder / "home"))
    return folder


QUIRE = Path(sys.executable).parent / "quire"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """quire as it is after ``pipx install``: on the PATH, and not by a virtual environment."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "quire").symlink_to(QUIRE)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), "/usr/bin", "/bin"]))
    return tmp_path / "bin" / "quire"


@pytest.fixture
def uvx(installed):
    """uvx beside quire; it starts the quire of this environment."""
    if sys.platform == "win32":
        pytest.skip("uvx is a shell script here")
    program = installed.with_name("uvx")
    program.write_text(f'#!/bin/sh\ntest "$1 $2 $3" = "--from quire-md[mcp] quire" && shift 3 && exec {QUIRE} "$@"\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("path", ["/usr/bin:/bin", f"{QUIRE.parent}:/usr/bin:/bin"], ids=["unknown", "activated"])
def test_an_agent_starts_the_quire_of_an_environment_that_its_shell_does_not_know(
    project, run, monkeypatch, path
) -> None:
    monkeypatch.setenv("PATH", path)
    written = run("agents", "--write", "claude-code", "codex")
    assert f"quire is not on the PATH of a new shell, so the files have {QUIRE}; " in written.err
    assert json.loads(Path(".mcp.json").read_text())["mcpServers"]["quire"]["command"] == str(QUIRE)
    assert f"call it as `{QUIRE}`" in Path("CLAUDE.md").read_text()
    tools = "search, outline, get, context, check, status"
    checked = run("agents", "--check")
    assert checked == (0, f".mcp.json: {tools}\n~/.codex/config.toml: {tools}\n".encode(), "")


def test_an_agent_starts_the_quire_on_the_path(project, run, installed) -> None:
    assert run("agents", "--write", "claude-code", "codex").err == ""
    assert json.loads(Path(".mcp.json").read_text())["mcpServers"]["quire"]["command"] == "quire"
    assert f'command = "{installed}"' in AGENTS["codex"].file.read_text()  # desktop programs have another PATH
    assert "PATH" not in Path("CLAUDE.md").read_text()
    assert run("agents", "--check", "claude-code").out == b".mcp.json: search, outline, get, context, check, status\n"


def test_an_agent_starts_quire_by_uvx_where_uv_is_installed(project, run, uvx) -> None:
    assert run("agents", "--write", "claude-code", "codex").err == ""
    server = json.loads(Path(".mcp.json").read_text())["mcpServers"]["quire"]
    assert server == {"command": "uvx", "args": ["--from", "quire-md[mcp]", "quire", "mcp"]}
    codex = AGENTS["codex"].file.read_text()
    assert f'command = "{uvx}"\nargs = ["--from", "quire-md[mcp]", "quire", "mcp", "{project}"]\n' in codex
    assert "call it as `uvx --from 'quire-md[mcp]' quire`" in Path("CLAUDE.md").read_text()
    tools = "search, outline, get, context, check, status"
    assert run("agents", "--check").out == f".mcp.json: {tools}\n~/.codex/config.toml: {tools}\n".encode()


def test_an_agent_starts_this_quire_where_that_is_asked_for(project, run, uvx) -> None:
    assert run("agents", "--write", "--absolute", "claude-code").err == ""
    assert json.loads(Path(".mcp.json").read_text())["mcpServers"]["quire"] == {"command": str(QUIRE), "args": ["mcp"]}


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ({"command": "quire", "args": ["mcp"]}, "quire is not on the PATH of a new shell"),
        ({"command": str(QUIRE), "args": ["map"]}, "gives no answer: quire: no such command: map"),
        ({"command": "cat"}, 'gives no answer: {"jsonrpc"'),
        ({"command": "true"}, "gives no answer: no output"),
        ({"command": "echo", "args": ["{"]}, "gives no answer: {"),
        ({"command": "echo", "args": ['{"level": info}']}, 'gives no answer: {"level": info}'),
        ({"command": "echo", "args": ['{"id": 2, "result": null}']}, 'gives no answer: {"id": 2, "result": null}'),
        ({}, "there is no server quire"),
    ],
)
def test_a_server_that_does_not_start_is_reported(project, run, monkeypatch, server, problem) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    Path(".mcp.json").write_text(json.dumps({"mcpServers": {"quire": server}}))
    code, out, err = run("agents", "--check", "claude-code")
    assert (code, out) == (1, b"")
    assert f"quire: .mcp.json: {problem}" in err.replace(f"{server.get('command')} gives", "gives")


def test_no_agent_is_configured(project, run) -> None:
    checked = run("agents", "--check")
    assert (checked.code, checked.out) == (1, b"")
    assert "no agent here has a server quire" in checked.err


def test_every_agent_is_shown(run, installed) -> None:
    shown = run("agents").out.decode()
    assert all(f"quire agents --write {name})" in shown for name in AGENTS)
    assert "quire search" in shown
    assert json.loads(run("agents", "cursor").out.decode().rpartition(")\n")[2]) == {
        "mcpServers": {"quire": {"command": "quire", "args": ["mcp"]}}
    }


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "skill"])
def test_written_and_removed(project, run, name) -> None:
    agent = AGENTS[name]
    before = sorted(project.rglob("*"))
    assert run("agents", "--write", name).code == 0
    text = agent.file.read_text()
    servers = (tomllib.loads(text) if agent.file.suffix == ".toml" else json.loads(text))[agent.table]
    assert servers["quire"]["args"][0] == "mcp"
    if agent.file.is_absolute():
        assert str(project) in servers["quire"]["args"]
    if agent.instructions:
        assert "quire search" in (project / agent.instructions).read_text()
    again = run("agents", "--write", name)
    assert b"written" not in again.out
    assert agent.file.read_text() == text
    assert run("agents", "--remove", name).code == 0
    assert [each for each in sorted(project.rglob("*")) if each.is_file()] == [
        each for each in before if each.is_file()
    ]


def test_a_skill_for_agents_without_mcp(project, run) -> None:
    assert run("agents", "--write", "skill").out == b".claude/skills/quire/SKILL.md: written\n"
    file = project / ".claude/skills/quire/SKILL.md"
    document = quire.parse(file.read_text(), path="SKILL.md")
    assert document.frontmatter["name"] == "quire"
    assert len(document.frontmatter["description"]) < 1024
    for command in re.findall("`quire ([a-z]+)", document.text):
        assert command in COMMANDS
    assert run("agents", "--remove", "skill").code == 0
    assert not file.exists()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_other_content_stays(project, run, end) -> None:
    page, config = project / "CLAUDE.md", project / ".mcp.json"
    page.write_bytes(f"# Mine{end}{end}Text.{end}".encode())
    config.write_text('{"other": 1, "mcpServers": {"mine": {"command": "x"}}}')
    assert run("agents", "--write", "claude-code").code == 0
    assert page.read_bytes().startswith(f"# Mine{end}{end}Text.".encode())
    page.write_bytes(page.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", end.encode()) + f"After.{end}".encode())
    assert run("agents", "--write", "claude-code").code == 0
    assert page.read_bytes().count(b"quire:start") == 1
    assert page.read_bytes().endswith(f"After.{end}".encode())
    assert list(json.loads(config.read_text())["mcpServers"]) == ["mine", "quire"]
    assert run("agents", "--remove", "claude-code").code == 0
    assert b"quire" not in page.read_bytes()
    assert page.read_bytes().split() == b"# Mine Text. After.".split()
    assert json.loads(config.read_text()) == {"other": 1, "mcpServers": {"mine": {"command": "x"}}}


@pytest.mark.parametrize("text", ["// a comment\n{}", "[]", '{"mcpServers": []}', "\xff"])
def test_a_configuration_that_cannot_be_read_stays(project, run, text) -> None:
    (project / ".mcp.json").write_bytes(text.encode("latin-1"))
    result = run("agents", "--write", "claude-code")
    assert result.code == 2
    assert ".mcp.json" in result.err
    assert (project / ".mcp.json").read_bytes() == text.encode("latin-1")
    assert not (project / "CLAUDE.md").exists()


@pytest.mark.parametrize(
    "arguments", [["--write"], ["--write", "--remove", "zed"], ["--write", "--check", "zed"], ["emacs"]]
)
def test_wrong_arguments_of_agents(run, arguments) -> None:
    assert run("agents", *arguments).code == 2


def test_the_documentation_of_a_source_file(project, run) -> None:
    result = run("context", "src/auth/oauth.py", "--list", "--explain")
    assert result.out.decode().splitlines()[0].startswith("docs/auth.md:")
    assert "3.0  oauth  path" in result.err
    assert "refresh_token" in result.err
    record = json.loads(run("context", "src/auth/oauth.py", "--json", "-n", "1").out)
    assert record["results"][0]["path"] == "auth.md"
    assert {"text": "oauth", "weight": 3.0, "origins": ["path"]} in record["words"]


def test_a_document_is_not_its_own_documentation(project, run) -> None:
    found = json.loads(run("context", "docs/tables.md", "--json").out)["results"]
    assert [each["id"] for each in found] == ["docs:guides/rows.md#rows"]


def test_rules_add_words_and_sections(project, run) -> None:
    with (project / "quire.toml").open("a") as file:
        file.write('[[context]]\nfiles = ["src/**"]\nwords = ["rows"]\nsections = ["docs:auth.md#passwords"]\n')
    found = json.loads(run("context", "src/auth/oauth.py", "--json").out)
    assert found["results"][0]["id"] == "docs:auth.md#passwords"
    assert "docs:guides/rows.md#rows" in [each["id"] for each in found["results"]]
    assert ["rule"] in [word["origins"] for word in found["words"]]
    assert b"context.0.words" in run("config").out


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ('words = ["x"]', "context.0.files is missing"),
        ('files = "src/**"', "a list of texts"),
        ('files = ["*"]\ntrees = ["doc"]', "did you mean docs?"),
        ('files = ["*"]\nword = ["x"]', "did you mean context.0.words?"),
    ],
)
def test_wrong_rules(project, run, rule, problem) -> None:
    with (project / "quire.toml").open("a") as file:
        file.write(f"[[context]]\n{rule}\n")
    result = run("context", "src/auth/oauth.py")
    assert result.code == 2
    assert problem in result.err


DIFF = b"""\
diff --git a/src/shop/cart.py b/src/shop/cart.py
--- a/src/shop/cart.py
+++ b/src/shop/cart.py
@@ -1,3 +1,4 @@ def show_passwords(self):
 unchanged_tables
-        old_oauth = 1
+        new_line = expires
"""


def test_the_documentation_of_a_diff(project, run) -> None:
    result = run("context", "--diff", "--json", stdin=DIFF)
    words = {word["text"] for word in json.loads(result.out)["words"]}
    assert {"cart", "passwords", "oauth", "expires"} <= words
    assert not words & {"unchanged", "tables", "unchanged_tables"}
    assert {each["path"] for each in json.loads(result.out)["results"]} == {"auth.md"}


def test_no_context(project, run) -> None:
    assert run("context", "--diff", stdin=b"no diff").code == 2
    assert run("context").code == 2
    assert run("context", "nowhere.py").code == 2
    (project / "zebra.py").write_text("zebra")
    assert run("context", "zebra.py").code == 1
