"""What the page gets of a chunk is enough to put its text to embed together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.model.options import STRATEGIES, own_names
from quire.web import chunk_view
from support.grammar import documents


def texts_of(chunks: quire.Chunks) -> list[str]:
    """The texts to embed, from the rows."""
    text, made = chunks.document.text, []
    for start, end, *_, breadcrumb, overlap, opening, closing, own in chunk_view.cut_record(chunks)["chunks"]:
        made.append(f"{breadcrumb}{overlap}{opening}{text[start:end] if own is None else own}{closing}")
    return made


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(text=documents(), cap=st.integers(32, 200))
def test_rows_have_the_whole_text_to_embed(strategy, text, cap) -> None:
    caps = {"max_tokens": cap} if "max_tokens" in own_names(strategy) else {}
    chunks = quire.chunk(text, strategy, path="a.md", **caps)
    assert texts_of(chunks) == [chunk.embed_text for chunk in chunks]


def test_a_cut_table_and_a_cut_fence_say_what_was_added() -> None:
    table = "| name | value |\n|---|---|\n" + "".join(
        f"| row {number} | {number * 7} words here |\n" for number in range(40)
    )
    code = "```python\n" + "".join(f"value_{number} = {number}\n" for number in range(60)) + "```\n"
    chunks = quire.chunk(f"# T\n\n{table}\n{code}", path="t.md", hard_cap=96)
    rows = chunk_view.cut_record(chunks)["chunks"]
    assert any("| name | value |" in row[9] for row in rows)
    assert any(row[9] == "```python\n" for row in rows)
    assert any("```" in row[10] for row in rows)
    assert [row[0] for row in rows] == [chunk.source_position.char_start for chunk in chunks]


def test_limits_are_those_of_the_strategy() -> None:
    limits = {name: chunk_view.cut_record(quire.chunk("# A\n\nB.\n", name))["limits"] for name in STRATEGIES}
    assert limits["packed"] == {"minimum": 64, "target": 256, "cap": 1024}
    assert limits["flow"] == {"minimum": 64, "target": 400, "cap": 512}
    assert limits["tree"] == {}


def long_document(line_end: str) -> str:
    """A title, and chapters with sections of different sizes, a list and a table below it."""
    rows = "".join(f"| {number} | some words in a row |\n" for number in range(12))
    sections = [
        f"### Section {number} of {chapter}\n\n"
        + f"Sentence {number} has a few words 🦊. " * (3 + number * 7 % 40)
        + "\n\n- one\n- two\n\n"
        + (f"| a | b |\n|---|---|\n{rows}\n" if number % 5 == 0 else "")
        for chapter in range(25)
        for number in range(25)
    ]
    chapters = "".join(f"## Chapter {at // 25}\n\n{text}" if at % 25 == 0 else text for at, text in enumerate(sections))
    return f"---\nkey: value\n---\n\n# All of it\n\nHello.\n\n{chapters}".replace("\n", line_end)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("strategy", "options"),
    [("packed", {}), ("packed", {"hard_cap": 96}), ("flow", {}), ("flow", {"max_tokens": 96}), ("sections", {}), ("tree", {})],
)  # fmt: skip
def test_chunks_around_a_position_are_those_of_the_whole_document(strategy, options, line_end) -> None:
    text = long_document(line_end)
    whole = chunk_view.cut_record(chunk_view.cut(text, "a.md", strategy, **options))
    for near in (0, 30_000, 150_000, len(text) - 20_000, len(text) - 1, len(text) + 999):
        part = chunk_view.part_record(text, "a.md", strategy, near, **options)
        start, end = part["part"]
        assert start <= min(near, len(text)) <= end
        assert end - start < 100_000
        assert part["version"] == whole["version"]
        assert (part["options"], part["limits"]) == (whole["options"], whole["limits"])
        in_view = [row for row in whole["chunks"] if row[1] > near - 500 and row[0] < near + 4_000]
        assert [row for row in in_view if row not in part["chunks"]] == []


def test_some_documents_are_cut_as_a_whole() -> None:
    assert "part" not in chunk_view.part_record("Some words. " * 20_000, "a.md", "packed", 100_000)  # has no sections
    long = long_document("\n")
    assert "part" in chunk_view.part_record(long, "a.md", "flow", 0)
    assert "part" not in chunk_view.part_record(long, "a.md", "flow", 0, guard="raise")  # any chunk may refuse it
