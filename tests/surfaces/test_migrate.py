"""``quire migrate``: old chunk records to current ones. tests/unit/output has the rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quire.output import legacy

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
NEW = legacy.migrate(OLD, "The API")

Migrate = Callable[..., tuple[int, list[Any], str]]


@pytest.fixture
def migrate(run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Migrate:
    """Run the command in an empty folder: the exit code, the records, and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes = b"") -> tuple[int, list[Any], str]:
        code, printed, errors = run("migrate", *arguments, stdin=stdin)
        return code, [json.loads(line) for line in printed.decode().splitlines()], errors

    return call


def put(file: str, value: Any) -> None:
    Path(file).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def test_files_of_every_form(migrate: Migrate) -> None:
    put("one.json", json.dumps(OLD, indent=2))
    put("list.json", [OLD, NEW])
    put("lines.jsonl", f"{json.dumps(OLD)}\n\n{json.dumps(NEW)}\n")
    put("joined.json", json.dumps(OLD, indent=2) + json.dumps(NEW, indent=2))
    for files, count in ((["one.json"], 1), (["list.json"], 2), (["lines.jsonl", "joined.json"], 4)):
        code, records, errors = migrate(*files, "--title", "The API")
        assert (code, records) == (0, [NEW] * count)
        assert f"{count} record{'s' * (count > 1)}, {(count + 1) // 2} converted" in errors
    assert json.loads(Path("one.json").read_text(encoding="utf-8")) == OLD


def test_standard_input(migrate: Migrate) -> None:
    for arguments in ([], ["-"]):
        assert migrate(*arguments, "--title", "The API", stdin=json.dumps(OLD).encode())[:2] == (0, [NEW])
    assert "<stdin>: is not JSON in UTF-8: Expecting value: line 1 column 1" in migrate(stdin=b"oops")[2]


def test_an_array(run: Callable[..., Any], migrate: Migrate) -> None:
    put("a.json", NEW)
    assert json.loads(run("migrate", "a.json", "--json").out) == [NEW]
    put("bad.json", "{")
    assert json.loads(run("migrate", "bad.json", "--json").out) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1,\n\n oops', "line 3 column 2"),
        (f"{json.dumps(NEW)}\n\n{{oops\n", "line 3 column 2"),
        ("3", "bad.json: line 1: is not a chunk record; a record is one JSON object"),
        ([NEW, 5], "bad.json: record 2: is not a chunk record; a record is one JSON object"),
        ('{"a": 1}', "bad.json: line 1: is not a chunk record: id is missing;"),
        (f"{json.dumps(NEW)}\n{json.dumps(OLD)}", "bad.json: line 2: has no fileTitle"),
        ([NEW, OLD], "bad.json: record 2: has no fileTitle"),
        ({**OLD, "tokenCount": "4"}, "bad.json: line 1: is not a chunk record: tokenStats.tokens='4' is invalid"),
        ({**NEW, "zz\ud800": 1}, "surrogates not allowed"),
    ],
    ids=range(9),
)
def test_a_bad_file_is_named_and_the_others_are_converted(migrate: Migrate, content: Any, message: str) -> None:
    put("bad.json", content)
    put("good.json", NEW)
    code, records, errors = migrate("bad.json", "none.json", "good.json")
    assert (code, records) == (2, [NEW])
    assert message in errors
    assert "none.json: " in errors
