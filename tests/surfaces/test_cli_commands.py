"""What all commands share: their examples, ``--quiet`` and ``--color``."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import click
import pytest
from processes import process

import quire
from quire.cli.command_group import COMMANDS, GROUPS
from quire.cli.command_group import quire as group

ROOT = Path(__file__).parents[2]
SERVING = ("mcp", "web")
"""Commands that serve until Ctrl-C."""


def command(name: str) -> click.Command:
    made = group.get_command(click.Context(group), name)
    assert made is not None
    return made


def examples(name: str) -> list[str]:
    """The lines below "Examples:" at the end of the help."""
    return [line.strip() for line in (command(name).epilog or "").splitlines()[2:]]


EXAMPLES = [example for name in COMMANDS for example in examples(name)]


@pytest.fixture(scope="module")
def documentation(tmp_path_factory) -> Path:
    """A folder with a copy of quire's own documentation, and with chunk records of the current and the old format."""
    folder = tmp_path_factory.mktemp("documentation")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("images"))
    shutil.copy(ROOT / "README.md", folder)
    record = quire.chunk("# A\n\nText.\n", path="a.md")[0].to_dict()
    (folder / "new.jsonl").write_text(json.dumps(record))
    old = {name if name != "originalText" else "displayMarkdown": value for name, value in record.items()}
    (folder / "old.jsonl").write_text(json.dumps(old))
    return folder


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not in quire's repository")
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_work(run, documentation, monkeypatch, example) -> None:
    monkeypatch.chdir(documentation)
    (documentation / "quire.toml").unlink(missing_ok=True)
    program, name, *arguments = shlex.split(example)
    assert program == "quire"
    if name == "sync" and "--dry-run" in arguments:
        pytest.importorskip("lancedb", reason="needs the extra lancedb")
        pytest.importorskip("wordllama", reason="needs the extra wordllama")
    arguments = arguments[: arguments.index(">")] if ">" in arguments else arguments
    needs_server = (name in SERVING and "--export" not in arguments) or "http" in example
    result = run(name, *arguments, *(["--help"] if needs_server else []))
    expected = {"links": (0, 1), "status": (0, 1)}  # 1: there is something to tell
    assert result.code in expected.get(name, (0,)), result.err
    assert result.out or {"-o", "--export"} & {*arguments} or name in ("verify", "cite", *expected)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_two_examples_and_the_shared_options(run, name) -> None:
    assert len(examples(name)) == 2
    assert all(example.startswith(f"quire {name}") for example in examples(name))
    shown = run(name, "--help").out.decode()
    assert shown.endswith("\n    ".join(["  Examples:", *examples(name)]) + "\n")
    assert "-q, --quiet" in shown
    assert "--config FILE" in shown
    assert "--color [auto|always|never]" in shown


def test_the_help_groups_the_commands(run) -> None:
    shown = run("--help").out.decode()
    for title, commands in GROUPS.items():
        assert f"\n{title}:\n" in shown
        assert all(f"  {name} " in shown and line in shown for name, line in commands.items())


DOCUMENTS = {"docs/a.md": "# Needle\n\nA needle.\n\n# Empty\n", "docs/b.md": b"\xff"}


@pytest.mark.parametrize("arguments", [["search", "needle zzyx", "docs"], ["chunk", "docs"], ["outline", "docs/a.md"]])
def test_quiet_prints_errors_only(run, docs, monkeypatch, arguments) -> None:
    monkeypatch.chdir(docs(DOCUMENTS))
    loud, quiet = run(*arguments), run(*arguments, "-q")
    assert (quiet.code, quiet.out) == (loud.code, loud.out)
    assert len(quiet.err.splitlines()) < len(loud.err.splitlines())
    assert ("b.md" in quiet.err) == (arguments[0] == "chunk")
    assert run(*arguments).err == loud.err  # it holds for one call


def test_colours(docs, monkeypatch) -> None:
    monkeypatch.chdir(docs({"docs/a.md": "# Needle\n\nA needle.\n"}))
    search = ("search", "needle", "docs")
    assert b"\x1b[" not in process(*search).out
    assert b"\x1b[" in process(*search, "--color", "always").out
    assert b"\x1b[" in process(*search, environment={"FORCE_COLOR": "1"}).out
    assert b"\x1b[" not in process(*search, "--color", "never", environment={"FORCE_COLOR": "1"}).out
    assert "'loud' is not one of 'auto', 'always', 'never'" in process(*search, "--color", "loud").err


@pytest.mark.parametrize(("typed", "completed"), [("quire out", "outline"), ("quire links --form", "--format")])
def test_a_shell_completes_commands_and_options(typed, completed) -> None:
    shell = {"_QUIRE_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    assert process(environment=shell).out.decode() == f"plain,{completed}\n"
