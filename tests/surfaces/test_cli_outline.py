"""``quire outline``: the heading tree, drawn and as JSON."""

from __future__ import annotations

import json
import unicodedata

import pytest
from processes import process

import quire

GUIDE = "---\ntitle: The guide\n---\nhello\n\n# A\n\none\n\n### Deep\n\ntwo\n\n## B\n\n# C\n\nthree four\n"


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def test_tree_with_tokens_and_lines(run, docs) -> None:
    result = run("outline", docs({"guide.md": GUIDE}) / "guide.md")
    assert result.code == 0
    assert result.out.decode() == (
        "guide.md · The guide  28 tokens  lines 1-18\n"
        "├─ A                  13 tokens  lines 6-14\n"
        "│  ├─ Deep             5 tokens  lines 10-12\n"
        "│  └─ B                3 tokens  line 14\n"
        "└─ C                   6 tokens  lines 16-18\n"
    )
    assert "[heading-without-text]" in result.err


def test_json_tree(run, docs) -> None:
    file = docs({"guide.md": GUIDE}) / "guide.md"
    tree = json.loads(run("outline", "--json", file).out)
    assert (tree["path"], tree["title"], tree["depth"], tree["startLine"], tree["endLine"]) == (
        "guide.md", "The guide", 0, 1, 18,
    )  # fmt: skip
    assert [child["title"] for child in tree["children"]] == ["A", "C"]
    assert [(child["title"], child["depth"]) for child in tree["children"][0]["children"]] == [("Deep", 3), ("B", 2)]
    slugs = [section.slug for section in quire.parse(GUIDE, path="guide.md").sections]
    assert [tree["slug"], *_slugs(tree)] == slugs
    assert tree["tokens"] == tree["ownTokens"] + sum(child["tokens"] for child in tree["children"])


def _slugs(node):
    return [slug for child in node["children"] for slug in (child["slug"], *_slugs(child))]


def test_json_findings_stay_off_standard_output(run, docs) -> None:
    result = run("outline", "--json", docs({"a.md": "# Empty\n"}) / "a.md")
    assert json.loads(result.out)["children"][0]["title"] == "Empty"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a.md  0 tokens  line 1\n"),
        ("only text\n\nmore\n", "a.md  5 tokens  lines 1-3\n"),
        ("# One\n\ntext\n", "a.md    5 tokens  lines 1-3\n└─ One  5 tokens  lines 1-3\n"),
        ("#\n\ntext\n", "a.md           3 tokens  lines 1-3\n└─ (no title)  3 tokens  lines 1-3\n"),
        ("### Low\n\nx\n", "a.md    5 tokens  lines 1-3\n└─ Low  5 tokens  lines 1-3\n"),
    ],
    ids=["empty", "no headings", "one heading", "heading without a title", "starts low"],
)
def test_small_documents(run, docs, text, expected) -> None:
    result = run("outline", docs({"a.md": text}) / "a.md")
    assert (result.code, result.out.decode()) == (0, expected)


def test_depth(run, docs) -> None:
    file = docs({"guide.md": GUIDE}) / "guide.md"
    assert run("outline", "--depth", 1, file).out.count(b"\n") == 3
    assert json.loads(run("outline", "--depth", 0, "--json", file).out)["children"] == []


def test_title_in_place_of_the_document_s_own(run, docs) -> None:
    result = run("outline", "--title", "Given", docs({"a.md": "# A\n\nx\n"}) / "a.md")
    assert result.out.decode().startswith("a.md · Given  ")


def test_standard_input(run) -> None:
    result = run("outline", "-", stdin=b"# A\n\nx\n")
    assert result.out.decode().splitlines()[0].startswith("<stdin>  ")
    assert json.loads(run("outline", "--json", "-", stdin=b"x\n").out)["path"] is None


def test_wide_characters_keep_the_columns(run, docs) -> None:
    text = "# 你好，世界\n\nx\n\n## Ascii\n\ny\n\n## 🎉 party\n\nz\n"
    lines = run("outline", docs({"a.md": text}) / "a.md").out.decode().splitlines()
    assert len({columns(line.partition(" tokens")[0]) for line in lines}) == 1


@pytest.mark.parametrize("name", ["nope.md", "folder"])
def test_what_cannot_be_outlined(run, docs, name) -> None:
    folder = docs({"folder/a.md": "x\n"})
    result = run("outline", "--json", folder / name)
    assert (result.code, result.out) == (2, b"")
    assert result.err.startswith(f"quire: {folder}/{name}: ")
    assert result.err.count("\n") == 1


def test_undecodable_bytes(run, docs) -> None:
    file = docs({"a.md": b"# A\n\n\xff\n"}) / "a.md"
    result = run("outline", file)
    assert (result.code, result.out) == (2, b"")
    assert f"{file}: line 3, byte offset 5: not UTF-8" in result.err
    assert "use --errors replace" in result.err
    assert run("outline", "--errors", "replace", file).code == 0


def test_terminal_that_knows_ascii_only(docs) -> None:
    file = docs({"a.md": "# Grüße\n\nx\n\n## B\n\ny\n"}) / "a.md"
    result = process("outline", str(file), environment={"PYTHONIOENCODING": "ascii"})
    assert result.code == 0
    assert [line.split("  ")[0] for line in result.out.decode("ascii").splitlines()] == ["a.md", "`- Gr??e", ""]
    assert b"`- B" in result.out


def test_control_characters_are_shown_not_sent(run, docs) -> None:
    result = run("outline", docs({"a.md": "# red \x1b[31m\x9b1m \x07 bell\n\nx\n"}) / "a.md")
    assert not set(result.out.decode()) & set(map(chr, [*range(10), *range(11, 32), *range(127, 160)]))
    assert "red ␛[31m" in result.out.decode()
