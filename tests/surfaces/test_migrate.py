"""``quire migrate``: old chunk files to today's, and back."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import quire
from quire import wire

OLD: dict[str, Any] = {
    "id": "doc:auth::ch0",
    "parentId": "doc:auth",
    "chunkNumber": 0,
    "contentType": "doc",
    "embedText": "Configure é.",
    "displayMarkdown": "Configure é.",
    "charOffsets": {"charStart": 0, "charEnd": 12, "sourceLength": 12},
    "heading": "OAuth",
    "headerHierarchy": "API > OAuth",
    "headingTrail": ["API", "OAuth"],
    "tokenCount": 3,
}
NEW = wire.migrate(OLD, "The API")


class Result(NamedTuple):
    code: int
    output: str
    errors: str


Run = Callable[..., Result]


@pytest.fixture
def run(run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Result:
        code, output, errors = run("migrate", *arguments)
        return Result(code, output.decode(), errors)

    return call


def put(file: str, value: Any) -> Path:
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def get(file: str) -> Any:
    return json.loads(Path(file).read_text(encoding="utf-8"))


def test_a_folder_to_another(run: Run) -> None:
    put("old/doc_auth__ch0.json", OLD)
    put("old/guides/doc_x__ch0.json", NEW)
    put("old/.hidden/doc_x__ch0.json", "{")
    put("old/notes.txt", "x")
    result = run("old", "-o", "new", "--title", "The API")
    assert result.code == 0
    assert get("new/doc_auth__ch0.json") == NEW
    assert Path("new/guides/doc_x__ch0.json").read_text() == json.dumps(NEW)
    assert sorted(each.name for each in Path("new").rglob("*")) == ["doc_auth__ch0.json", "doc_x__ch0.json", "guides"]
    assert get("old/doc_auth__ch0.json") == OLD
    assert result.output == ""
    assert "2 files: 1 migrated, 1 unchanged" in result.errors


def test_a_guess_is_a_finding(run: Run) -> None:
    put("a.json", OLD)
    result = run("a.json", "--title", "T")
    assert "a.json:1: headerDepths and headerSlugs could only be guessed" in result.errors
    assert "[guessed-fields]" in result.errors
    assert "guessed" not in run("a.json", "--title", "T", "-q").errors


def test_to_standard_output(run: Run) -> None:
    put("a.json", OLD)
    put("b.json", NEW)
    result = run("a.json", "b.json", "--title", "The API")
    assert [json.loads(line) for line in result.output.splitlines()] == [NEW, NEW]
    assert json.loads(run("a.json", "b.json", "--title", "The API", "--json").output) == [NEW, NEW]


def test_in_place_only_when_asked_for(run: Run) -> None:
    file = put("a.json", OLD)
    untouched = put("b.json", json.dumps(NEW, indent=7))
    run("a.json", "b.json", "--title", "The API", "-q")
    assert get("a.json") == OLD
    before = untouched.stat().st_mtime_ns
    assert run("a.json", "b.json", "--in-place", "--title", "The API", "-q") == (0, "", "")
    assert get("a.json") == NEW
    assert file.read_text().startswith('{\n  "id"')
    assert untouched.stat().st_mtime_ns == before


def test_an_input_is_never_overwritten_by_the_way(run: Run) -> None:
    put("a/x.json", OLD)
    result = run("a", "-o", "a", "--title", "T")
    assert result.code == 2
    assert "is also an input; choose another output, or use --in-place" in result.errors
    assert get("a/x.json") == OLD


def test_two_inputs_for_one_output(run: Run) -> None:
    put("a/x.json", OLD)
    put("b/x.json", NEW)
    result = run("a", "b", "-o", "new", "--title", "T")
    assert result.code == 2
    assert "b/x.json: would overwrite new/x.json, the output of a/x.json" in result.errors.replace("\\", "/")
    assert get("new/x.json")["fileTitle"] == "T"


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_nothing_is_written_through_a_link(run: Run) -> None:
    put("old/g/x.json", OLD)
    put("old/y.json", OLD)
    Path("elsewhere").mkdir()
    Path("new").mkdir()
    Path("new/g").symlink_to("../elsewhere")
    Path("new/y.json").symlink_to("../elsewhere/y.json")
    result = run("old", "-o", "new", "--title", "T")
    assert result.code == 2
    assert result.errors.count("is a symbolic link") == 2
    assert list(Path("elsewhere").iterdir()) == []


def test_there_and_back(run: Run) -> None:
    put("old/a.json", {**OLD, "fileTitle": "F"})
    run("old", "-o", "new")
    assert not {"displayMarkdown", "charOffsets", "heading", "headerHierarchy", "headingTrail", "tokenCount"} & set(
        get("new/a.json")
    )
    result = run("new", "-o", "back", "--reverse")
    assert result.code == 0
    back = get("back/a.json")
    assert {name: back[name] for name in OLD} == OLD
    assert not {"originalText", "sourcePosition", "sectionTitle", "headerBreadcrumb", "headerPath"} & set(back)
    run("back", "-o", "again")
    assert get("again/a.json") == get("new/a.json")


def test_chunks_of_today(run: Run) -> None:
    chunks = quire.chunk("# A\n\nx \ud800 é\n", "tree", path="a.md")
    Path("a.json").write_bytes(wire.encode(chunks[0]))
    assert "1 file: 1 unchanged" in run("a.json", "-o", "new").errors
    assert Path("new/a.json").read_bytes() == wire.encode(chunks[0])
    run("a.json", "-o", "old", "--reverse")
    run("old", "-o", "back")
    assert wire.decode(Path("back/a.json").read_bytes()) == chunks[0]


def test_lists_and_lines(run: Run) -> None:
    put("list.json", [OLD, NEW])
    put("lines.jsonl", json.dumps(OLD) + "\n\n" + json.dumps(NEW) + "\n")
    run("list.json", "lines.jsonl", "-o", "new", "--title", "The API")
    assert get("new/list.json") == [NEW, NEW]
    assert [json.loads(line) for line in Path("new/lines.jsonl").read_text(encoding="utf-8").splitlines()] == [NEW, NEW]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.json", '{"id": 1,\n\n oops', "bad.json: line 3, column 2: is not JSON"),
        ("bad.jsonl", json.dumps(NEW) + "\n\n{oops\n", "bad.jsonl: line 3, column 2: is not JSON"),
        ("bad.json", "3", "bad.json: is not a chunk record; a record is one JSON object"),
        (
            "bad.json",
            json.dumps([NEW, 5]),
            "bad.json: record 2: is not a chunk record; a record is one JSON object",
        ),
        (
            "bad.jsonl",
            f"{json.dumps(NEW)}\n\n5\n",
            "bad.jsonl: line 3: is not a chunk record; a record is one JSON object",
        ),
        ("bad.json", '{"a": 1}', "bad.json: is not a chunk record: has no id, parentId, chunkNumber and 12 more;"),
        ("bad.jsonl", json.dumps(NEW) + "\n" + json.dumps(OLD), "bad.jsonl: line 2: has no fileTitle"),
        ("bad.json", json.dumps([NEW, OLD]), "bad.json: record 2: has no fileTitle"),
        ("bad.json", json.dumps({**NEW, "heading": "Z"}), "field sectionTitle: differs from heading, its other name"),
        (
            "bad.jsonl",
            json.dumps({**OLD, "heading": None}),
            "bad.jsonl: line 1: is not a chunk record: field",
        ),
        (
            "bad.jsonl",
            f"{json.dumps(NEW)}\n\n{json.dumps({**OLD, 'tokenCount': '4'})}",
            "line 3: is not a chunk record: field tokenCount: expected",
        ),
        (
            "bad.json",
            json.dumps([NEW, {**NEW, "fileTitle": 3}]),
            "bad.json: record 2: is not a chunk record: field fileTitle:",
        ),
        ("bad.json", json.dumps({"fileTitle": "x"}), "bad.json: is not a chunk record: has no id, parentId"),
    ],
)
def test_a_bad_file_is_named_and_the_others_go_on(run: Run, name: str, content: str, message: str) -> None:
    put(f"in/{name}", content)
    put("in/good.json", NEW)
    result = run("in", "-o", "new")
    assert result.code == 2
    assert message in result.errors
    assert get("new/good.json") == NEW
    assert not Path("new", name).exists()


def test_a_missing_file_is_named_and_the_others_go_on(run: Run) -> None:
    put("good.json", NEW)
    result = run("none.json", "good.json", "-q")
    assert result.code == 2
    assert "none.json: cannot be read: No such file" in result.errors
    assert json.loads(result.output) == NEW


def test_reverse_refuses_what_is_no_chunk(run: Run) -> None:
    put("a.json", {"name": "package"})
    result = run("a.json", "--reverse")
    assert result.code == 2
    assert "is not a chunk record: has no id" in result.errors


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heading": "OTHER"}, "field sectionTitle: differs from heading"),
        ({"tokenCount": 99}, "field tokenStats.tokens: differs from tokenCount"),
        (
            {"sourcePosition": {**NEW["sourcePosition"], "sourceLength": 777}},
            "field sourcePosition.totalChars: differs",
        ),
        ({"sectionTitle": 3}, "field sectionTitle: expected `str`, got `int`"),
    ],
)
def test_reverse_loses_nothing(run: Run, changes: dict[str, Any], message: str) -> None:
    put("a.json", {**NEW, **changes})
    result = run("a.json", "--reverse", "-o", "old")
    assert result.code == 2
    assert f"a.json: {'is not a chunk record: ' if 'got' in message else ''}{message}" in result.errors
    assert not Path("old").exists()


def test_a_title_of_null_is_filled_in(run: Run) -> None:
    put("a.json", {**OLD, "fileTitle": None})
    assert json.loads(run("a.json", "--title", "The API").output) == NEW


def test_a_report_as_json(run: Run) -> None:
    put("in/a.json", OLD)
    put("in/b.json", "{")
    result = run("in", "-o", "new", "--title", "T", "--json")
    report = json.loads(result.output)
    assert [each["state"] for each in report] == ["migrated", "failed"]
    assert report[0]["output"] == str(Path("new/a.json"))
    assert "is not JSON" in report[1]["reason"]


def test_an_empty_folder(run: Run) -> None:
    Path("in").mkdir()
    result = run("in")
    assert result.code == 1
    assert "no chunk files in in" in result.errors


def test_options_that_exclude_each_other(run: Run) -> None:
    for arguments, message in (
        (["-o", "y", "--in-place"], "-o and --in-place exclude each other; choose one"),
        (["--reverse", "--title", "T"], "--title has no meaning with --reverse; leave it out"),
    ):
        result = run("x", *arguments)
        assert result.code == 2
        assert message in result.errors


def test_each_file_is_migrated_once(run: Run) -> None:
    put("old/x.jsonl", json.dumps(NEW) + "\n")
    put("old/y.json", OLD)
    Path("link").symlink_to("old")
    Path("old/a.json").symlink_to("y.json")  # a file goes by its own name
    found = run("old", "old/x.jsonl", "./old", "link", "--title", "The API")
    assert [json.loads(line) for line in found.output.splitlines()] == [NEW, NEW]
    result = run("old", "old", "old/y.json", "-o", "new", "--title", "The API")
    assert result.code == 0
    assert "2 files: 1 migrated, 1 unchanged" in result.errors
    assert sorted(each.name for each in Path("new").iterdir()) == ["x.jsonl", "y.json"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e999"])
@pytest.mark.parametrize("record", [OLD, NEW], ids=["old", "new"])
def test_a_number_that_json_cannot_hold_is_not_lost_silently(run: Run, number: str, record: dict[str, Any]) -> None:
    text = json.dumps({**record, "score": 1234})
    put("in/bad.json", text.replace("1234", number))
    put("in/bad.jsonl", f"{json.dumps(NEW)}\n{text.replace('1234', f'[{number}]')}\n")
    put("in/good.json", text)
    result = run("in", "-o", "new", "--title", "T")
    assert result.code == 2
    assert "bad.json: holds a number that JSON cannot hold, NaN or above 1e308; correct it" in result.errors
    assert "bad.jsonl: line 2: holds a number that JSON cannot hold" in result.errors
    assert [each.name for each in Path("new").iterdir()] == ["good.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="another message")
def test_an_output_that_is_no_folder(run: Run) -> None:
    put("in/a.json", NEW)
    put("out", "mine")
    result = run("in", "-o", "out")
    assert result.code == 2
    assert "in/a.json: out" in result.errors
    assert "it is not a folder; choose another one" in result.errors
    assert Path("out").read_text() == "mine"


def test_lone_surrogates_cost_no_run(run: Run) -> None:
    put("name.json", {**NEW, "zz\ud800": 1})
    put("nested.json", {**NEW, "sourcePosition": {**NEW["sourcePosition"], "\ud800": 1}})
    put("text.json", {**NEW, "embedText": "a \ud800", "originalText": "a \ud800"})
    put("wrong.json", {**NEW, "sourcePosition": "\ud800"})
    put("sound.json", NEW)
    result = run("name.json", "nested.json", "text.json", "wrong.json", "sound.json", "-o", "new")
    assert result.code == 2
    for name in ("name", "nested", "wrong"):
        assert f"{name}.json: is not a chunk record: a lone surrogate in a field name" in result.errors
    assert get("new/text.json")["embedText"] == "a \ud800"
    assert sorted(each.name for each in Path("new").iterdir()) == ["sound.json", "text.json"]


def test_a_file_of_lines_to_another(run: Run) -> None:
    put("x.jsonl", f"{json.dumps(NEW)}\n{json.dumps(NEW)}\n")
    assert run("x.jsonl", "-o", "old/back.jsonl", "--reverse").code == 0
    assert run("old/back.jsonl", "-o", "again.ndjson").code == 0
    assert [json.loads(line) for line in Path("again.ndjson").read_text(encoding="utf-8").splitlines()] == [NEW, NEW]
    assert Path("old/back.jsonl").is_file()
    put("list.json", [OLD])
    assert run("list.json", "-o", "new.json", "--title", "The API").code == 0
    assert get("new.json") == [NEW]
    result = run("x.jsonl", "-o", "x.jsonl", "--reverse")
    assert result.code == 2
    assert "x.jsonl is also an input; choose another output, or use --in-place" in result.errors


@pytest.mark.parametrize("inputs", [["x.jsonl", "y.jsonl"], ["in"], ["a.json"]])
def test_a_file_for_what_is_not_one_file_of_its_kind_is_refused(run: Run, inputs: list[str]) -> None:
    for name in ("x.jsonl", "y.jsonl", "in/x.jsonl"):
        put(name, json.dumps(NEW) + "\n")
    put("a.json", NEW)
    result = run(*inputs, "-o", "new.jsonl")
    assert result.code == 2
    assert "-o new.jsonl is one file, for one input of that kind; name a folder" in result.errors
    assert not Path("new.jsonl").exists()
    assert run(*inputs, "-o", "new.jsonl/").code == 0
    assert Path("new.jsonl").is_dir()
    assert run(*inputs, "-o", "new.jsonl").code == 0


def test_a_run_does_not_take_its_own_output(run: Run) -> None:
    put("mi/a.json", OLD)
    for _ in range(2):
        result = run("mi", "-o", "mi/out", "--title", "The API")
        assert result.code == 0
        assert "1 file: 1 migrated" in result.errors
    assert [each.as_posix() for each in sorted(Path("mi").rglob("*.json"))] == ["mi/a.json", "mi/out/a.json"]


def test_there_and_back_gives_the_same_bytes(run: Run) -> None:
    chunks = quire.chunk("# A\n\nx é\n\n## B\n\ny\n", path="a.md")
    Path("a.json").write_bytes(wire.encode(chunks[0], indent=2) + b"\n")
    assert run("a.json", "-o", "old", "--reverse").code == 0
    assert run("old", "-o", "new").code == 0
    assert Path("new/a.json").read_bytes() == Path("a.json").read_bytes()


def test_a_record_of_a_list_is_named_with_its_number(run: Run) -> None:
    put("list.json", [NEW, OLD, OLD])
    result = run("list.json", "--title", "T")
    assert result.errors.count("could only be guessed") == 2
    assert "list.json: record 3: headerDepths and headerSlugs could only be guessed" in result.errors
    put("bad.json", "[\n\n5\n]")
    assert "bad.json: record 1: is not a chunk record" in run("bad.json").errors
