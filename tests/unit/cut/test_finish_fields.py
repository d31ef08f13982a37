"""Chunks fill in their fields when they are asked for: whichever is asked for first, and of whichever chunk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import fields, replace

import quire
from quire.model.chunk_record import Chunk, SourcePosition, TokenStats
from support import grammar
from support.strategies import count_words, options

NAMES = [each.name for each in fields(Chunk)]
SENTENCES = "One sentence is here. Another one follows it. "
TEXT = f"""\
---
tags: [a, b]
nested: {{a: {{b: 1}}}}
---
Preamble é.

# A

{SENTENCES * 12}

{SENTENCES * 12}

- one
- two

## B

```text
code
```
"""
STRATEGIES = [
    {"strategy": "tree"},
    {"strategy": "sections", "max_tokens": 100},
    {"strategy": "packed", "hard_cap": 120},
    {"strategy": "packed", "hard_cap": 80, "tokenizer": count_words},
    {"strategy": "flow", "max_tokens": 120},
    {"strategy": "flow", "max_tokens": 120, "normalize": False, "breadcrumb_mode": "always"},
]


def chunks_of(text: str = TEXT, **chosen: Any) -> quire.Chunks:
    return quire.chunk(text, **{"path": "guides/a.md", **chosen})


@pytest.mark.parametrize("chosen", STRATEGIES)
@pytest.mark.parametrize("first", [*NAMES, "content_hash", "embed_prefix"])
def test_it_does_not_matter_which_field_is_asked_for_first(first: str, chosen: dict[str, Any]) -> None:
    expected, asked = chunks_of(**chosen), chunks_of(**chosen)
    assert len(asked) > 2
    for chunk, same in zip(reversed(asked), reversed(expected), strict=True):
        record = same.to_dict()  # asks for all of them
        assert getattr(chunk, first) == getattr(same, first)
        assert chunk == same
        assert chunk.to_dict() == record


@given(text=grammar.documents(), chosen=options())
def test_a_chunk_made_of_its_fields_is_the_same(text: str, chosen: dict[str, Any]) -> None:
    for chunk in quire.chunk(text, **chosen):
        same = Chunk(**{name: getattr(chunk, name) for name in NAMES})
        assert same == chunk
        assert same.to_dict() == chunk.to_dict()


def test_a_chunk_cannot_be_changed() -> None:
    chunk = chunks_of()[0]
    with pytest.raises(AttributeError):
        chunk.original_text = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        chunk.source_position.char_start = 0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        chunk.token_stats.tokens = 0  # type: ignore[misc]


@pytest.mark.parametrize("is_read", [False, True])
def test_a_chunk_has_no_other_fields(is_read: bool) -> None:
    chunk = chunks_of()[0]
    if is_read:
        chunk.to_dict()
    with pytest.raises(AttributeError, match="nothing"):
        chunk.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_a_chunk_with_another_field() -> None:
    chunk = replace(chunks_of()[0], original_text="other")
    assert (chunk.original_text, chunk.id) == ("other", "doc:guides/a::ch0")


def test_a_record_is_the_callers_own() -> None:
    first, second = chunks_of(hard_cap=120)[:2]
    before = [json.dumps(each.to_dict()) for each in (first, second)]
    _spoil(first.to_dict())
    assert [json.dumps(each.to_dict()) for each in (first, second)] == before


def _spoil(record: dict[str, Any]) -> None:
    """Change what holds other values, but for lists in front matter, which all records share."""
    for name, value in list(record.items()):
        if isinstance(value, dict):
            _spoil(value)
        elif isinstance(value, list) and name != "tags":
            value.append("spoilt")
    record["spoilt"] = True


def test_values_in_the_order_of_the_fields() -> None:
    position, stats = SourcePosition(*range(1, 8)), TokenStats(1, 2, 3)
    assert position == SourcePosition(
        char_start=1, char_end=2, total_chars=3, byte_start=4, byte_end=5, start_line=6, end_line=7
    )
    assert stats == TokenStats(tokens=1, estimated_tokens=2, embed_tokens=3)


def test_node_types_of_a_block_in_several_chunks() -> None:
    items = "".join(f"- an item with a number, which is {number}\n" for number in range(40))
    chunks = chunks_of(f"Prose.\n\n{items}\n> quote\n", strategy="packed", hard_cap=64, min_tokens=0)
    kinds = [chunk.node_types for chunk in chunks]
    assert len(kinds) > 4
    assert {"paragraph", "list"} >= set(kinds[0])
    assert set(kinds[1:-1]) == {("list",)}
    assert kinds[-1][-1] == "blockquote"
