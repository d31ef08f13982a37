"""``quire llms-txt``: the list of published pages."""

from __future__ import annotations

import pytest
from outputs import refused


@pytest.fixture(autouse=True)
def site(docs, monkeypatch):
    folder = docs({"mkdocs.yml": "", "docs/index.md": "# Site\n\nHello.\n", "docs/a/b.md": "# B\n\nText.\n"})
    monkeypatch.chdir(folder)
    return folder


def test_the_list_of_pages(run) -> None:
    listed = run("llms-txt", "docs", "--base-url", "https://x.example/")
    assert (listed.code, listed.out.decode()) == (
        0,
        "# Site\n\n## a\n\n- [B](https://x.example/a/b/)\n\n## docs\n\n- [Site](https://x.example/)\n",
    )


def test_the_texts_of_the_pages(run) -> None:
    full = run("llms-txt", "docs", "--full").out.decode()
    assert full.startswith("# B\n\nSource: a/b/\n\nText.\n\n# Site\n")


def test_the_trees_of_quire_toml(run, docs) -> None:
    docs({"quire.toml": '[trees]\npages = "docs"\n'})
    assert run("llms-txt").out == run("llms-txt", "pages").out == run("llms-txt", "docs").out
    nothing = run("llms-txt", "nope")
    assert (nothing.code, nothing.out, nothing.err) == (1, b"", "quire: nope: no document matches\n")


@pytest.mark.parametrize("name", ["docs/a/b.md", "-"])
def test_one_document_is_refused(run, name) -> None:
    assert "name a folder or a tree" in refused(run("llms-txt", name))
