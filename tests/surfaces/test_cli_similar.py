"""``quire similar``."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_sections_of_other_documents_with_the_same_words(run, docs) -> None:
    docs(
        {
            "more/a.md": "# Prune\n\nPrune dangling volumes and unused images.\n\n## Also\n\nDangling volumes here, too.\n",
            "more/b.md": "# Cleaning\n\nDangling volumes and images are pruned at night.\n",
            "more/c.md": "# Login\n\nA token is needed.\n",
        }
    )
    assert run("index", "more").code == 0
    result = run("similar", "--json", "more/a.md#prune")
    assert result.code == 0
    assert [hit["id"] for hit in json.loads(result.out)] == ["more:b.md#cleaning"]
    assert b"more/b.md:1" in run("similar", "--list", "more:a.md#prune").out


def test_nothing_is_similar(run, docs) -> None:
    docs({"more/a.md": "# Zebra\n\nStripes.\n", "more/b.md": "# Lion\n\nMane.\n"})
    assert run("index", "more").code == 0
    result = run("similar", "more/a.md")
    assert (result.code, result.out) == (1, b"")
    assert run("similar", "more:nope.md").code == 1
