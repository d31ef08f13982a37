"""``make demo``: quire at work on its own documentation."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from processes import terminal

from quire.cli import demo, main
from quire.options import DEFAULT_STRATEGY, OWN

ROOT = Path(__file__).parents[2]
DEMO = (sys.executable, "-m", "quire.cli.demo")


@pytest.fixture
def here(docs, monkeypatch) -> Path:
    long = " ".join(f"Sentence {number}." for number in range(240))  # so that `packed` cuts where `Deep` begins
    deep = "## Deep\n\nGrüße. " + " ".join(f"Satz {number}." for number in range(30))
    folder = docs({"README.md": "# R\n\ntext\n", "docs/a.md": f"# A\n\n{long}\n\n{deep}\n", "docs/b/c.md": "x\n"})
    monkeypatch.chdir(folder)
    return folder


def test_it_shows_outline_sizes_a_chunk_and_the_verdict(here, capsys) -> None:
    assert demo.main(["README.md", "docs"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for part in (
        "$ quire outline README.md",
        "└─ R",
        "2 documents, 3 chunks, 1,091 tokens",
        "> A › Deep",
        "Grüße",
        "3 documents: ",
    ):
        assert part in out
    assert 'Path("docs/a.md").read_bytes()[3256:3533].decode() == chunk.original_text\nTrue\n' in out


def test_the_default_strategy_comes_first_and_without_its_option(here, capsys) -> None:
    assert demo.main(["README.md", "docs"]) == 0
    out = capsys.readouterr().out
    commands = [line.partition("   ")[0] for line in out.splitlines() if line.startswith(("$", ">>> chunk ="))]
    others = [name for name in OWN if name != DEFAULT_STRATEGY]
    assert commands == [
        "$ quire outline README.md --depth 2",
        "$ quire chunk docs",
        '>>> chunk = quire.chunk_file("docs/a.md")[1]',
        *(f"$ quire chunk docs --strategy {name}" for name in others),
        "$ quire verify README.md docs",
        *(f"$ quire verify README.md docs --strategy {name}" for name in others),
    ]
    assert "$ quire chunk docs   # what the documents are cut into, with the default strategy: packed\n2 doc" in out


def test_what_is_shown_is_what_the_commands_say(here, capsys) -> None:
    """The numbers below each `$ quire chunk`, and that `$ quire verify` ends well."""
    assert demo.main(["README.md", "docs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [(line[2:].partition("   ")[0].split(), after) for line, after in pairwise(lines) if line.startswith("$")]
    for command, after in shown[1:]:
        assert main(command[1:]) == 0
        (summary,) = [line for line in capsys.readouterr().err.splitlines() if "documents, " in line]
        assert after.startswith(summary.partition(", ")[0] if command[1] == "verify" else summary)


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not in quire's repository")
def test_on_quire_s_own_documentation() -> None:
    done = subprocess.run([*DEMO, "README.md", "docs"], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    assert b"\nTrue\n" in done.stdout
    assert done.stdout.count(b"\n") <= 80


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty on Windows")
def test_on_a_terminal(here) -> None:
    code, got = terminal("README.md", "docs", program=DEMO, cwd=here)
    assert code == 0
    assert re.search("\x1b\\[1m.*quire", got)


@pytest.mark.parametrize("arguments", [["nope.md", "docs"], ["README.md", "nope"]])
def test_elsewhere_it_says_where_to_run_it(here, capsys, arguments) -> None:
    assert demo.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "make demo" in err


def test_wrong_arguments(capsys) -> None:
    assert demo.main([]) == 2
    assert "usage: python -m quire.cli.demo README.md docs" in capsys.readouterr().err
