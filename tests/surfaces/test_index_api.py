"""``quire.Index`` as its users see it: open, update, search, get, and what it says of itself."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import quire
from quire import Index
from quire.search.search_settings import SearchSettings

AUTH = """---
title: Authentication
tags: [security]
---
Before the first heading.

# Authentication

How to log in.

## OAuth 2.0: The Flow

Ask for a token. Use it é.

### Errors

A token may be refused.

## Größe & Maß

In centimetres.

## Basic Auth

"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, text in {
        "docs/guides/auth.md": AUTH,
        "docs/intro.md": "# Intro\r\n\r\nHello.\r\n",
        "notes/intro.md": "# Own\n\nNote.\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return tmp_path


@pytest.fixture
def index(home: Path) -> Index:
    index = Index.open(home / ".quire")
    index.update({"docs": home / "docs", "notes": home / "notes"})
    return index


def test_search_gives_whole_sections(index: Index) -> None:
    (first, *_) = index.search("refused token")
    assert first.id == "docs:guides/auth.md#errors"
    assert first.breadcrumb_line == "> Authentication › OAuth 2.0: The Flow › Errors"
    assert first.text == "### Errors\n\nA token may be refused.\n\n"
    assert AUTH[first.span.start : first.span.end] == first.text
    assert AUTH.encode()[first.byte_span.start : first.byte_span.end].decode() == first.text
    assert [first.text[start:end] for start, end in quire.match_ranges(first, "refused token")] == ["token", "refused"]


def test_every_hit_can_be_got(index: Index) -> None:
    for query in ("token", "intro", "centimetres", "log in"):
        hits = index.search(query)
        assert hits
        for hit in hits:
            got = index.get(hit.id)
            assert (got.id, got.text, got.span, got.lines) == (hit.id, hit.text, hit.span, hit.lines)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("docs:guides/auth.md#errors", "docs:guides/auth.md#errors"),
        ("guides/auth.md#errors", "docs:guides/auth.md#errors"),
        ("docs:guides/auth.md", "docs:guides/auth.md"),
        ("guides/auth.md", "docs:guides/auth.md"),
        ("guides/auth.md#gre-ma", "docs:guides/auth.md#gre-ma"),
        ("guides/auth.md#größe--maß", "docs:guides/auth.md#gre-ma"),
        ("guides/auth.md:1", "docs:guides/auth.md"),
        ("guides/auth.md:5", "docs:guides/auth.md"),
        ("guides/auth.md:6", "docs:guides/auth.md"),
        ("guides/auth.md:7", "docs:guides/auth.md#authentication"),
        ("docs:guides/auth.md:13", "docs:guides/auth.md#oauth-20-the-flow"),
        ("guides/auth.md:17", "docs:guides/auth.md#errors"),
        ("guides/auth.md:23", "docs:guides/auth.md#gre-ma"),
        ("docs:intro.md:3", "docs:intro.md#intro"),
        ("notes:intro.md:1", "notes:intro.md#own"),
    ],
)
def test_names_of_a_section(index: Index, name: str, found: str) -> None:
    assert index.get(name).id == found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("intro.md", "there is more than one such section; choose one: docs:intro.md, notes:intro.md"),
        ("guides/auth.md#error", "not in the index; similar: docs:guides/auth.md#errors"),
        ("guides/auth.md#zzz", "not in the index; there are: docs:guides/auth.md, "),
        ("auth.md#errors", "not in the index; similar: docs:guides/auth.md"),
        ("guides/outh.md", "not in the index; similar: docs:guides/auth.md"),
        ("docs:guides/auth.md:99", "docs:guides/auth.md has lines 1 to 24"),
        ("guides/auth.md:0", "docs:guides/auth.md has lines 1 to 24"),
        ("nothing like it", "not in the index; Index.documents lists what is"),
        ("", "not in the index"),
        ("#", "not in the index"),
        (":", "not in the index"),
    ],
)
def test_names_of_nothing(index: Index, name: str, message: str) -> None:
    with pytest.raises(quire.NotFoundError) as caught:
        index.get(name)
    assert message in str(caught.value)
    assert isinstance(caught.value, LookupError)


