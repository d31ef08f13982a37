"""Models of packages: wordllama, and what has ``encode`` or ``embed_documents``. None may need the network."""

from __future__ import annotations

import logging
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.embed.embedder import Embedder, passages, resolve

np = pytest.importorskip("numpy")

TEXTS = [
    "How do I choose a strategy?",
    "# Guide\n\nRead this first: quire cuts Markdown into chunks.",
    "naïve café 数据 " * 30,
]


def similarities(embedder: Embedder) -> list[float]:
    vectors = embedder.embed(TEXTS)
    assert abs((vectors * vectors).sum(axis=1) - 1).max() < 1e-5
    return [float(vectors[first] @ vectors[second]) for first, second in ((0, 1), (0, 2), (1, 2))]


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


def test_wordllama_is_read_without_importing_it() -> None:
    pytest.importorskip("wordllama")
    code = (
        "import logging, sys; from quire.embed import resolve; resolve('wordllama').embed(['a']); "
        "print('wordllama' in sys.modules, logging.getLogger().level, logging.getLogger().handlers)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"False {logging.WARNING} []\n"


def test_where_wordllama_is_missing_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordllama")
    module = import_module("quire.embed.static_model")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    module.load_wordllama.cache_clear()
    expected = r"^wordllama is not installed; .* pip install 'quire-md\[wordllama\]'"
    with pytest.raises(quire.MissingExtraError, match=expected):
        resolve("wordllama")


def test_a_model_of_model2vec() -> None:
    """A real one, with the table and the tokenizer of wordllama."""
    model2vec = pytest.importorskip("model2vec")
    pytest.importorskip("wordllama")
    loaded: Any = resolve("wordllama")
    model = model2vec.StaticModel(loaded._vectors, loaded._tokenizer, normalize=True, base_model_name="supercat")
    made = resolve(model)
    assert (made.name, made.window) == ("supercat", 512)
    assert abs(np.asarray(made.embed(TEXTS[:2])) - loaded.embed(TEXTS[:2])).max() < 0.05  # it adds special tokens
    assert (made.embed_query(TEXTS[0]) == made.embed(TEXTS)[0]).all()
    parts = passages("One sentence is here. " * 500, made)
    assert len(parts) > 3
    assert max(map(made.count, parts)) <= 512  # type: ignore[attr-defined]


def test_a_model_of_langchain(tmp_path: Path) -> None:
    embeddings = pytest.importorskip("langchain_core.embeddings")
    (tmp_path / "a.md").write_text("# A\n\nOne.\n\n## B\n\nTwo.\n")
    model = embeddings.DeterministicFakeEmbedding(size=8)
    with quire.Index.open(tmp_path / ".quire") as index:
        index.update({"docs": tmp_path})
        assert index.embed(model).embedded == 2
        assert index.embedder().name == "DeterministicFakeEmbedding"
        assert index.search("something else", mode="meaning")
    with quire.Index.open(tmp_path / ".quire", embedder=model) as again:
        assert again.search("two", mode="hybrid")
