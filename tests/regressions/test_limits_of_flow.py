"""The strategy ``flow`` keeps its cap, and ends, whatever is inside a block."""

from __future__ import annotations

import pytest

import quire

_WORDS = "word " * 320


@pytest.mark.parametrize(
    "text",
    [
        f"<Note>\n> {_WORDS}\n\n</Note>\n",
        f"<Note>\n{_WORDS}\n\n</Note>\n",
        f"<Note>\n<Tip>\n- {_WORDS}\n\n</Tip>\n\n</Note>\n",
        f"- <Note>\n  > {_WORDS}\n\n  </Note>\n",
        f"> <Note>\n> {_WORDS}\n>\n> </Note>\n",
        f"<div>\n{_WORDS}\n</div>\n",
        f":::note\n\n<Note>\n{_WORDS}\n\n</Note>\n\n:::\n",
        f"$$\n{_WORDS}\n$$\n",
    ],
)
def test_a_long_line_in_a_component_is_cut_within_the_cap(text: str) -> None:
    chunks = quire.chunk(text, "flow", max_tokens=256)
    assert all(chunk.token_stats.tokens <= 256 for chunk in chunks)
    assert {finding.code for finding in chunks.findings} <= {"below-minimum", "guard-kept-too-short"}
    assert quire.verify(text, chunks) == []


def _lines(text: str) -> int:
    return 4 * len(text.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        "word word\r" * 60,
        "word word\r\r" * 60,
        "- word word\r" * 60,
        "> word word\r" * 60,
        "# Heading\r\rword word\rword\r\r" * 40,
        "- item\r  ```\n  code\n\n\n\n\n  code\n  ```\r" * 10 + "- word\r" * 20,
    ],
)
def test_text_is_counted_as_it_is_embedded(text: str) -> None:
    chunks = quire.chunk(text, "flow", tokenizer=_lines, max_tokens=64, min_tokens=16)
    assert all(_lines(chunk.embed_text) <= 64 for chunk in chunks)
    assert quire.verify(text, chunks, tokenizer=_lines) == []


_LONG = "A long heading that has nothing below it and therefore leads the next chunk of the document, word after word"


@pytest.mark.parametrize("headings", [[_LONG], [_LONG, "Short"], ["Short", _LONG], [_LONG, _LONG]])
@pytest.mark.parametrize("level", ["#", "##"])
def test_the_breadcrumb_of_headings_that_lead_a_chunk_has_room(headings: list[str], level: str) -> None:
    above = "# Guide\n\n" + " ".join(f"Sentence {number} fills the first chunk." for number in range(50))
    empty = "".join(f"\n\n{level} {heading}" for heading in headings)
    for items in range(30, 50):
        text = f"{above}{empty}\n\n{level} Next\n\n" + "- an item of the list has some words\n" * items
        chunks = quire.chunk(text, "flow", path="guide.md", breadcrumb_mode="always")
        assert all(chunk.embed_text.endswith(f"\n\n{chunk.original_text}") for chunk in chunks)
        assert quire.verify(text, chunks) == []