@pytest.mark.parametrize("name", ["bad.md", "docs:bad.md", "bad.md#a", "docs:bad.md#a", "bad.md:1"])
def test_names_in_a_document_that_could_not_be_read(index: Index, home: Path, name: str) -> None:
    (home / "docs" / "bad.md").write_bytes(b"# A\n\n\xff\n")
    index.update()
    with pytest.raises(quire.NotFoundError, match=f"{name}: not in the index") as caught:
        index.get(name)
    assert "docs:bad.md" not in caught.value.advice


def test_with_and_without_children(index: Index) -> None:
    whole = index.get("guides/auth.md#oauth-20-the-flow")
    own = index.get("guides/auth.md#oauth-20-the-flow", children=False)
    assert whole.text == own.text + index.get("guides/auth.md#errors").text
    assert own.text == "## OAuth 2.0: The Flow\n\nAsk for a token. Use it é.\n\n"
    assert (own.lines, whole.lines) == ((11, 13), (11, 17))
    for hit in (whole, own):
        assert AUTH[hit.span.start : hit.span.end] == hit.text
        assert AUTH.encode()[hit.byte_span.start : hit.byte_span.end].decode() == hit.text
        assert hit.complete
        assert hit.parts == (hit.span,)
    assert index.get("guides/auth.md").text == AUTH


