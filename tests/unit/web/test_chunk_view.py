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
