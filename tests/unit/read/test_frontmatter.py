"""What counts as front matter, what it says, and what becomes of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

import quire
from quire.model.document import Span
from quire.read.frontmatter import split

BOM = "\ufeff"
EXPONENTIAL = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
MERGES = "a0: &a0 {x: y}\n" + "".join(f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))


def data_of(block: str) -> dict[str, Any]:
    top = split(f"---\n{block}\n---\nbody\n", "x.md")
    assert top.body_start == len(f"---\n{block}\n---\n"), top.findings
    assert {finding.code for finding in top.findings} <= {"frontmatter-too-large"}
    return top.data


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", BOM])
@pytest.mark.parametrize("blanks", ["", " \t"])
@pytest.mark.parametrize(
    ("opening", "line", "closing"),
    [
        ("---", "title: A", "---"),
        ("---", "title: A", "..."),
        ("+++", 'title = "A"', "+++"),
        ("---", "{title: A}", "---"),
    ],
)
def test_is_taken_off(opening: str, line: str, closing: str, blanks: str, mark: str, end: str) -> None:
    head = mark + opening + blanks + end + line + end + closing + blanks + end
    for text in (head, head + "body" + end, head + end + "---" + end):
        top = split(text, "x.md")
        assert (top.data, top.body_start, top.malformed_frontmatter, top.findings) == (
            {"title": "A"},
            len(head),
            None,
            (),
        )


def test_may_end_the_text() -> None:
    assert split("---\na: b\n---", "x.md").body_start == 12
    assert split("---\na: b\n--- \t", "x.md").body_start == 14


@pytest.mark.parametrize("text", ["---\n---\nbody", "+++\n+++\nbody", "+++\n# comment\n+++\nbody"])
def test_may_be_empty(text: str) -> None:
    top = split(text, "x.md")
    assert (top.data, text[top.body_start :]) == ({}, "body")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "---",
        "---\n",
        "---\na: b\n",  # not closed
        "---\na: b\n----\n",
        "---\na: b\n ---\n",
        "---\na: b\n--- c\n",
        "---\n\na: b\n---\n",  # a rule and a blank line
        "---\n \t\r\na: b\n---\n",
        "----\na: b\n---\n",
        "--- a\na: b\n---\n",
        " ---\na: b\n---\n",
        "\n---\na: b\n---\n",
        "---\nHeading\n---\n",
        "---\n- a\n- b\n---\n",
        "---\nSome prose, with [brackets] and `code: x`.\n\n* more: prose\n---\n",
        '---\n> quote: "x\n---\n',
        "---\n\tcode: x\n---\n",
        "+++\na = 1\n",
        "+++\na = 1\n---\n",
        "---\na: b\n+++\n",
        "text\n---\na: b\n---\n",
    ],
)
@pytest.mark.parametrize("mark", ["", BOM])
def test_is_not_front_matter(text: str, mark: str) -> None:
    top = split(mark + text, "x.md")
    assert (top.data, top.body_start, top.malformed_frontmatter, top.findings) == ({}, len(mark), None, ())


@pytest.mark.parametrize(
    ("block", "line", "problem"),
    [
        ('title: "open\nb: c', 2, "quoted scalar"),
        ("a: b\nc: d: e", 3, "mapping values are not allowed"),
        ("a: b\n\tc: d", 3, ""),  # libyaml and PyYAML's own reader have different wordings
        ("a:\n\t- b", 3, ""),
        ("a: b\nc: [d", 3, "flow sequence"),
        ("a: b\nc: {{ page.title }}", 3, "unhashable key"),
        ("a: b\nc: !!python/object/apply:os.system [ls]", 3, "constructor for the tag"),
        ("a: b\nc: !vault x", 3, "constructor for the tag"),
        ("a: b\nc: *unknown", 3, "undefined alias"),
        ("a: b\n--- c", 3, "single document"),
        ("a: é\nc: \x07", 3, "U+0007"),
        ("a: b\nc: \0", 3, "U+0000"),
        ("a: b\nc: \ud800", 3, "U+D800"),
        ("# comment\n\na: b\n'c: d", 5, "quoted scalar"),
        ("a: &x [*x]", 2, "nested deeper"),
        ("a: &x {b: [*x, *x]}", 2, "nested deeper"),
        (EXPONENTIAL, None, "aliases"),
        ("a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 60)), None, "nested deeper"),
        ("a: &x " + "y" * 1000 + "\nb: [" + "*x, " * 10000 + "*x]", None, "aliases"),
        ("a: b\nc: " + "[" * 100_000, 3, "nested deeper"),
        ("a: b\nc: " + "{d: " * 10_000, 3, "nested deeper"),
        ("a:\n " + "- " * 100_000 + "x", 3, "nested deeper"),
        ("".join(" " * depth + "a:\n" for depth in range(1000)), 52, "nested deeper"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_malformed_yaml_stays_in_the_body(
    block: str, line: int | None, problem: str, end: str, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyYAML with libyaml and without it, as where it has no wheel."""
    if not hasattr(yaml, loader):
        pytest.skip("PyYAML is without libyaml")
    if loader == "SafeLoader":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    head = f"{BOM}---\n{block}\n---\n".replace("\n", end)
    top = split(head + "body\n", "guide.md")
    assert (top.data, top.body_start, top.malformed_frontmatter) == ({}, 1, Span(1, len(head)))
    (finding,) = top.findings
    assert (finding.code, finding.path) == ("frontmatter-malformed", "guide.md")
    assert problem in finding.message
    assert "treated as text" in finding.message
    assert "\n" not in finding.message
    if line is not None:
        assert finding.line == line


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("a = 1\nb = ", 3),
        ("a = 1\nb\n", 3),
        ('a = "open', 2),
        ("a = 1\na = 2", 3),
        ("a = 1979-13-01", 2),
        ("prose", 2),
        ("a = " + "9" * 10_000, 2),
        ("a = " + "[" * 100_000, 2),
        ("a = 1\n" + ".".join("b" * 1000) + " = 1", 3),
        ("[" + ".".join("b" * 100_000) + "]", 2),
        ("a = " + "{b=" * 60 + "1" + "}" * 60, 2),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_malformed_toml_stays_in_the_body(block: str, line: int, end: str) -> None:
    head = f"+++\n{block}\n+++\n".replace("\n", end)
    top = split(head + "body\n", "guide.md")
    assert (top.data, top.body_start, top.malformed_frontmatter) == ({}, 0, Span(0, len(head)))
    assert [(finding.code, finding.line) for finding in top.findings] == [("frontmatter-malformed", line)]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("2024-01-31", "2024-01-31"),
        ("2024-01-31 10:20:30", "2024-01-31T10:20:30"),
        ("2024-01-31T10:20:30+02:00", "2024-01-31T10:20:30+02:00"),
        ("2024-02-31", "2024-02-31"),
        ("0000-00-00", "0000-00-00"),
        (".nan", "nan"),
        ("-.inf", "-inf"),
        ("1.0e+999", "inf"),
        ("1.5", 1.5),
        ("010", 8),
        ("1_000", 1000),
        ("1:30", 90),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", "18446744073709551616"),
        ("9" * 10_000, "9" * 10_000),
        ("0x" + "f" * 10_000, "0x" + "f" * 10_000),
        ("1" + ":1" * 10_000, "1" + ":1" * 10_000),
        ("!!int abc", "abc"),
        ("!!float ''", ""),
        ("!!bool maybe", "maybe"),
        ("!!timestamp soon", "soon"),
        ("!!binary aGVsbG8=", "aGVsbG8="),
        ("!!set {b, a}", ["a", "b"]),
        ("!!omap [a: 1]", [{"a": 1}]),
        ("=", "="),
        ("yes", True),
        ("~", None),
        ('"\\u00e9\\n"', "é\n"),
        ("'it''s'", "it's"),
        ("[a, {b: [c]}]", ["a", {"b": ["c"]}]),
    ],
)
def test_values_are_plain(value: str, plain: object) -> None:
    data = data_of(f"key: {value}")
    assert data == {"key": plain}
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_keys_are_text() -> None:
    block = "3: a\n1.5: b\ntrue: c\nnull: d\n2024-01-31: e\n.inf: f\n=: g\nx: {2: h}"
    assert list(data_of(block)) == ["3", "1.5", "true", "null", "2024-01-31", "inf", "=", "x"]
    assert data_of(block)["x"] == {"2": "h"}


