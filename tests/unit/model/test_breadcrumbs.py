"""The breadcrumb line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.model.breadcrumbs import LIMIT, full_line, reader_line


def test_full_line() -> None:
    assert full_line("Docs", ("A", "B")) == "Docs > A > B"
    assert full_line("A", ("A", "B")) == "A > B"
    assert full_line("Docs", ()) == "Docs"
    assert full_line("", ("A",)) == "A"
    assert full_line("", ()) == ""


def test_reader_line() -> None:
    assert reader_line("Docs", ("A", "B")) == "> Docs › A › B"
    assert reader_line("A", ("A", "B")) == "> A › B"
    assert reader_line("A", ("A",)) == "> A"
    assert reader_line("A", ("A", "B"), from_first=False) == "> A › A › B"


def test_middle_segments_give_way() -> None:
    assert full_line("T" * 50, ("a" * 60, "b" * 60, "c" * 20)) == f"{'T' * 50} > … > {'b' * 60} > {'c' * 20}"
    assert full_line("T" * 70, ("a" * 60, "b" * 60, "c" * 70)) == f"{'T' * 70} > … > {'c' * 70}"


def test_first_and_last_are_shortened_when_they_alone_are_too_long() -> None:
    line = full_line("T" * 200, ("x", "c" * 10))
    assert line.startswith("TTT")
    assert line.endswith("… > … > cccccccccc")
    assert len(line) == LIMIT


@given(st.text(max_size=300), st.lists(st.text(max_size=200), max_size=6))
def test_one_line_within_the_limit(title: str, path: list[str]) -> None:
    line = full_line(title, path)
    assert len(line) <= LIMIT
    assert "\n" not in line
    assert "\r" not in line


def test_a_title_without_anything_to_read_is_left_out() -> None:
    assert full_line("a", ["\xa0", "b"]) == "a > b"
    assert reader_line("a", ["\xa0", "b"]) == "> a › b"
