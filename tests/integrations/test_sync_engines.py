"""``quire sync --engine local``: the rows of ``quire sync``, made by other processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("wordllama", reason="needs the extra wordllama")

from integrations.native import Place
from quire.cli import command_group


def run(docs: Path, place: Place, *options: str) -> Result:
    arguments = ["sync", str(docs), "--to", place.target, "-s", "tree", "--delete", "--embedder", "wordllama"]
    arguments += options or ("--engine", "local")
    return CliRunner().invoke(command_group.quire, arguments, standalone_mode=False)


def sorted_rows(place: Place) -> list[dict[str, Any]]:
    rows = [{**row, "vector": [round(float(number), 5) for number in row["vector"]]} for row in place.rows()]
    return sorted(rows, key=lambda row: str(row["id"]))


def rows_of_sync(docs: Path, place: Place) -> list[dict[str, Any]]:
    other = replace(place, name="vectors_of_sync")
    assert run(docs, other, "--json").return_value == 0
    return sorted_rows(other)


def test_rows_are_those_of_sync_also_after_changes(docs: Path, place: Place) -> None:
    first = run(docs, place)
    assert first.return_value == 0, first.output
    assert "3 documents added" in first.output
    assert sorted_rows(place) == rows_of_sync(docs, place)
    assert "3 unchanged" in run(docs, place).output
    assert "3 unchanged" in run(docs, place, "-j", "1").output
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


def lance(folder: Path) -> Place:
    pytest.importorskip("lancedb", reason="needs the extra lancedb")
    return Place("lancedb", str(folder / "store"), "vectors")


def test_equal_texts_are_embedded_once_across_parts(tmp_path: Path) -> None:
    """On the first sync, too, whoever embeds them."""
    place, documents = lance(tmp_path), []
    for number in range(4):
        same = [(f"{number}/{each}.md", f"# Same\n\nText {each}.\n") for each in range(5)]
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps({"path": p, "text": t}) + "\n" for p, t in same))
        documents += same
    source = tmp_path / "*.jsonl"
    result = run(source, place, "--engine", "local", "-j", "2", "--json")
    report = json.loads(result.output)
    assert (report["added"], report["rows"]) == (20, 20)
    assert report["embedded"] == len({row["text"] for row in place.rows()}) == 5
    assert {row["source_path"] for row in place.rows()} == {path for path, _ in documents}
    assert sorted_rows(place) == rows_of_sync(source, place)
    again = json.loads(run(source, place, "--engine", "local", "--json").output)
    assert (again["unchanged"], again["rows"]) == (20, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty on Windows")
def test_a_sync_on_a_terminal_asks_before_it_deletes_much(docs: Path, tmp_path: Path) -> None:
    import pty

    place = lance(tmp_path)
    run(docs, place, "--json")
    arguments = ["sync", str(docs / "guides"), "--to", place.target, "-s", "tree", "--embedder", "wordllama"]
    for answer, code, count in ((b"n\n", 2, 8), (b"y\n", 0, 3)):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "quire", *arguments]
        with subprocess.Popen(command, stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL) as process:
            os.close(theirs)
            os.write(ours, answer)
            shown = b""
            with suppress(OSError):  # how Linux says that the other end is closed
                while data := os.read(ours, 65536):
                    shown += data
        os.close(ours)
        assert b"would delete 3 of its 3 documents" in shown
        assert b"Delete them? [y/N]" in shown
        assert process.returncode == code, shown
        assert len(place.rows()) == count
