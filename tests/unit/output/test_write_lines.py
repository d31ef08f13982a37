"""JSON lines and Parquet: what is written, and that a file is replaced whole or not at all."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from pyarrow import parquet

import quire
from quire.output import atomic_file, chunk_json, record_forms
from quire.output import parquet as parquet_module
from quire.output.jsonl import write_jsonl
from quire.output.parquet import write_parquet
from support import grammar
from support.strategies import options

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


def docs() -> list[quire.Chunks]:
    return [
        quire.chunk("---\na: [1, {b: é}]\n---\nPre.\n\n# A\n\nx 漢\n\n## B\n\ny\n", "tree", path="g/a.md"),
        quire.chunk("", "tree", path="empty.md"),
        quire.chunk("z \ud800", "tree"),
    ]


def failing(error: type[BaseException] = KeyboardInterrupt) -> Iterator[quire.Chunks]:
    yield from docs()
    raise error


def test_one_line_a_chunk(tmp_path: Path) -> None:
    target = tmp_path / "new" / "chunks.jsonl"
    assert write_jsonl(target, docs()) == 4
    lines = target.read_bytes().splitlines()
    assert [chunk_json.decode(line) for line in lines] == [chunk for chunks in docs() for chunk in chunks]
    assert target.read_bytes().endswith(b"\n")


@pytest.mark.parametrize("form", sorted(record_forms.FORMS))
def test_forms(tmp_path: Path, form: Any) -> None:
    stream = io.BytesIO()
    assert write_jsonl(stream, docs(), form=form) == 4
    write_jsonl(str(tmp_path / "x"), docs(), form=form)
    assert (tmp_path / "x").read_bytes() == stream.getvalue()
    made = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert made == [record for chunks in docs() for record in record_forms.records(chunks, form)]


@pytest.mark.parametrize("write", [write_jsonl, write_parquet])
def test_one_document_needs_no_list_around_it(tmp_path: Path, write: Any) -> None:
    chunks = docs()[0]
    for number, document in enumerate([chunks, [*chunks], [chunks]]):
        assert write(tmp_path / str(number), document) == len(chunks)
    assert len({(tmp_path / str(number)).read_bytes() for number in range(3)}) == 1
    assert write(tmp_path / "none", quire.chunk("")) == 0


def test_what_was_read_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "chunks.jsonl"
    assert quire.write_jsonl(file, docs()) == quire.write_jsonl(tmp_path / "again", quire.read_jsonl(file))
    assert file.read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize("write", [write_jsonl, write_parquet])
def test_some_of_the_chunks_of_a_document(tmp_path: Path, write: Any) -> None:
    assert write(tmp_path / "x", [docs()[0][1:], [*docs()[2]]]) == 3
    with pytest.raises(quire.OptionError, match="not list"):
        write_jsonl(tmp_path / "y", [docs()[0][1:]], form="node")


@pytest.mark.parametrize("form", ["zz", None, ["chunk"]])
@pytest.mark.parametrize("documents", [docs(), []])
def test_a_form_that_is_none_is_refused(tmp_path: Path, form: Any, documents: list[quire.Chunks]) -> None:
    for target in (tmp_path / "x", io.BytesIO()):
        with pytest.raises(quire.OptionError, match="is invalid: must be one of 'chunk', 'compact', 'flat', 'node'"):
            write_jsonl(target, documents, form=form)
    with pytest.raises(quire.OptionError, match="must be one of"):
        record_forms.records(docs()[0], form)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_jsonl, write_parquet])
@pytest.mark.parametrize("documents", [[["text"]], ["text"], [None]])
def test_what_are_no_documents_is_refused(tmp_path: Path, write: Any, documents: Any) -> None:
    with pytest.raises(quire.OptionError, match=r"expected the result of quire.chunk, or a list of such results, not "):
        write(tmp_path / "x", documents)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_jsonl, write_parquet])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_on_an_error_the_old_file_stays(tmp_path: Path, write: Any, error: type[BaseException]) -> None:
    target = tmp_path / "x"
    target.write_text("old")
    with pytest.raises((error, quire.QuireError)):
        write(target, failing(error))
    assert target.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


@posix
@pytest.mark.parametrize("write", [write_jsonl, write_parquet])
def test_a_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path, write: Any) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", docs())
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    assert (tmp_path / "real").read_bytes() != b"old"


@posix
def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    assert write_jsonl("/dev/null", docs()) == 4
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_jsonl(tmp_path / "pipe", docs())
    assert os.read(reader, 100_000).count(b"\n") == 4
    os.close(reader)


@posix
@pytest.mark.parametrize("lead", ["/dev/fd", "/proc/self/fd"])
def test_what_is_open_is_written_to_at_its_position(tmp_path: Path, lead: str) -> None:
    if lead.startswith("/proc") and not Path(lead).exists():
        pytest.skip("no /proc")
    with (tmp_path / "log").open("wb") as log:
        log.write(b"old\n")
        log.flush()
        name = Path(f"{lead}/{log.fileno()}")
        write_jsonl(name, docs()[2:])
        write_jsonl(name, docs()[2:])
    first, *others = (tmp_path / "log").read_bytes().splitlines()
    assert (first, [chunk_json.decode(line) for line in others]) == (b"old", [docs()[2][0]] * 2)
    assert [each.name for each in tmp_path.iterdir()] == ["log"]


@posix
@pytest.mark.parametrize("write", [write_jsonl, write_parquet])
def test_an_open_pipe_is_written_to(tmp_path: Path, write: Any) -> None:
    reader, writer = os.pipe()
    write(f"/dev/fd/{writer}", docs()[2:])
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        data = stream.read()
    write(tmp_path / "x", docs()[2:])
    assert data == (tmp_path / "x").read_bytes()


@posix
def test_a_hidden_file_of_quire_is_not_named(tmp_path: Path) -> None:
    target = tmp_path / "x.jsonl"
    with pytest.raises(quire.QuireError) as refused, atomic_file.os_errors_as_quire_errors(target):
        raise OSError(errno.ENOSPC, "it says", str(tmp_path / f"{atomic_file._prefix(target)}123"))
    assert str(refused.value) == f"{target}: cannot be written: it says; {atomic_file.REMEDY}"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(quire.QuireError, match="is a folder"):
        write_jsonl(tmp_path, docs())


@posix
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(quire.QuireError, match=r"file.*cannot be written"):
        write_jsonl(tmp_path / "file" / "x.jsonl", docs())


@posix
def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    target = tmp_path / "x.jsonl"
    dead = tmp_path / f"{atomic_file._prefix(target)}123"
    dead.write_text("half")
    other = tmp_path / f"{atomic_file._prefix(tmp_path / 'y.jsonl')}123"
    other.write_text("another file's")
    with atomic_file.replacing(target) as first:
        first.write(b"one")
        with atomic_file.replacing(target) as second:  # takes the first for no leftover
            second.write(b"two")
        assert target.read_bytes() == b"two"
    assert target.read_bytes() == b"one"
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([other.name, "x.jsonl"])


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "a\udcff.jsonl"])
@posix
def test_long_and_odd_names(tmp_path: Path, name: str) -> None:
    for _ in range(2):
        write_jsonl(tmp_path / name, docs())
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_parquet_columns(tmp_path: Path) -> None:
    target = tmp_path / "x.parquet"
    assert write_parquet(target, docs()) == 4
    table = parquet.read_table(target)
    only_with_pages = {"pages", "cells", "cellLines"}
    assert [name for name in table.column_names if name not in only_with_pages] == list(docs()[0][0].to_dict())
    assert str(table.schema.field("headerPath").type).startswith("list<")
    assert table.schema.metadata[b"quire.model.chunk_record"] == chunk_json.VERSION.encode()
    rows = table.to_pylist()
    for row, chunk in zip(rows, [chunk for chunks in docs()[:2] for chunk in chunks], strict=False):
        written = {name: value for name, value in row.items() if name not in only_with_pages}
        assert {**written, "metadata": json.loads(row["metadata"])} == chunk.to_dict()
    assert rows[3]["originalText"] == "z \ufffd"


def test_parquet_is_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_module, "_ROWS", 4)
    made = [quire.chunk("# A\n\nx\n\n" * number, "tree", path=f"{number}.md") for number in (9, 1, 1, 3, 0, 4, 2)]
    write_parquet(tmp_path / "here", made)
    parquet_module.write_encoded(tmp_path / "sent", [parquet_module.encoded(chunks) for chunks in made])
    file = parquet.ParquetFile(tmp_path / "here")
    sizes = [file.metadata.row_group(index).num_rows for index in range(file.num_row_groups)]
    assert all(4 <= size <= 3 + 9 for size in sizes[:-1])  # a document is not divided
    assert len(sizes) > 3
    assert file.read().column("id").to_pylist() == [chunk.id for chunks in made for chunk in chunks]
    assert (tmp_path / "sent").read_bytes() == (tmp_path / "here").read_bytes()


def test_parquet_of_nothing(tmp_path: Path) -> None:
    assert write_parquet(tmp_path / "x.parquet", []) == 0
    assert parquet.read_table(tmp_path / "x.parquet").num_rows == 0


@given(grammar.documents(surrogates=True), options())
def test_random_rows_can_be_written(text: str, chosen: dict[str, Any]) -> None:
    chunks = quire.chunk(text, **chosen)
    with TemporaryDirectory() as folder:
        here, sent = Path(folder) / "here", Path(folder) / "sent"
        assert write_parquet(here, [chunks]) == len(chunks)
        parquet_module.write_encoded(sent, [parquet_module.encoded(chunks)])
        assert parquet.read_table(here).num_rows == len(chunks)
        assert sent.read_bytes() == here.read_bytes()


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(quire.QuireError, match="pip install pyarrow"):
        write_parquet(tmp_path / "x.parquet", docs())
    assert list(tmp_path.iterdir()) == []


def test_flat_rows(tmp_path: Path) -> None:
    chunks = quire.chunk("---\ntags: [a]\n---\n# A\n\nx\n\n# B\n\ny\n", "tree", path="a.md")
    assert write_parquet(tmp_path / "flat.parquet", [chunks], is_flat=True) == 3
    table = parquet.read_table(tmp_path / "flat.parquet")
    assert table.to_pylist() == [quire.flat(chunk) for chunk in chunks]
    parquet_module.write_encoded(tmp_path / "sent", [parquet_module.encoded(chunks, is_flat=True)], is_flat=True)
    assert (tmp_path / "sent").read_bytes() == (tmp_path / "flat.parquet").read_bytes()
