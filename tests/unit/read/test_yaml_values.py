"""YAML is read as PyYAML's safe loader reads it."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from quire.read.yaml_values import MalformedError, load
from support import shared

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def assert_same(block: str) -> None:
    """Equal in value and type, and refused if PyYAML refuses it; but impossible dates, ``=`` and ``<<`` are text."""
    try:
        expected = repr(yaml.load(block, LOADER))
    except ValueError:
        return
    except yaml.YAMLError as error:
        if not re.search("2002:(value|merge)", str(error)):
            with pytest.raises(MalformedError):
                load(block)
        return
    assert repr(load(block)) == expected


@pytest.mark.parametrize(
    "block",
    [
        "title: Getting started\n",
        "title: C# and F#: a guide/overview\nurl: https://example.org/#top\n",
        "url: https://example.org/#top\n",
        "a: yes\nb: Off\nc: null\nd: y\ne:\n",
        """a: "x: y # z"\nb: 'it "is"'  \n""",
        "tags:\n- one\n- no\nnext: x\n",
        "tags: [one, two words,three ]\n",
        "text: one\n  two - three\n   four\n",
        "a: |\n  one\n\n    two\n  three\n\nb: >-\n  four\n  five\n",
        "a:\n  - b: c\n    d: e\n  - b: 1\n",
        "# comment\n\na: b\r\nc: d\r\n",
        "a: b\na: c\n",
        "a: &x {b: c}\nd: {<<: *x, e: f}\ng: [*x, *x]\n",
        "a: !!str 1\nc: !!int '1'\nd: !!seq []\ne: !!map {}\n",
        "",
        "# comment\n",
        "key:value\n",
        "a: b\n c: d\n",
        "a:\n- b\n - c\n",
        "a: b",
        "a: b\n---\nc: d\n",
    ],
)
def test_blocks(block: str) -> None:
    assert_same(block)


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
def test_values(value: str) -> None:
    assert_same(f"key: {value}\n")


@pytest.mark.parametrize("key", ["yes", "null", "1", "1.5", "a b", '"a"', "é", "a" * 2000, "? a", "- a", " a", "[a]"])
def test_keys(key: str) -> None:
    assert_same(f"{key}: b\n")


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
def test_any_block(block: str) -> None:
    assert_same(block)


@given(st.lists(WELL, min_size=1, max_size=8).map("".join))
def test_likely_blocks(block: str) -> None:
    assert_same(block)


@shared.needs_shared
def test_shared_pages() -> None:
    for _, data in shared.documents():
        if data.startswith(b"---\n"):
            assert_same(data.decode()[4:].partition("\n---\n")[0] + "\n")
