"""``quire cite``: quotations of a text, checked against the documents."""

from __future__ import annotations

import json

import pytest

import quire

AUTH = "# Auth\n\n## OAuth\n\nTokens rotate every 30 minutes.\n\n## Basic\n\nPasswords are never stored.\n"
ANSWER = 'It says "tokens rotate every 30 minutes" [docs/auth.md#oauth].\n\n"Tokens rotate every 60 minutes" (docs/auth.md)\n'


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch, docs):
    monkeypatch.chdir(tmp_path)
    docs({"docs/auth.md": AUTH, "answer.md": ANSWER, "true.md": ANSWER.partition("\n")[0]})


def test_each_quotation_is_a_line(run) -> None:
    result = run("cite", "answer.md", "docs")
    assert result.code == 1
    assert result.out.decode().splitlines() == [
        "answer.md:1: found docs/auth.md:5-5: tokens rotate every 30 minutes",
        "answer.md:3: altered docs/auth.md:5-5: Tokens rotate every [-30-] {+60+} minutes",
    ]
    assert result.err == "2 quotations, 1 found\n"


def test_all_are_found(run) -> None:
    assert run("cite", "true.md", "docs").code == 0
    assert run("cite", "-", "docs", stdin=ANSWER.partition("\n")[0].encode()).out.startswith(b"<stdin>:1: found ")


def test_json(run) -> None:
    answer = json.dumps([{"quote": "Passwords are never stored.", "source": "docs:auth.md#oauth"}])
    (record,) = json.loads(run("cite", "-", "docs", "--json", stdin=answer.encode()).out)
    assert (record["status"], record["places"][0]["lines"]) == ("found elsewhere", [9, 9])


def test_a_missing_file(run) -> None:
    result = run("cite", "gone.md", "docs")
    assert result.code == 2
    assert result.err.startswith("quire: gone.md: does not exist; ")


def test_a_cut_off_list_is_an_error(run) -> None:
    result = run("cite", "-", "docs", stdin=b'[{"quote": "Passwords are never stored.", "source": "docs/auth.md"')
    assert result.code == 2
    assert result.err.startswith("quire: quotations: not JSON: ")


def test_a_folder_is_no_index() -> None:
    with pytest.raises(TypeError, match=r"must be a quire\.Index, not str"):
        quire.cite("text", "docs")  # type: ignore[arg-type]
