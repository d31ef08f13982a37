"""Graphemes are what readers see as one character."""

from __future__ import annotations

from itertools import pairwise

import pytest

from quire.cut.words import grapheme_ends


@pytest.mark.parametrize(
    "graphemes",
    [
        ["a", "b", " ", "c"],
        ["a", "\r\n", "b", "\n", "\r", "\r\n"],
        ["e\u0301", "o\u0308\u0323", "x"],
        ["é", "\r\n", "\n", "\r"],
        ["👍🏽", "👩\u200d👩\u200d👧\u200d👦", "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3", "a"],
        ["🇩🇪", "🇫🇷", "🇮"],
        ["🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "x"],
        ["한", "글", "\u1112\u1161\u11ab", "\u1100\u1100\u1161\u11a8", "\u1100"],
        ["가\u11a8", "각\u11a8", "각"],
        ["क्षि", "न्दी", "क्", "a"],
        ["த", "மி", "ழ்"],
        ["น้ำ", "ใ", "จ"],
        ["ខ្មែ", "រ"],
        ["か\u3099", "ｶﾞ", "葛\U000e0100", "中"],
        ["\u0600١", "a"],
        ["\u0301", "\n", "\u0301", "\u200b", "\u0301"],
        ["\ud800", "\udc00", "é"],
        ["\u0600"],
    ],
    ids=lambda graphemes: ascii("|".join(graphemes)),
)
def test_graphemes(graphemes: list[str]) -> None:
    text = "".join(graphemes)
    assert [text[first:last] for first, last in pairwise([0, *grapheme_ends(text, 0, len(text))])] == graphemes


def test_positions_are_those_of_the_text() -> None:
    assert grapheme_ends("éabe\u0301c", 1, 6) == [2, 3, 5, 6]
    assert grapheme_ends("ab\r\nc", 1, 4) == [2, 4]
    assert grapheme_ends("a\r\nb", 0, 2) == [1, 2]
    assert grapheme_ends("a\r\nb", 2, 4) == [3, 4]
