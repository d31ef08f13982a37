"""Whatever the moment a run is killed, each document is old or new; where folders cannot be exchanged, all but one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SCRIPT = Path(__file__).with_name("killing.py")


def run(out: Path, how: str, seed: int = 1) -> dict[str, Any]:
    done = subprocess.run([sys.executable, SCRIPT, out, how, str(seed)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.skipif(sys.platform != "linux", reason="where folders can be exchanged, and it was tried")
@pytest.mark.parametrize("how", ["random", "steps"])
def test_folders_are_exchanged(tmp_path: Path, how: str) -> None:
    result = run(tmp_path / "out", how)
    assert result["wrong"] == []
    assert result["left"] == ["README", "lock", "out"]


@pytest.mark.parametrize("how", ["random", "steps"])
def test_files_are_renamed_one_by_one(tmp_path: Path, how: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("not quire's folder")
    result = run(out, how)
    assert result["wrong"] == []
    assert result["left"] == ["lock", "out"]
    assert (out / "notes.txt").read_text() == "not quire's folder"
