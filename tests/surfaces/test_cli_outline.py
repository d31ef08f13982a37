"""``quire outline``: the heading tree of a file, the documents and headings of a folder or tree."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from outputs import refused
from processes import process

import quire
from quire.tokens import tokenizers

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


# Folders, trees and ids


AUTH = "# Auth\n\nIntro\n\n## OAuth\n\nTokens rotate.\n\n### Rotate\n\nrotate tokens daily\n\n## Basic\n\npassword\n"


@pytest.fixture
def project(docs, monkeypatch):
    """Two trees that quire.toml names."""
    folder = docs({"docs/guides/auth.md": AUTH, "docs/b.md": "b\n", "more/c.txt": "c\n"})
    (folder / "quire.toml").write_text('[trees]\ndocs = "docs"\nmore = "more"\n')
    monkeypatch.chdir(folder)
    return folder


def files(result) -> list[str]:
    assert (result.code, result.err) == (0, "")
    return [each["file"] for each in json.loads(result.out)]


def test_documents(run, project) -> None:
    result = run("outline")
    assert (result.code, result.err) == (0, "")
    assert result.out.decode() == (
        "docs/b.md             2 tokens  b\n"
        "docs/guides/auth.md  23 tokens  Auth\n"
        "more/c.txt            2 tokens  c\n"
    )  # fmt: skip
    assert json.loads(run("outline", "--json", "more").out) == [
        {"id": "more:c.txt", "path": "c.txt", "file": "more/c.txt", "title": "c", "nodes": 1, "tokens": 2}
    ]


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("docs", ["docs/b.md", "docs/guides/auth.md"]),
        ("./docs/guides", ["docs/guides/auth.md"]),
        ("docs:", ["docs/b.md", "docs/guides/auth.md"]),
        ("guides", ["docs/guides/auth.md"]),
        ("guides/", ["docs/guides/auth.md"]),
        ("docs:guides/", ["docs/guides/auth.md"]),
        ("*.md", ["docs/b.md", "docs/guides/auth.md"]),
        ("more", ["more/c.txt"]),
    ],
)
def test_documents_of_a_tree_a_folder_or_a_pattern(run, project, name, listed) -> None:
    assert files(run("outline", "--json", name)) == listed


def test_documents_from_another_folder(run, project, monkeypatch) -> None:
    monkeypatch.chdir(project / "more")
    assert files(run("outline", "--json", "../docs")) == ["../docs/b.md", "../docs/guides/auth.md"]


@pytest.mark.parametrize("name", ["docs:guides/auth.md", "guides/auth.md"])
def test_headings_of_a_document_in_the_index(run, project, name) -> None:
    drawn = run("outline", "docs/guides/auth.md").out.decode()
    assert re.findall(r"\w+(?=  +\d+ tokens)", drawn) == ["md", "Auth", "OAuth", "Rotate", "Basic"]
    indexed = run("outline", name).out.decode().splitlines()
    assert [line.split() for line in indexed[1:]] == [line.split() for line in drawn.splitlines()[1:]]


def test_headings_below_a_section(run, project) -> None:
    section = json.loads(run("outline", "--json", "docs:guides/auth.md#oauth").out)
    assert (section["slug"], section["startLine"], section["endLine"]) == ("oauth", 5, 11)
    assert [(child["slug"], child["startLine"]) for child in section["children"]] == [("rotate", 9)]
    assert run("outline", "docs:guides/auth.md#oauth").out.decode().count("\n") == 2


def test_a_section_below_the_depth_is_shown_without_its_headings(run, project) -> None:
    section = json.loads(run("outline", "--json", "-d", "0", "docs:guides/auth.md#oauth").out)
    assert (section["slug"], section["children"]) == ("oauth", [])
    assert run("outline", "-d", "0", "docs:guides/auth.md#oauth").out.decode().startswith("OAuth  ")


def test_changes_are_read_unless_the_user_says_no(run, docs, project) -> None:
    run("index")
    docs({"docs/new.md": "n\n"})
    assert "docs/new.md" not in run("outline", "--no-update", "docs").out.decode()
    assert "docs/new.md" in run("outline", "docs").out.decode()


def test_a_folder_that_is_not_configured(run, docs, project) -> None:
    docs({"other/x.md": "# X\n"})
    assert files(run("outline", "--json", "other")) == ["other/x.md"]
    assert "other" not in run("outline").out.decode()


def test_not_there(run, project) -> None:
    result = run("outline", "docs:guides/auht.md")
    assert (result.code, result.out) == (1, b"")
    assert "similar: docs:guides/auth.md" in result.err
    assert run("outline", "zzzz").err == "quire: zzzz: not in the index; `quire outline` shows what is\n"
    run("index", "--index", "other ix")
    said = "quire: zzzz: not in the index; `quire outline --index 'other ix'` shows what is\n"
    assert run("outline", "zzzz", "--index", "other ix").err == said
    assert "there is no index yet" in refused(run("outline", "--no-update", "docs", "--index", "none"))


def test_a_damaged_index_is_mended_where_it_is(run, project) -> None:
    run("index", "--index", "zz")
    (project / "zz/index.current").write_text("{")
    assert "run: quire index" in refused(run("outline", "--no-update", "--index", "zz"))


@pytest.mark.parametrize("most", [64, 90, 2_000])
def test_headings_within_a_limit(project, run, most) -> None:
    for number in range(30):
        (project / "docs" / f"{number}.md").write_text(f"# Page {number}\n\nText.\n")
    result = run("outline", "--max-tokens", most)
    text = result.out.decode()
    assert 0 < tokenizers.resolve(None, "o200k_base").count(text) <= most
    assert ("only " in result.err) == (most < 2_000)
    assert ("  #oauth OAuth 5-11 (" in text) == (most == 2_000)
    rows = json.loads(run("outline", "--max-tokens", most, "--json").out)["rows"]
    assert len(rows) == len(text.splitlines())


def test_headings_of_a_folder(project, run) -> None:
    assert run("outline", "--headings", "docs/guides").out.decode().splitlines() == [
        "docs:guides/auth.md Auth (23)",
        "    #oauth OAuth 5-11 (13)",
        "      #rotate Rotate 9-11 (7)",
        "    #basic Basic 13-15 (5)",
    ]
