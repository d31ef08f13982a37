"""``make demo`` and ``make pictures``: their commands work on quire's own documentation."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not in quire's repository")
def test_the_commands_of_the_demo(run, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(ROOT)
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    lines = [line for line in recipe[1].splitlines() if line.startswith("\t$(BIN)/quire ")]
    commands = [shlex.split(line.replace("$(VENV)/demo", str(tmp_path / "index")))[1:] for line in lines]
    assert [command[0] for command in commands] == ["outline", "chunk", "search", "verify"]
    for command in commands:
        assert run(*command).code == 0


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not in quire's repository")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty on Windows")
def test_the_picture_shows_what_a_terminal_shows(tmp_path) -> None:
    """``make pictures`` writes it anew."""
    subprocess.run([sys.executable, ROOT / "tests" / "terminal_picture.py", tmp_path / "terminal.svg"], check=True)
    assert (tmp_path / "terminal.svg").read_text() == (ROOT / "docs" / "images" / "terminal.svg").read_text()
