"""Queries that took minutes, plain questions that were refused, and names that were not found."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import quire
from quire.cli import main
from quire.cli.command_group import quire as command_line
from quire.model.query_tree import leaves
from quire.search.query_syntax import parse
from quire.search.query_terms import MAX_TERMS, within_limit

GUIDE = """# Drain a node

Drain nodes safely.

## Prepare

konnectivity without it

## Run

konnectivity with an agent

### Empty heading
"""
LONG = "A heading whose slug is much longer than a terminal would show in one line of a list"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs" / "tasks").mkdir(parents=True)
    (tmp_path / "docs" / "tasks" / "drain.md").write_text(GUIDE)
    (tmp_path / "docs" / "long.md").write_text(f"# Long\n\n## {LONG}\n\ntext\n\n# Empty\n")
    (tmp_path / "quire.toml").write_text('[trees]\ndocs = "docs"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(command_line, arguments, standalone_mode=False)
    code = result.return_value if isinstance(result.return_value, int) else 2
    error = str(result.exception or "")
    return code, result.stdout, result.stderr + error


@pytest.fixture
def index(folder: Path) -> quire.Index:
    made = quire.Index.open(folder / ".quire")
    made.update({"docs": folder / "docs"})
    return made


SHAPES = {
    "unknown words": " ".join(f"qzx{number:x}w" for number in range(6_000)),
    "prefixes": "a* b* c* d* " * 3_000,
    "boosts": "node^2 " * 8_000,
    "fields": "path:tasks/**/a*.md " * 2_500,
    "a phrase": f'"{"drain a node " * 4_000}"',
    "alternatives": "node OR " * 7_000 + "drain",
    "what to leave out": "-agent " * 7_000 + "node",
    "groups": "(node OR (drain agent)) " * 2_500,
    "one word of Chinese": "字" * 20_000,
    "signs that stand for several characters": "\u2100" * 20_000,
    "a name": "a_" * 30_000,
    "humps": "AbCd" * 15_000,
    "letters and digits": "a1" * 30_000,
    "a version": "1." * 30_000 + "1",
    "flags": "--force-it " * 5_000,
}


@pytest.mark.parametrize("query", SHAPES.values(), ids=SHAPES.keys())
def test_a_long_query_is_cut_and_says_so(index: quire.Index, query: str) -> None:
    kept, ignored = within_limit(parse(query), query)
    texts = [leaf.text for leaf in leaves(kept)] if kept else []
    assert sum(len(re.findall(r"[^\W_]+", text)) for text in texts) <= 2 * MAX_TERMS
    results = index.search(query, explain=True)
    assert results.ignored_terms == ignored > 0


def test_a_query_within_the_limit_is_searched_whole(index: quire.Index) -> None:
    words = " ".join(f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(MAX_TERMS))
    assert index.search(words).ignored_terms == 0
    assert index.search(f"{words} one").ignored_terms == 1
    assert index.search(f"{'-agent ' * 100}drain").ignored_terms == 101 - MAX_TERMS
    assert index.search(f"{'-agent ' * 100}drain")


def test_only_a_few_unknown_words_are_corrected(index: quire.Index) -> None:
    words = [f"konn{letter}ctivity" for letter in "abcdfghijklmnop"]
    assert len(index.search(" ".join(words)).corrections) == 8


def test_the_command_says_that_a_query_was_cut(folder: Path) -> None:
    code, out, err = run("search", "--json", "node " * 1_000, "docs")
    assert (code, bool(json.loads(out))) == (0, True)
    assert f"only {MAX_TERMS} terms of the query were searched; 936 were ignored" in err


@pytest.mark.parametrize(
    "query",
    [
        'Drain (" ")',
        "logical OR node",
        "node OR",
        "what node is path:",
        "drain HEAD^0",
        '"node"*',
        "a) node OR b) drain",
    ],
)
def test_a_plain_question_is_answered(index: quire.Index, query: str) -> None:
    assert index.search(query)


@pytest.mark.parametrize(
    ("language", "asking"),
    [
        ("arabic", "كيف"), ("danish", "hvordan"), ("dutch", "waarom"), ("finnish", "miten"), ("french", "comment"),
        ("french", "Pourquoi"), ("french", "c'est"), ("german", "warum"), ("greek", "πώς"), ("hungarian", "hol"),
        ("italian", "quando"), ("norwegian", "hvilket"), ("portuguese", "onde"), ("romanian", "cum"),
        ("russian", "почему"), ("spanish", "cómo"), ("spanish", "donde"), ("swedish", "ska"), ("tamil", "எப்படி"),
        ("turkish", "nasıl"), ("english", "doesn't"),
    ],
)  # fmt: skip
def test_a_question_word_may_be_missing(tmp_path: Path, language: str, asking: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nkubernetes\n")
    with quire.Index.open(tmp_path / ".quire") as index:
        index.update({"docs": tmp_path / "docs"}, languages={"docs": language})
        results = index.search(f"{asking} kubernetes")
        assert len(results) == 1
        [hit] = results
        assert [hit.text[slice(*span)] for span in quire.match_ranges(hit, f"{asking} kubernetes")] == ["kubernetes"]


def test_an_article_in_front_does_not_make_a_word_optional(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nun index\n")
    with quire.Index.open(tmp_path / ".quire") as index:
        index.update({"docs": tmp_path / "docs"}, languages={"docs": "french"})
        assert index.search("l'index kubernetes")


@pytest.mark.parametrize("merge", [True, False])
def test_what_is_left_out_is_in_no_result(index: quire.Index, merge: bool) -> None:
    results = index.search("konnectivity -agent", merge=merge)
    assert [hit.title for hit in results] == ["Prepare"]
    assert not index.search("drain -(agent OR nope)", merge=merge)[0].text.count("agent")


def test_a_query_without_quotes(folder: Path) -> None:
    code, out, err = run("search", "how", "do", "I", "drain", "a", "node", "docs", "--list")
    assert (code, out) == (2, "")
    assert "do: no such file or folder; check the path, or put a query of several words in quotes" in err


def test_a_query_that_looks_like_an_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--force"]) == 2
    err = capsys.readouterr().err
    assert "did you mean" not in err
    assert "quire search -- QUERY" in err


@pytest.mark.parametrize("name", ["drain.md", "drain", "DRAIN.md", "other/drain.md", "drain.md#run", "drain.md:9"])
def test_the_one_document_of_a_file_name(index: quire.Index, name: str) -> None:
    code, out, err = run("get", "--json", name)
    assert code == 0
    assert json.loads(out)[0]["path"] == "tasks/drain.md"
    assert f"{name}: not in the index; showing docs:tasks/drain.md" in err
    assert run("outline", name)[0] == 0


def test_a_file_name_of_several_documents_is_not_guessed(index: quire.Index, folder: Path) -> None:
    (folder / "docs" / "drain.md").write_text("# Other\n")
    (folder / "docs" / "more").mkdir()
    (folder / "docs" / "more" / "drain.md").write_text("# More\n")
    code, out, err = run("get", "x/drain.md")
    assert (code, out) == (1, "")
    assert "docs:more/drain.md" in err
    assert "docs:tasks/drain.md" in err


@pytest.mark.parametrize("path", ["long.md", "tasks/drain.md"])
def test_the_outline_of_a_file_and_of_the_index_agree(folder: Path, path: str) -> None:
    assert run("outline", "--json", f"docs:{path}")[1] == run("outline", "--json", f"docs/{path}")[1].replace(
        f'"path":"{Path(path).name}"', f'"path":"{path}"'
    )


def test_titles_are_whole_when_piped(folder: Path) -> None:
    assert LONG in run("outline", "docs/long.md")[1]


def test_long_patterns_are_quick(folder: Path) -> None:
    assert run("search", "node", "docs", "--path", "**/" * 200 + "drain.md")[0] == 0