def test_get_within_a_budget(index: Index) -> None:
    whole = index.get("guides/auth.md")
    for most in (whole.tokens // 2, whole.tokens // 4, 12):
        cut = index.get("guides/auth.md", max_tokens=most)
        assert not cut.complete
        assert 0 < cut.tokens <= most


def test_trees_documents_and_outline(index: Index, home: Path) -> None:
    trees = index.trees()
    assert list(trees) == ["docs", "notes"]
    assert (trees["docs"].folder, trees["docs"].files, trees["docs"].language) == (home / "docs", 2, "english")
    assert trees["docs"].nodes == 7
    assert trees["docs"].tokens == sum(record.tokens for record in index.documents("docs"))
    assert [record.id for record in index.documents()] == ["docs:guides/auth.md", "docs:intro.md", "notes:intro.md"]
    assert [record.id for record in index.documents("notes")] == ["notes:intro.md"]
    assert [record.id for record in index.documents(path="guides/**")] == ["docs:guides/auth.md"]
    assert [record.title for record in index.documents("docs")] == ["Authentication", "Intro"]
    assert [(node.depth, node.title) for node in index.outline("guides/auth.md")] == [
        (0, "Authentication"),
        (1, "Authentication"),
        (2, "OAuth 2.0: The Flow"),
        (3, "Errors"),
        (2, "Größe & Maß"),
    ]


def test_status(index: Index, home: Path) -> None:
    status = index.status()
    assert (status.damaged, status.outdated, status.failed) == (None, (), ())
    assert status.trees == index.trees()
    assert status.size > 0
    assert status.segments >= 1
    (home / "docs" / "intro.md").unlink()
    (home / "docs" / "new.md").write_text("# New\n")
    (home / "docs" / "bad.md").write_bytes(b"\xff")
    assert index.status().outdated == ("docs:bad.md", "docs:intro.md", "docs:new.md")
    index.update()
    assert index.status().outdated == ()
    assert [finding.code for finding in index.status().failed] == ["undecodable"]


def test_where_to_look(index: Index) -> None:
    assert {hit.tree for hit in index.search("intro OR own", trees=["notes"])} == {"notes"}
    assert {hit.path for hit in index.search("intro OR token", path="guides/**")} == {"guides/auth.md"}


def test_a_budget_that_is_named_means_what_the_default_means(tmp_path: Path) -> None:
    below = "".join(f"## Part {number}\n\n{'words of it ' * 200}\n\n" for number in range(10))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# Needle\n\nThe needle.\n\n{below}", encoding="utf-8")
    with Index.open(tmp_path / "index") as index:
        index.update({"docs": tmp_path / "docs"})
        [hit] = index.search("needle")
        assert index.search("needle", max_tokens=8000) == [hit]
        assert hit.tokens < 2_000
    with Index.open(tmp_path / "index", settings=SearchSettings(max_below=8_000)) as index:
        assert index.search("needle")[0].complete


def test_a_budget_for_a_search(index: Index) -> None:
    hits = index.search("token", max_tokens=40)
    assert hits
    assert sum(hit.tokens for hit in hits) <= 40


def test_before_the_first_update(tmp_path: Path) -> None:
    with Index.open(tmp_path / "none") as index:
        for asked in (lambda: index.search("x"), lambda: index.get("x"), index.trees, index.status):
            with pytest.raises(quire.NotFoundError, match=r"there is no index yet; run: quire index, or Index\.update"):
                asked()
    assert not (tmp_path / "none").exists()


def test_a_closed_index_says_so(index: Index) -> None:
    index.close()
    index.close()
    for use in (lambda: index.search("token"), lambda: index.get("x"), index.update, index.trees, index.status):
        with pytest.raises(quire.StoreError, match="the index is closed; open it again"):
            use()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": None}, "query=None is invalid: must be a text"),
        ({"query": b"token"}, "query=b'token' is invalid: must be a text"),
        ({"limit": 0}, "limit=0 is invalid: must be a whole number, at least 1"),
        ({"limit": -3}, "limit=-3 is invalid"),
        ({"limit": "5"}, "limit='5' is invalid"),
        ({"limit": True}, "limit=True is invalid"),
        ({"max_tokens": -1}, "max_tokens=-1 is invalid: must be a whole number, at least 0"),
        ({"max_tokens": 2.5}, "max_tokens=2.5 is invalid"),
        ({"trees": ["docs", "nope"]}, "trees: no tree is called 'nope'; there are: docs, notes"),
        ({"trees": "nope"}, "trees: no tree is called 'nope'; there are: docs, notes"),
        ({"path": ""}, "path='' is invalid: must be a text that is not empty, or a list of them"),
        ({"path": ["guides/**", ""]}, "path=['guides/**', ''] is invalid"),
        ({"trees": ""}, "trees='' is invalid"),
        ({"trees": 3}, "trees=3 is invalid: must be a text that is not empty, or a list of them"),
        ({"path": [Path("a")]}, "must be a text that is not empty, or a list of them"),
    ],
)
def test_what_a_search_cannot_do(index: Index, options: dict[str, Any], message: str) -> None:
    with pytest.raises(quire.OptionError) as refused:
        index.search(**{"query": "token", **options})
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_tree_needs_no_list(index: Index) -> None:
    assert index.search("intro", trees="notes") == index.search("intro", trees=["notes"])
    assert index.search("intro", trees="notes")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trees": "docs"}, "trees='docs' is invalid: must be folders by the name of a tree"),
        ({"trees": ["docs"]}, "must be folders by the name"),
        ({"trees": {"docs": 3}}, "trees['docs']=3 is invalid: must be a path"),
        ({"trees": {"d d": "docs"}}, "a tree cannot be called 'd d'"),
        ({"trees": {"": "docs"}}, "a tree cannot be called ''"),
        ({"trees": {"a": "docs", "b": "./docs/"}}, "the trees 'a' and 'b' are one folder"),
        ({"languages": "english"}, "must be languages by the name of a tree"),
        ({"jobs": 0}, "jobs=0 is invalid"),
        ({"wait": "long"}, "wait='long' is invalid"),
    ],
)
def test_what_an_update_cannot_do(
    index: Index, home: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(home)
    before = index.trees()
    with pytest.raises(quire.OptionError) as refused:
        index.update(**options)
    assert message in str(refused.value)
    assert index.trees() == before


NEVER = {
    "pyromark",
    "toktok",
    "tiktoken",
    "tokenizers",
    "yaml",
    "multiprocessing",
    "quire.parsing",
    "quire.tokens",
    "quire.output",
}


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{textwrap.dedent(code)}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_search_by_meaning_without_numpy_says_what_to_install(tmp_path, monkeypatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nText.\n")
    for name in [
        name for name in sys.modules if name.startswith("quire.search.") and name != "quire.search.vector_files"
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with quire.Index.open(tmp_path / "index") as index:
        index.update({"docs": tmp_path / "docs"})
        for call in (lambda: index.embed("wordllama"), lambda: index.search("text", mode="hybrid")):
            with pytest.raises(
                quire.MissingExtraError,
                match=r"numpy is not installed; install it: pip install 'quire-md\[vectors\]'$",
            ):
                call()


def test_answering_from_an_index_that_is_up_to_date_loads_no_parser(index: Index, home: Path) -> None:
    loaded = loaded_by(f"""
        import quire
        index = quire.Index.open({str(home / ".quire")!r})
        assert index.update().unchanged == 3
        assert index.search("token")
        assert index.get("guides/auth.md:13")
    """)
    assert "tantivy" in loaded
    assert not NEVER & loaded


def test_nothing_is_written_outside_the_index_and_no_source_is_touched(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(5):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\nrotate the token\n", encoding="utf-8")

    def outside() -> dict[str, tuple[int, bytes]]:
        files = (file for file in sorted(tmp_path.rglob("*")) if ".quire" not in file.parts)
        return {str(file): (file.stat().st_mtime_ns, file.read_bytes() if file.is_file() else b"") for file in files}

    before = outside()
    with quire.Index.open(tmp_path / ".quire") as index:
        index.update({"docs": docs})
        index.update(rebuild=True)
        assert index.get(index.search("rotate token")[0].id).text
        index.status()
        index.remove("docs")
    assert outside() == before


def test_documents_of_a_tree_that_is_not_there(tmp_path) -> None:
    (tmp_path / "docs").mkdir()
    index = quire.Index.open(tmp_path / "index")
    index.update({"docs": tmp_path / "docs"})
    assert index.documents("docs") == []
    with pytest.raises(quire.OptionError, match=r"^tree: no tree is called 'nope'; there are: docs$"):
        index.documents("nope")


def test_settings_are_looked_at_when_an_index_is_opened(tmp_path) -> None:
    with pytest.raises(quire.OptionError, match=r"^settings="):
        quire.Index.open(tmp_path / "index", settings={"tie": 0.4})


def test_patterns_of_a_tree_stay_until_others_are_given(home) -> None:
    with Index.open(home / ".quire") as index:
        index.update({"docs": home / "docs"}, exclude={"docs": "guides/"})
        assert [each.path for each in index.documents()] == ["intro.md"]
        assert index.update().unchanged == 1
        assert index.update({"docs": home / "docs"}, include={"docs": ["none"]}).removed == 1
        assert index.update(include={"docs": ()}, exclude={"docs": ()}).added == 2


def test_patterns_of_a_tree_count_at_once_if_another_tree_is_updated(home) -> None:
    (home / "other").mkdir()
    with Index.open(home / ".quire") as index:
        index.update({"docs": home / "docs"})
        index.update({"other": home / "other"}, exclude={"docs": "guides/"})
        assert [each.path for each in index.documents()] == ["intro.md"]


@pytest.mark.parametrize("given", [{"nope": "x"}, {"docs": 1}, {"docs": [""]}, "x", {1: "x"}])
def test_impossible_patterns(home, given) -> None:
    with Index.open(home / ".quire") as index, pytest.raises(quire.OptionError, match="exclude"):
        index.update({"docs": home / "docs"}, exclude=given)


def test_a_tree_has_a_rule_for_slugs_and_a_dialect(tmp_path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# A {#b}\n\nx\n\n# C & D\n\n[x](#c-d)\n")
    with Index.open(tmp_path / "index") as index:
        index.update({"docs": tmp_path / "docs"}, slugs={"docs": "auto"})
        assert (index.trees()["docs"].slugs, index.trees()["docs"].slug_rule) == ("auto", "blackfriday")
        assert index.get("docs:a.md#b").title == "A"
        assert index.update().rebuilt is None
        done = index.update(dialects={"docs": "commonmark"}, slugs={"docs": "ascii"})
        assert done.rebuilt == "the dialect of docs is commonmark now"
        assert index.get("docs:a.md#a-b").title == "A {#b}"
        assert index.trees()["docs"].slug_rule == "ascii"
        for options in ({"slugs": {"docs": "x"}}, {"dialects": {"docs": "x"}}, {"slugs": {"other": "auto"}}):
            with pytest.raises(quire.OptionError):
                index.update(**options)
