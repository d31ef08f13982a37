"""A name, a file, an object or a callable becomes a counter; anything else is refused in words that help."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.errors import OptionError, TokenizerError
from quire.tokens.tokenizers import NAMES, resolve


@pytest.mark.parametrize("name", NAMES)
def test_a_name_always_gives_the_same_counter(name: str) -> None:
    assert resolve(name, "estimate") is resolve(name, "estimate")
    assert resolve(None, name) is resolve(name, "estimate")
    assert resolve(resolve(name, "estimate"), "estimate") is resolve(name, "estimate")
    assert resolve(name, "estimate").name == name


def test_the_names() -> None:
    assert NAMES == ("o200k_base", "cl100k_base", "estimate")


MODEL_NAMES = (
    "gpt-4o", "gpt-4o-mini", "gpt-4o-2024-08-06", "chatgpt-4o-latest", "gpt-4.1", "gpt-4.1-nano", "gpt-4.5-preview", "o1",
    "o1-preview", "o3", "o3-mini", "o4-mini", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-4", "gpt-4-turbo", "gpt-4-0613",
    "gpt-3.5-turbo", "gpt-3.5-turbo-16k", "text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002",
)  # fmt: skip


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_a_model_is_counted_with_its_encoding(model: str) -> None:
    from tiktoken.model import encoding_name_for_model  # noqa: PLC0415  the reference

    try:
        encoding = encoding_name_for_model(model)
    except KeyError:
        pytest.skip("this tiktoken is older than the model")
    assert resolve(model, "estimate") is resolve(encoding, "estimate")


def test_records_name_the_encoding_of_a_model() -> None:
    chunks = quire.chunk("# A\n\ntext\n", tokenizer="gpt-4")
    assert chunks.options.tokenizer == chunks[0].metadata["chunkingOptions"]["tokenizer"] == "cl100k_base"
    assert quire.verify("# A\n\ntext\n", chunks, tokenizer="gpt-3.5-turbo") == []


def test_a_file_may_be_called_like_a_model(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="no such tokenizer file"):
        resolve("gpt-4-own.json", "estimate")


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("中" * 8, 2)])
def test_estimate(text: str, tokens: int) -> None:
    assert resolve("estimate", "o200k_base").count(text) == tokens


@pytest.mark.parametrize(
    "wrong", ["o200k", "", "gpt-2", "gpt-4ox", "o1x", "x" * 5000, "a\x00b", 42, b"o200k_base", ["estimate"]]
)
def test_what_is_no_tokenizer_is_refused_with_the_choices(wrong: object) -> None:
    with pytest.raises(OptionError, match=r"o200k_base, cl100k_base, estimate, .*gpt-4o.*tokenizer\.json.*function"):
        resolve(wrong, "estimate")


@pytest.mark.parametrize("kind", [str, Path])
def test_a_missing_file_is_refused_by_name(kind: Callable[[str], object], tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"missing\.json: no such tokenizer file"):
        resolve(kind(str(tmp_path / "missing.json")), "estimate")


LAZY = """
import sys
from quire.tokens.tokenizers import resolve
counters = [resolve(name, "estimate") for name in ("o200k_base", "cl100k_base", "estimate", {path!r}, len)]
heavy = {{"toktok", "tiktoken", "tokenizers"}}
assert not heavy & set(sys.modules), "resolve imports a tokenizer"
assert counters[0].count("A short text.") == 4
assert not heavy & set(sys.modules), "a short text imports a tokenizer"
counters[0].count("\\U00010330")
assert len(heavy & set(sys.modules)) == 1, "other text takes one engine"
"""


def test_nothing_is_imported_before_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    done = subprocess.run(
        [sys.executable, "-c", LAZY.format(path=str(path))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from quire.tokens.encodings import EncodingCounter
sys.modules["toktok"] = None
opened = []
def look(event, arguments):
    if event == "open" and str(arguments[0]).endswith("o200k_base.bin"):
        opened.append(arguments[0])
sys.addaudithook(look)
alone = EncodingCounter("o200k_base").count("\\U00010330")
by_one = len(opened)
assert by_one, "tiktoken counts with the vocabulary"
counter = EncodingCounter("o200k_base")
with ThreadPoolExecutor(8) as pool:
    assert set(pool.map(counter.count, ["\\U00010330"] * 64)) == {alone}
assert len(opened) == 2 * by_one, "each thread loads an engine"
"""


def test_threads_load_an_engine_once() -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def words(text: str) -> int:
    return len(text.split())


class Words:
    def __call__(self, text: str) -> int:
        return len(text.split())


@pytest.mark.parametrize("tokenizer", [words, Words(), lambda text: len(text.split())])
def test_a_callable(tokenizer: Callable[[str], int]) -> None:
    counter = resolve(tokenizer, "estimate")
    assert counter.count("three short words") == 3
    assert counter.count("") == 0
    assert counter.name.startswith(f"{__name__}.")
    assert " at 0x" not in counter.name


@pytest.mark.parametrize("answer", [None, 1.5, "3", True, -1, [1, 2], "x" * 10_000])
def test_a_callable_that_answers_nonsense_is_named(answer: Any) -> None:
    def nonsense(text: str) -> Any:
        return answer

    with pytest.raises(
        TokenizerError, match=r"nonsense returned .* for a text of 4 characters; it must return"
    ) as info:
        resolve(nonsense, "estimate").count("text")
    assert len(str(info.value)) < 400


def test_an_error_of_the_callable_stays_its_own() -> None:
    def broken(text: str) -> int:
        raise LookupError(text)

    with pytest.raises(LookupError, match="text"):
        resolve(broken, "estimate").count("text")
