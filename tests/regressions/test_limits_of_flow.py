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
