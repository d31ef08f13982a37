"""``quire verify``: the laws on the user's own documents."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

import quire
from quire.model.options import STRATEGIES

DOCUMENTS = {"a.md": "# A\n\none\n\n## B\n\n```\n# no heading\n```\n", "sub/b.md": "- x\n- y\n", "c.txt": "# plain\n"}


@pytest.mark.parametrize("strategy", STRATEGIES)
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


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_laws_hold_with_timestamps(run, docs, strategy) -> None:
    assert run("verify", "-s", strategy, "--timestamps", docs(DOCUMENTS)).code == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_standard_input(run, strategy) -> None:
    assert run("verify", "-s", strategy, "-", stdin=b"# A\n\ntext\n").code == 0


def test_the_default_is_packed(run, docs) -> None:
    folder = docs(DOCUMENTS)
    assert run("verify", folder) == run("verify", "-s", "packed", folder) != run("verify", "-s", "tree", folder)


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
    result = run("verify", "-s", "tree", folder)
    assert result.code == 1
    assert f"{folder}/a.md:3: 3 characters are in no chunk, from 'one' on [lost-text]\n" in result.out.decode()
    assert "violations of the laws" in result.err
    assert "all laws hold" not in result.err


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_violations_of_every_strategy(run, docs, strategy) -> None:
    prose = "".join(f"Sentence {number} of a long text about nothing. " for number in range(300))
    folder = docs({"a.md": f"# A\n\n{prose}\n\n# B\n\n{prose}\n"})
    result = run("verify", "-s", strategy, folder)
    assert result.code == 1
    assert re.search(re.escape(f"{folder}/a.md:") + r"[13]: [\d,]+ characters are in no chunk", result.out.decode())


@pytest.mark.usefixtures("broken")
def test_violations_as_json(run, docs) -> None:
    folder = docs(DOCUMENTS)
    result = run("verify", "-s", "tree", "--json", folder)
    assert result.code == 1
    found = json.loads(result.out)
    assert {each["path"] for each in found} == {f"{folder}/a.md"}
    assert set(found[0]) == {"code", "path", "line", "message"}
    assert "lost-text" in {each["code"] for each in found}


@pytest.mark.usefixtures("broken")
def test_error_outweighs_violations_and_both_are_told(run, docs) -> None:
    folder = docs({**DOCUMENTS, "bad.md": b"\xff"})
    result = run("verify", "-s", "tree", folder)
    assert result.code == 2
    assert b"[lost-text]" in result.out
    assert f"{folder}/bad.md: line 1, byte offset 0" in result.err


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_chunks_that_differ_from_run_to_run(run, docs, monkeypatch, strategy) -> None:
    real, runs = quire.chunk, []

    def chunk(*arguments, **options):
        chunks = real(*arguments, **options)
        runs.append(len(runs))
        chunks[0] = msgspec.structs.replace(chunks[0], metadata={**chunks[0].metadata, "run": len(runs)})
        return chunks

    monkeypatch.setattr("quire.pipeline.chunk", chunk)
    result = run("verify", "-s", strategy, "--json", docs({"a.md": "x\n"}))
    assert result.code == 1
    assert [each["code"] for each in json.loads(result.out)] == ["not-repeatable"]
