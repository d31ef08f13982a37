"""The records of a document with very many sections are written one by one, and are never all in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import quire

HEADINGS = 40_000
STATUS = Path("/proc/self/status")
PEAK = """
import pathlib, re, sys
from quire.cli import main
code = main()
status = pathlib.Path("/proc/self/status").read_text()
print(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1], file=sys.stderr)
sys.exit(code)
"""
"""Runs a command, and says how many KB of memory it took."""


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux tells the memory of a process without its parent's")
@pytest.mark.parametrize("target", [[], ["--json"], ["-o", "out.jsonl"]])
def test_memory_of_a_document_with_many_sections(tmp_path: Path, target: list[str]) -> None:
    (tmp_path / "a.md").write_text("".join(f"# {number}\n\nab\n" for number in range(HEADINGS)))
    command = [sys.executable, "-c", PEAK, "chunk", "a.md", "-s", "tree", "-q", "-j", "1", *target]
    environment = {**os.environ, "PYTHONPATH": str(Path(quire.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert int(done.stderr) < 6 * HEADINGS  # KB; all records together take 10 KB a section
    lines = (tmp_path / "out.jsonl").read_text() if "-o" in target else done.stdout
    assert lines.count('"contentHash"') == HEADINGS
