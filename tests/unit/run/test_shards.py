"""Shards: files of documents with the columns ``path`` and ``text``; and a run that continues after a kill."""

import gzip
import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import quire
from quire.cli.chunk import command as chunk_command
from quire.run import map_documents
from quire.run.parts import PART, parts_of, read_texts, source_name

DOCUMENTS = [(f"d/{number}.md", f"# Title {number}\n\nText é {number}.\n" * (1 + number % 5)) for number in range(40)]
ENDINGS = [".parquet", ".jsonl", ".ndjson", ".jsonl.gz"]


def write_shard(file: Path, documents=DOCUMENTS, rows: int = 7) -> Path:
    if file.suffix == ".parquet":
        paths, texts = zip(*documents, strict=True)
        pq.write_table(pa.table({"text": texts, "other": [1] * len(texts), "path": paths}), file, row_group_size=rows)
        return file
    lines = [json.dumps({"other": 1, "path": path, "text": text}, ensure_ascii=False) for path, text in documents]
    data = ("\n".join(lines) + "\n").encode()
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    return file


def run(*arguments):
    return CliRunner().invoke(chunk_command, [*map(str, arguments), "--engine", "local"], standalone_mode=False)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("size", [1, 97, 500, PART])
def test_every_document_is_in_one_part(tmp_path, ending, size) -> None:
    shard = write_shard(tmp_path / f"shard{ending}")
    parts, problems = parts_of(str(shard), size)
    read = [read_texts(part) for part in parts]
    assert [pair for pairs, _ in read for pair in pairs] == DOCUMENTS
    assert [*problems, *(problem for _, some in read for problem in some)] == []
    assert size == PART or ending == ".jsonl.gz" or len(parts) > 3


def test_the_listing_has_no_documents_however_many_there_are(tmp_path) -> None:
    for number in range(8):
        write_shard(tmp_path / f"{number}.jsonl", [(f"{number}/{each}.md", f"# {each}\n") for each in range(2_500)])
    parts, _ = parts_of(str(tmp_path / "*.jsonl"))
    assert len(pickle.dumps(parts)) < 3_000
    counted = [batch.num_rows for batch in map_documents(str(tmp_path / "*.jsonl"), unchanged, workers=1)]
    assert counted == [2_500] * 8


def unchanged(documents):
    return documents


def test_chunks_are_those_of_the_same_documents_in_files(tmp_path) -> None:
    for path, text in DOCUMENTS:
        (tmp_path / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / path).write_text(text)
    write_shard(tmp_path / "a.parquet", DOCUMENTS[:25])
    write_shard(tmp_path / "b.jsonl", DOCUMENTS[25:])
    assert run(tmp_path / "docs", "-o", tmp_path / "files").return_value == 0
    result = run(tmp_path / "a.parquet", tmp_path / "b.jsonl", "-o", tmp_path / "shards")
    assert result.return_value == 0, result.output
    assert "40 documents" in result.output
    rows = [
        sorted(pq.read_table(tmp_path / name).to_pylist(), key=lambda row: row["id"]) for name in ("files", "shards")
    ]
    assert rows[0] == rows[1]


def test_bad_shards_are_named(tmp_path) -> None:
    pq.write_table(pa.table({"body": ["x"]}), tmp_path / "bad.parquet")
    with pytest.raises(
        quire.InputError, match=r"bad\.parquet: has the columns body; give it the columns path and text"
    ):
        read_texts(parts_of(str(tmp_path / "bad.parquet"))[0][0])
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(quire.InputError, match=r"torn\.parquet: cannot be read"):
        read_texts(parts_of(str(tmp_path / "torn.parquet"))[0][0])
    with pytest.raises(quire.InputError, match="no such file; name Parquet or JSON-lines files"):
        parts_of(str(tmp_path / "none-*.jsonl"))
    (tmp_path / "lines.jsonl").write_text('{"path": "a.md", "text": "# A"}\n\nnonsense\n{"path": "b.md"}\n')
    pairs, problems = read_texts(parts_of(str(tmp_path / "lines.jsonl"))[0][0])
    assert pairs == [("a.md", "# A")]
    assert [problem.path for problem in problems] == ["byte 33", "byte 42"]
    result = run(tmp_path / "lines.jsonl", "-o", tmp_path / "out")
    assert result.return_value == 2
    assert "lines.jsonl: byte 33: no JSON object with path and text" in result.output


