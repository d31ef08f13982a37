"""A sync may be killed at any moment: the next ones go on, embed nothing twice and leave nothing stale.

Documents change between the kills, and the model changes now and then, so that a sync finds what several killed ones
left. Kills are spread over all lines of the engine and of the store's module.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from integrations.killed_sync import KILLED, vector
from integrations.native import Place

SCRIPT = Path(__file__).with_name("killed_sync.py")
KILLS = 50


def change(docs: Path, step: int) -> None:
    """Edit, add, rename or delete a document, or move a section."""
    files = sorted(docs.glob("*.md"))
    file = files[step % len(files)]
    match step % 5:
        case 0:
            file.write_text(file.read_text().replace("\n\n## ", f"\n\nEdit {step}.\n\n## ", 1))
        case 1:
            (docs / f"n{step}.md").write_text(text(f"New {step}"))
        case 2:
            file.rename(docs / f"r{step}.md")
        case 3 if len(files) > 4:
            file.unlink()
        case _:
            head, _, last = file.read_text().rpartition("\n\n## ")
            file.write_text(f"{head}\n")
            (docs / f"m{step}.md").write_text(f"# Moved {step}\n\n## {last}")


def text(title: str) -> str:
    return f"---\ntags: [{title.split(maxsplit=1)[0]}]\n---\n# {title}\n\nAll about {title}.\n\n## One\n\n1 of {title}.\n\n## Two\n\nSame everywhere.\n"


class Syncs:
    """A process that forks a sync for each call."""

    def __init__(self, place: Place) -> None:
        self.target = place.target
        call = [sys.executable, "-W", "ignore", str(SCRIPT), place.kind]
        self.process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, docs: Path, version: str, log: Path, step: int) -> bool:
        """Sync; True if it was killed."""
        assert self.process.stdin
        assert self.process.stdout
        log.write_text("")
        self.process.stdin.write(json.dumps([str(docs), self.target, version, str(log), step]) + "\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        assert code in (0, KILLED)
        return code == KILLED

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture
def syncs(place: Place) -> Iterator[Syncs]:
    made = Syncs(place)
    yield made
    made.close()


def stored_texts(place: Place, version: str) -> set[str]:
    """The texts that have a vector of this version, complete or not."""
    rows = [
        row
        for name in place.tables()
        if name.startswith("vectors") and not name.endswith("__quire")
        for row in place.rows(name)
    ]
    return {row["text"] for row in rows if list(row["vector"]) == pytest.approx(vector(row["text"], version), abs=1e-5)}


def check(docs: Path, place: Place, version: str) -> None:
    """The state is that of an undisturbed sync."""
    expected = {
        chunk.id: (chunk.embed_text, chunk.source_path, chunk.source_position.char_start)
        for chunks in quire.chunk_dir(docs, "tree")
        for chunk in chunks
    }
    rows = place.rows()
    assert {row["chunk_id"]: (row["text"], row["source_path"], row["char_start"]) for row in rows} == expected
    assert len(rows) == len(expected)
    for row in rows:
        assert list(row["vector"]) == pytest.approx(vector(row["text"], version), abs=1e-5)
    assert len([name for name in place.tables() if name.startswith("vectors")]) <= 3


def test_fifty_kills(place: Place, syncs: Syncs, tmp_path: Path) -> None:
    docs, log = tmp_path / "docs", tmp_path / "log"
    docs.mkdir()
    for number in range(6):
        (docs / f"{number}.md").write_text(text(f"Doc {number}"))
    assert not syncs(docs, "1", log, 0)
    lines = int(log.read_text().splitlines()[-1])
    check(docs, place, "1")
    killed = version = 0
    for step in range(4 * KILLS):
        change(docs, step)
        version = 1 + step // 12
        stored = stored_texts(place, str(version))
        was_killed = syncs(docs, str(version), log, 1 + (step * 71) % lines)
        calls = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("[")]
        embedded = [each for call in calls for each in call]
        assert len(embedded) == len(set(embedded))
        assert not stored & set(embedded)
        killed += was_killed
        if killed % 10 == 9 or killed == KILLS:
            assert not syncs(docs, str(version), log, 0)
            check(docs, place, str(version))
        if killed == KILLS:
            return
    pytest.fail(f"only {killed} syncs were killed")
