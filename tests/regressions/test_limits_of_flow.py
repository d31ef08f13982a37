"""The strategy ``flow`` keeps its cap and its minimum, and ends, whatever is inside a block."""

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
def test_a_long_line_in_a_component_is_cut_within_the_limits(text: str) -> None:
    chunks = quire.chunk(text, "flow", max_tokens=256)
    assert all(64 <= chunk.token_stats.tokens <= 256 for chunk in chunks)
    assert chunks.findings == ()
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
