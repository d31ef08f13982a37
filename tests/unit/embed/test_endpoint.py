"""The client of an OpenAI-compatible endpoint, against a real server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier
from typing import Any
from urllib.error import HTTPError

import pytest

import quire
from quire.embed import endpoint
from quire.embed.embed_settings import EmbedSettings
from quire.embed.endpoint import Endpoint, JsonClient, Reranker
from support.embedding_server import Server, serving

KEY = "sk-secret-key-1234"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("QUIRE_EMBED_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.0)
    with serving() as made:
        yield made


def test_batches_in_order(server: Server) -> None:
    vectors = Endpoint(server.url, "m", batch=2, requests_at_once=1).embed(["a", "bb", "ccc"])
    assert vectors == [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    assert [(path, body["model"], body["input"]) for path, body, _ in server.seen] == [
        ("/v1/embeddings", "m", ["a", "bb"]), ("/v1/embeddings", "m", ["ccc"]),
    ]  # fmt: skip


def test_a_batch_is_closed_by_its_tokens(server: Server) -> None:
    """Counted as the model does: 300,000 is the limit of OpenAI."""
    text = "word " * 8000
    made = Endpoint(server.url, "text-embedding-3-small", requests_at_once=1)
    assert len(made.embed([text] * 80)) == 80
    sizes = [sum(map(made.count, body["input"])) for _, body, _ in server.seen]
    assert max(sizes) <= 300_000 < sizes[0] + made.count(text)
    server.seen.clear()
    Endpoint(server.url, "m", batch_tokens=3).embed(["one two three four", "a", "b c", "d"])
    assert sorted(body["input"] for _, body, _ in server.seen) == [["a", "b c"], ["d"], ["one two three four"]]


def test_some_requests_at_once_in_order(server: Server) -> None:
    server.together = Barrier(3)  # nobody is answered before three have asked
    texts = ["x" * length for length in range(1, 10)]
    vectors = Endpoint(server.url, "m", batch=1, requests_at_once=3).embed(texts)
    assert [vector[0] for vector in vectors] == list(range(1, 10))


def test_an_error_stops_the_other_requests(server: Server) -> None:
    server.planned = [(429, {"Retry-After": "200"}, {}), (401, {}, {}), *[(429, {"Retry-After": "200"}, {})] * 8]
    server.together = Barrier(2)
    with pytest.raises(quire.EmbedderError, match="status 401"):
        Endpoint(server.url, "m", batch=1, requests_at_once=2).embed(["a"] * 10)
    assert len(server.seen) == 2


def test_dimensions_and_prefixes(server: Server) -> None:
    made = Endpoint(server.url, "m", dimensions=2, query_prefix="query: ", passage_prefix="passage: ")
    made.embed(["a"])
    assert made.embed_query("a") == [8.0, 0.0]
    assert [(body["input"], body["dimensions"]) for _, body, _ in server.seen] == [
        (["passage: a"], 2),
        (["query: a"], 2),
    ]
    assert made.version == "2 dimensions, prefix 'passage: '"
    assert made.window == 8191 - made.count("passage: ")


def test_headers_name_variables(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Azure wants it: its own header, and a version in the URL."""
    made = Endpoint(f"{server.url}/embeddings?api-version=1", "m", headers=["api-key: $AZURE_KEY", "X-Team: docs"])
    with pytest.raises(
        quire.EmbedderError, match="the header api-key needs the environment variable AZURE_KEY; set it"
    ):
        made.embed(["a"])
    monkeypatch.setenv("AZURE_KEY", KEY)
    server.planned = [(401, {}, {"error": {"message": f"wrong: {KEY}"}})]
    with pytest.raises(quire.EmbedderError, match="wrong: …"):
        made.embed(["a"])
    path, _, authorization = server.seen[0]
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert (path, authorization) == ("/v1/embeddings?api-version=1", None)
    assert (sent["api-key"], sent["x-team"]) == (KEY, "docs")


