"""verify takes linear time for blocks nested by the thousand, and still sees code that is torn inside them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import quire
from quire.model.chunk_record import Chunks

WIDTH = 96_000
"""At this size a walk down to each cut would take minutes."""


@pytest.mark.parametrize("marks", ["1. ", "> ", "- ", "> - ", "- > 1. "])
def test_deep_nesting_is_verified(marks: str) -> None:
    text = marks * (WIDTH // len(marks)) + "x"
    chunks = quire.chunk(text, "packed", hard_cap=64)
    assert len(chunks) > 500
    assert quire.verify(text, chunks) == []


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ("> - a\n>\n>   ```py\n" + ">   code = 1\n" * 100 + ">   ```\n", "```py"),
        ("- a\n\n  | head | of |\n  |---|---|\n" + "  | b | c |\n" * 100, "| head | of |"),
    ],
)
def test_torn_blocks_inside_others_are_found(text: str, repeated: str) -> None:
    chunks = quire.chunk(text, "packed", hard_cap=64)
    assert quire.verify(text, chunks) == []
    cut = sum(chunk.source_position.char_start > text.index(repeated) for chunk in chunks)
    damaged = [
        replace(
            chunk,
            original_text=chunk.original_text.replace(repeated, "?"),
            embed_text=chunk.embed_text.replace(repeated, "?"),
        )
        for chunk in chunks
    ]
    found = quire.verify(text, Chunks(damaged, document=chunks.document, options=chunks.options))
    assert [finding.code for finding in found].count("torn-block") == cut
