"""Whatever the moment an update is killed, the index is as it was or as it was to be; the next update goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quire import Index
from quire.output import atomic_file

SCRIPT = Path(__file__).with_name("killing_updates.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_a_hundred_times(memory_path: Path) -> None:
    done = subprocess.run([sys.executable, SCRIPT, memory_path, "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert result["seen"] == sorted(result["seen"])
    assert 10 < len(set(result["seen"])) < 90  # some were killed before the commit, some after it
    assert result["generations"] == 1
    assert result["left"] == [".gitignore", "index.checked", "index.current", "index.lock"]


def test_what_a_killed_commit_left_is_not_in_the_way(tmp_path: Path) -> None:
    """The engine names a file after the number of changes: the same update again wants the same name."""
    docs, home = tmp_path / "docs", tmp_path / ".quire"
    docs.mkdir()
    for number in range(5):
        (docs / f"{number}.md").write_text(f"# A\n\ntext {number}\n")
    index = Index.open(home)
    index.update({"docs": docs})
    shutil.copytree(home, tmp_path / "before")
    (docs / "3.md").write_text("# B\n\nother\n")
    index.update()
    home.rename(tmp_path / "after")
    (tmp_path / "before").rename(home)
    left = list((tmp_path / "after" / "index-1").glob("*.del"))
    for file in (*left, tmp_path / "after" / "index-1" / ".managed.json"):
        shutil.copy(file, home / "index-1")
    assert left
    assert index.update().changed == 1
    assert index.get("3.md#b").text == "# B\n\nother\n"


def test_what_was_killed_while_pointing_to_a_new_generation_is_swept(tmp_path: Path) -> None:
    """Updates that keep the generation write no pointer, and would leave it there for ever."""
    docs, home = tmp_path / "docs", tmp_path / ".quire"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\ntext\n")
    index = Index.open(home)
    index.update({"docs": docs})
    before = sorted(path.name for path in home.iterdir())
    (home / f"{atomic_file._prefix(home / 'index.current')}123").write_bytes(b"{")
    (home / "index-2").mkdir()
    (docs / "a.md").write_text("# A\n\nother text\n")
    assert index.update().changed == 1
    assert sorted(path.name for path in home.iterdir()) == before
