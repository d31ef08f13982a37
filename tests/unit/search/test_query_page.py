"""docs/reference/query.md says what the parser does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from quire.errors import QueryError
from quire.search.query_syntax import parse, show

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "query.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")


def rows(head: str) -> list[tuple[str, str]]:
    """The rows of all tables with such a second column, without the backquotes."""
    page = PAGE.read_text("utf-8") if PAGE.is_file() else ""
    tables = re.findall(rf"\| typed \| {head} \|\n\|---\|---\|\n((?:\|.*\n)+)", page)
    cells = [line.strip("|").split("|") for table in tables for line in table.splitlines()]
    return [(typed.strip().strip("`"), said.strip().strip("`")) for typed, said in cells]


@pytest.mark.parametrize(("typed", "_"), rows("finds"))
def test_what_can_be_typed_is_read(typed: str, _: str) -> None:
    assert parse(typed) is not None


@pytest.mark.parametrize(("typed", "said"), rows("read as"))
def test_what_stays_text(typed: str, said: str) -> None:
    assert show(parse(typed)) == said


@pytest.mark.parametrize(("typed", "said"), rows("why not"))
def test_what_is_a_mistake(typed: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(typed)
    assert caught.value.message.startswith(said)


def test_the_tables_are_found() -> None:
    assert [len(rows(head)) > 3 for head in ("finds", "read as", "why not")] == [True, True, True]
