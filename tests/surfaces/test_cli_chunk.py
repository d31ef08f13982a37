"""``quire chunk``: what is taken, what comes out, what is said about it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from processes import process, terminal

import quire
from quire.model.options import DEFAULT_STRATEGY, STRATEGIES

TWO = {"a.md": "# A\n\none\n\n## B\n\ntwo words\n", "sub/b.md": "three\n"}


def sources(found):
    return [each["metadata"]["sourceFile"] for each in found]


@pytest.mark.parametrize(("strategy", "count"), [("packed", 2), ("flow", 2), ("sections", 2), ("tree", 3)])
def test_piped_output_is_json_lines_of_the_library_s_records(run, docs, chunks, strategy, count) -> None:
    folder = docs(TWO)
    result = run("chunk", "-s", strategy, folder)
    expected = [
        chunk.to_dict()
        for name in ("a.md", "sub/b.md")
        for chunk in quire.chunk_file(folder / name, strategy, path=name)
    ]
    assert chunks(result) == expected
    assert result.out.count(b"\n") == len(expected) == count
    assert result.code == 0


def test_the_default_is_packed_as_in_the_library(run, docs, chunks) -> None:
    folder = docs(TWO)
    result = run("chunk", folder)
    assert result == run("chunk", "-s", "packed", folder)
    assert {each["strategy"] for each in chunks(result)} == {DEFAULT_STRATEGY} == {"packed"}
    assert chunks(result)[0] == quire.chunk(TWO["a.md"], path="a.md")[0].to_dict()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_json_is_one_array_of_the_same(run, docs, chunks, strategy) -> None:
    folder = docs(TWO)
    array, lines = run("chunk", "-s", strategy, "--json", folder), run("chunk", "-s", strategy, folder)
    assert array.out.startswith(b"[")
    assert chunks(array) == chunks(lines)


def test_summary_on_standard_error(run, docs) -> None:
    assert run("chunk", docs(TWO)).err == "2 documents, 2 chunks, 11 tokens\n"
    assert run("chunk", "-s", "tree", docs(TWO)).err == "2 documents, 3 chunks, 4 tokens\n"
    assert run("chunk", "-q", docs(TWO)).err == ""


def test_summary_says_what_was_skipped_and_why(run, docs) -> None:
    folder = docs(TWO)
    (folder / "link.md").symlink_to(folder / "a.md")
    result = run("chunk", folder)
    assert result.code == 0
    assert f"{folder}/link.md: symbolic link; not followed without --follow [skipped]\n" in result.err
    assert result.err.endswith("2 documents, 2 chunks, 11 tokens, 1 skipped\n")


@pytest.mark.parametrize("command", ["chunk", "verify"])
def test_verbose_counts_what_was_left_out(run, docs, command) -> None:
    folder = docs({**TWO, "vendor/c.md": "c\n", ".d.md": "d\n", ".e.md": "e\n"})
    said = "left out: hidden (2), installed packages (1); name one to read it\n"
    assert said in run(command, "-v", folder).err
    assert "left out" not in run(command, folder).err
    assert run(command, folder / "vendor").err.startswith("1 document, ")


@pytest.mark.parametrize("command", ["chunk", "stats"])
def test_many_skipped_are_all_named_where_nobody_looks_on(run, docs, command) -> None:
    folder = docs({**TWO, **{f"bad{number}.md": b"\xff" for number in range(30)}})
    result = run(command, folder)
    assert result.code == 2
    assert result.err.count("[skipped]\n") == 30
    assert "more" not in result.err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty on Windows")
def test_many_skipped_are_counted_rather_than_listed_on_a_terminal(docs) -> None:
    folder = docs(TWO)
    for number in range(30):
        (folder / f"link{number}.md").symlink_to(folder / "a.md")
    dumb = {"TERM": "dumb", "COLUMNS": "300"}
    lines = terminal("chunk", str(folder), environment=dumb, stdout=subprocess.DEVNULL)[1].splitlines()
    assert len(lines) == 22
    assert lines[-2:] == [
        "… and 10 more skipped; 2>FILE writes all of them to a file",
        "2 documents, 2 chunks, 11 tokens, 30 skipped",
    ]


def test_findings_name_the_file_as_the_user_reaches_it(run, docs) -> None:
    folder = docs({"sub/a.md": "# Empty\n"})
    result = run("chunk", folder)
    assert f"{folder}/sub/a.md:1: " in result.err
    assert "[heading-without-text]" in result.err


def test_ignore_files_are_respected(run, docs, chunks) -> None:
    folder = docs({**TWO, ".gitignore": "sub/\n", ".quireignore": "c.md\n", "c.md": "no\n", "d.txt": "yes\n"})
    assert set(sources(chunks(run("chunk", folder)))) == {"a.md", "d.txt"}


def test_hidden_files_only_when_asked_for(run, docs, chunks) -> None:
    folder = docs({".h/x.md": "x\n", "a.md": "a\n"})
    assert sources(chunks(run("chunk", folder))) == ["a.md"]
    assert sources(chunks(run("chunk", "--hidden", folder))) == [".h/x.md", "a.md"]


def test_standard_input(run, chunks) -> None:
    for options, id_ in (([], "doc:untitled::ch0"), (["-s", "tree"], "doc:untitled#a")):
        result = run("chunk", *options, "-", stdin=b"# A\n\ntext\n")
        assert [each["id"] for each in chunks(result)] == [id_]
        assert result.code == 0


def test_standard_input_stands_where_it_was_named(run, docs, chunks) -> None:
    folder = docs({"z.md": "z\n", "a.md": "a\n"})
    result = run("chunk", folder / "z.md", "-", folder / "a.md", "-", stdin=b"in\n")
    assert [each["originalText"] for each in chunks(result)] == ["z", "in", "a"]


def test_standard_input_can_be_text(run, chunks) -> None:
    (only,) = chunks(run("chunk", "--syntax", "text", "-", stdin=b"# no heading\n"))
    assert only["originalText"] == "# no heading"


def test_same_file_twice_is_taken_once(run, docs, chunks) -> None:
    folder = docs({"a.md": "a\n"})
    (folder.parent / "link").symlink_to(folder)
    result = run("chunk", folder / "a.md", folder.parent / "link", folder, folder / ".." / folder.name / "a.md")
    assert sources(chunks(result)) == ["a.md"]
    assert result.code == 0


def test_paths_keep_their_order(run, docs, chunks) -> None:
    folder = docs({"z/x.md": "a\n", "a/y.md": "b\n", "a/b/z.md": "c\n"})
    result = run("chunk", folder / "z", folder / "a", folder / "z")
    assert sources(chunks(result)) == ["x.md", "b/z.md", "y.md"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["x", "y"], ["x/a.md", "y/a.md", "y/b.md"]),
        (["x/a.md", "y/a.md"], ["x/a.md", "y/a.md"]),
        (["x", "z/deep"], ["x/a.md", "z/deep/A.txt"]),
        (["y", "."], ["a.md", "b.md", "x/a.md", "z/deep/A.txt"]),
        (["x", "y/b.md"], ["a.md", "b.md"]),
    ],
)
def test_documents_of_several_folders_that_would_meet_are_named_from_the_folder_above(
    run, docs, chunks, monkeypatch, given, named
) -> None:
    monkeypatch.chdir(docs({"x/a.md": "1\n", "y/a.md": "2\n", "y/b.md": "3\n", "z/deep/A.txt": "4\n"}))
    result = run("chunk", *given)
    assert (result.code, sources(chunks(result))) == (0, named)
    result = run("chunk", *given, "-o", "out")
    assert result.code == 0
    assert len(list(Path("out").rglob("*__ch0.json"))) == len(named)


def test_title_for_several_documents(run, docs, chunks) -> None:
    found = chunks(run("chunk", "--title", "Given", docs(TWO)))
    assert {each["fileTitle"] for each in found} == {"Given"}


def test_options_reach_the_strategy(run, docs, chunks) -> None:
    options = ["--tree", "t", "--content-type", "guide", "--breadcrumb", "none", "--slugs", "ascii", "-t", "estimate"]
    (found,) = chunks(run("chunk", "-s", "tree", *options, docs({"a.md": "# Ä b\n\ntext\n"})))
    assert found["id"].startswith("t:a.md#")
    assert (found["contentType"], found["embedText"]) == ("guide", "text")
    assert found["metadata"]["chunkingOptions"]["tokenizer"] == "estimate"
    assert found["headerSlugs"] == [found["id"].partition("#")[2]]


def test_timestamps_only_when_asked_for(run, docs, chunks) -> None:
    folder = docs({"a.md": "a\n"})
    (without,), (stamped,) = chunks(run("chunk", folder)), chunks(run("chunk", "--timestamps", folder))
    assert "processedAt" not in without["metadata"]
    assert "processedAt" in stamped["metadata"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_two_runs_give_the_same_bytes(run, docs, strategy) -> None:
    folder = docs(TWO)
    assert run("chunk", "-s", strategy, folder).out == run("chunk", "-s", strategy, folder).out


def test_json_is_utf_8_whatever_the_encoding_of_the_terminal(docs) -> None:
    folder = docs({"a.md": "# Grüße 你好\n\ntext 🎉\n"})
    result = process("chunk", str(folder), environment={"PYTHONIOENCODING": "ascii"})
    assert result.code == 0
    assert json.loads(result.out)["originalText"] == "# Grüße 你好\n\ntext 🎉"
    assert "你好".encode() in result.out


@pytest.mark.skipif(sys.platform != "linux", reason="file names need not be text on Linux only")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_file_name_that_is_not_text(docs, form) -> None:
    folder = docs({"caf\udce9.md": "# A\n\nbody\n", "z.md": "z\n"})
    result = process("chunk", *form, str(folder))
    found = json.loads(result.out) if form else [json.loads(line) for line in result.out.splitlines()]
    assert [each["metadata"]["sourceFile"] for each in found] == ["caf\udce9.md", "z.md"]
    assert result.code == 0
    assert b"caf\\udce9.md" in result.out


@pytest.mark.skipif(sys.platform != "linux", reason="arguments need not be text on Linux only")
def test_title_that_is_not_text(docs) -> None:
    folder = docs({"a.md": "a\n"})
    result = process("chunk", "--title", b"t\xff", str(folder))
    assert json.loads(result.out)["fileTitle"] == "t\udcff"
    assert result.code == 0


# Documents that meet


def texts(folder) -> dict[str, str]:
    return {file.name: json.loads(file.read_bytes())["originalText"] for file in sorted(folder.glob("*.json"))}


@pytest.mark.parametrize("twin", ["b.markdown", "B.md"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_twin_does_not_keep_a_document_from_its_own_files(run, docs, tmp_path, twin, jobs) -> None:
    docs({"in/b.md": "old\n"})
    out = tmp_path / "out"
    assert run("chunk", tmp_path / "in", "-o", out).code == 0
    docs({"in/b.md": "NEW\n", f"in/{twin}": "hi\n"})
    if len(list((tmp_path / "in").iterdir())) < 2:
        pytest.skip("a file system on which both are one file")
    result = run("chunk", tmp_path / "in", "-o", out, "-j", jobs)
    assert result.code == 2
    said, summary = result.err.splitlines()
    assert said == (
        f"{tmp_path}/in/{twin}: {out}/doc_b__ch0.json belongs to b.md; remove it, or write to another folder [skipped]"
    )
    assert summary == "1 document, 1 chunk, 1 token, 1 skipped"
    assert texts(out) == {"doc_b__ch0.json": "NEW"}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("form", ["files", "jsonl", "parquet", "json"])
def test_a_twin_that_cannot_be_read_is_in_nobody_s_way(run, docs, tmp_path, form, jobs) -> None:
    docs({"in/a.markdown": b"\xff", "in/a.md": "good\n"})
    target = ["--json"] if form == "json" else ["-o", tmp_path / "out", "--format", form]
    result = run("chunk", tmp_path / "in", *target, "-j", jobs)
    assert result.code == 2
    assert result.err.splitlines()[-1] == "1 document, 1 chunk, 1 token, 1 skipped"
    assert (tmp_path / "out").exists() == (form != "json")
    assert form != "json" or [each["originalText"] for each in json.loads(result.out)] == ["good"]


@pytest.mark.parametrize("form", [(), ("--json",), ("-o", "table.parquet")])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_would_meet_is_refused_wherever_it_goes(run, docs, monkeypatch, tmp_path, form, jobs) -> None:
    docs({"in/a.md": "one\n", "in/a.mdx": "other words\n", "in/b.md": "two\n"})
    monkeypatch.chdir(tmp_path)
    result = run("chunk", "in", *form, "-j", jobs)
    assert result.code == 2
    assert result.err.splitlines() == [
        "in/a.mdx: its ids would clash with those of a.md; rename one [skipped]",
        "2 documents, 2 chunks, 2 tokens, 1 skipped",
    ]


# What the summary says


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_documents_without_text_are_counted(run, docs, tmp_path, jobs) -> None:
    folder = docs({"in/a.md": "---\ntitle: T\n---\n", "in/b.md": "two\n", "in/c.md": "\n"}) / "in"
    counted = "3 documents (2 without text), 1 chunk, 1 token\n"
    assert run("chunk", folder, "-j", jobs).err == counted
    assert run("chunk", folder, "-j", jobs, "-o", tmp_path / "out").err == counted
    assert run("verify", folder, "-j", jobs).err.startswith(counted)
    docs({"in/b.mdx": "\n"})
    result = run("chunk", folder, "-j", jobs, "-o", tmp_path / "new")
    assert result.err.endswith("3 documents (2 without text), 1 chunk, 1 token, 1 skipped\n")


def test_a_document_whose_chunks_were_all_dropped_has_text(run, docs) -> None:
    folder = docs({"a.md": "```\n```\n"})
    assert run("chunk", "-s", "flow", "--guard", "drop", folder).err.endswith("1 document, 0 chunks, 0 tokens\n")


# What the name of the output says


@pytest.mark.parametrize("name", ["chunks.json", "x.CSV"])
def test_a_name_for_a_file_of_another_format_is_refused(run, docs, tmp_path, name) -> None:
    folder = docs({"in/a.md": "a\n"}) / "in"
    result = run("chunk", folder, "-o", tmp_path / name)
    assert (result.code, result.out) == (2, b"")
    assert result.err == (
        f"quire: -o {tmp_path / name} is no folder, .jsonl or .parquet file; add --format, or name one of those "
        f"(see quire chunk --help)\n"
    )
    assert not (tmp_path / name).exists()
    for options in ([f"{tmp_path / name}/"], [tmp_path / name], [tmp_path / name, "--format", "files"]):
        assert run("chunk", folder, "-o", *options).code == 0
        assert [each.name for each in (tmp_path / name).glob("*.json")] == ["doc_a__ch0.json"]


def test_an_engine_needs_a_folder(run, docs) -> None:
    folder = docs({"a.md": "a\n", "f": ""})
    assert (
        "--engine writes a folder of Parquet files; name one with -o"
        in run("chunk", folder / "a.md", "--engine", "local", "-o", folder / "f").err
    )


def test_lines_by_their_other_name(run, docs, chunks, tmp_path) -> None:
    folder = docs({"in/a.md": "a\n"}) / "in"
    assert run("chunk", folder, "-o", tmp_path / "x.ndjson").code == 0
    assert (tmp_path / "x.ndjson").read_bytes() == run("chunk", folder).out


@pytest.mark.parametrize("name", ["d.parquet/", "d.jsonl/", "d.ndjson/", "d/"])
def test_a_slash_at_the_end_means_a_folder(run, docs, monkeypatch, tmp_path, name) -> None:
    docs({"in/a.md": "a\n"})
    monkeypatch.chdir(tmp_path)
    result = run("chunk", "in", "-o", name, "--format", "jsonl")
    assert result.code == 2
    assert f"quire: -o {name} is a folder, and --format jsonl one file; name a file " in result.err
    assert not (tmp_path / name).exists()
    assert run("chunk", "in", "-o", name).code == 0
    assert texts(tmp_path / name) == {"doc_a__ch0.json": "a"}


@pytest.mark.parametrize("strategy", ["packed", "flow", "sections", "tree"])
def test_every_line_has_the_same_columns_of_the_same_types(run, docs, chunks, strategy) -> None:
    """So that JSON lines load as a table; what front matter holds is in ``metadata`` alone."""
    folder = docs(
        {
            "a.md": "---\ntitle: T\ntags: [a, b]\nweight: 1\n---\n# A\n\ntext\n\n## B\n\nmore\n",
            "b.md": "---\ntags: a\nweight: x\nextra: {y: 1}\n---\n# 2024\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
            "c.txt": "plain text\n",
        }
    )
    records = chunks(run("chunk", folder, "-s", strategy))
    assert len({tuple(record) for record in records}) == 1
    for name in records[0]:
        assert len({type(record[name]) for record in records if record[name] is not None}) <= 1
    for name in ("sourcePosition", "tokenStats"):
        assert {type(value) for record in records for value in record[name].values()} == {int}
