"""Tokenizer objects and files: the text alone is counted, whole, and the user's object stays as it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from quire.errors import TokenizerError
from quire.tokens.tokenizers import resolve

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers (the extra 'huggingface') is not installed")

TEXT = "one two three one two three"


@pytest.fixture
def tokenizer() -> Any:
    """A tokenizer of words, which truncates, pads and adds special tokens."""
    vocabulary = {word: rank for rank, word in enumerate(("[UNK]", "[CLS]", "[SEP]", "[PAD]", "one", "two", "three"))}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    made.enable_truncation(4)
    made.enable_padding(length=20, pad_id=3, pad_token="[PAD]")
    return made


def test_by_object(tokenizer: Any) -> None:
    counter = resolve(tokenizer, "estimate")
    assert counter.count(TEXT) == 8
    assert counter.count("") == 0
    assert counter.name == "tokenizers.Tokenizer"


def test_the_object_stays_as_it_is(tokenizer: Any) -> None:
    before = tokenizer.to_str()
    resolve(tokenizer, "estimate").count(TEXT)
    assert tokenizer.to_str() == before
    assert len(tokenizer.encode(TEXT).ids) == 20


@pytest.mark.parametrize("kind", [str, Path])
def test_by_file(tokenizer: Any, tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    counter = resolve(kind(path), "estimate")
    assert counter.count(TEXT) == 8
    assert counter.name == str(path)
    assert resolve(str(path), "estimate") is counter


def test_a_file_of_another_name(tokenizer: Any, tmp_path: Path) -> None:
    path = tmp_path / "words.tokenizer"
    tokenizer.save(str(path))
    assert resolve(str(path), "estimate").count(TEXT) == 8


def test_a_trained_tokenizer(tmp_path: Path) -> None:
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator([TEXT] * 10, tokenizers.trainers.BpeTrainer(vocab_size=300))
    assert resolve(made, "estimate").count(TEXT) == len(made.encode(TEXT).ids)


def test_lone_surrogates_are_counted(tokenizer: Any) -> None:
    assert resolve(tokenizer, "estimate").count("one \ud800 two") == 5


def test_it_promises_nothing_about_cuts(tokenizer: Any) -> None:
    counter = resolve(tokenizer, "estimate")
    assert [at for at in range(8) if counter.cuts_cleanly("one\ntwo", at)] == [0, 7]


def test_a_file_that_is_no_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{}")
    with pytest.raises(TokenizerError, match=r"broken\.json: not a Hugging Face tokenizer\.json \(.*\); name that of"):
        resolve(path, "estimate").count("text")


def test_without_the_package_the_error_says_what_to_install(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(TokenizerError, match="pip install tokenizers"):
        resolve(path, "estimate").count("text")


class Fast:
    """Like a fast tokenizer of transformers: callable, and around one of Hugging Face's."""

    def __init__(self, inner: Any) -> None:
        self.backend_tokenizer = inner

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [0]}

    def encode(self, text: str) -> list[int]:
        return [0]


class Slow:
    """Like a slow one."""

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        return [0] * (len(text.split()) + 2 * add_special_tokens)


class Reference:
    """Like an encoding of tiktoken."""

    def encode(self, text: str) -> list[int]:
        raise ValueError(text)

    def encode_ordinary(self, text: str) -> list[int]:
        return [0] * len(text.split())


def test_objects_like_it(tokenizer: Any) -> None:
    counts = [resolve(like, "estimate").count(TEXT) for like in (Fast(tokenizer), Slow(), Reference())]
    assert counts == [8, 8, 6]


def test_an_embedding_model_is_no_tokenizer() -> None:
    class Embedder:
        def encode(self, text: str, **options: object) -> memoryview:
            return memoryview(text.encode())

    with pytest.raises(TokenizerError, match=r"Embedder encodes text as memoryview; a list of token ids is needed"):
        resolve(Embedder(), "estimate").count("text")


def test_what_cannot_be_copied_is_refused() -> None:
    class Stubborn:
        def encode(self, text: str) -> list[int]:
            return [0]

        def no_truncation(self) -> None: ...

    with pytest.raises(TokenizerError, match=r"Stubborn fails .*; correct it, or use another"):
        resolve(Stubborn(), "estimate").count("text")


def test_files_with_one_name_in_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counters = []
    for folder, words in (("a", {"x": 0, "[UNK]": 1}), ("b", {"xy": 0, "[UNK]": 1})):
        (tmp_path / folder).mkdir()
        made = tokenizers.Tokenizer(tokenizers.models.BPE(words, [], unk_token="[UNK]"))
        made.save(str(tmp_path / folder / "tokenizer.json"))
        monkeypatch.chdir(tmp_path / folder)
        counters.append(resolve("tokenizer.json", "o200k_base"))
    assert counters[0] is not counters[1]
    assert [counter.name for counter in counters] == ["tokenizer.json", "tokenizer.json"]
    assert counters[0].count("x") == 1
