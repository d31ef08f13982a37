"""``quire run --to``: the rows of ``quire sync``, made by other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("wordllama", reason="needs the extra wordllama")

from integrations.killed_sync import KILLED
from integrations.native import Place
from integrations.test_killed_syncs import change, text
from quire.cli import command_group

SCRIPT = Path(__file__).with_name("killed_run.py")


def run(docs: Path, place: Place, command: str = "run") -> Result:
    arguments = [command, str(docs), "--to", place.target, "-s", "tree"]
    return CliRunner().invoke(command_group.quire, arguments, standalone_mode=False)


def sorted_rows(place: Place) -> list[dict[str, Any]]:
    rows = [{**row, "vector": [round(float(number), 5) for number in row["vector"]]} for row in place.rows()]
    return sorted(rows, key=lambda row: str(row["id"]))


def rows_of_sync(docs: Path, place: Place) -> list[dict[str, Any]]:
    other = replace(place, name="vectors_of_sync")
    assert run(docs, other, "sync").return_value == 0
    return sorted_rows(other)


def test_rows_are_those_of_sync_also_after_changes(docs: Path, place: Place) -> None:
    first = run(docs, place)
    assert first.return_value == 0, first.output
    assert "3 documents, 8 chunks" in first.output
    assert sorted_rows(place) == rows_of_sync(docs, place)
    assert "3 documents, 0 chunks" in run(docs, place).output
    assert "3 unchanged" in run(docs, place, "sync").output
    (docs / "a.md").write_text("# A\n\nAlpha, changed.\n\n## Use\n\nUse it.\n")
    (docs / "c.md").rename(docs / "d.md")
    (docs / "guides" / "b.md").unlink()
    assert run(docs, place).return_value == 0
    assert sorted_rows(place) == rows_of_sync(docs, place)
    assert len(place.rows()) == 3


def test_a_document_that_cannot_be_read_keeps_its_rows(docs: Path, tmp_path: Path) -> None:
    place = lance(tmp_path)
    run(docs, place)
    before = sorted_rows(place)
    (docs / "a.md").write_bytes(b"# \xff\xfe\xfa")
    result = run(docs, place)
    assert result.return_value == 2
    assert "a.md" in result.output
    assert sorted_rows(place) == before


def test_a_folder_without_documents_changes_nothing(docs: Path, tmp_path: Path) -> None:
    place = lance(tmp_path)
    run(docs, place)
    (tmp_path / "none").mkdir()
    assert run(tmp_path / "none", place).return_value == 1
    assert len(place.rows()) == 8


def test_one_output(docs: Path, tmp_path: Path) -> None:
    for options in (["--to", "lancedb:x", "-o", "y"], []):
        result = CliRunner().invoke(command_group.quire, ["run", str(docs), *options])
        assert "name either -o DIR|URL or --to STORE" in result.output
    result = CliRunner().invoke(command_group.quire, ["run", str(docs), "--to", "mysql:x"])
    assert "write lancedb:DIR" in str(result.exception)


def test_killed_runs_leave_no_doubles(tmp_path: Path) -> None:
    place, docs = lance(tmp_path), tmp_path / "docs"
    docs.mkdir()
    for number in range(4):
        (docs / f"{number}.md").write_text(text(f"Doc {number}"))
    lines = int(killed_run(docs, place, 0).stdout)
    for step in range(6):
        change(docs, step)
        assert killed_run(docs, place, 1 + lines * (2 * step + 1) // 12).returncode in (KILLED, 0)
        ids = [row["id"] for row in place.rows()]
        assert len(ids) == len(set(ids))
        if step % 3 == 2:
            killed_run(docs, place, 0)
            assert sorted_rows(place) == rows_of_sync(docs, place)


def killed_run(docs: Path, place: Place, line: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", str(SCRIPT), str(docs), place.target, str(line)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(SCRIPT.parents[1]), *sys.path])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode in (0, KILLED), done.stderr
    return done


def lance(folder: Path) -> Place:
    pytest.importorskip("lancedb", reason="needs the extra lancedb")
    return Place("lancedb", str(folder / "store"), "vectors")