@pytest.mark.parametrize("model", ["rerank-v3.5", ""])
def test_a_reranker(server: Server, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.setenv("QUIRE_RERANK_KEY", KEY)
    assert Reranker(server.url, model)("a b", ["c", "a b", "a"]) == [0.0, 2.0, 1.0]
    path, body, key = server.seen[0]
    assert (path, key) == ("/v1/rerank", f"Bearer {KEY}")
    assert body.get("model", "") == model


@pytest.mark.parametrize(
    "content", [b"<html>", {}, [], [{"index": 0}], [{"index": 0, "score": float("nan")}], {"results": [1]}]
)
def test_an_answer_that_has_no_scores(server: Server, content: Any) -> None:
    server.planned = [(200, {}, content)]
    with pytest.raises(quire.EmbedderError, match="the answer"):
        Reranker(server.url)("q", ["a"])


def test_no_texts_no_request(server: Server) -> None:
    assert Endpoint(server.url, "m").embed([]) == []
    assert server.seen == []


def test_the_key_of_the_environment_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Endpoint(f"{server.url}/embeddings", "m")
    made.embed(["a"])
    monkeypatch.setenv("QUIRE_EMBED_KEY", KEY)
    made.embed(["a"])
    assert [(path, key) for path, _, key in server.seen] == [
        ("/v1/embeddings", None), ("/v1/embeddings", f"Bearer {KEY}"),
    ]  # fmt: skip


@pytest.mark.parametrize("status", [429, 500, 503])
def test_it_tries_again(server: Server, status: int) -> None:
    server.planned = [(status, {"Retry-After": "0"}, {}), "hang up", (status, {"Retry-After": "soon"}, {})]
    assert Endpoint(server.url, "m").embed(["a"]) == [[1.0, 0.0]]
    assert len(server.seen) == 4


def test_errors_are_closed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[HTTPError] = []
    close = HTTPError.close
    monkeypatch.setattr(HTTPError, "close", lambda error: (closed.append(error), close(error)))
    server.planned = [(429, {"Retry-After": "0"}, {}), (500, {}, {}), (400, {}, {"error": {"message": "no"}})]
    with pytest.raises(quire.EmbedderError, match="no"):
        Endpoint(server.url, "m").embed(["a"])
    assert {error.code for error in closed} == {429, 500, 400}


def test_it_gives_up_where_the_wait_exceeds_the_time_limit(server: Server) -> None:
    server.planned = [(429, {"Retry-After": "3600"}, {"error": {"message": "slow down"}})]
    with pytest.raises(quire.EmbedderError, match="status 429: slow down; gave up after 300 s"):
        Endpoint(server.url, "m").embed(["a"])
    assert len(server.seen) == 1


def test_an_endpoint_that_does_not_answer(server: Server) -> None:
    server.planned = ["hang up"] * 1000
    with pytest.raises(quire.EmbedderError, match="no answer"):
        Endpoint(server.url, "m", time_limit=0).embed(["a"])


@pytest.mark.parametrize("status", [400, 401, 404])
def test_other_errors_are_final_and_do_not_show_the_key(
    server: Server, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("QUIRE_EMBED_KEY", KEY)
    server.planned = [(status, {}, {"error": {"message": f"Incorrect key\nprovided: {KEY}"}})]
    with pytest.raises(quire.EmbedderError) as caught:
        Endpoint(server.url, "m").embed(["a"])
    assert f"status {status}: Incorrect key provided: …; check" in str(caught.value)
    assert KEY not in repr(caught.value) + str(vars(caught.value))
    assert caught.value.__cause__ is None
    assert len(server.seen) == 1


def test_a_redirect_is_not_followed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUIRE_EMBED_KEY", KEY)
    server.planned = [(302, {"Location": f"{server.url}/elsewhere"}, {})]
    with pytest.raises(quire.EmbedderError, match="status 302"):
        Endpoint(server.url, "m").embed(["a"])
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "content",
    [b"<html>", {"data": []}, {"data": [{"index": 0, "embedding": []}]}, {"data": [{"embedding": [1]}]}, [],
     {"data": [{"index": 0, "embedding": [float("nan")]}]}, {"data": [{"index": 0, "embedding": None}]}],
)  # fmt: skip
def test_an_answer_that_is_no_list_of_vectors(server: Server, content: Any) -> None:
    server.planned = [(200, {}, content)]
    with pytest.raises(quire.EmbedderError, match="the answer"):
        Endpoint(server.url, "m").embed(["a"])


@pytest.mark.parametrize(
    "url", ["", "file:///etc/passwd", "api.example.com", f"https://u:{KEY}@example.com", f"https://e.com/?key={KEY}"]
)
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(quire.OptionError) as caught:
        Endpoint(url, "m")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{"model": ""}, {"batch": 0}, {"requests_per_minute": -1}, {"headers": ["a"]}, {"headers": ["a: b\nc: d"]}]
)
def test_options_that_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(quire.OptionError, match="is invalid"):
        Endpoint(**{"url": "https://example.com", "model": "m"} | wrong)