def test_what_only_an_engine_can_do_is_said(tmp_path) -> None:
    for arguments, said in [
        (["s3://bucket/docs", "-o", "out"], "needs an engine; add --engine local"),
        ([str(tmp_path), "--vectors"], "--vectors needs an engine"),
        ([str(tmp_path), "--engine", "local"], "name one with -o"),
        ([str(tmp_path), "--engine", "local", "-o", "x.parquet"], "name one with -o"),
        (["-", "--engine", "local", "-o", "x"], "cannot read standard input"),
    ]:
        result = CliRunner().invoke(chunk_command, arguments)
        assert said in result.output


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {
        str(file.relative_to(folder)): (file.stat().st_ino, file.stat().st_mtime_ns, file.read_bytes())
        for file in files
    }


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_killed_run_repeats_no_finished_part_and_writes_the_same_bytes(tmp_path) -> None:
    """A named pipe in the place of its third file stops the run there."""
    for number in range(5):
        write_shard(tmp_path / f"{number}.jsonl", [(f"{number}/{path}", text) for path, text in DOCUMENTS])
    out, stop = tmp_path / "out", tmp_path / "out" / "part-000002.parquet"
    out.mkdir()
    os.mkfifo(stop)
    arguments = ["chunk", str(tmp_path / "*.jsonl"), "-o", str(out), "--engine", "local", "-j", "1"]
    with subprocess.Popen([sys.executable, "-m", "quire", *arguments]) as process:
        os.close(os.open(stop, os.O_RDONLY))  # returns when the run opens it to write
        process.send_signal(signal.SIGKILL)
    stop.unlink()
    finished = state(out)
    names = [f"part-00000{number}" for number in (0, 1)]
    assert {*finished} >= {f"{name}.parquet" for name in names} | {f"_manifest/{name}.json" for name in names}
    done = subprocess.run([sys.executable, "-m", "quire", *arguments], capture_output=True, text=True, check=True)
    assert "200 documents" in done.stderr
    assert "2 parts of 5 had been written before" in done.stderr
    resumed = state(out)
    assert {name: resumed[name] for name in finished} == finished
    assert run(tmp_path / "*.jsonl", "-o", tmp_path / "undisturbed").return_value == 0
    undisturbed = state(tmp_path / "undisturbed")
    assert {name: data for name, (*_, data) in resumed.items()} == {
        name: data for name, (*_, data) in undisturbed.items()
    }


def test_only_what_changed_is_written_again(tmp_path) -> None:
    for number in range(3):
        write_shard(tmp_path / f"{number}.jsonl", DOCUMENTS[number : number + 5])
    out, source = tmp_path / "out", tmp_path / "*.jsonl"
    run(source, "-o", out)
    before = state(out)
    assert "3 parts of 3 had been written before" in run(source, "-o", out).output
    assert state(out) == before
    write_shard(tmp_path / "1.jsonl", DOCUMENTS[:9])
    (out / "part-000002.parquet").unlink()
    result = run(source, "-o", out)
    assert "1 part of 3 had been written before" in result.output
    assert "19 documents" in result.output
    assert state(out)["part-000000.parquet"] == before["part-000000.parquet"]
    assert state(out)["part-000002.parquet"][2] == before["part-000002.parquet"][2]
    assert "written before" not in run(source, "-o", out, "--max-tokens", "300").output
    (tmp_path / "2.jsonl").unlink()
    run(source, "-o", out)
    assert sorted(state(out)) == [
        f"{name}"
        for name in (
            "_manifest/part-000000.json",
            "_manifest/part-000001.json",
            "part-000000.parquet",
            "part-000001.parquet",
        )
    ]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("s3://bucket/manual/*.parquet", "manual"),
        ("s3://bucket/manual/part-0.jsonl.gz?region=eu", "part-0"),
        ("s3://bucket/docs/", "docs"),
        ("shards/part-?.jsonl", "shards"),
    ],
)
def test_the_name_of_a_source(source, name):
    assert source_name(source) == name
