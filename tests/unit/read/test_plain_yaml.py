"""Plain YAML is read as PyYAML reads it, or left to PyYAML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.read import yaml_values
from quire.read.frontmatter import split
from support import shared

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*\n", re.DOTALL)


def parsed(block: str) -> Any:
    """The value by PyYAML; None if it refuses the block."""
    try:
        value = yaml_values.load(block)
    except yaml_values.MalformedError:
        return None
    return _json_value(value)


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json_value(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value


def different(blocks: Iterable[str]) -> list[str]:
    """The blocks that are read otherwise than by PyYAML; values of different types differ too."""
    made = [(block, yaml_values.load_plain(block)) for block in blocks]
    assert any(value is not None for _, value in made)
    return [block for block, value in made if value is not None and repr(value) != repr(parsed(block))]


@shared.needs_shared
def test_front_matter_of_shared_documents() -> None:
    texts = (data.decode("utf-8", "replace") for _, data in shared.documents())
    blocks = {block[1] for text in texts if (block := BLOCK.match(text))}
    assert different(blocks) == []
    assert sum(yaml_values.load_plain(block) is not None for block in blocks) > 0.9 * len(blocks)


def test_every_block_of_yaml_in_the_repository() -> None:
    texts = [
        file.read_text(encoding="utf-8") for folder in ("docs", "tests/cases") for file in (ROOT / folder).rglob("*.md")
    ]
    assert different({block[1] for text in texts for block in BLOCK.finditer(text)} | {"a: b\n"}) == []


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("a: b c\n# x\n\nd:\n", {"a": "b c", "d": None}),
        ("a: 'b: c'\nd: \"e\" \nf: https://x.example/#g\n", {"a": "b: c", "d": "e", "f": "https://x.example/#g"}),
        ('a: [b, "c", 1]\nd: []\n', {"a": ["b", "c", 1], "d": []}),
        ("a:\n- b\n- c: d\n  e: f\ng:\n  - h\n", {"a": ["b", {"c": "d", "e": "f"}], "g": ["h"]}),
        ("a:\n  b:\n    c: 7\n  d: 1.50\n", {"a": {"b": {"c": 7}, "d": 1.5}}),
        ("a: b\n  c\nd: >-\n  e\n  f\ng: |\n  h\n  i\n", {"a": "b c", "d": "e f", "g": "h\ni\n"}),
        ("a: yes\nb: Null\nc: 2020-01-31\nd: 3 ways\n", {"a": True, "b": None, "c": "2020-01-31", "d": "3 ways"}),
        ("a: 2020-01-31T10:00:00Z\nb: 2020-13-01\n", {"a": "2020-01-31T10:00:00+00:00", "b": "2020-13-01"}),
    ],
)  # fmt: skip
def test_values(block: str, value: dict[str, Any]) -> None:
    assert repr(yaml_values.load_plain(block)) == repr(value) == repr(split(f"---\n{block}---\n", "x.md").data)


@pytest.mark.parametrize(
    "block",
    [
        "", "# a\n", "a\n", "- a\n", "a: {b: c}\n", "a: &b c\n", "a: *b\n", "a: b # c\n", "a: 'it''s'\n", 'a: "b\\n"\n',
        "a: b: c\n", "yes: a\n", "a: 007\n", "a: 1:30\n", "a: .inf\n", "a b: c\n", " a: b\n", "a:\n    - b\n  - c\n", "a:\n  - b\n- c\n", "a: b\n- c\n",
        "a: |\n  b\n   c\n", "a: >\n  b\n\n  c\n", "a: [b, {c: d}]\n", "a: \tb\n", "a: b\r\n", "a: b\xa0\n", "a: - b\n",
        "".join(f"{'  ' * depth}a:\n" for depth in range(40)) + "  " * 40 + "a: b\n",
    ],
)  # fmt: skip
def test_anything_else_is_left_to_pyyaml(block: str) -> None:
    assert yaml_values.load_plain(block) is None


_WORDS = ["a", "yes", "null", "1", "01", "1.5", ".5", "0x1F", "1_0", "12:30", "2020-01-01", "'q'", '"d"', "[a, b]", "[a, ]",
          "[a,,b]", "[]", "{a: b}", "|", ">-", "&a", "*a", "# c", "x #c", "x# c", "a: b", "a:b", "a:", "@x", "-", "- a", "é",
          "\xa0", "\t", "~", "x y", "/p", "...", "---"]  # fmt: skip
_LINES = st.tuples(
    st.sampled_from(["", "", "", " ", "  ", "  ", "    "]),
    st.sampled_from(["a: ", "b: ", "a:", "- ", "- a: ", "yes: ", "", "#"]),
    st.sampled_from(["", *_WORDS]),
).map("".join)


@given(st.lists(_LINES, min_size=1, max_size=6))
def test_random_lines(lines: list[str]) -> None:
    assert different(["a: b\n", "".join(f"{line}\n" for line in lines)]) == []
