"""``make demo``: quire at work on its own documentation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import terminal

from quire.cli import demo

ROOT = Path(__file__).parents[2]
DEMO = (sys.executable, "-m", "quire.cli.demo")


@pytest.fixture
def here(docs, monkeypatch) -> Path:
    long = " ".join(f"Sentence {number}." for number in range(230))  # so that `packed` cuts where `Deep` begins
    deep = "## Deep\n\nGrüße. " + " ".join(f"Satz {number}." for number in range(30))
    folder = docs({"README.md": "# R\n\ntext\n", "docs/a.md": f"# A\n\n{long}\n\n{deep}\n", "docs/b/c.md": "x\n"})
    monkeypatch.chdir(folder)
    return folder


def test_it_shows_outline_sizes_a_chunk_and_the_verdict(here, capsys) -> None:
    assert demo.main(["README.md", "docs"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for part in ("$ quire outline README.md", "└─ R", "2 documents, 3 chunks", "> A › Deep", "Grüße", "3 documents: "):
        assert part in out
    assert 'Path("docs/a.md").read_bytes()[19:26].decode() == chunk.original_text\nTrue\n' in out


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
