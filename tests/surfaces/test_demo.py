"""``make demo``: its commands work on quire's own documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not in quire's repository")
def test_the_commands_of_the_demo(run, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = [line.split()[1:] for line in recipe[1].splitlines()]
    assert [command[0] for command in commands] == ["outline", "stats", "verify"]
    for command in commands:
        assert run(*command).code == 0
