"""What an embedder may be, and passages of texts that are longer than its window."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given

import quire
from quire.embed.embed_settings import EmbedSettings
from quire.embed.embedder import Embedder, FunctionEmbedder, passages, resolve, vectors_of
from support import grammar


class Words:
    """A model that counts words."""

    name, version, window = "words", "1", 32

    def count(self, text: str) -> int:
        return len(text.split())

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(self.count(text))] for text in texts]


SMALL = EmbedSettings(endpoint="https://example.com", model="m", window=31)


def test_a_function_is_an_embedder() -> None:
    def lengths(texts: list[str]) -> list[list[int]]:
        return [[len(text)] for text in texts]

    made = resolve(lengths)
    assert isinstance(made, Embedder)
    assert (made.embed(("a", "bb")), made.window) == ([[1], [2]], 0)
    assert made.name.endswith("lengths")
    assert resolve(made) is made
    named = FunctionEmbedder(lengths, name="l", version="2", window=64)
    assert (named.name, named.version, named.window) == ("l", "2", 64)


class Tokenizer:
    def encode(self, text: str) -> list[str]:
        return text.split()


class LangChainLike:
    model = "embed-4"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 0.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(len(text)), 1.0]


class SentenceTransformersLike:
    """Version 5 on: queries and documents have prompts of their own. Callable, as every PyTorch module."""

    model_card_data = type("Card", (), {"base_model": "org/small"})()
    max_seq_length = 32
    tokenizer = Tokenizer()

    def __call__(self, features: object) -> object:
        raise AssertionError

    def encode(self, inputs: str | list[str]) -> Any:
        raise AssertionError

    def encode_document(self, inputs: list[str]) -> tuple[tuple[float, float], ...]:
        return tuple((float(len(text)), 0.0) for text in inputs)

    def encode_query(self, inputs: list[str]) -> tuple[tuple[float, float], ...]:
        return tuple((float(len(text)), 1.0) for text in inputs)


class FastembedLike:
    model_name = "org/small"

    def embed(self, documents: list[str]) -> Iterator[list[float]]:
        raise AssertionError

    def passage_embed(self, texts: list[str]) -> Iterator[list[float]]:
        yield from ([float(len(text)), 0.0] for text in texts)

    def query_embed(self, query: list[str]) -> Iterator[list[float]]:
        yield from ([float(len(text)), 1.0] for text in query)


@pytest.mark.parametrize(
    ("model", "name", "window"),
    [(LangChainLike(), "embed-4", 0), (SentenceTransformersLike(), "org/small", 32), (FastembedLike(), "org/small", 0)],
)
def test_models_of_other_packages(model: object, name: str, window: int) -> None:
    made = resolve(model)
    assert (made.name, made.version, made.window) == (name, "", window)
    assert [list(vector) for vector in made.embed(("a", "bb"))] == [[1.0, 0.0], [2.0, 0.0]]
    assert list(made.embed_query("abc")) == [3.0, 1.0]
    parts = passages("one two three. " * 30, made)
    assert len(parts) == (1 if not window else len(parts))
    assert [len(part.split()) <= 32 for part in parts] == [bool(window)] * len(parts)


class DocumentsOnly:
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(len(text))] for text in texts]


def test_a_model_without_queries_of_its_own_embeds_them_as_texts() -> None:
    made = resolve(DocumentsOnly())
    assert made.name == "DocumentsOnly"
    assert made.embed_query("ab") == made.embed(["ab"])[0]


def test_where_a_model_is_missing_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    for name in ("wordllama", "static_model"):
        monkeypatch.delitem(sys.modules, f"quire.embed.{name}", raising=False)
    with pytest.raises(
        quire.MissingExtraError, match=r"^numpy is not installed; .* pip install 'quire-md\[wordllama\]'"
    ):
        resolve("wordllama")


def test_without_a_model_the_error_says_what_to_name() -> None:
    said = (
        r"^no embedding model is named; under \[embed\] in your own quire.toml name an endpoint and its model, or as "
        r"embedder a folder in the format of model2vec or wordllama; chunk and sync also take --endpoint, --model and"
    )
    for nothing in (None, EmbedSettings()):
        with pytest.raises(quire.OptionError, match=said):
            resolve(nothing)


def test_vectors_without_numpy_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(quire.MissingExtraError, match=r"^numpy is not installed; .*pip install 'quire-md\[vectors\]'$"):
        vectors_of(Words(), ["a"])


@pytest.mark.parametrize("wrong", ["word2vec", 3, FunctionEmbedder(len, window=31), SMALL])
def test_what_is_no_embedder(wrong: Any) -> None:
    with pytest.raises(quire.OptionError, match="is invalid"):
        resolve(wrong)


@given(grammar.documents())
def test_passages_fit_and_lose_nothing(text: str) -> None:
    made = passages(text, Words())
    without_mark = ["".join(each.removeprefix("\ufeff").split()) for each in ("".join(made), text)]
    assert without_mark[0] == without_mark[1]
    assert all(Words().count(each) <= 32 for each in made)
    assert len(made) == 1 or Words().count(text) > 32


def test_a_window_is_counted_in_tokens_of_openai_unless_the_model_counts_itself() -> None:
    text = "one two three. " * 100
    made = passages(text, FunctionEmbedder(len, window=64))
    assert [chunk.token_stats.tokens <= 64 for each in made for chunk in quire.chunk(each)] == [True] * len(made)
    assert len(made) > 1
    assert passages(text, FunctionEmbedder(len)) == [text]


def test_front_matter_in_the_middle_of_a_text_is_no_front_matter() -> None:
    text = "---\na: b\n---\n" + "word " * 40
    assert passages(text, Words())[0].startswith("---\na: b\n---")
