"""``quire eval``: how well documents answer."""

from __future__ import annotations

import json

import pytest
from outputs import refused

DOCUMENTS = {
    "docs/guide.md": "# Guide\n\nSee [deleting all data](admin.md#remove) and [how to compile](build.md).\n\n## Install\n\nRun the installer.\n",
    "docs/admin.md": "# Admin\n\n## Backup\n\nCopy the data.\n\n## Remove\n\nDelete all data with purge.\n",
    "docs/build.md": "# Build\n\nCompile with make. Then [run the installer](guide.md#install)\n",
    "q.jsonl": (
        '{"query": "delete data", "answers": ["admin.md#remove"]}\n'
        '{"query": "installer", "answers": ["docs:guide.md#install", "build.md"]}\n'
        '{"query": "copy the data", "answers": ["build.md"]}\n'
    ),
}


@pytest.fixture
def folder(docs, monkeypatch):
    """The current folder, with documents and questions."""
    made = docs(DOCUMENTS)
    monkeypatch.chdir(made)
    return made


def test_questions_of_a_file(run, folder) -> None:
    result = run("eval", "docs", "--questions", "q.jsonl")
    assert (result.code, result.err) == (0, "")
    lines = result.out.decode().splitlines()
    assert lines[0] == "3 questions from q.jsonl, 95 % intervals"
    values = {line[:31].strip(): line[31:].split() for line in lines[1:]}
    assert values["MRR@10"] == ["0.667", "0.208", "to", "0.939"]
    assert values["recall at 1"][0] == values["recall at 10"][0] == "0.667"
    assert list(values)[-1] == "tokens read until right"
    assert result == run("eval", "docs", "--questions", "q.jsonl")


def test_questions_from_links(run, folder) -> None:
    result = run("eval", "docs", "--json")
    record = json.loads(result.out)
    assert (result.code, record["questions"], record["source"]) == (0, 3, "links")
    assert record["figures"]["recall_10"]["value"] == pytest.approx(1.0)
    assert record["misses"] == []


SENTENCE = "The *nightly* backup keeps seven copies of [every table](build.md) on another disk."


@pytest.mark.parametrize(("arguments", "asked"), [((), 12), (("--words", "8"), 8)])
def test_questions_pasted_from_the_documents(run, folder, arguments, asked) -> None:
    (folder / "docs/guide.md").write_text("# Guide\n")
    (folder / "docs/admin.md").write_text(f"# Admin\n\n## Storage\n\nShort one. {SENTENCE}\n\n## Other\n\nText.\n")
    record = json.loads(run("eval", "docs", "--pasted", *arguments, "--json").out)
    assert (record["questions"], record["source"], record["misses"]) == (1, "pasted", [])
    (folder / "a.toml").write_text("[search.boosts]\nbody = 0\n[search]\nadjacent_body = 0\n")
    (folder / "b.toml").write_text("")
    files = ("--compare", "a.toml", "b.toml")
    [row] = json.loads(run("eval", "docs", "--pasted", *arguments, *files, "--json").out)["differences"]
    whole = "The nightly backup keeps seven copies of every table on another disk."
    assert (row["query"], row["answers"]) == (" ".join(whole.split()[:asked]), ["docs:admin.md#storage"])
    assert run("eval", "docs", "--pasted").out.startswith(b"1 question from the documents' sentences")


def test_a_sentence_that_two_sections_have_is_not_asked(run, folder) -> None:
    (folder / "docs/guide.md").write_text("# Guide\n")
    (folder / "docs/admin.md").write_text(f"# Admin\n\n## Backup\n\n{SENTENCE}\n\n## Other\n\n{SENTENCE}\n")
    assert "no sentence of 8 to 25 words" in refused(run("eval", "docs", "--pasted"))


def test_misses(run, folder) -> None:
    result = run("eval", "docs", "--questions", "q.jsonl", "--misses")
    assert result.out.decode().splitlines()[-4:] == [
        "",
        "copy the data  not found",
        "  first: docs:admin.md#backup",
        "  right: build.md",
    ]
    [miss] = json.loads(run("eval", "docs", "--questions", "q.jsonl", "--json").out)["misses"]
    assert miss == {"query": "copy the data", "answers": ["build.md"], "rank": 0, "first": "docs:admin.md#backup"}


def test_a_sample(run, folder) -> None:
    for source in ((), ("--questions", "q.jsonl")):
        record = json.loads(run("eval", "docs", *source, "--sample", "2", "--json").out)
        assert record["questions"] == 2


def test_fail_under(run, folder) -> None:
    command = ("eval", "docs", "--questions", "q.jsonl")
    assert run(*command, "--fail-under", "mrr=0.6", "--fail-under", "recall_1=0.66").code == 0
    result = run(*command, "--fail-under", "mrr=0.75", "--fail-under", "recall_1=0.5")
    assert (result.code, result.err) == (1, "mrr is 0.667, below 0.75\n")
    assert result.out


