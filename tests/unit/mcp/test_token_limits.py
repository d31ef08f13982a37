"""Every answer of every tool is within its token limit, as text and as JSON, for any tokenizer; nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import QuireError
from quire.mcp.answers import Answer, Service, TokenLimit
from quire.mcp.tools import TOOLS, Get, Outline, Search
from quire.tokens.tokenizers import resolve
from quire.workspace.workspace import Workspace

LONG = "a heading that never ends " * 40
DOCUMENTS = {
    "short.md": "# Short\n\nOne line about tables.\n",
    "long.md": "# Long\n\n"
    + "".join(f"## Part {n}\n\nTables and rows, number {n}. {'word ' * n}\n\n" for n in range(60)),
    "line.md": "# Line\n\n" + "tables without any line end " * 800,
    f"{'deep/' * 12}{'name-' * 20}.md": f"# {LONG}\n\nTables.\n\n## {LONG}\n\nMore tables.\n",
    "signs.md": '# "Quotes" \\ and tabs\n\n' + 'tables\t"quoted"\\\r\n' * 60 + "\u0001\u007f tables 🦓🦓🦓 表格\n",
    "empty.md": "",
    **{f"many/{n % 7}/page-{n}.md": f"# Page {n}\n\nTables on page {n}.\n" for n in range(120)},
}
TOKENIZERS = ("o200k_base", "cl100k_base", "estimate", len)
LIMITS = st.one_of(st.integers(64, 200), st.integers(64, 20_000))


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("served")
    for name, text in DOCUMENTS.items():
        file = folder / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    (folder / "docs" / "broken.md").write_bytes(b"\xff\xfe\xff")
    with Workspace.open_updated([str(folder / "docs")], index=str(folder / ".quire")) as workspace:
        yield workspace


@pytest.fixture(scope="module")
def ids(served) -> list[str]:
    return [node.id for each in served.documents() for node in served.index.outline(each.id)]


def service_with(served: Workspace, tokenizer: str | Callable[[str], int] = "o200k_base") -> Service:
    return Service(served, resolve(tokenizer, "o200k_base").count, 4_000)


def assert_fits(answer: Answer, count: Callable[[str], int], most: int) -> None:
    assert count(answer.text) <= most
    assert count(json.dumps(answer.record, ensure_ascii=False, separators=(",", ":"))) <= most


@given(data=st.data(), tokenizer=st.sampled_from(TOKENIZERS), most=LIMITS)
def test_answers_are_within_the_limit(served, ids, data, tokenizer, most) -> None:
    service = service_with(served, tokenizer)
    tool = data.draw(st.sampled_from(["search", "outline", "get", "status"]))
    arguments: dict[str, Any] = {}
    if tool == "search":
        words = st.sampled_from(["tables", "page 7", "heading rows", "tabels", "nothinglikethis", '"quoted"'])
        arguments = {
            "query": data.draw(words),
            "limit": data.draw(st.integers(1, 20)),
            "cursor": data.draw(st.sampled_from(["", "1", "7", "500"])),
            "path": data.draw(st.sampled_from(["", "many", "many/3/**"])),
        }
    elif tool == "outline":
        arguments = {
            "path": data.draw(st.sampled_from(["", "docs", "many/", "long.md", "deep", "*.md"])),
            "cursor": data.draw(st.sampled_from(["", "3", "500"])),
        }
    elif tool == "get":
        arguments = {"id": data.draw(st.sampled_from(ids)), "children": data.draw(st.booleans())}
    assert_fits(TOOLS[tool].checked({"max_tokens": most, **arguments}).answer(service), service.count, most)


@given(data=st.data(), tokenizer=st.sampled_from(TOKENIZERS), most=st.integers(64, 2_000))
def test_the_parts_of_a_section_are_the_whole(served, ids, data, tokenizer, most) -> None:
    service = service_with(served, tokenizer)
    name = data.draw(st.sampled_from(ids))
    whole = served.get(name).text
    pages, cursor = [], ""
    while not pages or cursor:
        answer = Get(id=name, max_tokens=most, cursor=cursor).answer(service)
        assert_fits(answer, service.count, most)
        pages.append(answer.record["text"])
        cursor = answer.record.get("cursor", "")
    assert "".join(pages) == whole
    assert all(pages) or not whole


@pytest.mark.parametrize("most", [64, 300, 4_000])
def test_the_pages_of_a_search_have_every_section_once(served, most) -> None:
    service = service_with(served)
    found: list[str] = []
    totals, skipped, cursor = set(), 0, "0"
    while cursor:
        record = Search(query="tables", limit=10, max_tokens=most, cursor=cursor).answer(service).record
        found += [each["id"] for each in record["results"]]
        skipped += not record["results"]  # its name alone is too long
        totals.add(record["total"])
        cursor = record.get("cursor", "")
    assert len(found) == len(set(found))
    assert totals == {len(found) + skipped}
    assert skipped <= {64: 20, 300: 1, 4_000: 0}[most]


def test_the_pages_of_an_outline_are_all_rows(served) -> None:
    service = service_with(served)
    rows, cursor = [], "0"
    while cursor:
        record = Outline(path="many/3", max_tokens=150, cursor=cursor).answer(service).record
        rows += record["rows"]
        cursor = record.get("cursor", "")
    assert [row[0] for row in rows] == [each.id for each in served.documents("many/3")]
    assert len(rows) == record["total"]


def test_a_collection_in_500_tokens(served) -> None:
    service = service_with(served)
    answer = Outline().answer(service)
    assert service.count(answer.text) <= 500
    assert "docs:many/3/ 17 documents (" in answer.text
    assert "docs:short.md Short (" in answer.text


def test_a_long_error_is_clipped() -> None:
    limit = TokenLimit(len, 64)
    assert len(limit.clipped("long " * 100)) <= 64
    assert limit.clipped("short") == "short"


def test_a_changed_section_refuses_an_old_cursor(served) -> None:
    service = service_with(served)
    cursor = Get(id="long.md", max_tokens=100).answer(service).record["cursor"]
    with pytest.raises(QuireError, match="has changed"):
        Get(id="line.md", max_tokens=100, cursor=cursor).answer(service)
