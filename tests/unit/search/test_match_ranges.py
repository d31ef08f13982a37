"""Where a query's words stand in a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.index.engine import analysis
from quire.model.trees import Language
from quire.search.match_ranges import Highlighter, Wanted
from support.grammar import documents

english: Callable[[str], Sequence[str]] = partial(analysis.terms, language="english")


def wanted(query: str) -> Wanted:
    """One word or phrase; a star makes it a prefix, whose last word is taken as typed."""
    if not query.endswith("*"):
        return Wanted(tuple(english(query)))
    *words, last = query[:-1].lower().split()
    return Wanted((*english(" ".join(words)), last), prefix=True)


def marked(text: str, *queries: str) -> str:
    """The text with brackets around what is found."""
    shown, at = [], 0
    for start, end in Highlighter([wanted(query) for query in queries], english)(text):
        shown += [text[at:start], "[", text[start:end], "]"]
        at = end
    return "".join([*shown, text[at:]])


@pytest.mark.parametrize(
    ("text", "queries", "expected"),
    [
        pytest.param("The token is a Token.", ["token"], "The [token] is a [Token].", id="whatever the case"),
        pytest.param("Connecting a connection", ["connect"], "[Connecting] a [connection]", id="inflected"),
        pytest.param("connect", ["connections"], "[connect]", id="inflected in the query"),
        pytest.param("a cat, a category", ["cat"], "a [cat], a category", id="not inside a longer word"),
        pytest.param("red blue red", ["red", "blue"], "[red] [blue] [red]", id="several words"),
        pytest.param("no such word", ["absent"], "no such word", id="nothing"),
        pytest.param("café CAFE\u0301 cafe", ["café"], "[café] [CAFE\u0301] [cafe]", id="accents, composed or not"),
        pytest.param("a résumé, Resume", ["resume"], "a [résumé], [Resume]", id="an accent after the first letter"),
        pytest.param("naïve", ["naive"], "[naïve]", id="accents that were not typed"),
        pytest.param("**bold**, `code` and [link](url)", ["code", "link"], "**bold**, `[code]` and [[link]](url)", id="Markdown around"),
        # phrases
        pytest.param("open the file; the open file", ["open file"], "open the file; the [open file]", id="phrase"),
        pytest.param("open\nfiles", ["open file"], "[open\nfiles]", id="phrase over a line end, inflected"),
        pytest.param("open, file", ["open file"], "[open, file]", id="phrase over signs, as the engine has it"),
        pytest.param("the open", ["open file"], "the open", id="phrase cut short"),
        pytest.param("a a a b", ["a a b"], "a [a a b]", id="phrase that starts again"),
        pytest.param("open file handle", ["open file", "file handle"], "[open file handle]", id="overlapping phrases"),
        # names
        pytest.param("call rotateTokens()", ["tokens"], "call rotate[Tokens]()", id="a part of a name in humps"),
        pytest.param("call rotateTokens()", ["rotatetokens"], "call [rotateTokens]()", id="the whole name"),
        pytest.param("call rotateTokens()", ["rotate tokens"], "call [rotateTokens]()", id="its parts as a phrase"),
        pytest.param("HTTPServer2 runs", ["server"], "HTTP[Server]2 runs", id="capitals before a hump"),
        pytest.param("my_var = 1; my var", ["my_var"], "[my_var] = 1; [my var]", id="a name with underscores"),
        pytest.param("set max-tokens", ["tokens"], "set max-[tokens]", id="a name with hyphens"),
        pytest.param("C, C++ and C#", ["C++"], "C, [C++] and C#", id="C++"),
        pytest.param("c# and CSharp", ["C#"], "[c#] and [CSharp]", id="C#, spelled out"),
        pytest.param("C, C++ and C#", ["cplus*"], "C, [C++] and C#", id="the beginning of a sign's name"),
        pytest.param("\u0130 and \u0130, a token", ["token"], "\u0130 and \u0130, a [token]", id="after what is longer in lower case"),
        pytest.param("v2 of HTTP2", ["v2"], "[v2] of HTTP2", id="digits in a word"),
        # prefixes
        pytest.param("author of authentication", ["auth*"], "[author] of [authentication]", id="prefix"),
        pytest.param("Authentication", ["authenticat*"], "[Authentication]", id="prefix longer than the stem"),
        pytest.param("oauth", ["auth*"], "oauth", id="prefix is no infix"),
        pytest.param("open files, open doors", ["open fi*"], "[open files], open doors", id="prefix that ends a phrase"),
        pytest.param("rotateTokens", ["tok*"], "rotate[Tokens]", id="prefix of a part"),
        # other scripts
        pytest.param("私は日本語を話す", ["日本語"], "私は[日本語]を話す", id="Japanese"),
        pytest.param("日本と本日", ["日本"], "[日本]と本日", id="only in this order"),
        pytest.param("日本", ["日", "本"], "[日][本]", id="words that touch"),
        pytest.param("한국어 문서", ["국어"], "한[국어] 문서", id="Korean"),
        pytest.param("กินข้าวแล้ว", ["ข้าว"], "กิน[ข้าว]แล้ว", id="Thai"),
        pytest.param("नमस्ते दुनिया", ["दुनिया"], "नमस्ते [दुनिया]", id="Hindi"),
        pytest.param("Привет, мир", ["мир"], "Привет, [мир]", id="Russian"),
        pytest.param("done 🎉 and 🎈", ["🎉"], "done [🎉] and 🎈", id="emoji"),
    ],
)  # fmt: skip
def test_marked(text: str, queries: list[str], expected: str) -> None:
    assert marked(text, *queries) == expected


def test_nothing_is_wanted() -> None:
    assert Highlighter([], english)("text") == ()
    assert Highlighter([Wanted(())], english)("text") == ()


def test_all_parts_of_a_name_of_many_are_marked() -> None:
    assert marked("FooBar" * 500, "bar") == "Foo[Bar]" * 500
    assert marked("FooBar" * 500, "foo bar") == "[FooBar]" * 500
    assert marked("rotateTokensOf", "tokens of the") == "rotateTokensOf"
    assert marked("rotateTokensOf the", "tokens of the") == "rotate[TokensOf the]"


@pytest.mark.parametrize("language", get_args(Language))
def test_an_inflected_word_is_found(language: str) -> None:
    """Stemmers keep the first letter, but for a Dutch ``g``: only words with such a letter are looked at."""
    endings = ("", "s", "ing", "ed", "ies", "ation", "en", "et", "er", "ung", "ement", "ando", "lar", "inin", "sken")
    for word in (first + stem + ending for first in "abdgikpty" for stem in ("ebt", "art") for ending in endings):
        find = Highlighter([Wanted(analysis.word_terms(word, language))], partial(analysis.terms, language=language))
        assert find(f"a {word}.") == ((2, 2 + len(word)),)


def test_a_beginning_that_a_stemmer_takes_off() -> None:
    dutch = partial(analysis.terms, language="dutch")
    assert Highlighter([Wanted(tuple(dutch("lopen")))], dutch)("hij heeft gelopen") == ((10, 17),)


words = st.sampled_from(["token", "rotateTokens", "日本", "open file", "a", "C#", "b*", "é", "0"])


@given(st.one_of(documents(), st.text()), st.lists(words, min_size=1, max_size=4))
def test_ranges_are_ordered_disjoint_and_hold_text(text: str, queries: list[str]) -> None:
    found = Highlighter([wanted(query) for query in queries], english)(text)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
    assert all(text[start:end].strip() == text[start:end] for start, end in found)


@given(st.text(), st.text(), st.sampled_from(["needle", "my_needle", "日本語", "C++", "🎉"]))
def test_what_stands_between_spaces_is_found(before: str, after: str, query: str) -> None:
    text = f"{before} {query} {after}"
    start = len(before) + 1
    found = Highlighter([wanted(query)], english)(text)
    assert any(span.start <= start and start + len(query) <= span.end for span in found)


@pytest.mark.parametrize(("hit", "query"), [("text", "word"), (None, "word")])
def test_anything_but_a_hit_is_refused(hit: Any, query: str) -> None:
    with pytest.raises(quire.OptionError, match="hit="):
        quire.match_ranges(hit, query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("turn it off", ["turn", "off", "it"]),
        ("off", ["off"]),
        ("please tell me how I can turn the lamp off", ["turn the lamp off"]),
    ],
)
def test_every_word_that_scored_is_marked(tmp_path: Path, query: str, expected: list[str]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("To turn the lamp off, press it. The end.\n")
    with quire.Index.open(tmp_path / "index") as index:
        index.update({"docs": tmp_path / "docs"})
        [hit] = index.search(query)
    spans = quire.match_ranges(hit, query)
    assert [hit.text[start:end] for start, end in spans] == expected
