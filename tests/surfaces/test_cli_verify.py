"""``quire verify``: the laws on the user's own documents."""

from __future__ import annotations

import dataclasses
import json

import pytest

import quire
from quire.config import OWN

DOCUMENTS = {"a.md": "# A\n\none\n\n## B\n\n```\n# no heading\n```\n", "sub/b.md": "- x\n- y\n", "c.txt": "# plain\n"}


@pytest.mark.parametrize("strategy", OWN)
def test_laws_hold(run, docs, strategy) -> None:
    folder = docs(DOCUMENTS)
    result = run("verify", "-s", strategy, folder)
    assert (result.code, result.out) == (0, b"")
    assert result.err.startswith("3 documents, ")
    assert result.err.endswith("\nall laws hold\n")
    assert run("verify", "-s", strategy, "--json", folder)[:2] == (0, b"[]\n")
    assert run("verify", "-s", strategy, "--quiet", folder) == (0, b"", "")


def test_laws_hold_for_the_same_name_in_two_folders(run, docs) -> None:
    folder = docs({"x/a.md": "1\n", "y/a.md": "2\n"})
    assert run("verify", folder / "x", folder / "y").code == 0


def test_laws_hold_with_timestamps(run, docs) -> None:
    assert run("verify", "--timestamps", docs(DOCUMENTS)).code == 0


def test_standard_input(run) -> None:
    assert run("verify", "-", stdin=b"# A\n\ntext\n").code == 0


@pytest.fixture
def broken(monkeypatch):
    """A quire that loses the first chunk of every document that has two."""
    real = quire.chunk

    def chunk(*arguments, **options):
        chunks = real(*arguments, **options)
        if len(chunks) > 1:
            del chunks[0]
        return chunks

    monkeypatch.setattr("quire.pipeline.chunk", chunk)


@pytest.mark.usefixtures("broken")
def test_violations_are_data(run, docs) -> None:
    folder = docs(DOCUMENTS)
    result = run("verify", folder)
    assert result.code == 1
    assert f"{folder}/a.md:3: 3 characters are in no chunk, from 'one' on [lost-text]\n" in result.out.decode()
    assert "violations of the laws" in result.err
    assert "all laws hold" not in result.err


@pytest.mark.usefixtures("broken")
def test_violations_as_json(run, docs) -> None:
    folder = docs(DOCUMENTS)
    result = run("verify", "--json", folder)
    assert result.code == 1
    found = json.loads(result.out)
    assert {each["path"] for each in found} == {f"{folder}/a.md"}
    assert set(found[0]) == {"code", "path", "line", "message"}
    assert "lost-text" in {each["code"] for each in found}


@pytest.mark.usefixtures("broken")
def test_error_outweighs_violations_and_both_are_told(run, docs) -> None:
    folder = docs({**DOCUMENTS, "bad.md": b"\xff"})
    result = run("verify", folder)
    assert result.code == 2
    assert b"[lost-text]" in result.out
    assert f"{folder}/bad.md: line 1, byte offset 0" in result.err


def test_chunks_that_differ_from_run_to_run(run, docs, monkeypatch) -> None:
    real, runs = quire.chunk, []

    def chunk(*arguments, **options):
        chunks = real(*arguments, **options)
        runs.append(len(runs))
        chunks[0] = dataclasses.replace(chunks[0], metadata={**chunks[0].metadata, "run": len(runs)})
        return chunks

    monkeypatch.setattr("quire.pipeline.chunk", chunk)
    result = run("verify", "--json", docs({"a.md": "x\n"}))
    assert result.code == 1
    assert [each["code"] for each in json.loads(result.out)] == ["not-repeatable"]