def test_later_keys_win() -> None:
    assert data_of("a: b\na: c") == {"a": "c"}
    assert data_of("a: b\n'a': 'c\n d'") == {"a": "c d"}


def test_anchors_and_merges_are_resolved() -> None:
    assert data_of("a: &x {b: c}\nd:\n  <<: *x\n  e: f\ng: *x") == {
        "a": {"b": "c"},
        "d": {"b": "c", "e": "f"},
        "g": {"b": "c"},
    }


def test_merged_mappings_do_not_multiply() -> None:
    assert data_of(MERGES)["a11"] == {"x": "y"}
    assert data_of("a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne: {<<: [*x, *y], d: 4}")["e"] == {"b": 1, "d": 4}


def test_toml_values_are_plain() -> None:
    block = "a = 1979-05-27\nb = 07:32:00\nc = 1979-05-27T07:32:00Z\nd = nan\ne = {f = [1, 2.5, true]}\n"
    block += '[g]\nh = """\nx\n"""'
    top = split(f"+++\n{block}\n+++\n", "x.md")
    assert top.data == {
        "a": "1979-05-27",
        "b": "07:32:00",
        "c": "1979-05-27T07:32:00+00:00",
        "d": "nan",
        "e": {"f": [1, 2.5, True]},
        "g": {"h": "x\n"},
    }


