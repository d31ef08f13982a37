"""Whatever the moment an update is killed, the index is as it was or as it was to be; the next update goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killing_updates.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_a_hundred_times(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, SCRIPT, tmp_path, "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert result["seen"] == sorted(result["seen"])
    assert 10 < len(set(result["seen"])) < 90  # some were killed before the commit, some after it
    assert result["generations"] == 1
    assert result["left"] == [".gitignore", "index.checked", "index.current", "index.lock"]