def test_compare(run, folder) -> None:
    (folder / "a.toml").write_text("[search.boosts]\ntitle = 0\nbody = 0\nheadings = 0\nlinks = 0\n")
    (folder / "b.toml").write_text("")
    lines = "".join(f'{{"query": "{word}", "answers": ["admin.md"]}}\n' for word in ("purge", "copy", "delete") * 3)
    (folder / "more.jsonl").write_text(lines)
    command = ("eval", "docs", "--questions", "more.jsonl", "--compare", "a.toml", "b.toml")
    result = run(*command)
    out = result.out.decode().splitlines()
    assert (result.code, out[1]) == (0, "A = a.toml, B = b.toml")
    assert out[3].split() == ["MRR@10", "0.000", "1.000", "+1.000", "+1.000", "to", "+1.000"]
    assert out[9] == "b.toml is better: the interval of the difference in MRR does not contain 0."
    assert [line.split() for line in out[10:]] == [["none-1", word] for word in ("purge", "copy", "delete") * 3]
    record = json.loads(run(*command, "--json").out)
    assert (record["files"], record["better"]) == (["a.toml", "b.toml"], "b.toml")
    assert [record[name]["mrr"]["value"] for name in ("a", "b", "difference")] == [0, 1, 1]
    assert [row["rank"] for row in record["differences"]] == [[0, 1]] * 9


def test_compare_on_links_where_nothing_differs(run, folder) -> None:
    (folder / "a.toml").write_text("[search]\nlimit = 3\n")
    (folder / "pyproject.toml").write_text("[tool.quire.search]\nlimit = 4\n")
    out = run("eval", "docs", "--compare", "a.toml", "pyproject.toml").out.decode().splitlines()
    assert out[0] == "3 questions from the documents' links, 95 % intervals"
    assert out[-1] == "Neither is better: the difference in MRR may be noise, its interval contains 0."


def test_a_part_of_a_tree(run, folder) -> None:
    (folder / "quire.toml").write_text('[trees]\ndocs = "docs"\n')
    (folder / "q.jsonl").write_text(
        '{"query": "compile", "answers": ["build.md"]}\n{"query": "x", "answers": ["guide.md"]}'
    )
    assert "q.jsonl:2: answer not found in what is searched: guide.md: " in refused(
        run("eval", "docs/build.md", "--questions", "q.jsonl")
    )
    assert run("eval", "docs", "--questions", "q.jsonl").code == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--questions", "none.jsonl"), "none.jsonl: "),
        (("--questions", "bad.jsonl"), "bad.jsonl:1: not a question: JSON is malformed"),
        (
            ("--questions", "wrong.jsonl"),
            "wrong.jsonl:1: answer not found in what is searched: admin.md#gone: not in the index",
        ),
        (("--questions", ""), "is empty"),
        (("--pasted", "--questions", "q.jsonl"), "choose --questions FILE or --pasted"),
        (("--words", "8"), "--words belongs to --pasted"),
        (("--fail-under", "mr=0.5"), "unknown figure mr (did you mean mrr?); valid: mrr, "),
        (("--fail-under", "tokens=5"), "unknown figure tokens; valid: "),
        (("--fail-under", "mrr=75"), "--fail-under mrr='75' is invalid: must be a number from 0 to 1"),
        (("--fail-under", "mrr"), "--fail-under mrr='' is invalid: must be a number from 0 to 1"),
        (("--compare", "a.toml", "none.toml"), "none.toml: no such file"),
        (("--compare", "a.toml", "bad.toml"), "bad.toml: unknown key search.tye"),
        (("--compare", "a.toml", "pyproject.toml"), "pyproject.toml: there is no table [tool.quire]"),
        (("--compare", "a.toml", "a.toml", "--fail-under", "mrr=0.5"), "leave out --fail-under and --misses"),
    ],
)
def test_errors(run, folder, arguments, problem) -> None:
    (folder / "bad.jsonl").write_text("{query: 1}\n")
    (folder / "wrong.jsonl").write_text('{"query": "a", "answers": ["admin.md#gone"]}\n')
    (folder / "a.toml").write_text("")
    (folder / "bad.toml").write_text("[search]\ntye = 1\n")
    (folder / "pyproject.toml").write_text("")
    assert problem in refused(run("eval", "docs", *arguments))


def test_no_links(run, docs) -> None:
    error = refused(run("eval", docs({"a.md": "text\n"}), "--index", docs({}) / "index"))
    assert (
        error
        == "quire: there are no links between the documents to make questions of; name a file with questions: --questions FILE\n"
    )


def test_no_documents(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs({"empty/a.rst": "x"}))
    result = run("eval", "empty")
    assert (result.code, result.out) == (1, b"")
    assert "no documents" in result.err
    assert run("eval", "empty", "--json")[:2] == (1, b"null\n")
