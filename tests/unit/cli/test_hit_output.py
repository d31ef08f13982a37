"""Texts with their matches marked, whole and shortened."""

from __future__ import annotations

import re
from functools import partial
from io import StringIO
from itertools import pairwise
from typing import NamedTuple

import pytest

from quire.cli.hit_output import Highlighted, best_rows
from quire.cli.output import Paint
from quire.model.document import Span


def spans(text: str, word: str) -> list[Span]:
    return [Span(*match.span()) for match in re.finditer(word, text)]


class Shown(NamedTuple):
    lines: list[str]
    left_out: int


def highlighted(text: str, matches: list[Span], columns: int = 80, room: int | None = None) -> Shown:
    """A text as the terminal shows it, whole, or shortened to about ``room`` rows."""
    paint = Paint(StringIO())
    paint.match = partial("<{}>".format)
    found = Highlighted(text, matches, paint).rows(columns, (room or 1_000) * columns)
    kept = best_rows(found, room) if room else range(len(found))
    rows: list[str] = []
    for before, number in pairwise([-1, *kept]):
        rows += ["…"] if number > before + 1 else []
        rows.append(found[number][0])
    return Shown(rows, len(found) - len(kept))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a x b", ["a <x> b"]),
        ("\n\nx\r\n\r\ny x\r\n \n", ["<x>", "", "y <x>"]),
        ("  x\n", ["  <x>"]),
        ("a\rx\tx", ["a", "<x>\t<x>"]),
        ("\x1b[31mx\u202e", ["␛[31m<x>\ufffd"]),
    ],
)
def test_whole(text: str, lines: list[str]) -> None:
    assert highlighted(text, spans(text, "x")) == (lines, 0)


def test_ranges_across_lines() -> None:
    assert highlighted("ab\ncd", [Span(1, 4)]).lines == ["a<b>", "<c>d"]


def test_what_is_short_stays_whole() -> None:
    text = "\n".join(map(str, range(14)))
    assert highlighted(text, [], room=11) == (text.split("\n"), 0)


def test_the_first_line_and_those_around_matches() -> None:
    lines = [f"line {number}" for number in range(40)]
    lines[20] = "here x"
    shown = highlighted("\n".join(lines), spans("\n".join(lines), "x"), room=11)
    around = [line.replace("x", "<x>") for line in lines[15:26]]
    assert shown == (["line 0", "…", *around], 28)


def test_where_most_matches_are_side_by_side() -> None:
    lines = ["x"] + [f"line {number}" for number in range(90)]
    lines[50:54] = ["x x x"] * 4
    shown = highlighted("\n".join(lines), spans("\n".join(lines), "x"), room=11)
    assert shown.lines.count("<x> <x> <x>") == 4
    assert shown.lines[:2] == ["<x>", "…"]
    assert len(shown.lines) == 13


def test_front_matter_does_not_lead() -> None:
    lines = ["---", "title: T", "---", *(f"line {number}" for number in range(40)), "x"]
    shown = highlighted("\n".join(lines), spans("\n".join(lines), "x"), room=11)
    assert (shown.lines[0], shown.lines[-1]) == ("…", "<x>")


def test_no_match_shows_the_beginning() -> None:
    lines = [str(number) for number in range(40)]
    assert highlighted("\n".join(lines), [], room=11) == (lines[:11], 29)


def test_matches_everywhere_in_a_long_text() -> None:
    text = "x x\n" * 20_000
    shown = highlighted(text, spans(text, "x"), room=11)
    assert len(shown.lines) + shown.left_out >= 20_000


def test_a_line_that_is_longer_than_the_room_is_cut_off() -> None:
    text = "a " * 1000 + "x"
    shown = highlighted(text, spans(text, "x"), 10, room=11)
    assert shown == (["a a a a a"] * 11 + ["…"], 0)
