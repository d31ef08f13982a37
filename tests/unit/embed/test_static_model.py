"""Folders in the format of model2vec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.embed.embed_settings import EmbedSettings
from quire.embed.embedder import resolve

np = pytest.importorskip("numpy", reason="needs the extra model2vec")
safetensors = pytest.importorskip("safetensors.numpy", reason="needs the extra model2vec")
tokenizers = pytest.importorskip("tokenizers", reason="needs the extra model2vec")

WORDS = ["[UNK]", "red", "green", "blue"]
VECTORS = [[9.0, 9.0], [1.0, 0.0], [0.0, 1.0], [0.0, 3.0]]


def save(folder: Path, vectors: Any = None, model: Any = None, **more: Any) -> Path:
    """A model of four words, as model2vec saves one."""
    folder.mkdir()
    model = model or tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.enable_padding(length=8)
    tokenizer.enable_truncation(2)
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.array(VECTORS if vectors is None else vectors, dtype=more.pop("dtype", np.float32))
    safetensors.save_file({"embeddings": table, **more}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"normalize": True}))
    return folder


def embedded(folder: Path, *texts: str) -> list[list[float]]:
    return [[round(float(number), 3) for number in vector] for vector in resolve(str(folder)).embed(texts)]


def test_a_text_has_the_mean_of_its_tokens_with_length_1(tmp_path: Path) -> None:
    folder = save(tmp_path / "colours")
    assert embedded(folder, "red", "red green", "blue blue blue red", "pink", "") == [
        [1.0, 0.0], [0.707, 0.707], [0.11, 0.994], [0.0, 0.0], [0.0, 0.0],
    ]  # fmt: skip
    assert embedded(folder, "pink red") == [[1.0, 0.0]]  # unknown words are left out
    made = resolve(str(folder))
    assert (made.name, made.window, len(made.version)) == ("colours", 0, 12)
    assert resolve(EmbedSettings(embedder=str(folder))) is made


def test_rows_and_weights_of_tokens(tmp_path: Path) -> None:
    rows, weights = np.array([0, 1, 1, 0]), np.array([1.0, 3.0, 4.0, 2.0], dtype=np.float32)
    folder = save(tmp_path / "m", [[1, 0], [0, 1]], mapping=rows, weights=weights, dtype=np.int8)
    assert embedded(folder, "red blue", "green") == [[0.555, 0.832], [0.0, 1.0]]


def test_a_unigram_tokenizer(tmp_path: Path) -> None:
    model = tokenizers.models.Unigram([(word, 0.0) for word in WORDS], unk_id=0)
    assert embedded(save(tmp_path / "m", model=model), "red x") == [[1.0, 0.0]]


def test_another_table_is_another_version(tmp_path: Path) -> None:
    versions = [resolve(str(save(tmp_path / name, [[0, number]] * 4))).version for number, name in enumerate("abc")]
    assert len({*versions}) == 3


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(
        quire.EmbedderError, match=r"not a static model: .*model.safetensors.*; name a folder with model"
    ):
        resolve(str(tmp_path))
    folder = save(tmp_path / "bert")
    safetensors.save_file({"encoder.weight": np.zeros((1, 1))}, folder / "model.safetensors")
    with pytest.raises(quire.EmbedderError, match=r"bert: not a static model: it has no 'embeddings'; name"):
        resolve(str(folder))
    (folder / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(quire.EmbedderError, match="not a static model"):
        resolve(str(folder))
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(quire.EmbedderError, match="not a static model"):
        resolve(str(folder))


def test_the_same_vectors_as_model2vec(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec", reason="needs model2vec: make test-integrations")
    folder = save(tmp_path / "m", weights=np.array([1.0, 3.0, 4.0, 2.0], dtype=np.float32))
    texts = ["red", "red green", "blue pink red blue"]
    own = model2vec.StaticModel.from_pretrained(str(folder)).encode(texts, max_length=None)
    assert abs(resolve(str(folder)).embed(texts) - own).max() < 1e-6


def test_an_index_does_not_name_a_folder(tmp_path: Path) -> None:
    """It may come from somebody else; the user names the model again."""
    folder = str(save(tmp_path / "m"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nred\n\n## B\n\ngreen\n")
    with quire.Index.open(tmp_path / "index", embedder=folder) as index:
        index.update({"docs": tmp_path / "docs"})
        assert index.embed().embedded == 2
    with quire.Index.open(tmp_path / "index", embedder=folder) as index:
        assert index.search("red", mode="hybrid")
        assert index.embed().embedded == 0
    with quire.Index.open(tmp_path / "index") as index, pytest.raises(quire.StoreError, match="name this model"):
        index.search("red", mode="hybrid")
