"""Where a cut is called clean, the counts of both sides add up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.tokens import hostile

from quire.tokens.openai_models import ENCODINGS
from quire.tokens.token_counters import TokenCounter
from quire.tokens.tokenizers import NAMES, resolve

LINES = st.text(
    st.sampled_from("aAé1 \t\n\n\r\r\x0b\x0c\x1c\x85\xa0\u2028\u2029\u3000\u200b/!)'sS.-\u0301中😀\ud800\udc00\x00"),
    max_size=40,
)
EDGES = st.sampled_from(
    ["\n", "\r", "\r\n", "\n\r", "\n\n", " \n", "!\n", "/\n", "a\n", "\n ", "\n\t", "\n  /", "\n/", "\n's",
     "\n\u0301", "\n1", "1\n1", "\x85", "\u2028", "\x0c", "\x0b\n", "\n\x0b", "\xa0\n", "\n\xa0", "\ud800\n",
     "\n\udc00", "\r\ud83d\ude00", "\x1c\n", "\n\x1c"]
)  # fmt: skip
TEXTS = st.one_of(LINES, st.lists(st.one_of(LINES, EDGES), max_size=12).map("".join))


def _counter(name: str) -> TokenCounter:
    return resolve(name, "estimate")


def _clean(counter: TokenCounter, text: str) -> Iterator[int]:
    return (at for at in range(len(text) + 1) if counter.cuts_cleanly(text, at))


def _assert_additive(counter: TokenCounter, text: str) -> None:
    whole = counter.count(text)
    cuts = sorted({0, *_clean(counter, text), len(text)})
    for at in cuts:
        assert counter.count(text[:at]) + counter.count(text[at:]) == whole, at
    assert sum(counter.count(text[start:end]) for start, end in pairwise(cuts)) == whole


@settings(max_examples=2000, deadline=None)
@given(TEXTS)
def test_any_text(text: str) -> None:
    for name in NAMES:
        _assert_additive(_counter(name), text)


@pytest.mark.parametrize("text", [text for text in hostile.STRINGS if len(text) < 1000])
@pytest.mark.parametrize("name", NAMES)
def test_hostile_text(name: str, text: str) -> None:
    _assert_additive(_counter(name), text)
    _assert_additive(_counter(name), f"{text}\n{text}\n{text}")


@pytest.mark.parametrize("name", ENCODINGS)
def test_documents(name: str, documents: list[str]) -> None:
    counter = _counter(name)
    for text in documents:
        cuts = [0, *(at for at in _line_starts(text) if counter.cuts_cleanly(text, at)), len(text)]
        assert sum(counter.count(text[start:end]) for start, end in pairwise(cuts)) == counter.count(text)


def _line_starts(text: str) -> Iterator[int]:
    at = text.find("\n")
    while at >= 0:
        yield at + 1
        at = text.find("\n", at + 1)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    ("text", "at", "clean"),
    [
        ("ab", 0, True),
        ("ab", 2, True),
        ("", 0, True),
        ("ab", 1, False),
        ("a\nb", 2, True),
        ("a\nb", 1, True),
        ("a.\nb", 1, True),
        ("a.b\n", 1, False),
        ("é.\nb", 1, False),
        ("a\rb", 2, True),
        ("a\r\nb", 2, False),
        ("a\r\nb", 3, True),
        ("a\n  b", 2, True),
        ("a\n\tb", 2, True),
        ("a\n\nb", 2, False),
        ("a\n  \nb", 2, False),
        ("a\n  ", 2, False),
        ("a\n\xa0b", 2, False),
        ("a\n \u2028b", 2, False),
        ("a\x0cb", 2, False),
        ("a\u2028b", 2, False),
        ("a\n" + " " * 64 + "b", 2, True),
        ("a\n" + " " * 65 + "b", 2, False),
        ("!\n //b", 2, True),
    ],
)
def test_where(name: str, text: str, at: int, clean: bool) -> None:
    assert _counter(name).cuts_cleanly(text, at) is clean


def test_a_slash_joins_the_signs_before_it_in_one_encoding_only() -> None:
    assert _counter("cl100k_base").cuts_cleanly("!\n/b", 2)
    assert not _counter("o200k_base").cuts_cleanly("!\n/b", 2)
    assert _counter("o200k_base").count("!\n") + _counter("o200k_base").count("//b") != _counter("o200k_base").count(
        "!\n//b"
    )


@pytest.mark.parametrize("tokenizer", ["estimate", len])
def test_others_promise_nothing(tokenizer: str | Callable[[str], int]) -> None:
    counter = resolve(tokenizer, "estimate")
    assert [at for at in range(8) if counter.cuts_cleanly("abc\ndef", at)] == [0, 7]
