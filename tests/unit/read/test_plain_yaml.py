"""The plain reader says what PyYAML says, or nothing."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from quire.read.plain_yaml import read_plain
from support import shared

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Different:
    """Equal to nothing: what PyYAML refuses, the plain reader must not answer."""


def by_pyyaml(block: str) -> Any:
    try:
        return _json(yaml.load(block, LOADER) or {})
    except (yaml.YAMLError, ValueError, UnicodeError):
        return _Different()


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json(each) for each in value]
    return value.isoformat() if isinstance(value, dt.date) else value


def same(left: Any, right: Any) -> bool:
    """Equal in value and type: 1 is not True."""
    return repr(left) == repr(right)


@pytest.mark.parametrize(
    ("block", "data"),
    [
        ("title: Getting started\n", {"title": "Getting started"}),
        ("title: C# and F#: a guide/overview\nurl: https://example.org/#top\n", None),
        ("url: https://example.org/#top\n", {"url": "https://example.org/#top"}),
        ("a: yes\nb: Off\nc: null\nd: y\ne:\n", {"a": True, "b": False, "c": None, "d": "y", "e": None}),
        ("weight: 10\nzero: 0\n", {"weight": 10, "zero": 0}),
        ("time: 20 minutes\n", {"time": "20 minutes"}),
        ("""a: "x: y # z"\nb: 'it "is"'  \n""", {"a": "x: y # z", "b": 'it "is"'}),
        ("tags:\n  - one\n  - two words \n", {"tags": ["one", "two words"]}),
        ("tags:\n- one\n- no\nnext: x\n", {"tags": ["one", False], "next": "x"}),
        ("tags: [one, two words,three ]\n", {"tags": ["one", "two words", "three"]}),
        ("text: one\n  two - three\n   four\n", {"text": "one two - three four"}),
        ("text:\n  one\n  two\nb: c\n", {"text": "one two", "b": "c"}),
        (
            "a: |\n  one\n\n    two\n  three\n\nb: >-\n  four\n  five\n",
            {"a": "one\n\n  two\nthree\n", "b": "four five"},
        ),
        ("a:\n  b:\n    c: d\n  e: [f]\n", {"a": {"b": {"c": "d"}, "e": ["f"]}}),
        ("a:\n  - b: c\n    d: e\n  - b: 1\n", {"a": [{"b": "c", "d": "e"}, {"b": 1}]}),
        ("# comment\n\na: b\r\nc: d\r\n", {"a": "b", "c": "d"}),
        ("a: b\na: c\n", {"a": "c"}),
        ("", {}),
    ],
)
def test_reads_the_plain_part(block: str, data: dict[str, Any] | None) -> None:
    assert same(read_plain(block), data)
    if data is not None:
        assert same(by_pyyaml(block), data)


@pytest.mark.parametrize(
    "value",
    [
        "010", "1_000", "1:30", "1e3", "1.5", ".5", "-1", "+1", "0x1F", "0b1", ".inf", ".nan", "2024-01-01",
        "2024-01-01 10:00:00", "=", "<<", "~", "- a", "? a", ": a", "{a: b}", "[a", "#a", "&a b", "*a", "!a b",
        "%a", "@a", "`a`", "a: b", "a #b", "a:", '"a\\n"', "'it''s'", '"a', "a\tb", "\ta", "a\x07", "a\x85b",
        "a\u2028b", "a\ufeffb", "a\ud800", "|+", "|2\n  a", ">\n  a\n\n  b", ">\n  a\n    b",
        "12345678901234567890", "---", "...", "[a: b]",
    ],
)  # fmt: skip
def test_leaves_the_rest_to_pyyaml(value: str) -> None:
    assert read_plain(f"key: {value}\n") is None


@pytest.mark.parametrize("key", ["yes", "null", "1", "<<", "=", "a b", '"a"', "é", "a" * 2000, "? a", "- a", " a"])
def test_leaves_unusual_keys_to_pyyaml(key: str) -> None:
    assert read_plain(f"{key}: b\n") is None


@pytest.mark.parametrize("block", ["key:value\n", "text\n", "a: b\n c: d\n", "a:\n- b\n - c\n", "a: b\n- c\n", "a: b"])
def test_leaves_other_shapes_to_pyyaml(block: str) -> None:
    assert read_plain(block) is None


def test_deep_mappings_are_left_to_pyyaml() -> None:
    assert read_plain("".join(" " * depth + "a:\n" for depth in range(500))) is None


PIECES = st.sampled_from(
    ["a", "key", "yes", "No", "null", "~", "é", "😀", "\xa0", "x y", "1", "08", "0", "1.5", "20 min", "3D", "1:30",
     "1e3", "2024-01-01", "=", "<<", ":", ": ", " #", "#", "-", "- ", "? ", ",", ", ", "[", "]", "{", "}", "'", '"',
     "|", "|-", ">", ">-", "&a", "*a", "!t", "%", "@", "`", "\\", "/", "(", ".", "...", "---", " ", "  ", "\t",
     "\u2028", "\ufeff"]
)  # fmt: skip
INDENT = st.sampled_from(["", "", "", " ", "  ", "  ", "    "])
LEAD = st.sampled_from(["", "key: ", "key: ", "key:", "b: ", "b:  ", "c:", "- ", "- ", "- d: ", "-  ", "# ", "yes: "])
LINES = st.builds(
    lambda indent, lead, pieces, end: indent + lead + "".join(pieces) + end,
    INDENT, LEAD, st.lists(PIECES, max_size=3), st.sampled_from(["\n", "\n", "\n", "\n\n", " \n", "\r\n", "\r", ""]),
)  # fmt: skip
WELL = st.builds(
    lambda indent, lead, value: f"{indent}{lead}{value}\n",
    INDENT,
    st.sampled_from(["key: ", "b: ", "c:", "- ", "- d: ", "  e: "]),
    st.sampled_from(["", "", "x y", "|", ">-", "[a, b c]", "'q'", '"q"', "12", "20 min", "- f", "no"]),
)


@given(st.lists(LINES | WELL, max_size=7).map("".join))
@example("a: |\n  b\n   \nc: d\n")
@example("a:\n  # only a comment\n")
@example("a:\n- b\n  c\n")
@example("a:\n- b: c\n- \n")
@example("a:\n- b: c\n- # d\n")
def test_never_differs_from_pyyaml(block: str) -> None:
    data = read_plain(block)
    assert data is None or same(data, by_pyyaml(block))


@given(st.lists(WELL, min_size=1, max_size=8).map("".join))
def test_never_differs_from_pyyaml_on_likely_blocks(block: str) -> None:
    data = read_plain(block)
    assert data is None or same(data, by_pyyaml(block))


@shared.needs_shared
def test_shared_pages_are_read_alike_and_nearly_all_here() -> None:
    texts = [data.decode() for _, data in shared.documents()]
    blocks = [text[4:].partition("\n---\n")[0] + "\n" for text in texts if text.startswith("---\n")]
    answers = [(read_plain(block), block) for block in blocks]
    assert all(data is None or same(data, by_pyyaml(block)) for data, block in answers)
    assert sum(data is not None for data, _ in answers) >= 0.95 * len(blocks)
