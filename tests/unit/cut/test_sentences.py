"""Where sentences and words end: the golden cases of sentences.txt, and what holds for any text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.cut.sentences import sentence_ends, stop_ends
from quire.cut.words import grapheme_ends, inline_atoms, inner_word_ends, word_ends

MARK = "║"
GOLDEN = Path(__file__).with_name("sentences.txt")

# Pieces of prose and of markup, closed and not; marks that join; blanks of all kinds.
PIECES = st.sampled_from(
    [*"aZ1.!?…\"'()[]<>`*_\\:,>-", " ", " ", "\n", "\r\n", "\t", "\xa0", "\u200b", "\u3000", "Dr. ", "e.g. ", "U.S. ",
     "a. ", "1. ", "The ", "It ended. ", "[a. B](c. d) ", "[a. B](c) ", "`a. B` ", "![a. B](c)", "[[a. B]]",
     "[a. B][c]", "<b c='d. E'>", "<http://a.b>", "``", "[a](", "](", "``a` B``", "> ", "\n> ", "»", "“", "”",
     "。", "！", "」", "と", "中", "カナ", "か", "ー", "。」", "है। ", "؟ ", "ไทย ", "เ", "ก", "ำ", "ລາວ ",
     "ខ្មែរ", "မြန်", "한글 ", "\u1100", "\u0301", "\u200d", "\ufe0f", "👩\u200d👧", "🇩", "🎉 ", "\u0600", "क्",
     "\u17d2", "\ud800", "\x00"]
)  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=24).map("".join).filter(len)


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, int, int]:
    text = draw(TEXTS)
    start = draw(st.integers(0, len(text) - 1))
    return text, start, draw(st.integers(start + 1, len(text)))


def _cases() -> list[tuple[str, str]]:
    blocks = GOLDEN.read_text("utf-8").split("\n== ")[1:]
    return [(name, body.strip("\n")) for name, _, body in (block.partition("\n") for block in blocks)]


def _cut(ends: Callable[[str, int, int], list[int]], text: str) -> list[str]:
    return [text[first:last] for first, last in pairwise([0, *ends(text, 0, len(text))])]


@pytest.mark.parametrize(("name", "marked"), _cases(), ids=[name for name, _ in _cases()])
def test_golden(name: str, marked: str) -> None:
    sentences = marked.split(MARK)
    assert _cut(sentence_ends, "".join(sentences)) == sentences


def test_golden_names_differ() -> None:
    names = [name for name, _ in _cases()]
    assert len(names) == len(set(names)) > 150


def test_only_the_span_is_read() -> None:
    """A case gives the same in the middle of other text."""
    for _, marked in _cases():
        sentences = marked.split(MARK)
        text = "".join(sentences)
        around = f"Before. {text}X After."
        assert sentence_ends(around, 8, 8 + len(text)) == [8 + end for end in accumulate(map(len, sentences))]


def test_hard_breaks_are_no_ends() -> None:
    assert _cut(sentence_ends, "One line  \nGoes on. Ends.") == ["One line  \nGoes on. ", "Ends."]
    assert _cut(sentence_ends, "One line.  \nNext one.") == ["One line.  \n", "Next one."]


def test_line_ends_of_all_kinds() -> None:
    assert _cut(sentence_ends, "One.\r\nTwo.\rThree.\n") == ["One.\r\n", "Two.\r", "Three.\n"]


@pytest.mark.parametrize(
    "marked",
    [
        "it was $147 million. |partially offsetting it was another. |so it goes",
        "what now? |nobody knows! |really.",
        "see no. 3, e.g. this, etc. and so on, at 5 p.m. on a day, by j. smith and co. in all",
        "a `x. y` and [a link. with](a.b) and v1.2 of it",
        "das war es. |und so z. b. auch dies usw. bis hier",
        "It ends. Here it goes on",
        "",
    ],
)
def test_stops_before_small_letters(marked: str) -> None:
    parts = marked.split("|")
    text = "".join(parts)
    assert stop_ends(f"x. y {text} z. y", 5, 5 + len(text)) == [5 + end for end in accumulate(map(len, parts))]


def test_blanks_are_one_part() -> None:
    for ends in (sentence_ends, word_ends, inner_word_ends):
        assert ends(" \n ", 0, 3) == [3]


def test_words() -> None:
    assert _cut(word_ends, "  two  words\nand one") == ["  two  ", "words\n", "and ", "one"]


def test_words_leave_code_links_and_images_whole() -> None:
    text = "a `b c` [d e](f) ![g h](i) <j k='l m'> n"
    assert _cut(word_ends, text) == ["a ", "`b c` ", "[d e](f) ", "![g h](i) ", "<j k='l m'> ", "n"]
    assert _cut(inner_word_ends, "`b c` d") == ["`b ", "c` ", "d"]


def test_no_break_spaces_hold_until_nothing_else_helps() -> None:
    assert _cut(word_ends, "10\xa0km far") == ["10\xa0km ", "far"]
    assert _cut(inner_word_ends, "10\xa0km far") == ["10\xa0", "km ", "far"]


def test_marks_of_a_quote_stay_with_a_word() -> None:
    assert _cut(word_ends, "> one\n> > two three") == ["> one\n", "> > two ", "three"]


def test_words_without_spaces() -> None:
    assert _cut(word_ends, "「東京タワー」へ、行く。") == ["「東", "京", "タワー」", "へ、", "行", "く。"]
    assert _cut(word_ends, "น้ำใจ") == ["น้ำ", "ใจ"]


@given(spans())
def test_ends_are_ascending_inside_and_complete(span: tuple[str, int, int]) -> None:
    text, start, end = span
    for ends in (sentence_ends, word_ends, inner_word_ends, grapheme_ends):
        cuts = ends(text, start, end)
        assert all(first < last for first, last in pairwise([start, *cuts]))
        assert cuts[-1] == end


@given(TEXTS)
def test_nothing_is_lost(text: str) -> None:
    for ends in (sentence_ends, word_ends, inner_word_ends, grapheme_ends):
        assert "".join(_cut(ends, text)) == text


@given(spans())
def test_no_grapheme_is_torn(span: tuple[str, int, int]) -> None:
    graphemes = set(grapheme_ends(*span))
    for ends in (sentence_ends, word_ends, inner_word_ends):
        assert graphemes.issuperset(ends(*span))


@given(spans())
def test_no_atom_is_torn(span: tuple[str, int, int]) -> None:
    atoms = inline_atoms(*span)
    for ends in (sentence_ends, word_ends):
        assert not [cut for cut in ends(*span) for first, last in atoms if first < cut < last]


@given(spans())
def test_words_are_words_inside_too(span: tuple[str, int, int]) -> None:
    text, start, end = span
    text = text.replace("\xa0", " ")
    assert set(word_ends(text, start, end)) <= set(inner_word_ends(text, start, end))


@given(spans())
def test_what_stands_around_does_not_matter(span: tuple[str, int, int]) -> None:
    text, start, end = span
    assert sentence_ends(text, start, end) == [start + cut for cut in sentence_ends(text[start:end], 0, end - start)]
