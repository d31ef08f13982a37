"""Flat records load in pandas and Polars with their plain calls, whatever front matter contains."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire
from quire.cli import main
from quire.output.record_forms import FLAT

TEXTS = {"a.md": "---\ntags: one\ndraft: no\n---\n# 2024\n\nx\n", "b.md": "---\ntags: [two]\n---\ny\n", "c.md": "z\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(120):  # readers look at the first hundred lines to guess types
        (tmp_path / f"0{number:03}.md").write_text("# 2024\n\nplain\n")
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def rows(folder: Path) -> list[dict[str, str | int]]:
    return [quire.flat(chunk) for chunks in quire.chunk_dir(folder) for chunk in chunks]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_polars(folder: Path, tmp_path_factory: pytest.TempPathFactory, ending: str) -> None:
    polars = pytest.importorskip("polars")
    file = tmp_path_factory.mktemp("out") / f"chunks.{ending}"
    assert main(["chunk", str(folder), "--format", "flat", "-o", str(file)]) == 0
    frame = polars.read_ndjson(file) if ending == "jsonl" else polars.read_parquet(file)
    assert frame.to_dicts() == rows(folder)
    kinds = {str: polars.String, int: polars.Int64}
    assert dict(frame.schema) == {name: kinds[kind] for name, kind in FLAT.items()}


def test_pandas(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    pandas = pytest.importorskip("pandas")
    file = tmp_path_factory.mktemp("out") / "chunks.parquet"
    assert main(["chunk", str(folder), "--format", "flat", "-o", str(file)]) == 0
    assert pandas.read_parquet(file).to_dict("records") == rows(folder)
