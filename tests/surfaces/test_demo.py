"""``make demo``: its commands work on quire's own documentation."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not in quire's repository")
def test_the_commands_of_the_demo(run, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(ROOT)
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    lines = [line for line in recipe[1].splitlines() if "/quire " in line]
    commands = [shlex.split(line.replace(".venv/demo", str(tmp_path / "index")))[1:] for line in lines]
    assert [command[0] for command in commands] == ["outline", "stats", "search", "verify"]
    for command in commands:
        assert run(*command).code == 0