def test_large_front_matter_is_read() -> None:
    plain = "".join(f"key{number}: value of some length\n" for number in range(150_000))
    other = "".join(f"key{number}: 1.5\n" for number in range(20_000))
    assert len(data_of(plain)) == 150_000
    assert len(data_of(other)) == 20_000


@pytest.mark.parametrize("line", ["----\n", "---x\r", "...x\n", "--- \tx\n", "a: b\n", "\n--", "\r.."])
def test_no_closing_line_in_a_long_text(line: str) -> None:
    text = "---\nkey: x\n" + line * 1_000_000
    assert split(text, "x.md").body_start == 0


FENCES = st.sampled_from(["---", "+++", "...", "--- ", "---\t", "----"])
WORDS = [
    "a: b", "a: ", "b: [", "c: {", "- d", '"e', "'f", "g = 1", "h = [", "[i]", "*j", "&k ", "!!int x", "!!set {a",
    "<<: ", "? l", "| ", ">\n m", "\t", "\0", "\ud800", "\x85", "\u2028", BOM, "# n", "2024-99-99", "1:99",
    "%YAML 1.1", "]", "}",
]  # fmt: skip
LINES = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=3).map("".join)
TEXTS = st.builds(
    lambda mark, first, lines, end: mark + end.join([first, *lines]),
    st.sampled_from(["", BOM]), FENCES, st.lists(LINES | FENCES, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]),
)  # fmt: skip


@given(TEXTS)
@example("---\n!!float : x\n---\n")
@example("---\n!!map x: y\n---\n")
@example("---\n? {a: b}\n: c\n---\n")
def test_any_text_gives_an_answer(text: str) -> None:
    top = split(text, "x.md")
    assert json.dumps(top.data, allow_nan=False)
    assert bool(top.findings) == (top.malformed_frontmatter is not None)
    if top.body_start > 1:
        assert text[: top.body_start].rstrip(" \t\r\n").endswith(("---", "...", "+++"))
    for finding in top.findings:
        assert 2 <= finding.line <= len(text.splitlines()) + 1


@pytest.mark.parametrize("text", ["---\n# Title\n---\nbody", "---\n# a\n\n# b\n...\nbody"])
def test_nothing_but_comments_is_text_between_rules(text: str) -> None:
    top = split(text, "x.md")
    assert (top.data, top.body_start, top.malformed_frontmatter, top.findings) == ({}, 0, None, ())


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("---\ntitle: A\nsourceFile: x.md\n---\n", "sourceFile"),
        ("+++\na = 1\n[chunkingOptions]\nb = 2\n+++\n", "chunkingOptions"),
        ("---\n{a: 1, pipeline: x}\n---\n", "pipeline"),
        ("---\npipeline-id: 3\npipeline.x: 4\npipeline : x\n---\n", "pipeline"),
    ],
)
def test_names_of_quire_s_own_metadata_are_reported(text: str, key: str) -> None:
    top = split(f"{text}body\n", "x.md")
    assert key in top.data
    (finding,) = top.findings
    assert (finding.code, finding.path, finding.line) == ("frontmatter-reserved", "x.md", 1)
    assert repr(key) in finding.message
    assert "rename it" in finding.message


def test_names_like_those_of_quire_s_own_metadata_are_free() -> None:
    assert data_of("sourcefile: x\npipelines: [a]\nnested: {pipeline: x}")["pipelines"] == ["a"]


def test_a_tab_is_called_a_tab() -> None:
    (finding,) = quire.parse("---\nkeys:\n\tfirst: 1\n---\nText").findings
    assert "a tab where YAML takes only spaces" in finding.message
    assert finding.line == 3
