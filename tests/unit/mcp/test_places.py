"""Published addresses in answers, and the words of the tools."""

from __future__ import annotations

import re

from quire.mcp.answers import Service
from quire.mcp.tools import TOOLS, Get, Search
from quire.workspace.workspace import Workspace

URL = "https://example.org/docs/guides/auth#sign-in"


def test_results_have_the_published_address_with_its_anchor(tmp_path, monkeypatch) -> None:
    (tmp_path / "docs" / "guides").mkdir(parents=True)
    (tmp_path / "docs" / "guides" / "auth.md").write_text("# Auth\n\nHow.\n\n## Sign in\n\nUse a token.\n")
    tree = '[trees.docs]\npath = "docs"\nchunk = { dialect = "docusaurus" }\n'
    monkeypatch.chdir(tmp_path)
    for settings, has_url in ((f'{tree}base_url = "https://example.org/docs"\n', True), (tree, False)):
        (tmp_path / "quire.toml").write_text(settings)
        with Workspace.open_updated() as workspace:
            service = Service(workspace, len, 2_000)
            answers = [Search(query="token").answer(service), Get(id="auth.md#sign-in").answer(service)]
            records = [answers[0].record["results"][0], answers[1].record]
            assert [record.get("url") for record in records] == [URL if has_url else None] * 2
            assert [URL in answer.text for answer in answers] == [has_url] * 2
            listed = Search(query="token", list=True).answer(service)
            assert URL not in listed.text  # places are as short as possible


def test_one_word_for_one_thing() -> None:
    for tool in TOOLS.values():
        meanings = [field.get("description", "") for field in tool.schema()["properties"].values()]
        words = set(re.findall(r"[a-z]+", " ".join([tool.title, tool.__doc__ or "", *meanings]).lower()))
        assert not words & {"page", "pages", "node", "nodes", "passage", "piece", "chunk", "collection", "corpus"}
        assert "file" not in words or "source" in words  # of a program; documents are documents
