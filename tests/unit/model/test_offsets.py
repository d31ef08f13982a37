"""Characters, bytes and lines agree, whatever the text is made of."""

from __future__ import annotations

import pytest
from hypothesis import given

import quire
from quire.model.offsets import bytes_at, line_starts, lines_at, trimmed
from support import grammar

TEXTS = {
    "ascii": "a\nb\n\nc",
    "cjk": "数据\n语言\n",
    "emoji": "😀\n👩‍👩‍👧\nx",
    "combining": "e\u0301\nn\u0303o\n",
    "crlf": "a\r\nb\r\n\r\nc",
    "lone cr": "a\rb\r\rc",
    "mixed line ends": "a\nb\rc\r\nd\n\re",
    "form feed": "a\x0cb\nc\x0c\n",
    "line separator": "a\u2028b\nc\u2029\x85d\n",
    "nul": "a\x00\nb\x00",
    "bom": "\ufeffa\n\ufeffb",
    "lone surrogate": "a\ud800\nb\udfff",
    "empty": "",
}


def slow_line(text: str, position: int) -> int:
    before = text[:position].replace("\r\n", "\n").replace("\r", "\n")
    inside_crlf = text[position - 1 : position + 1] == "\r\n"
    return before.count("\n") + 1 - inside_crlf


@pytest.mark.parametrize("name", TEXTS)
def test_every_position(name: str) -> None:
    text = TEXTS[name]
    positions = range(len(text) + 1)
    assert lines_at(text, positions) == [slow_line(text, each) for each in positions]
    assert list(bytes_at(text, positions)) == [len(text[:each].encode("utf-8", "surrogatepass")) for each in positions]


def test_ascii_pays_nothing_for_bytes() -> None:
    positions = [1, 2, 3]
    assert bytes_at("abc", positions) is positions


def test_line_starts() -> None:
    assert line_starts("a\nb\r\nc\rd") == [0, 2, 5, 7]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        (" \t\r\n", ""),
        ("\n\n  a\n b \n\n", "  a\n b"),
        ("a", "a"),
        ("\n\x0c\n", "\x0c"),
        (" \n\xa0\n", "\xa0"),
    ],
)
def test_trimmed(text: str, kept: str) -> None:
    start, end = trimmed(text, 0, len(text))
    assert text[start:end] == kept


@given(grammar.documents())
def test_chunks_agree_with_the_bytes_of_the_file(text: str) -> None:
    data = text.encode()
    for chunk in quire.chunk(text, strategy="tree"):
        place = chunk.source_position
        assert data[place.byte_start : place.byte_end].decode() == chunk.original_text
        assert place.start_line == slow_line(text, place.char_start)
        assert place.end_line == slow_line(text, place.char_end - 1)
