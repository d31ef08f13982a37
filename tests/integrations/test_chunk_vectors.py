"""``quire chunk --vectors``: chunks with their vectors."""

import pytest
from click.testing import CliRunner

pytest.importorskip("wordllama", reason="needs the extra wordllama")

import pyarrow.parquet as pq

from quire.cli import command_group
from quire.embed.embedder import resolve


def test_rows_have_the_vectors_of_their_texts(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Car\n\nA car has wheels.\n\n## Brakes\n\nPress the pedal.\n")
    (tmp_path / "docs" / "b.md").write_text("# Ship\n\nA ship floats.\n")
    arguments = [
        "chunk",
        str(tmp_path / "docs"),
        "-o",
        str(tmp_path / "out"),
        "-s",
        "tree",
        "--engine",
        "local",
        "--embedder",
        "wordllama",
    ]
    assert CliRunner().invoke(command_group.quire, arguments, standalone_mode=False).return_value == 0
    rows = pq.read_table(tmp_path / "out" / "part-000000.parquet").to_pylist()
    expected = resolve("wordllama").embed([row["embedText"] for row in rows])
    assert len(rows) == 3
    for row, vector in zip(rows, expected, strict=True):
        assert row["vector"] == pytest.approx(vector.tolist(), abs=1e-6)


def test_a_folder_without_text_has_no_rows(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "empty.md").write_text("")
    arguments = ["chunk", str(tmp_path / "docs"), "-o", str(tmp_path / "out"), "--engine", "local"]
    assert CliRunner().invoke(command_group.quire, [*arguments, "--vectors"], standalone_mode=False).exception
    arguments += ["--embedder", "wordllama"]
    assert CliRunner().invoke(command_group.quire, arguments, standalone_mode=False).return_value == 0
    assert pq.read_table(tmp_path / "out" / "part-000000.parquet").num_rows == 0
