"""The best results in the order of a reranking endpoint, which is a real server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.cli import main
from quire.search.search_settings import SearchSettings
from support.embedding_server import Server, serving

COUNT = 60


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    with serving() as made:
        yield made


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Pages that all have the query's word, the first most often."""
    for number in range(COUNT):
        (tmp_path / f"{number:02}.md").write_text(
            f"# Page {number:02}\n\n{'install ' * (COUNT - number)}\n\n## Answer\n\nMore.\n"
        )
    return tmp_path


def paths(results: list[quire.Hit]) -> list[str]:
    return [hit.path for hit in results]


@pytest.mark.parametrize("model", ["rerank-3", ""])
def test_the_best_fifty_are_ranked_again(server: Server, docs: Path, model: str) -> None:
    folder = docs / ".quire"
    with quire.Index.open(folder) as index:
        index.update({"docs": docs})
        before = index.search("install", limit=COUNT, every=True, max_tokens=0)
    scores = [{"index": at, "relevance_score" if model else "score": at - 100} for at in range(50)]
    server.planned = [(200, {}, {"results": scores} if model else scores)] * 2
    settings = SearchSettings(rerank=server.url, rerank_model=model)
    with quire.Index.open(folder, settings=settings) as index:
        after = index.search("install", limit=COUNT, every=True, max_tokens=0, explain=True)
        best = index.search("install", limit=3, every=True)
    assert paths(after) == [*paths(before)[49::-1], *paths(before)[50:]]
    assert [hit.score for hit in after] == [hit.score for hit in before]
    assert paths(best) == paths(after)[:3]
    assert after.phases["rerank"] == {"results": 50}
    sent = [body.get("documents") or body["texts"] for _, body, _ in server.seen]
    assert [len(texts) for texts in sent] == [50, 50]
    assert sent[0][0].startswith(f"Page {paths(before)[0][:2]}\n\n")


def test_nothing_is_sent_by_default_or_if_nothing_is_found(server: Server, docs: Path) -> None:
    with quire.Index.open(docs / ".quire", settings=SearchSettings(rerank=server.url)) as index:
        index.update({"docs": docs})
        assert index.search("absent") == []
    with quire.Index.open(docs / ".quire") as index:
        assert index.search("install")
    assert server.seen == []


def test_an_endpoint_that_fails_is_one_error(server: Server, docs: Path) -> None:
    server.planned = [(401, {}, {"error": {"message": "no key"}})]
    with quire.Index.open(docs / ".quire", settings=SearchSettings(rerank=server.url)) as index:
        index.update({"docs": docs})
        with pytest.raises(quire.EmbedderError, match="/rerank: status 401: no key; check the URL"):
            index.search("install")


def test_eval_measures_it(
    server: Server, docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the environment, or as one of two files; a project's own file may not name an endpoint."""
    questions = docs / "questions.jsonl"
    questions.write_text(json.dumps({"query": "install page 05", "answers": ["05.md"]}) + "\n")
    (docs / "a.toml").write_text("")
    (docs / "b.toml").write_text(f'[search]\nrerank = "{server.url}"\n')
    where = [str(docs), "--index", str(docs / ".quire"), "--questions", str(questions), "--json"]
    assert main(["eval", *where, "--compare", str(docs / "a.toml"), str(docs / "b.toml")]) == 0
    assert {len(body["texts"]) for _, body, _ in server.seen} == {50}
    seen = len(server.seen)
    monkeypatch.setenv("QUIRE_SEARCH_RERANK", server.url)
    assert main(["eval", *where]) == 0
    assert len(server.seen) > seen
    monkeypatch.delenv("QUIRE_SEARCH_RERANK")
    (docs / "quire.toml").write_text(f'[search]\nrerank = "{server.url}"\n')
    monkeypatch.chdir(docs)
    capsys.readouterr()
    assert main(["search", "install"]) == 2
    assert (
        "search.rerank is not allowed in a project; remove it there; only the command line, the environment"
        in capsys.readouterr().err
    )


def test_one_search_names_its_endpoint(server: Server, docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with quire.Index.open(docs / ".quire") as index:
        index.update({"docs": docs})
        best = index.search("install", rerank=server.url, explain=True)
    assert best.phases["rerank"] == {"results": 50}
    with quire.Index.open(docs / ".quire", settings=SearchSettings(rerank=server.url)) as index:
        assert "rerank" not in index.search("install", rerank="", explain=True).phases
    assert len(server.seen) == 1
    assert main(["search", "install", str(docs), "--index", str(docs / ".quire"), "--rerank", server.url]) == 0
    assert len(server.seen) == 2
    assert capsys.readouterr().out.startswith("> Page")
