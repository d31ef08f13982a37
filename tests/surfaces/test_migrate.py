"""``quire migrate``: old chunk records to today's, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


LINE, OLD_LINE = json.dumps(NEW), json.dumps(OLD)


@pytest.fixture
def migrate(run, docs, monkeypatch):
    """The command on files that are made first, and the records that it prints."""

    def call(files: dict[str, str], *arguments: str, stdin: str = ""):
        monkeypatch.chdir(docs(files))
        result = run("migrate", *files, *arguments, stdin=stdin.encode())
        return [json.loads(line) for line in result.out.splitlines()], result

    return call


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (OLD_LINE, 1),
        (json.dumps(OLD, indent=2), 1),
        (json.dumps([OLD, NEW], indent=1), 2),
        (f"{OLD_LINE}\n\n{LINE}\n", 2),
        ("", 0),
        ("[]", 0),
    ],
)
def test_a_record_a_list_or_lines(migrate, content, count) -> None:
    title = ("--title", "The API")
    for records, result in (migrate({"x.json": content}, *title), migrate({}, *title, stdin=content)):
        assert (result.code, records) == (0, [NEW] * count)


def test_a_guess_is_a_finding(migrate) -> None:
    _, result = migrate({"list.json": json.dumps([NEW, OLD])}, "--title", "T")
    said = "list.json: record 2: headerDepths and headerSlugs could only be guessed"
    assert said in result.err
    assert "1 file, 0 skipped" in result.err
    assert migrate({"list.json": OLD_LINE}, "--title", "T", "-q")[1].err == ""


def test_there_and_back(migrate) -> None:
    chunks = quire.chunk("# A\n\nx \ud800 é\n\n## B\n\ny\n", "tree", path="a.md")
    lines = [wire.encode(chunk) for chunk in chunks]
    old, _ = migrate({"a.jsonl": b"\n".join(lines).decode()}, "--reverse")
    assert "headingTrail" in old[0]
    back, result = migrate({"b.jsonl": "\n".join(map(json.dumps, old))})
    assert [wire.decode(json.dumps(record)) for record in back] == list(chunks)
    assert result.out.splitlines() == lines


def test_an_array(run, docs) -> None:
    folder = docs({"a.json": LINE})
    assert json.loads(run("migrate", folder / "a.json", "--json").out) == [NEW]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1,\n\n oops', "line 3, column 2: is not JSON"),
        (f"{LINE}\n\n{{oops\n", "line 3, column 2: is not JSON"),
        ("3", "record 1: is not a chunk record; a record is one JSON object"),
        (f"{LINE}\n\n5\n", "line 3: is not a chunk record; a record is one JSON object"),
        ('{"a": 1}', "record 1: is not a chunk record: has no id, parentId, chunkNumber and 12 more;"),
        (f"{LINE}\n{OLD_LINE}", "line 2: has no fileTitle"),
        (json.dumps({**NEW, "heading": "Z"}), "field sectionTitle: differs from heading, its other name"),
        (json.dumps([NEW, {**OLD, "tokenCount": "4"}]), "record 2: is not a chunk record: field tokenCount: expected"),
        (LINE.replace("{", '{"score": NaN, ', 1), "record 1: has NaN, a number above 1e308"),
        (f"{LINE}\n" + LINE.replace("{", '{"score": [1e400], ', 1), "line 2: has NaN, a number above 1e308"),
        (json.dumps({**NEW, "zz\ud800": 1}), "is not a chunk record: a lone surrogate in a field name"),
    ],
)
def test_a_bad_file_is_named_and_the_others_go_on(migrate, content, message) -> None:
    records, result = migrate({"bad.json": content, "good.json": LINE})
    assert (result.code, records) == (2, [NEW])
    assert f"bad.json: {message}" in result.err or message.startswith(("field", "is not"))
    assert message in result.err


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"name": "package"}, "is not a chunk record: has no id"),
        (5, "is not a chunk record"),
        ({**NEW, "heading": "OTHER"}, "field sectionTitle: differs from heading"),
        ({**NEW, "tokenCount": 99}, "field tokenStats.tokens: differs from tokenCount"),
    ],
)
def test_reverse_loses_nothing(migrate, record, message) -> None:
    records, result = migrate({"a.json": json.dumps(record)}, "--reverse")
    assert (result.code, records) == (2, [])
    assert f"a.json: record 1: {message}" in result.err


def test_arguments(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs({"a.json": LINE}))
    result = run("migrate", "none.json", "a.json", "-q")
    assert (result.code, json.loads(result.out)) == (2, NEW)
    assert "none.json: does not exist" in result.err
    assert "--title has no meaning with --reverse" in run("migrate", "--reverse", "--title", "T").err
    assert Path("a.json").read_text() == LINE
