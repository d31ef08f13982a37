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


LINKED = {
    "docs/index.md": "# Home\n\nSee [the guide](guide.md) and [here](other.md).\n",
    "docs/guide.md": "# Guide\n\nText.\n\n## Set up\n\nMore.\n\n## Run\n\nLast. [self](#set-up)\n",
    "docs/other.md": "# Other\n\nRead\n[here](guide.md#set-up), [here](lonely.txt) or [run](guide.md#run).\n\n## End\n\n[run](guide.md#run)\n",
    "docs/alone.md": "# Alone\n\n[guide](guide.md#set-up)\n",
}


def test_links_to_a_section_or_a_document(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs(LINKED))
    result = run("links", "docs", "--to", "docs/guide.md#set-up")
    assert result.out.decode().splitlines() == [
        "docs/alone.md:3: [guide] in docs:alone.md#alone",
        "docs/other.md:4: [here] in docs:other.md#other",
    ]
    assert (result.code, result.err) == (0, "2 links from 2 sections\n")
    rows = json.loads(run("links", "docs", "--to", "guide.md", "--json").out)
    assert [(row["file"], row["line"], row["text"], row["id"]) for row in rows] == [
        ("docs/alone.md", 3, "guide", "docs:alone.md#alone"),
        ("docs/index.md", 3, "the guide", "docs:index.md#home"),
        ("docs/other.md", 4, "here", "docs:other.md#other"),
        ("docs/other.md", 4, "run", "docs:other.md#other"),
        ("docs/other.md", 8, "run", "docs:other.md#end"),
    ]
    assert run("links", "docs", "--to", "alone.md").code == 1
    assert "not in the index" in run("links", "docs", "--to", "gone.md").err


def test_lines_follow_an_edit(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs(LINKED))
    run("links", "docs", "--to", "guide.md#run")
    docs({"docs/other.md": f"---\ntitle: x\n---\n\n{LINKED['docs/other.md']}"})
    rows = json.loads(run("links", "docs", "--to", "guide.md#run", "--json").out)
    assert [row["line"] for row in rows] == [8, 12]


def test_orphans(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs(LINKED))
    result = run("links", "docs", "--orphans")
    assert (result.code, result.out, result.err) == (1, b"docs/alone.md\n", "1 document without a link to it\n")
    docs({"docs/index.md": "# Home\n\n[guide](guide.md) [other](other.md) [alone](alone.md)\n"})
    assert run("links", "docs", "--orphans", "--json").out == b"[]\n"


def test_get_says_how_many_sections_link(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs({**LINKED, "quire.toml": '[trees]\ndocs = "docs"\n'}))
    assert run("get", "docs/guide.md").err == ("docs/guide.md: linked from 4 sections; quire links --to lists them\n")
    assert run("get", "docs/alone.md").err == ""
