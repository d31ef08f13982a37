"""Documentation as people have it, from its files to the answers: variables, ids in brackets, encodings, findings."""

from __future__ import annotations

import json

import pytest

import quire

ELASTIC = {
    "docset.yml": "project: docs\nsubs:\n  es: Elasticsearch\n  slm: snapshot lifecycle management\n",
    "manage.md": (
        "# Manage {{es}} [manage]\n\n## Automate with {{slm}} [auto-{{es}}]\n\nUse {{slm}} on {{es}} clusters.\n\n"
        "## Other [other-id]\n\nSee [there](#manage).\n"
    ),
    "other.md": "# Other\n\nSnapshots of clusters.\n\n[guide](manage.md#other-id) [lost](manage.md#gone)\n",
}


@pytest.fixture
def elastic(docs, monkeypatch):
    folder = docs(ELASTIC)
    monkeypatch.chdir(folder)
    return folder


def test_search_finds_the_values_and_shows_the_source(elastic, run) -> None:
    [hit, *_] = json.loads(run("search", "snapshot lifecycle management", ".", "--json").out)
    assert hit["title"] == "Automate with snapshot lifecycle management"
    assert hit["breadcrumb"] == ["Manage Elasticsearch", "Automate with snapshot lifecycle management"]
    assert "Use {{slm}} on {{es}} clusters." in hit["text"]


def test_new_values_are_searched_at_once(elastic, run) -> None:
    assert json.loads(run("search", "frobnication", ".", "--json").out) == []
    (elastic / "docset.yml").write_text("subs:\n  slm: frobnication\n")
    result = run("search", "frobnication", ".", "--json")
    assert json.loads(result.out)[0]["title"] == "Automate with frobnication"
    assert "the encoding or the substitutions" in result.err
    assert run("search", "frobnication", ".", "--json").err == ""


def test_ids_in_brackets_are_ids_where_a_docset_says_so(elastic, run) -> None:
    [hit] = json.loads(run("get", "manage.md#other-id", "--json").out)
    assert (hit["title"], hit["id"].rpartition("#")[2]) == ("Other", "other-id")


def test_broken_links(elastic, run) -> None:
    result = run("links", ".")
    assert result.out.decode().splitlines() == [
        "other.md:5: [lost](manage.md#gone): no section #gone in manage.md; nearest: manage.md [broken-link]"
    ]


def test_outline_and_chunks_have_the_values(elastic, run, chunks) -> None:
    assert "Automate with snapshot lifecycle management" in run("outline", "manage.md").out.decode()
    made = chunks(run("chunk", "."))
    assert {chunk["fileTitle"] for chunk in made} == {"Manage Elasticsearch", "Other"}
    assert run("verify", ".").code == 0


def test_a_table_of_quire_toml(docs, run, monkeypatch, chunks) -> None:
    toml = '[trees.docs]\npath = "docs"\n[trees.docs.substitutions]\nes = "Elasticsearch"\nconfig.name = "Site"\n'
    monkeypatch.chdir(docs({"quire.toml": toml, "docs/a.md": "# {{es}} of {{ config.name }}\n\ntext\n"}))
    assert chunks(run("chunk"))[0]["sectionTitle"] == "Elasticsearch of Site"
    assert json.loads(run("search", "elasticsearch", "--json").out)[0]["title"] == "Elasticsearch of Site"
    assert "trees.docs.substitutions.es" in run("config").out.decode()


def test_words_in_brackets_are_no_ids_without_a_docset(docs, run) -> None:
    folder = docs({"a.md": "# Arrays [advanced]\n\n## B [b]\n\n[one](#b)\n"})
    [[chunk]] = quire.chunk_dir(folder)
    assert chunk.header_path[0] == "Arrays [advanced]"
    assert json.loads(run("search", "one", folder, "--json").out)[0]["breadcrumb"][0] == "Arrays [advanced]"


def test_the_encoding_and_the_hidden_folders_of_a_tree(docs, run, monkeypatch, chunks) -> None:
    files = {
        "docs/a.md": "# Größe\n\nwort\n".encode("latin-1"),
        "docs/.github/b.md": "# B\n\nwort\n",
        "docs/.x/c.md": "wort\n",
    }
    toml = '[trees.docs]\npath = "docs"\n'
    monkeypatch.chdir(docs({"quire.toml": toml, **files}))
    result = run("index", "-v")
    assert result.code == 1
    assert "not UTF-8 (invalid start byte); convert the file to UTF-8, or set encoding or errors" in result.err
    assert "left out: hidden (2); " in result.out.decode()
    (docs({}) / "quire.toml").write_text(f'{toml}encoding = "latin-1"\nhidden = true\n')
    titles = [hit["title"] for hit in json.loads(run("search", "wort", "--json").out)]
    assert sorted(titles) == ["B", "Größe"]
    assert sorted(chunk["fileTitle"] for chunk in chunks(run("chunk"))) == ["B", "Größe"]
    assert "hidden (1); " in run("status").out.decode()


def test_binary_files_are_left_out_with_a_finding(docs, run) -> None:
    folder = docs({"a.md": "# A\n\nword\n", "b.md": bytes(range(256)) * 8})
    result = run("index", folder)
    assert "b.md: is binary: " in result.err
    assert "[binary]" in result.err
    assert json.loads(run("search", "word", folder, "--json").out)[0]["title"] == "A"
    assert "is binary" in run("chunk", folder).err


def test_ordinary_findings_are_one_line(docs, run) -> None:
    folder = docs({"a.md": "# A\n\n## B\n\n## C\n\n## D\n\n## E\n\ntext\n"})
    [line, _] = run("chunk", folder, "-o", folder / "x.jsonl").err.splitlines()
    assert line.endswith("and 2 more like it; -v lists them [heading-without-text]")
    assert len(run("chunk", "-v", folder, "-o", folder / "x.jsonl").err.splitlines()) == 4
