"""Options that are wrong: one line that names the right ones, exit code 2, and no output before it."""

from __future__ import annotations

import pytest

from quire.cli import command_group
from quire.model.options import STRATEGIES, own_names

COMMANDS = ("chunk", "stats", "verify")


@pytest.fixture
def folder(docs):
    return docs({"a.md": "# A\n\ntext\n", "b.md": "text\n"})


WRONG = [
    (["--tokenizer", "gpt9"], ["o200k_base", "cl100k_base", "estimate", "tokenizer.json"]),
    (
        ["--tokenizer", "nope.json"],
        ["nope.json: no such tokenizer file; choose o200k_base,", "a Hugging Face tokenizer.json"],
    ),
    (["--strategy", "nope"], list(STRATEGIES)),
    (["--breadcrumb", "nope"], ["conditional", "always", "none"]),
    (["--slugs", "nope"], ["github", "ascii"]),
    (["--syntax", "nope"], ["markdown", "text"]),
    (["--errors", "nope"], ["strict", "replace"]),
    (["--content-type", "a b"], ["letters, digits"]),
    (["-s", "tree", "--tree", "a:b"], ["letters, digits"]),
    (["-s", "tree", "--tree", "tree x"], ["--tree='tree x' is invalid: "]),  # names of options in a value stay
    (["--target", "2000"], ["--target-tokens=2000 is invalid: --target-tokens may be at most --max-tokens=1024"]),
    (["--tree", "a"], ["'packed'", *(f"--{name.replace('_', '-')}" for name in own_names("packed"))]),
    (["--max-depth", "2"], ["option --max-depth is one of 'sections', not of strategy 'packed'; valid: "]),
    (["--nope"], ["--strategy", "--tokenizer", "--json", "--follow"]),
    (["-x"], ["--strategy"]),
]


@pytest.mark.parametrize("command", ["chunk", "verify"])
@pytest.mark.parametrize(("options", "named"), WRONG, ids=[" ".join(options) for options, _ in WRONG])
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
def test_wrong_option_of_chunk_and_verify(run, folder, command, options, named, form) -> None:
    result = run(command, *form, *options, folder)
    assert (result.code, result.out) == (2, b"")
    assert result.err.startswith("quire: ")
    assert result.err.count("\n") == 1
    for name in named:
        assert name in result.err


@pytest.mark.parametrize(
    "options", [["-t", "gpt9"], ["--depth", "7"], ["--nope"], ["--syntax", "x"], ["--errors", "x"]]
)
def test_wrong_option_of_outline(run, folder, options) -> None:
    result = run("outline", *options, folder / "a.md")
    assert (result.code, result.out) == (2, b"")
    assert result.err.startswith("quire: ")
    assert result.err.count("\n") == 1


def test_the_name_of_a_model(run, folder) -> None:
    named, model = (run("chunk", str(folder), "-t", name) for name in ("cl100k_base", "gpt-4"))
    assert (model.code, model.out) == (0, named.out)
    assert b'"tokenizer":"cl100k_base"' in model.out


def test_tokenizer_file_that_is_none(run, folder) -> None:
    result = run("chunk", "--json", "-t", folder / "a.md", folder)
    assert (result.code, result.out) == (2, b"")
    assert "not a Hugging Face tokenizer.json" in result.err
    assert result.err.count("\n") == 1


def test_unknown_command(run) -> None:
    result = run("chnk", "x")
    assert (result.code, result.out) == (2, b"")
    commands = ", ".join(command_group.COMMANDS)
    assert (
        result.err
        == f"quire: no such command: chnk (did you mean chunk?); the commands are {commands} (see quire --help)\n"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_to_work_on(run, command) -> None:
    result = run(command)
    assert (result.code, result.out) == (2, b"")
    assert result.err.startswith("quire: missing argument")


def test_no_command_shows_the_commands(run) -> None:
    result = run()
    assert (result.code, result.out) == (2, b"")
    assert all(name in result.err for name in ("Usage:", *COMMANDS))


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)], ids=" ".join)
def test_help(run, arguments) -> None:
    for option in ("--help", "-h"):
        result = run(*arguments, option)
        assert (result.code, result.err) == (0, "")
        assert result.out.startswith(b"Usage: quire")
