"""How texts are spelled and cut, in documents and queries alike."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quire.index.engine.analysis import (
    NONE,
    Spelling,
    adjacent_terms,
    analyser,
    humps,
    indexed_texts,
    is_unspaced,
    spellings,
    term_pairs,
    terms,
)
from quire.index.engine.function_words import is_function_word
from quire.model.trees import Language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++ and c#", ["cplusplus", "and", "csharp"]),
        ("page#anchor a#b x+++", ["page", "anchor", "a", "b", "x"]),
        ("my_var 1.0.21 --no-cache .env", ["my", "var", "1", "0", "21", "no", "cache", "env"]),
        ("caf\u00e9 cafe\u0301 na\u00efve \ufb01le", ["cafe", "cafe", "naive", "file"]),
        ("\u5982\u4f55\u5b89\u88c5", list("\u5982\u4f55\u5b89\u88c5")),
        ("\uc11c\ubc84\ub97c", list("\uc11c\ubc84\ub97c")),
        ("\U0001f389!", ["emoji1f389"]),
    ],
)
def test_terms_without_stems(text: str, expected: list[str]) -> None:
    assert terms(text, NONE) == expected


def test_thai_is_cut_at_letters_with_their_marks() -> None:
    assert terms("\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48", NONE) == ["\u0e17\u0e35", "\u0e19\u0e35"]


def test_half_width_characters_are_the_full_ones() -> None:
    assert terms("\uff7b\uff70\uff8a\uff9e\uff70", NONE) == terms("\u30b5\u30fc\u30d0\u30fc", NONE)


@pytest.mark.parametrize("language", get_args(Language))
def test_every_language_cuts_and_lowers(language: str) -> None:
    assert terms("X1 X1", language) == ["x1", "x1"]


def test_stems_are_those_of_the_language() -> None:
    assert terms("running", "english") == ["run"]
    assert terms("instalaci\u00f3n instalaciones", "spanish")[0] == terms("instalaciones", "spanish")[0]
    assert terms("running", NONE) == ["running"]


def test_words_of_encoded_data_are_not_indexed_but_looked_for() -> None:
    assert analyser(NONE).analyze("a" * 128 + " b") == ["b"]
    assert terms("a" * 128 + " b", NONE) == ["a" * 128, "b"]
    assert terms("b " + "é" * 64 + "-c", "french") == ["b", "é" * 64, "c"]
    assert terms("a" * 127 + " b", NONE) == analyser(NONE).analyze("a" * 127 + " b") == ["a" * 127, "b"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("HTTPServer", "HTTP Server"),
        ("camelCase", "camel Case"),
        ("getURLs", "get URLs"),
        ("HTTP2Server", "HTTP 2 Server"),
        ("APIs", "APIs"),
    ],
)
def test_humps(name: str, parts: str) -> None:
    assert humps(name) == parts


def test_a_text_is_indexed_with_the_parts_of_its_names() -> None:
    assert indexed_texts("the HTTPServer and parseJSON, plain Words and APIs") == [
        "the HTTPServer and parseJSON, plain Words and APIs",
        "HTTP Server",
        "parse JSON",
    ]


@given(st.text(st.sampled_from("abzABZ019 ._-\u00e9\u00c9\u5b89"), max_size=80))
@example("SHA1 and UTF8x, but x86Y and HTTPServer")
@example("aB" * 100)
@example("\u00e9Ab\u00e9aB")
def test_the_names_in_a_text_are_its_words_of_ascii_that_have_a_hump(text: str) -> None:
    names = [word for word in re.findall("[A-Za-z0-9]+", text) if re.search("[a-z0-9][A-Z]|[A-Z][A-Z][a-z]", word)]
    assert indexed_texts(text)[1:] == sorted({parts for parts in map(humps, names) if " " in parts})


def test_a_version_has_two_spellings_and_stays_together() -> None:
    assert list(spellings("v1.0.21", NONE)) == [
        Spelling(("1", "0", "21"), tight=True),
        Spelling(("v1", "0", "21"), tight=True),
    ]


def test_a_hyphen_may_be_missing() -> None:
    assert list(spellings("real-time", NONE)) == [Spelling(("real", "time")), Spelling(("realtime",))]


@pytest.mark.parametrize(("word", "expected"), [("Docker's", "docker"), ("l\u2019image", "image"), ("don't", "don")])
def test_what_an_apostrophe_adds_is_left_out(word: str, expected: str) -> None:
    assert [spelling.terms for spelling in spellings(word, NONE)] == [(expected,)]


def test_runs_of_characters_stay_together() -> None:
    [typed] = spellings("\u4f7f\u7528docker\u5b89\u88c5", NONE)
    assert adjacent_terms(typed) == (("\u4f7f", "\u7528"), ("docker",), ("\u5b89", "\u88c5"))


def test_of_a_run_each_two_that_follow_each_other_are_left() -> None:
    assert term_pairs(("a", "b", "c")) == (("a", "b"), ("b", "c"))
    assert term_pairs(("a", "b")) == (("a", "b"),)
    assert term_pairs(("a",)) == (("a",),)


def test_unspaced_scripts() -> None:
    assert is_unspaced("\u5b89\u88c5")
    assert not is_unspaced("caf\u00e9")


@pytest.mark.parametrize(
    ("word", "languages", "expected"),
    [
        ("How", ("english",), True),
        ("what's", ("english",), True),
        ("volume", ("english",), False),
        ("der", ("german",), True),
        ("der", ("english",), False),
        ("the", (NONE,), False),
        ("der", ("english", "german"), True),
    ],
)
def test_function_words(word: str, languages: tuple[str, ...], expected: bool) -> None:
    assert is_function_word(word, languages) is expected
