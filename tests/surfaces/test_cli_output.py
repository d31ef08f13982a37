"""``quire chunk -o`` and ``--format``: what is written where, what is refused, and that nothing is half written."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from outputs import cut, left, lines, refused, written
from processes import QUIRE, start
from pyarrow import parquet

import quire
from quire.model.options import STRATEGIES
from quire.output import chunk_json, record_forms

FORMATS = ("files", "jsonl", "parquet", "compact", "nodes")


def file_name(chunks: quire.Chunks, number: int, content_type: str = "doc") -> str:
    folder, _, name = chunks.document.path.removesuffix(".md").rpartition("/")
    return f"{folder}/{content_type}_{name}__ch{number}.json".removeprefix("/")


# A folder


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_file_for_each_chunk_in_the_folders_of_the_documents(run, source, tmp_path, strategy) -> None:
    result = run("chunk", "-s", strategy, "-o", tmp_path / "out", source)
    assert (result.code, result.out) == (0, b"")
    expected = {
        file_name(chunks, chunk.chunk_number): chunk_json.encode(chunk, indent=2) + b"\n"
        for chunks in cut(source, strategy)
        for chunk in chunks
    }
    assert written(tmp_path / "out") == expected
    assert {"doc_a__ch0.json", "guides/doc_a__ch0.json", "guides/deep/doc_a__ch0.json"} <= set(expected)
    assert f"4 documents, {len(expected)} chunks, " in result.err


def test_the_content_type_is_in_the_names(run, source, tmp_path) -> None:
    assert run("chunk", "--content-type", "guide", "-o", tmp_path / "out", source / "guides").code == 0
    assert set(written(tmp_path / "out")) == {
        file_name(chunks, number, "guide") for chunks in cut(source / "guides") for number in range(len(chunks))
    }


def test_a_document_that_has_shrunk_leaves_no_stale_files(run, source, tmp_path) -> None:
    out = tmp_path / "out"
    assert run("chunk", "-s", "tree", "-o", out, source).code == 0
    before = written(out)
    (source / "a.md").write_text("# A\n\nless\n")
    (source / "guides/deep/a.md").write_text("")
    assert run("chunk", "-s", "tree", "-o", out, source).code == 0
    after = written(out)
    assert sorted(set(before) - set(after)) == [
        "doc_a__ch1.json",
        "doc_a__ch2.json",
        "doc_a__ch3.json",
        "guides/deep/doc_a__ch0.json",
    ]
    assert json.loads(after["doc_a__ch0.json"])["originalText"] == "less"
    assert {name for name in after if after[name] != before[name]} == {"doc_a__ch0.json"}


def test_another_strategy_with_fewer_chunks_leaves_no_stale_files(run, source, tmp_path) -> None:
    for strategy in ("tree", "packed"):
        assert run("chunk", "-s", strategy, "-o", tmp_path / "out", source).code == 0
    assert run("chunk", "-o", tmp_path / "new", source).code == 0
    assert written(tmp_path / "out") == written(tmp_path / "new")


def test_files_of_others_and_of_documents_not_named_stay(run, source, tmp_path) -> None:
    out = tmp_path / "out"
    assert run("chunk", "-o", out, source).code == 0
    (out / "notes.txt").write_text("mine")
    before = written(out)
    assert run("chunk", "-o", out, source / "a.md").code == 0
    assert written(out) == before


@pytest.mark.parametrize("other", ["a.mdx", "a.txt", "A.md"])
def test_documents_whose_files_would_meet(run, docs, tmp_path, other) -> None:
    docs({"in/a.md": "one\n", f"in/{other}": "other\n", "in/b.md": "two\n", "in/sub/a.md": "three\n"})
    if len(left(tmp_path / "in")) < 4:
        pytest.skip("a file system on which both are one file")
    result = run("chunk", "-o", tmp_path / "out", tmp_path / "in")
    assert result.code == 2
    (said,) = [line for line in result.err.splitlines() if line.endswith("[skipped]")]
    first, second = sorted(["a.md", other])
    assert f"{second}: its files" in said
    assert f"would clash with those of {first}; rename one" in said
    found = {json.loads(data)["originalText"] for data in written(tmp_path / "out").values()}
    assert found == {"two", "three", "other" if first == other else "one"}
    assert sorted(written(tmp_path / "out"))[-2:] == ["doc_b__ch0.json", "sub/doc_a__ch0.json"]


def test_the_refusal_is_told_even_if_quiet(run, docs, tmp_path) -> None:
    docs({"in/a.md": "one\n", "in/a.mdx": "other\n"})
    result = run("chunk", "-q", "-o", tmp_path / "out", tmp_path / "in")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "a.mdx: " in result.err


def test_a_file_in_the_way_of_a_document(run, source, tmp_path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "doc_a__ch0.json").write_text("mine")
    result = run("chunk", "-o", out, source)
    assert result.code == 2
    assert f"{out}/doc_a__ch0.json exists and is not a quire chunk file; remove it" in result.err
    assert written(out)["doc_a__ch0.json"] == b"mine"
    assert "guides/doc_a__ch0.json" in written(out)


def test_documents_that_cannot_be_read_do_not_stop_the_others(run, docs, tmp_path) -> None:
    docs({"in/a.md": "one\n", "in/b.md": b"\xff"})
    for name in ("out", "x.jsonl", "x.parquet"):
        result = run("chunk", "-o", tmp_path / name, tmp_path / "in", tmp_path / "nope.md")
        assert result.code == 2
        assert result.err.endswith("1 document, 1 chunk, 1 token, 2 skipped\n")
    assert list(written(tmp_path / "out")) == ["doc_a__ch0.json"]
    assert len(lines((tmp_path / "x.jsonl").read_bytes())) == parquet.read_table(tmp_path / "x.parquet").num_rows == 1


def test_standard_input_to_a_folder(run, tmp_path) -> None:
    assert run("chunk", "-", "-o", tmp_path / "out", stdin=b"text\n").code == 0
    assert list(written(tmp_path / "out")) == ["doc_untitled__ch0.json"]


def test_a_folder_called_like_a_file_when_asked_for(run, source, tmp_path) -> None:
    assert run("chunk", "--format", "files", "-o", tmp_path / "x.jsonl", source).code == 0
    assert "guides/doc_a__ch0.json" in written(tmp_path / "x.jsonl")


# A file


@pytest.mark.parametrize("name", ["x.jsonl", "X.JSONL", "new/folder/x.jsonl"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_json_lines(run, source, tmp_path, name, strategy) -> None:
    result = run("chunk", "-s", strategy, "-o", tmp_path / name, source)
    assert (result.code, result.out) == (0, b"")
    assert (tmp_path / name).read_bytes() == run("chunk", "-s", strategy, source).out
    assert lines((tmp_path / name).read_bytes()) == [
        chunk.to_dict() for chunks in cut(source, strategy) for chunk in chunks
    ]
    assert left((tmp_path / name).parent) == sorted({(tmp_path / name).name, *(["in"] if "/" not in name else [])})


def test_json_lines_under_another_name_when_asked_for(run, source, tmp_path) -> None:
    assert run("chunk", "--format", "jsonl", "-o", tmp_path / "x.parquet", source).code == 0
    assert lines((tmp_path / "x.parquet").read_bytes())


@pytest.mark.parametrize("name", ["x.parquet", "X.Parquet"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_parquet(run, source, tmp_path, name, strategy) -> None:
    result = run("chunk", "-s", strategy, "-o", tmp_path / name, source)
    assert (result.code, result.out) == (0, b"")
    expected = [chunk.to_dict() for chunks in cut(source, strategy) for chunk in chunks]
    rows = parquet.read_table(tmp_path / name).to_pylist()
    for row in rows:
        row["metadata"] = json.loads(row["metadata"])
    assert [
        {key: value for key, value in row.items() if key in record} for row, record in zip(rows, expected, strict=True)
    ] == expected
    assert left(tmp_path) == sorted(["in", name])


def test_parquet_under_another_name_when_asked_for(run, source, tmp_path) -> None:
    assert run("chunk", "--format", "parquet", "-o", tmp_path / "table", source).code == 0
    assert parquet.read_table(tmp_path / "table").num_rows == sum(map(len, cut(source)))


def test_parquet_without_pyarrow(run, source, tmp_path, monkeypatch) -> None:
    (tmp_path / "x.parquet").write_bytes(b"old")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = refused(run("chunk", "-o", tmp_path / "x.parquet", source))
    assert "pip install pyarrow" in said
    assert (tmp_path / "x.parquet").read_bytes() == b"old"
    assert run("chunk", "-o", tmp_path / "x.jsonl", source).code == 0


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet"])
def test_a_second_run_replaces_the_file_whole(run, source, tmp_path, name) -> None:
    out = tmp_path / name
    assert run("chunk", "-s", "tree", "-o", out, source).code == 0
    first = out.read_bytes()
    assert run("chunk", "-o", out, source / "guides").code == 0
    assert run("chunk", "-o", tmp_path / f"new-{name}", source / "guides").code == 0
    assert first != out.read_bytes() == (tmp_path / f"new-{name}").read_bytes()
    assert left(tmp_path) == sorted(["in", name, f"new-{name}"])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_compact_records(run, source, tmp_path, strategy) -> None:
    result = run("chunk", "-s", strategy, "--format", "compact", source)
    assert result.code == 0
    assert lines(result.out) == [record_forms.compact(chunk) for chunks in cut(source, strategy) for chunk in chunks]
    assert set(lines(result.out)[0]) == {
        "id", "file", "title", "headings", "body", "startLine", "endLine", "tokenEstimate",
    }  # fmt: skip
    assert json.loads(run("chunk", "-s", strategy, "--format", "compact", "--json", source).out) == lines(result.out)
    again = run("chunk", "-s", strategy, "--format", "compact", "-o", tmp_path / "x", source)
    assert (again.code, again.out, again.err) == (0, b"", result.err)
    assert (tmp_path / "x").read_bytes() == result.out


def test_node_records(run, source, tmp_path) -> None:
    result = run("chunk", "-s", "tree", "--tree", "t", "--format", "nodes", source)
    assert result.code == 0
    expected = [record for chunks in cut(source, "tree", tree="t") for record in record_forms.nodes(chunks)]
    assert lines(result.out) == expected
    assert expected[0]["id"] == "t:a.md#a"
    for record in expected:
        data = (source / record["path"]).read_bytes()
        assert data[record["byte_start"] : record["byte_end"]].decode() == record["body"]
    again = run("chunk", "-s", "tree", "--tree", "t", "--format", "nodes", "-o", tmp_path / "x.jsonl", source)
    assert (again.code, again.out) == (0, b"")
    assert (tmp_path / "x.jsonl").read_bytes() == result.out


@pytest.mark.parametrize("form", ["jsonl", None])
def test_the_default_format_is_json_lines(run, source, form) -> None:
    options = ["--format", form] if form else []
    assert lines(run("chunk", *options, source).out) == [chunk.to_dict() for chunks in cut(source) for chunk in chunks]


def test_nothing_but_the_summary_is_said(run, source, tmp_path) -> None:
    for number, form in enumerate(FORMATS):
        options = ["-s", "tree", "--format", form, "-o", tmp_path / str(number), source / "guides/deep"]
        assert run("chunk", *options) == (0, b"", "1 document, 1 chunk, 2 tokens\n")
        assert run("chunk", "-q", *options) == (0, b"", "")


# What is refused


REFUSED = [
    (["--format", "files"], "--format files needs an output; say where with -o"),
    (["--format", "files", "--json"], "--format files needs an output; say where with -o"),
    (["--format", "parquet"], "--format parquet needs an output; say where with -o"),
    (["--format", "nodes"], "--format nodes is about the heading tree; add -s tree"),
    (["--format", "nodes", "-o", "OUT"], "--format nodes is about the heading tree; add -s tree"),
    (["--format", "nodes", "-s", "flow"], "add -s tree"),
    (["--format", "nodes", "-s", "sections", "-o", "OUT"], "add -s tree"),
    (["--json", "-o", "OUT"], "--json prints to standard output; leave it out, or leave out -o"),
    (["--json", "-o", "OUT", "--format", "compact"], "leave out -o"),
    (["--format", "xml", "-o", "OUT"], "'files', 'jsonl', 'parquet', 'compact', 'flat', 'nodes'"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=[" ".join(options) for options, _ in REFUSED])
def test_formats_that_do_not_go_together(run, source, tmp_path, options, said) -> None:
    out = tmp_path / "x.jsonl"
    assert said in refused(run("chunk", *(out if each == "OUT" else each for each in options), source))
    assert left(tmp_path) == ["in"]


@pytest.mark.parametrize("form", ["jsonl", "compact", "parquet"])
def test_a_folder_where_a_file_should_go(run, source, tmp_path, form) -> None:
    (tmp_path / "out").mkdir()
    assert "is a folder; name a file to write to" in refused(
        run("chunk", "--format", form, "-o", tmp_path / "out", source)
    )
    assert left(tmp_path / "out") == []


def test_a_file_where_a_folder_should_go(run, source) -> None:
    before = (source / "a.md").read_bytes()
    said = refused(run("chunk", "-o", source / "a.md", "--format", "files", source))
    assert f"{source}/a.md" in said
    assert "cannot be written" in said
    assert (source / "a.md").read_bytes() == before


def test_a_part_of_the_output_s_path_is_a_file(run, source) -> None:
    for name in ("x.jsonl", "x.parquet", "folder"):
        assert "cannot be written" in refused(run("chunk", "-o", source / "a.md" / name, source))


# Ctrl-C


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("name", ["out", "x.jsonl", "x.parquet"])
@pytest.mark.parametrize("is_there", [True, False], ids=["old", "new"])
def test_interrupt_leaves_what_was_there(run, source, tmp_path, name, is_there) -> None:
    """The run has cut and begun to write one document and waits for the next, on standard input."""
    out = tmp_path / "to" / name
    out.parent.mkdir()
    if is_there:
        assert run("chunk", "-o", out, source).code == 0
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and ".quire" not in file.parts}
    (source / "a.md").write_text("new text\n")
    before[source / "a.md"] = b"new text\n"
    running = start("chunk", "-o", str(out), str(source), "-", stdin=subprocess.PIPE)
    running.stdin.write(b"x" * 1_000_000)  # more than a pipe holds: the run has begun to read it
    running.send_signal(signal.SIGINT)
    said, err = running.communicate()
    assert (running.returncode, said, err) == (130, b"", b"quire: interrupted\n")
    after = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and ".quire" not in file.parts}
    assert after == before
    assert name != "out" or left(out / ".quire") == ["README", "lock"]
    assert run("chunk", "-o", out, source).code == 0  # nothing is locked


@pytest.mark.parametrize("name", ["out", "x.jsonl", "x.parquet"])
def test_a_mistake_in_quire_leaves_what_was_there(run, source, tmp_path, monkeypatch, name) -> None:
    out = tmp_path / name
    assert run("chunk", "-o", out, source).code == 0
    before = written(tmp_path)
    real = quire.chunk
    monkeypatch.setattr(
        "quire.pipeline.chunk", lambda text, *rest, **more: real(text, "tree", **more) if "One" in text else 1 / 0
    )
    result = run("chunk", "-o", out, source)
    assert result.code == 2
    assert "this is a bug in quire" in result.err
    assert {name: data for name, data in written(tmp_path).items() if ".quire" not in name} == {
        name: data for name, data in before.items() if ".quire" not in name
    }


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet"])
def test_nothing_that_can_be_read_leaves_what_was_there(run, source, tmp_path, name) -> None:
    assert run("chunk", "-o", tmp_path / name, source).code == 0
    before = (tmp_path / name).read_bytes()
    assert run("chunk", "-o", tmp_path / name, source / "mistyped.md").code == 2
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("strategy", ["packed", "flow", "sections"])
def test_ids_never_meet(run, docs, chunks, tmp_path, strategy) -> None:
    docs({"in/a.md": "one\n", "in/a.mdx": "other\n", "in/b.md": "two\n"})
    found = [each["id"] for each in chunks(run("chunk", "-s", strategy, tmp_path / "in"))]
    assert len(found) == len(set(found))


def test_the_refusal_names_the_file_as_the_user_reaches_it(run, docs, tmp_path) -> None:
    docs({"in/a.md": "one\n", "in/a.mdx": "other\n"})
    result = run("chunk", "-q", "-o", tmp_path / "out", tmp_path / "in")
    assert result.err.startswith(f"{tmp_path}/in/a.mdx: ")


def test_what_is_refused_is_not_counted_as_written(run, docs, tmp_path) -> None:
    docs({"in/a.md": "one\n", "in/a.mdx": "other\n"})
    result = run("chunk", "-o", tmp_path / "out", tmp_path / "in")
    assert result.err.endswith("\n1 document, 1 chunk, 1 token, 1 skipped\n")


def test_what_the_writer_refuses_is_not_counted_as_written(run, docs, tmp_path) -> None:
    """For each way to cut: in this process and in others."""
    docs({"one/a.md": "one\n", "two/a.txt": "two\n", "two/b.md": "three\n"})
    assert run("chunk", "-o", tmp_path / "out", tmp_path / "one").code == 0
    for jobs in (1, 2):
        result = run("chunk", "-j", jobs, "-o", tmp_path / "out", tmp_path / "two")
        assert result.code == 2
        first, summary = result.err.splitlines()
        assert first.startswith(f"{tmp_path}/two/a.txt: {tmp_path}/out/doc_a__ch0.json belongs to a.md; remove it")
        assert summary == "1 document, 1 chunk, 1 token, 1 skipped"
    alone = run("chunk", "-o", tmp_path / "out", tmp_path / "two/a.txt")
    assert alone.err.endswith("\n0 documents, 0 chunks, 0 tokens, 1 skipped\n")


def test_each_refusal_has_a_reason_of_its_own(run, docs, tmp_path) -> None:
    docs({"k1/a.md": "1\n", "k1/a.txt": "2\n", "k2/a.md": "3\n"})
    result = run("chunk", "-o", tmp_path / "out", tmp_path / "k1", tmp_path / "k2")
    assert result.code == 2
    reason = "its files k1/doc_a__ch*.json would clash with those of k1/a.md; rename one, or use another folder"
    assert result.err.splitlines() == [
        f"{tmp_path}/k1/a.txt: {reason} [skipped]",
        "2 documents, 2 chunks, 2 tokens, 1 skipped",
    ]
    assert {json.loads(data)["originalText"] for data in written(tmp_path / "out").values()} == {"1", "3"}


def test_compact_records_have_the_whole_name_in_their_ids(run, docs, chunks, tmp_path) -> None:
    docs({"in/a.md": "one\n", "in/a.txt": "other\n"})
    result = run("chunk", "--format", "compact", tmp_path / "in")
    assert (result.code, [each["id"] for each in chunks(result)]) == (0, ["a.md:0", "a.txt:0"])


# An output that is an input


@pytest.mark.parametrize("form", ["jsonl", "parquet", "compact"])
@pytest.mark.parametrize("way", ["named", "link", "in the folder", "refused itself"])
def test_a_document_is_never_the_output(run, docs, tmp_path, form, way) -> None:
    folder = docs({"in/a.md": "one\n", "in/b.md": "two\n", "in/b.txt": "three\n"}) / "in"
    (tmp_path / "link").symlink_to(folder / "b.md")
    output = {"link": tmp_path / "link", "refused itself": folder / "b.txt"}.get(way, folder / "b.md")
    given = [folder] if way == "in the folder" else [folder / "a.md", folder / "b.md", folder / "b.txt"]
    said = refused(run("chunk", "--format", form, "-o", output, *given))
    assert said == f"quire: {output}: is one of the documents, and would be overwritten; choose another output\n"
    assert [file.read_text() for file in sorted(folder.iterdir())] == ["one\n", "two\n", "three\n"]


def test_the_document_on_standard_input_is_never_the_output(docs) -> None:
    file = docs({"a.md": "one\n"}) / "a.md"
    with file.open("rb") as stdin:
        command = [*QUIRE, "chunk", "-", "--format", "jsonl", "-o", str(file)]
        done = subprocess.run(command, stdin=stdin, capture_output=True, check=False)
    assert (done.returncode, file.read_text()) == (2, "one\n")
    assert b"is one of the documents" in done.stderr


# Standard input beside a file of its name


@pytest.mark.parametrize(
    ("options", "name"), [([], "untitled.md"), (["-s", "tree"], "untitled"), (["--format", "compact"], "untitled")]
)
def test_standard_input_and_a_document_that_meet(run, docs, chunks, tmp_path, options, name) -> None:
    docs({f"in/{name}": "file\n", "in/other.md": "other\n"})
    file, other = tmp_path / "in" / name, tmp_path / "in/other.md"
    result = run("chunk", *options, "-", file, other, stdin=b"piped\n")
    assert (result.code, len(chunks(result))) == (2, 2)
    assert f"{file}: its ids would clash with those of <stdin>; rename the file [skipped]" in result.err
    result = run("chunk", *options, file, "-", other, stdin=b"piped\n")
    assert (result.code, len(chunks(result))) == (2, 2)
    assert f"<stdin>: its ids would clash with those of {name}; rename the file [skipped]" in result.err
    if not options:
        result = run("chunk", "-o", tmp_path / "out", "-", file, stdin=b"piped\n")
        assert f"{file}: its files doc_untitled__ch*.json would clash with those of <stdin>; rename one" in result.err


# A name that the system does not take


@pytest.mark.skipif(sys.platform != "linux", reason="how long a path may be differs")
def test_a_document_whose_files_would_have_too_long_a_path(run, docs, tmp_path) -> None:
    docs({"in/a.md": "one\n"})
    out = tmp_path / "out"
    deep = "/".join(["o" * 200] * 19)
    (out / deep).mkdir(parents=True)
    room = 4095 - len(f"{out}/{deep}/")
    docs({f"in/{'n' * min(room, 200)}/b.md": "two\n"})
    result = run("chunk", "-o", out / deep, tmp_path / "in")
    assert result.code == 2
    first, summary = result.err.splitlines()
    assert first.startswith(f"{tmp_path}/in/{'n' * min(room, 200)}/b.md: ")
    assert first.endswith(
        "cannot be written: File name too long; free some space, correct the permissions, or choose another name or folder [skipped]"
    )
    assert summary == "1 document, 1 chunk, 1 token, 1 skipped"
    assert list(written(out / deep)) == ["doc_a__ch0.json"]
