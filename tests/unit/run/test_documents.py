"""``map_documents``, shards, and ``quire chunk --engine local``."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import working
from click.testing import CliRunner

import quire
from quire.cli.chunk import command as chunk_command
from quire.run import map_documents
from quire.run.parts import PART, parts_of
from support.embedding_server import serving


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    for path in ("b.md", "deep/a.md", "_index.md", "note.txt"):
        (folder / path).write_text(f"# {path}\n\nText of {path}.\n")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".gitignore").write_text("ignored.md\n")
    (folder / "ignored.md").write_text("# No\n")
    return folder


PATHS = ["_index.md", "b.md", "deep/a.md", "note.txt"]


def run(*arguments):
    return CliRunner().invoke(chunk_command, [*map(str, arguments), "--engine", "local"], standalone_mode=False)


def written(folder: Path) -> list[str]:
    return [row["sourcePath"] for file in sorted(folder.glob("part-*")) for row in pq.read_table(file).to_pylist()]


def test_the_function_gets_documents_in_the_order_of_their_paths(docs) -> None:
    (names,) = map_documents(str(docs), working.names_of)
    assert names.column("path").to_pylist() == PATHS


def test_parts_have_some_megabytes_and_a_large_document_is_one_by_itself(docs) -> None:
    (docs / "c.md").write_text("x" * (PART + 1))
    parts, problems = parts_of(str(docs))
    assert [part.paths for part in parts] == [("_index.md", "b.md"), ("c.md",), ("deep/a.md", "note.txt")]
    assert problems == []


def test_a_url_is_a_source_too(docs) -> None:
    (names,) = map_documents(docs.as_uri(), working.names_of)
    assert names.column("path").to_pylist() == ["_index.md", "b.md", "deep/a.md", "ignored.md", "note.txt"]


def test_a_document_that_cannot_be_read_is_an_error_or_reported(docs) -> None:
    (docs / "bad.md").write_bytes(b"# \xff\xfe\xfa")
    with pytest.raises(quire.InputError, match=r"bad\.md.*not UTF-8"):
        list(map_documents(str(docs), working.names_of))
    problems = []
    (names,) = map_documents(str(docs), working.names_of, on_problem=lambda *problem: problems.append(problem))
    assert names.column("path").to_pylist() == PATHS
    assert [path for path, _ in problems] == ["bad.md"]


def test_a_document_that_kills_its_process_is_reported_and_all_others_are_done(docs) -> None:
    (docs / "lethal.md").write_text(working.LETHAL_TEXT)
    problems = []
    (names,) = map_documents(str(docs), working.fragile_names_of, on_problem=lambda *problem: problems.append(problem))
    assert names.column("path").to_pylist() == PATHS
    assert problems == [("lethal.md", "its process died, perhaps for lack of memory; cut it into smaller files")]


def test_an_error_of_the_function_is_raised(docs) -> None:
    with pytest.raises(ValueError, match="field names"):
        list(map_documents(str(docs), working.failing))


def test_unknown_engines_and_sources_are_named(docs) -> None:
    with pytest.raises(quire.OptionError, match="choose from: local, ray"):
        list(map_documents(str(docs), working.names_of, engine="abacus"))
    with pytest.raises(quire.InputError, match="is not a folder"):
        list(map_documents(str(docs / "none"), working.names_of))
    with pytest.raises(quire.InputError, match="cannot be opened"):
        list(map_documents("nowhere://a/b", working.names_of))


def test_a_repeated_run_replaces_its_files_and_touches_no_others(docs, tmp_path) -> None:
    output = tmp_path / "chunks"
    (docs / "c.md").write_text("word " * PART)
    assert run(docs, "-o", output, "-s", "sections").return_value == 0
    assert len(list(output.glob("part-*.parquet"))) == 3
    (output / "notes.txt").write_text("mine")
    (docs / "c.md").unlink()
    result = run(docs, "-o", output)
    assert result.return_value == 0
    assert "4 documents, 4 chunks" in result.output
    assert written(output) == PATHS
    assert sorted(file.name for file in output.iterdir()) == ["_manifest", "notes.txt", "part-000000.parquet"]


def test_a_file_url_is_an_output_too(docs, tmp_path) -> None:
    assert run(docs, "-o", (tmp_path / "a b").as_uri()).return_value == 0
    assert written(tmp_path / "a b") == PATHS
    assert sorted(file.name for file in (tmp_path / "a b").iterdir()) == ["_manifest", "part-000000.parquet"]


def test_a_bad_document_is_skipped_with_exit_code_2(docs, tmp_path) -> None:
    (docs / "bad.md").write_bytes(b"# \xff\xfe\xfa")
    result = run(docs, "-o", tmp_path / "chunks")
    assert result.return_value == 2
    assert "bad.md" in result.output
    assert written(tmp_path / "chunks") == PATHS


def test_a_folder_without_documents(tmp_path) -> None:
    (tmp_path / "none").mkdir()
    result = run(tmp_path / "none", "-o", tmp_path / "chunks")
    assert result.return_value == 1
    assert not (tmp_path / "chunks").exists()


def test_vectors_come_from_an_endpoint_and_equal_texts_are_embedded_once(docs, tmp_path) -> None:
    for path in PATHS:
        (docs / path).write_text("The same.\n" if path != "b.md" else "Another text.\n")
    with serving() as server:
        result = run(docs, "-o", tmp_path / "out", "--endpoint", server.url, "--model", "m", "--breadcrumb", "none")
        assert result.return_value == 0, result.output
        assert [body["input"] for _, body, _ in server.seen] == [["The same.", "Another text."]]
    rows = pq.read_table(tmp_path / "out" / "part-000000.parquet").to_pylist()
    assert [row["vector"] for row in rows] == [[9.0, 0.0], [13.0, 1.0], [9.0, 0.0], [9.0, 0.0]]
