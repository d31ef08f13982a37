"""``quire links``: the broken links of documents."""

from __future__ import annotations

import json

DOCUMENTS = {
    "a.md": "# A\n\nSee [b](sub/b.md#part), [c](sub/c.md)\nand [d](#d).\n",
    "sub/b.md": "# B\n\n## Part\n\n[up](../a.md#a) [gone](../gone.md)\n",
}


def test_broken_links_are_listed(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs(DOCUMENTS))
    result = run("links", ".")
    assert result.out.decode().splitlines() == [
        "a.md:3: [c](sub/c.md): no document sub/c.md [broken-link]",
        "a.md:4: [d](#d): no section #d; nearest: a.md [broken-link]",
        "sub/b.md:5: [gone](../gone.md): no document ../gone.md [broken-link]",
    ]
    assert (result.code, result.err) == (1, "5 links in 2 documents, 3 broken\n")


def test_json(run, docs) -> None:
    folder = docs({"a.md": "[b](c.md)\n", "b.md": "x\n"})
    result = run("links", "--json", "-q", folder)
    assert json.loads(result.out) == [
        {
            "file": f"{folder}/a.md",
            "line": 1,
            "text": "b",
            "target": "c.md",
            "problem": "no document c.md",
            "nearest": "",
        }
    ]
    assert (result.code, result.err) == (1, "")


def test_no_broken_links(run, docs) -> None:
    folder = docs({"a.md": "[b](b.md) <https://a.example>\n", "b.md": "x\n"})
    assert run("links", folder) == (0, b"", "2 links in 2 documents, 0 broken\n")
    assert run("links", "--json", folder)[:2] == (0, b"[]\n")
    assert run("links", folder / "a.md").code == 0  # b.md is beside it


def test_the_same_name_in_two_folders(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(
        docs({"x/a.md": "[b](b.md) [c](c/d.md)\n", "x/c/d.md": "[a](../a.md)\n", "a.md": "[b](b.md)\n"}) / "x"
    )
    result = run("links", ".", "../a.md")
    assert result.out == b"".join(
        b"%sa.md:1: [b](b.md): no document b.md [broken-link]\n" % folder for folder in (b"", b"../")
    )


def test_standard_input(run) -> None:
    assert run("links", "-", stdin=b"# A\n\n[a](#a) [b](../b.md)\n").code == 0
    assert (
        run("links", "-", stdin=b"[a](#x)\n\n# A\n").out
        == b"<stdin>:1: [a](#x): no section #x; nearest: <stdin> [broken-link]\n"
    )


def test_trees_of_the_configuration(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(
        docs({"quire.toml": '[trees]\nx = "one"\n', "one/a.md": "[b](b.md)\n", "two/c.md": "[d](d.md)\n"})
    )
    assert run("links").out == b"one/a.md:1: [b](b.md): no document b.md [broken-link]\n"


def test_an_unreadable_document(run, docs) -> None:
    folder = docs({"a.md": b"\xff\n", "b.md": "[c](c.md)\n"})
    result = run("links", folder)
    assert result.code == 2
    assert "[skipped]" in result.err
    assert b"no document c.md" in result.out


def test_nothing_to_read(run, docs) -> None:
    result = run("links", docs({"a.rst": "x\n"}))
    assert (result.code, result.out) == (1, b"")
    assert "no documents" in result.err


def test_annotations_of_a_workflow(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs({"a,b.md": "# A\n\n[100%](#d)\n"}))
    result = run("links", ".", "--format", "github")
    assert (
        result.out == b"::error file=a%2Cb.md,line=3,title=broken-link::[100%25](#d): no section #d; nearest: a,b.md\n"
    )
    assert result.code == 1


def test_sarif(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs({"a b/c.md": "[d](d.md)\n"}))
    log = json.loads(run("links", ".", "--format", "sarif").out)
    [scan] = log["runs"]
    [result] = scan["results"]
    assert (log["version"], scan["tool"]["driver"]["rules"]) == ("2.1.0", [{"id": "broken-link"}])
    assert (result["ruleId"], result["level"]) == ("broken-link", "error")
    assert result["message"]["text"] == "[d](d.md): no document d.md"
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "a%20b/c.md"}, "region": {"startLine": 1}}}
    ]