def test_requests_are_spread_evenly() -> None:
    limited = client(60)
    assert [limited.rate_delay(now) for now in (100.0, 100.25, 105.0)] == [0.0, 0.75, 0.0]
    assert [client(0).rate_delay(0.0) for _ in range(3)] == [0.0] * 3


def client(per_minute: float) -> JsonClient:
    return JsonClient("https://example.com", "embeddings", "KEY", EmbedSettings(requests_per_minute=per_minute))


@pytest.mark.parametrize(
    ("table", "window"),
    [
        ({"data": [{"id": "other", "max_model_len": 64}, {"id": "m", "max_model_len": 512}]}, 512),  # vLLM
        ({"data": [{"id": "m", "context_length": 2048}]}, 2048),  # OpenRouter
        ({"data": [{"id": "m", "meta": {"n_ctx_train": 256, "n_embd": 8}}]}, 256),  # llama.cpp
        ({"data": [{"id": "m", "meta": None, "owned_by": "openai"}]}, 8191),
        ({"data": [{"id": "m", "context_length": None, "max_model_len": "512"}]}, 8191),
        ({"data": [{"id": "m", "context_length": 8}]}, 8191),
        ({"data": [{"id": "other", "max_model_len": 64}]}, 8191),
        ({"data": [{"no": "id"}]}, 8191),
        (["m"], 8191),
        (b"<html>", 8191),
    ],
)
def test_the_endpoint_says_how_much_its_model_reads(server: Server, table: Any, window: int) -> None:
    server.models = [(200, {}, table)]
    for url in (server.url, f"{server.url}/embeddings"):
        made = Endpoint(url, "m")
        assert server.asked == []  # only if it matters
        assert (made.window, made.window) == (window, window)
        assert server.asked == ["/v1/models"]
        server.asked.clear()
    assert Endpoint(server.url, "m", passage_prefix="passage: ").window == window - made.count("passage: ")
    server.asked.clear()
    assert (Endpoint(server.url, "m", window=0).window, Endpoint(server.url, "m", window=64).window) == (0, 64)
    assert server.asked == []


def test_a_window_that_cannot_be_asked_for_is_an_error(server: Server) -> None:
    """A guess would be another generation, and everything would be embedded again."""
    server.models = [(503, {}, {}), (200, {}, {"data": [{"id": "m", "max_model_len": 512}]})]
    assert Endpoint(server.url, "m").window == 512
    server.models = [(503, {"Retry-After": "600"}, {})]  # longer than the time limit
    with pytest.raises(quire.EmbedderError, match="/v1/models: status 503"):
        _ = Endpoint(server.url, "m", time_limit=60).window
