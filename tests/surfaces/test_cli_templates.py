"""Documentation with template variables and ids in brackets, from its files to the answers."""

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
        "other.md:5: [lost](manage.md#gone): no section #gone in manage.md; nearest: manage.md"
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


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Arrays [advanced]\n\n## B [b]\n\n[one](#b)\n", "Arrays [advanced]"),
        ("# A [a]\n\n## B [b]\n\n[x](#a) [y](#b)\n", "A"),
    ],
)
def test_ids_in_brackets_by_the_links_to_them(docs, run, text: str, title: str) -> None:
    folder = docs({"a.md": text})
    [[chunk]] = quire.chunk_dir(folder)
    assert chunk.header_path[0] == title
    assert json.loads(run("search", "one OR x", folder, "--json").out)[0]["breadcrumb"][0] == title
