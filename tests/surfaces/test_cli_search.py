"""``quire search``: no earlier step, the best sections, readable or as JSON; and what it says when something is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from outputs import left, refused
from processes import QUIRE, pausing, process, start, terminal

import quire
from quire.search.hit import Hit

AUTH = """\
# Auth

Intro

## OAuth

Tokens are issued here.

### Rotate

Rotate your tokens every day, so that a stolen one is of no use.

## Basic

password
"""
OTHER = "# Storage\n\nVolumes keep data.\n\n## Backups\n\nBack up a volume with tar.\n"
ESCAPE = "\x1b["

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, signals and terminals are POSIX's")


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch, docs):
    monkeypatch.chdir(tmp_path)
    docs({"docs/guides/auth.md": AUTH, "docs/storage.md": OTHER})
    return tmp_path


@pytest.fixture
def configured(docs, project):
    """The project with a quire.toml; trees that do not exist are left out."""

    def write(*trees, more="") -> Path:
        names = "".join(f'{tree.removesuffix(".md")} = "{tree}"\n' for tree in trees or ("docs",))
        docs({"quire.toml": f"{more}[trees]\n{names}"})
        return project

    return write


def hits(result) -> list[dict]:
    return json.loads(result.out)


def ids(result) -> list[str]:
    return [hit["id"] for hit in hits(result)]


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text)


def tokens(text: str) -> int:
    from quire.tokens import tokenizers  # noqa: PLC0415  one test counts

    return tokenizers.resolve("o200k_base", "o200k_base").count(text)


# What is found, and how it is shown


def test_no_earlier_step(run, project) -> None:
    result = run("search", "how do I rotate tokens", "docs/")
    assert (result.code, result.err) == (0, "")
    first, place, blank, *text = result.out.decode().splitlines()
    assert first == "> Auth › OAuth › Rotate"
    assert re.fullmatch(r"docs/guides/auth\.md:9-11  \d+ tokens", place)
    assert blank == ""
    assert text[:3] == ["### Rotate", "", "Rotate your tokens every day, so that a stolen one is of no use."]
    assert left(project) == ["docs"]


def test_json(run) -> None:
    result = run("search", "--json", "rotate tokens", "docs")
    assert (result.code, result.err) == (0, "")
    hit = hits(result)[0]
    assert list(hit) == [
        "id", "score", "title", "breadcrumb", "breadcrumbLine", "text", "tree", "path", "language", "depth", "span",
        "byteSpan", "lines", "tokens", "complete", "parts", "pages", "cells", "url", "how", "constituents", "file", "matchRanges",
    ]  # fmt: skip
    assert (hit["id"], hit["title"], hit["depth"]) == ("docs:guides/auth.md#rotate", "Rotate", 3)
    assert (hit["tree"], hit["path"], hit["file"]) == ("docs", "guides/auth.md", "docs/guides/auth.md")
    assert (hit["breadcrumb"], hit["breadcrumbLine"]) == (["Auth", "OAuth", "Rotate"], "> Auth › OAuth › Rotate")
    assert (hit["lines"], hit["complete"], hit["how"]) == ([9, 11], True, "match")
    start, end = hit["span"]
    assert AUTH[start:end] == hit["text"]
    start, end = hit["byteSpan"]
    assert AUTH.encode()[start:end].decode() == hit["text"]
    assert {hit["text"][start:end].lower() for start, end in hit["matchRanges"]} == {"rotate", "tokens"}
    assert hit["id"] in hit["constituents"]
    assert ids(run("get", "--json", hit["id"])) == [hit["id"]]


def test_a_tree_whose_folder_is_missing_is_not_searched(run, docs, configured) -> None:
    docs({"more/b.md": "# More\n\nRotate tokens.\n"})
    project = configured("docs", "more")
    assert "more:b.md#more" in ids(run("search", "--json", "rotate tokens"))
    (project / "more").rename(project / "away")
    said = "quire: tree more: more does not exist; correct trees.more in quire.toml\n"
    result = run("search", "--json", "rotate tokens")
    assert (ids(result), result.err) == (["docs:guides/auth.md#rotate"], said)
    assert refused(run("search", "--tree", "more", "rotate")) == said
    (project / "away").rename(project / "more")  # as a drive that is mounted again
    assert "more:b.md#more" in ids(run("search", "--json", "--no-update", "rotate tokens"))


def test_explain(run) -> None:
    assert hits(run("search", "--json", "--explain", "rotate tokens", "docs"))[0]["explanation"]
    result = run("search", "--explain", "rotate tokens", "docs")
    assert (result.code, result.err) == (0, "")
    assert len(result.out) > len(run("search", "rotate tokens", "docs").out)


@pytest.mark.parametrize("most", [60, 100, 300])
def test_an_explanation_changes_no_answer(run, most) -> None:
    found = run("search", "--list", "--max-tokens", most, "rotate tokens", "docs")
    explained = run("search", "--list", "--max-tokens", most, "--explain", "rotate tokens", "docs")
    assert (found.code, explained.code) == (0, 0)
    shown = found.out.decode().splitlines()
    assert [line for line in explained.out.decode().splitlines() if line.startswith("docs/")] == shown


def test_the_explanation_adds_up(run, docs) -> None:
    docs({"docs/more.md": "# Tokens\n\nRotate them, all tokens.\n"})
    found = hits(run("search", "--json", "--explain", "--no-merge", "--all", "rotate tokens", "docs"))
    told = explanation(run, "--all", "rotate tokens", "docs")
    power, best = map(float, re.search(r"(?s)power of (\d+).* best ([0-9.]+)", told).groups())
    printed = re.findall(r" scores ([0-9.]+): [^;=]+ = ([0-9.]+);", told)
    assert printed
    assert [(float(total) / best) ** power for _, total in printed] == pytest.approx(
        [float(score) for score, _ in printed], rel=0.02
    )
    assert len(found) > 1
    for hit in found:
        (scored,) = hit["explanation"]["scores"]
        total = sum(item["score"] for item in scored["items"])
        assert (total / best) ** power == pytest.approx(hit["score"], rel=0.02, abs=1e-4)


def explanation(run, *arguments) -> str:
    return run("search", "--list", "--explain", *arguments).out.decode()


def test_a_section_apart_is_explained_by_the_number_of_children(run, docs) -> None:
    docs({"docs/m.md": "# Top\n\nx\n\n## One\n\nneedle\n\n## Two\n\ny\n\n## Three\n\nz\n"})
    assert "apart: docs:m.md#top, matching 1, children 3\n" in explanation(run, "needle", "docs")


def test_merging_is_explained_with_ids(run, docs) -> None:
    docs({"docs/m.md": "# Top\n\nx\n\n## One\n\nneedle\n\n## Two\n\nneedle\n"})
    (hit,) = hits(run("search", "--json", "--explain", "needle", "docs"))
    step = hit["explanation"]["merging"][0]
    assert list(step) == ["rule", "id", "score", "bestOwn", "matching", "children", "total", "limit", "replaced"]
    assert (step["rule"], step["id"]) == ("aggregated", "docs:m.md#top")
    assert step["replaced"] == ["docs:m.md#one", "docs:m.md#two"]
    assert hit["explanation"]["phases"]["parse"] == {"query": "needle"}
    said = explanation(run, "needle", "docs")
    assert "aggregated: docs:m.md#top, score" in said
    assert "replaced docs:m.md#one and docs:m.md#two\n" in said
    assert "position" not in said
    assert "\nparse: query needle\n" in said


def test_what_found_nothing_is_explained(run) -> None:
    result = run("search", "--explain", "zzzyyyxxx", "docs")
    assert (result.code, result.err) == (1, "nothing found\n")
    assert "parse: query zzzyyyxxx\n" in result.out.decode()


def test_list(run) -> None:
    result = run("search", "--list", "rotate tokens", "docs")
    assert result.code == 0
    assert re.fullmatch(
        r"docs/guides/auth\.md:9  Auth › OAuth › Rotate  \d+ tokens  \d+\.\d\d", result.out.decode().splitlines()[0]
    )


def test_limit(run, docs) -> None:
    docs({f"docs/{number}.md": f"# Page {number}\n\nneedle {number}\n" for number in range(12)})
    assert len(ids(run("search", "--json", "needle", "docs"))) == 10
    assert len(ids(run("search", "--json", "-n", 3, "needle", "docs"))) == 3
    docs({"quire.toml": "[search]\nlimit = 5\n"})
    assert len(ids(run("search", "--json", "needle", "docs"))) == 5
    assert len(ids(run("search", "--json", "--limit", "12", "needle", "docs"))) == 12


@pytest.mark.parametrize("form", [[], ["--list"], ["--full"], ["--matches"]])
@pytest.mark.parametrize("most", [20, 100, 300, 2000])
def test_texts_and_breadcrumbs_keep_the_budget(run, docs, form, most) -> None:
    text = "\n\n".join(f"The needle number {number} lies in this paragraph, between straw." for number in range(30))
    docs({f"docs/{number}.md": f"# Page {number}\n\n{text}\n" for number in range(4)})
    found = hits(run("search", "--json", "--max-tokens", most, "needle", "docs"))
    assert sum(hit["tokens"] + tokens(hit["breadcrumbLine"]) for hit in found) <= most
    result = run("search", *form, "--max-tokens", most, "needle", "docs")
    assert (result.code == 0) == bool(result.out) == bool(found)
    assert all(f"docs/{hit['path']}:" in result.out.decode() for hit in found)


def test_forms_without_texts_have_no_budget_unless_one_is_named(run, docs) -> None:
    docs({f"docs/{number}.md": f"# Page {number}\n\n{'needle ' * 3000}\n" for number in range(9)})
    assert len(ids(run("search", "--json", "needle", "docs"))) < 9
    assert run("search", "--list", "needle", "docs").out.count(b"\n") == 9
    assert run("search", "--matches", "needle", "docs").out.count(b"docs/") >= 9
    assert run("search", "--full", "needle", "docs").out.count(b"needle") == 27_000
    assert run("search", "--list", "--max-tokens", 8000, "needle", "docs").out.count(b"\n") < 9


PLAIN = "# Plain\n\nHello world. This is plain.\n\n## Sub one\n\nText one.\n\n## Sub two\n\nText two.\n"


def test_a_larger_budget_never_shows_less(run, docs) -> None:
    text = "\n\n".join(f"A text of {number} words is {'long ' * number}." for number in (3, 9, 2, 5))
    docs({"more/plain.md": PLAIN, "more/h.md": "# Häuser\nDie Häuser stehen. text\n", "more/t.md": f"# T\n\n{text}\n"})
    run("index", "more")
    shown = [
        sum(hit["tokens"] for hit in hits(run("search", "--json", "--no-update", "--max-tokens", most, "text", "more")))
        for most in (*range(1, 120, 7), 0)
    ]
    assert shown == sorted(shown)
    assert len(set(shown)) >= 3


def test_own_text_comes_before_what_is_below_it(run, docs) -> None:
    below = "\n\n".join("More of it, in many words." for _ in range(80))
    docs({"more/a.md": f"# Plain\n\nA plain text.\n\n## Below\n\n{below}\n\n## Also\n\n{below}\n"})
    whole = run("search", "plain", "more").out.decode()
    assert ("A plain text." in whole, "## Also" in whole, "more: quire get" in whole) == (True, True, False)
    less = run("search", "--max-tokens", 300, "plain", "more").out.decode()
    assert ("A plain text." in less, "## Below" in less, "## Also" in less) == (True, True, False)
    assert less.endswith("more/a.md:1  more: quire get 'more:a.md#plain' --children\n")
    assert run("search", "--full", "plain", "more").out.decode() == whole


@pytest.mark.parametrize("budget", [[], ["--max-tokens", "8000"]])
def test_what_is_below_sections_has_a_limit_whoever_set_the_budget(run, docs, budget) -> None:
    below = "\n\n".join("More of it, in many words." for _ in range(150))
    docs({"more/a.md": f"# Plain\n\nA plain text.\n\n## Below\n\n{below}\n\n## Also\n\n{below}\n"})
    (hit,) = hits(run("search", "--json", *budget, "plain", "more"))
    assert (hit["complete"], hit["tokens"] <= 2000) == (False, True)
    docs({"quire.toml": "[search]\nmax_below = 4000\n"})
    assert hits(run("search", "--json", *budget, "plain", "more"))[0]["complete"]
    docs({"quire.toml": "[search]\nmax_below = 10\n"})
    assert hits(run("search", "--json", "--max-tokens", 0, "plain", "more"))[0]["complete"]


def test_results_below_the_cut_off_are_counted(run, docs) -> None:
    long = (
        "A text about other things that goes on for a while and mentions a volume. " + "Nothing more of it here. " * 400
    )
    short = "A volume keeps the data of a container: a volume, a volume. " * 4
    docs({"more/a.md": f"# Volume\n\n{short}\n", "more/b.md": f"# Other\n\n{long}\n"})
    result = run("search", "--json", "volume", "more")
    assert (ids(result), result.err) == (["more:a.md#volume"], "1 more below the cut-off; --all shows them\n")
    result = run("search", "--json", "--all", "volume", "more")
    assert (ids(result), result.err) == (["more:a.md#volume", "more:b.md#other"], "")


def test_lines_with_matches(run, docs) -> None:
    docs({"more/a.md": "# A\n\nOne.\n\nThe needle\nand another needle.\n\n## B\n\nA needle.\n"})
    result = run("search", "--matches", "needle", "more")
    assert result.out.decode().splitlines() == [
        "more/a.md:5: The needle",
        "more/a.md:6: and another needle.",
        "more/a.md:10: A needle.",
    ]


def test_several_queries(run, docs) -> None:
    docs({"more/a.md": "# Zebra\n\nStripes.\n", "more/b.md": "# Lion\n\nA mane.\n", "more/c.md": "# Hay\n\nx\n"})
    found = ids(run("search", "--json", "--all", "-e", "zebra stripes", "-e", "lion", "more"))
    assert set(found) == {"more:a.md#zebra", "more:b.md#lion"}
    assert ids(run("search", "--json", "-e", "hay", "more")) == ["more:c.md#hay"]


def test_a_beginning_without_a_star(run, docs) -> None:
    docs({"more/a.md": "# Login\n\nAbout authentication.\n"})
    result = run("search", "--json", "auth", "more")
    assert ids(result) == ["more:a.md#login"]
    assert result.err == 'no match for "auth"; showing results for "auth*"\n'


def test_nothing_fits(run) -> None:
    result = run("search", "--max-tokens", 3, "rotate tokens", "docs")
    said = "nothing fits in 3 tokens; --max-tokens 0 shows it\n"
    assert result == (1, b"", said)


def test_a_budget_of_0_is_no_limit(run, project) -> None:
    (project / "quire.toml").write_text('[search]\nmax_tokens = 3\n[trees]\ndocs = "docs"\n')
    assert run("search", "rotate tokens").code == 1
    assert ids(run("search", "--json", "--max-tokens", 0, "rotate tokens")) == ["docs:guides/auth.md#rotate"]


def test_results_that_do_not_fit_are_counted(run, docs) -> None:
    docs({"more/a.txt": "one volume\n", "more/vol.md": f"# Volume volume\n\nvolume{'x' * 900}, volume\n"})
    best, other = hits(run("search", "--json", "--all", "volume", "more"))
    assert (best["path"], other["path"]) == ("vol.md", "a.txt")
    result = run("search", "--all", "--max-tokens", 12, "volume", "more")
    assert (result.code, b"one volume" in result.out) == (0, True)
    assert result.err == "1 more beyond 12 tokens; --max-tokens 0 shows them\n"
    assert run("search", "--all", "--max-tokens", 1000, "volume", "more").err == ""


def test_no_merge(run, docs) -> None:
    docs({"docs/m.md": "# Top\n\nx\n\n## One\n\nneedle\n\n## Two\n\nneedle\n"})
    assert ids(run("search", "--json", "needle", "docs")) == ["docs:m.md#top"]
    assert sorted(ids(run("search", "--json", "--no-merge", "needle", "docs"))) == ["docs:m.md#one", "docs:m.md#two"]


def test_nothing_found(run) -> None:
    result = run("search", "zzzyyyxxx", "docs")
    assert (result.code, result.out) == (1, b"")
    result = run("search", "--json", "zzzyyyxxx", "docs")
    assert (result.code, hits(result)) == (1, [])


def test_some_of_the_words(run) -> None:
    result = run("search", "--json", "rotate zebras", "docs")
    assert result.code == 0
    assert "docs:guides/auth.md#rotate" in ids(result)


def test_a_word_that_is_mistyped(run) -> None:
    result = run("search", "--json", "rotate tokenz", "docs")
    assert result.code == 0
    assert re.search('no match for "tokenz"; showing results for "tokens?"', result.err)


# Where it looks


def test_parts_of_trees(run, docs, configured) -> None:
    configured()
    docs({"docs/guides/deep/[x] *.md": "# Odd\n\nrotate\n", "docs/guides2/a.md": "# A\n\nrotate\n"})
    assert "docs:guides2/a.md#a" in ids(run("search", "--json", "rotate", "docs"))
    found = ids(run("search", "--json", "rotate", "docs/guides"))
    assert {each.partition("#")[0] for each in found} == {"docs:guides/auth.md", "docs:guides/deep/[x] *.md"}
    assert ids(run("search", "--json", "rotate", "docs/guides/deep/[x] *.md")) == ["docs:guides/deep/[x] *.md#odd"]
    assert ids(run("search", "--json", "rotate", "docs/storage.md")) == []
    both = run("search", "--json", "rotate", "docs/guides", "--path", "**/deep/**")
    assert ids(both) == ["docs:guides/deep/[x] *.md#odd"]
    assert ids(run("search", "--json", "rotate", "docs/guides", "--path", "guides2/**")) == []
    assert list(json.loads(run("status", "--json").out)["trees"]) == ["docs"]


def test_paths_by_pattern(run) -> None:
    assert ids(run("search", "--json", "tokens", "docs", "--path", "storage.md")) == []
    assert ids(run("search", "--json", "tokens", "docs", "--path", "storage.md", "--path", "guides/**"))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("docs/guides/**", ["docs:guides/auth.md"]),
        ("./docs/guides", ["docs:guides/auth.md"]),
        ("docs/guides/auth.md", ["docs:guides/auth.md"]),
        ("docs/storage.md", ["docs:storage.md"]),
        ("docs", ["docs:guides/auth.md", "docs:storage.md"]),
        ("docs/*", ["docs:guides/auth.md", "docs:storage.md"]),
        ("mor*/**", ["more:a.md"]),
        ("guides/**", ["docs:guides/auth.md"]),
        ("more/**", ["more:a.md"]),
        ("more/a.md", ["more:a.md"]),
        ("/", ["docs:guides/auth.md", "docs:storage.md", "more:a.md"]),
    ],
)
def test_paths_by_pattern_as_they_are_printed(run, docs, pattern, found) -> None:
    docs({"more/a.md": "# More\n\nback\n", "docs/guides/auth.md": AUTH + "\nback\n"})
    result = run("search", "--json", "back", "docs", "more", "--path", pattern)
    assert (result.code, result.err) == (0, "")
    assert {each.partition("#")[0] for each in ids(result)} == set(found)


def test_paths_by_pattern_from_inside_a_tree(run, docs, project, monkeypatch) -> None:
    docs({"quire.toml": '[trees]\ndocs = "docs"\n', "docs/guides/[x]/deep.md": "# Deep\n\nrotate back\n"})
    monkeypatch.chdir(project / "docs/guides")
    assert ids(run("search", "--json", "back", "--path", "../storage.md")) == ["docs:storage.md#backups"]
    assert ids(run("search", "--json", "rotate", "--path", str(project / "docs/guides/*/**"))) == [
        "docs:guides/[x]/deep.md#deep"
    ]
    monkeypatch.chdir(project / "docs/guides/[x]")
    assert ids(run("search", "--json", "rotate", "--path", "../*.md")) == ["docs:guides/auth.md#rotate"]


def test_a_pattern_that_no_path_is_like(run) -> None:
    result = run("search", "--json", "rotate", "docs", "--path", "docs/nope/**", "--path", "guides/**")
    assert (result.code, result.err) == (0, "")
    result = run("search", "rotate", "docs", "--path", "nope.md")
    assert (result.code, result.out) == (1, b"")
    assert result.err.startswith("quire: --path nope.md: no document matches\n")


def test_trees_by_name(run, docs, configured) -> None:
    docs({"more/a.md": "# More\n\nrotate\n", "README.md": "# Read\n\nrotate\n"})
    configured("docs", "more", "README.md")
    found = ids(run("search", "--json", "rotate"))
    assert {each.partition(":")[0] for each in found} == {"docs", "more", "README"}
    assert ids(run("search", "--json", "--tree", "more", "rotate")) == ["more:a.md#more"]
    found = ids(run("search", "--json", "--tree", "more", "--tree", "README", "rotate"))
    assert sorted(found) == ["README:README.md#read", "more:a.md#more"]
    assert refused(run("search", "--tree", "mor", "x")) == (
        "quire: unknown tree mor (did you mean more?); valid: docs, more, README\n"
    )
    assert "none of the paths is in more; name paths in it" in refused(run("search", "x", "docs", "--tree", "more"))


def test_one_file_reads_nothing_beside_it(run, docs, project) -> None:
    docs({"big/notes.md": "# Notes\n\nrotate\n", "big/secret.md": "# Secret\n\nrotate\n"})
    assert ids(run("search", "--json", "rotate", "big/notes.md")) == ["notes:notes.md#notes"]
    out = run("search", "rotate", "big/notes.md").out.decode()
    assert f"\n{'big/notes.md'}:1-3  " in out


def test_what_is_ignored_but_named_is_searched(run, docs, configured) -> None:
    configured()
    docs(
        {
            "docs/.quireignore": "drafts/\nold.md\n",
            "docs/drafts/d.md": "# D\n\nrotate\n",
            "docs/old.md": "# O\n\nrotate\n",
        }
    )
    assert {each.partition("#")[0] for each in ids(run("search", "--json", "rotate", "docs"))} == {
        "docs:guides/auth.md"
    }
    assert ids(run("search", "--json", "rotate", "docs/drafts")) == ["drafts:d.md#d"]
    assert ids(run("search", "--json", "rotate", "docs/old.md")) == ["old:old.md#o"]
    docs({"docs/code.rst": "rotate\n"})
    assert ids(run("search", "--json", "rotate", "docs/code.rst")) == ["code:code.rst"]


def test_paths_work_from_the_current_folder(run, docs, project, monkeypatch) -> None:
    docs({"quire.toml": '[trees]\ndocs = "docs"\n', "src/x.py": ""})
    monkeypatch.chdir(project / "src")
    (hit,) = hits(run("search", "--json", "-n", "1", "rotate"))
    assert hit["file"] == "../docs/guides/auth.md"
    assert Path(hit["file"]).is_file()
    assert ids(run("search", "--json", "-n", "1", "rotate", "../docs/guides")) == [hit["id"]]
    assert left(project / "src") == ["x.py"]


def test_edits_are_found_at_once(run, docs, configured) -> None:
    project = configured()
    run("search", "rotate")
    docs({"docs/new.md": "# New\n\nxylophone\n"})
    assert ids(run("search", "--json", "xylophone")) == ["docs:new.md#new"]
    (project / "docs/new.md").unlink()
    assert ids(run("search", "--json", "xylophone")) == []
    docs({"docs/newer.md": "# Newer\n\nxylophone\n"})
    assert ids(run("search", "--json", "--no-update", "xylophone")) == []


def test_no_update_needs_an_index(run, configured) -> None:
    assert "there is no index yet" in refused(run("search", "--no-update", "x", "docs"))
    configured()
    assert ".quire: there is no index yet; run: quire index" in refused(run("search", "--no-update", "x"))


def test_the_library_finds_the_same(run, configured) -> None:
    found = ids(run("search", "--json", "rotate tokens", "docs")) if configured() else []
    with quire.Index.open(".quire") as index:
        assert [hit.id for hit in index.search("rotate tokens")] == found != []


# --like


SIMILAR = {
    "more/a.md": "# Prune\n\nPrune dangling volumes and unused images.\n\n## Also\n\nDangling volumes here, too.\n",
    "more/b.md": "# Cleaning\n\nDangling volumes and images are pruned at night.\n",
    "more/c.md": "# Login\n\nA token is needed.\n",
    "draft.txt.md": "Intro.\n\n# Draft\n\n## Volumes\n\nThe dangling volumes.\n",
}


def test_sections_of_other_documents_with_the_same_words(run, docs) -> None:
    docs(SIMILAR)
    for name in ("more/a.md#prune", "more:a.md#prune", "more/a.md:3"):
        result = run("search", "--json", "--like", name, "more")
        assert (result.code, ids(result)) == (0, ["more:b.md#cleaning"])
    assert b"more/b.md:1" in run("search", "--list", "--like", "more/a.md", "more").out


def test_the_words_of_a_file_in_no_tree(run, docs, project) -> None:
    docs(SIMILAR)
    found = run("search", "--list", "--like", "draft.txt.md", "more").out.decode()
    assert "more/a.md" in found  # found by what is below its headings
    assert "draft" not in found


def test_nothing_is_similar(run, docs) -> None:
    docs({"more/a.md": "# Zebra\n\nStripes.\n", "more/b.md": "# Lion\n\nMane.\n"})
    assert run("search", "--like", "more/a.md", "more") == (1, b"", "nothing found\n")
    result = run("search", "--like", "more:nope.md", "more")
    assert (result.code, result.err) == (
        1,
        "quire: more:nope.md: not in the index; similar: more:b.md, more:a.md\n",
    )
    assert "--like replaces a query; leave out -e" in refused(run("search", "--like", "more/a.md", "-e", "x", "more"))


# What stands in the way


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x", "nope/"], "nope/: no such file or folder"),
        (
            ["x", "dosc"],
            "dosc: no such file or folder; check the path, or put a query of several words in quotes",
        ),
        (["x y", "dosc"], "dosc: no such file or folder"),
        (["x", "docs/storge.md"], "docs/storge.md: no such file or folder"),
        (["x", "-n", "0"], "--limit=0 is invalid: must be"),
        (["x", "-n", "many"], "'many' is not a valid integer"),
        (["x", "-n", "1000000000"], "--limit=1000000000 is invalid: must be a whole number from 1 to 10000"),
        (["x", "-n", "9" * 20], "is invalid: must be a whole number from 1 to 10000"),
        (["x", "docs", "--path", ""], "'--path': is empty; name a file or a folder"),
        (["--like", "docs/a.md", "--explain", "docs"], "--explain is about a query; leave it out with --like"),
        (["x", "--list", "--full"], "--list, --matches and --full exclude each other; choose one"),
        (["--dry-run-mode", "docs"], "no such option: --dry-run-mode; put --"),
        (["-join", "docs"], "put -- before a query that begins with a dash"),
        (["x", "--max-tokens", "-1"], "--max-tokens=-1 is invalid: must be a whole number, at least 0"),
        ([], "missing argument 'QUERY'"),
        (["x", "--jsn"], "no such option: --jsn (did you mean --json?)"),
        (["", "docs"], "missing argument 'QUERY'"),
        ([" \t", "docs"], "missing argument 'QUERY'"),
        (["x", "docs", "--index", "docs/storage.md"], "docs/storage.md"),
    ],
)
def test_refused(run, project, arguments, said) -> None:
    (project / "empty").mkdir()
    assert said in refused(run("search", *arguments))
    assert left(project) == ["docs", "empty"]


@pytest.mark.parametrize("query", ["?", '"', "()", '"?"', ":)", "-", "*"])
def test_a_query_with_nothing_to_look_for_finds_nothing(run, query) -> None:
    """Punctuation is no syntax by itself, so it is no error; the library has no results for it either."""
    said = "nothing found\n"
    assert run("search", "--json", "--", query, "docs") == (1, b"[]\n", said)
    assert run("search", "--max-tokens", 100, "--", query, "docs") == (1, b"", said)
    assert "nope/: no such file or folder" in refused(run("search", "--", query, "nope/"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("blob.bin", b"\xff\x01\x02", "blob.bin: line 1, byte offset 0: not UTF-8 (invalid start byte)"),
        ("blob.md", b"a\n\xff", "blob.md: line 2, byte offset 2: not UTF-8 (invalid start byte)"),
    ],
)
def test_a_named_file_that_is_no_text(run, docs, project, name, content, said) -> None:
    docs({name: content, f"docs/{name}": content})
    err = refused(run("search", "rotate", name))
    assert said in err
    assert "convert the file to UTF-8, or set encoding or errors of its tree in quire.toml" in err
    assert left(project) == sorted([name, "docs"])
    (project / "quire.toml").write_text('[trees]\ndocs = "docs"\n')
    assert said in refused(run("search", "rotate", f"docs/{name}"))


@posix
def test_a_named_pipe(run, project) -> None:
    os.mkfifo(project / "pipe")
    err = refused(run("search", "rotate", "pipe"))
    assert "pipe: not a regular file" in err
    assert "standard input" not in err
    assert left(project) == ["docs", "pipe"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_a_named_path_that_may_not_be_read(run, docs, project) -> None:
    docs({"secret.md": "rotate\n", "secrets/a.md": "rotate\n"})
    for name, mode in (("secret.md", 0o600), ("secrets", 0o700)):
        (project / name).chmod(0)
        assert f"{name}: permission denied" in refused(run("search", "rotate", name))
        (project / name).chmod(mode)
    assert left(project) == ["docs", "secret.md", "secrets"]


def test_a_query_that_begins_with_a_dash(run, docs) -> None:
    docs({"docs/dry.md": "# Dry\n\nUse --dry-run-mode first.\n"})
    assert ids(run("search", "--json", "--", "--dry-run-mode", "docs")) == ["docs:dry.md#dry"]


def test_a_mistake_in_the_query(run, project) -> None:
    result = run("search", "rotate title:(", "docs")
    assert (result.code, result.out) == (2, b"")
    first, query, caret = result.err.splitlines()
    assert first.startswith("quire: ")
    assert query == "  rotate title:("
    assert caret.endswith("^")
    assert caret.index("^") >= query.index("title")
    assert left(project) == ["docs"]


def test_the_caret_below_wide_characters(run) -> None:
    narrow = run("search", "aaaa title:(", "docs").err.splitlines()
    wide = run("search", "你好 title:(", "docs").err.splitlines()
    assert wide[1] == "  你好 title:("
    assert wide[2] == narrow[2]


def test_the_current_folder_without_documents(run, project, monkeypatch) -> None:
    (project / "empty").mkdir()
    monkeypatch.chdir(project / "empty")
    said = "quire: no documents in .; quire looks for Markdown and .txt files\nnothing found\n"
    assert run("search", "x") == (1, b"", said)
    assert left(project / "empty") == []


def test_files_that_cannot_be_read_are_not_passed_over(run, docs) -> None:
    docs({"docs/bad.md": b"\xff"})
    result = run("search", "rotate", "docs")
    assert result.code == 0
    assert "1 file could not be read; `quire status docs` shows why" in result.err


@contextmanager
def held(folder):
    """Another process that updates the index and does not come to an end."""
    code = (
        "import sys; from pathlib import Path; from quire.index.folder import Folder\n"
        "from quire.index.update import locked\n"
        "with locked(Folder(Path(sys.argv[1])), 1): print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(folder)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        child.stdout.readline()
        yield child
    finally:
        child.kill()
        child.communicate()


def test_while_another_process_updates(run, docs, configured) -> None:
    project = configured()
    run("index")
    docs({"docs/new.md": "# New\n\nrotate\n"})
    with held(project / ".quire") as other:
        result = run("search", "--json", "rotate")
        assert (result.code, ids(result)) == (0, ["docs:guides/auth.md#rotate"])
        assert re.fullmatch(rf"quire: .*\.quire: .*{other.pid}.*; answering from the index as it was\n", result.err)
        waiting = start("index")
        assert str(other.pid).encode() in waiting.stderr.readline()
        assert waiting.poll() is None
        other.kill()
        out, _ = waiting.communicate()
    assert waiting.returncode == 0
    assert b"1 added" in out


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root writes everywhere")
def test_an_index_that_cannot_be_written_still_answers(run, docs, configured) -> None:
    project = configured()
    run("index")
    docs({"docs/new.md": "# New\n\nrotate\n"})
    shutil.copytree(project / ".quire", project / "ro")
    (project / "ro").chmod(0o500)
    result = run("search", "--json", "rotate", "--index", "ro")
    (project / "ro").chmod(0o700)
    assert result.code == 0
    assert "answering from the index as it was" in result.err


# On a terminal


LONG = "# Long\n\n" + "".join(f"line {number}\n" for number in range(60)) + "the needle\n" + "tail\n" * 60


@posix
def test_matches_are_marked_on_a_terminal_only(docs) -> None:
    code, got = terminal("search", "rotate", "docs")
    assert code == 0
    assert "\x1b[31m\x1b[1mRotate\x1b[0m" in got
    assert b"\x1b" not in process("search", "rotate", "docs").out
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in terminal("search", "rotate", "docs", environment=environment)[1]


@posix
def test_long_texts_are_shortened_on_a_terminal(docs) -> None:
    docs({"docs/long.md": LONG})
    got = plain(terminal("search", "needle", "docs", environment={"LINES": "45"})[1])
    assert "  # Long\n" in got
    assert "  the needle\n" in got
    assert re.search(r"  … \d+ lines left out; --full shows all\n", got)
    assert "line 3\n" not in got
    full = plain(terminal("search", "--full", "needle", "docs")[1])
    assert "  line 3\n" in full
    assert "left out" not in full
    assert process("search", "needle", "docs").out.decode().count("\n") > 120


@posix
def test_json_on_a_terminal_is_json() -> None:
    _, got = terminal("search", "--json", "rotate", "docs")
    assert [hit["id"] for hit in json.loads(got)] == ["docs:guides/auth.md#rotate"]


@posix
def test_documents_cannot_steer_the_terminal(docs) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e"
    docs({f"docs/n{hostile}.md": f"# T {hostile}\n\nneedle {hostile}\n"})
    for form in ([], ["--list"], ["--full"], ["--explain"]):
        _, got = terminal("search", *form, "needle", "docs", environment={"NO_COLOR": "1"})
        assert "needle" in got or form == ["--list"]
        assert not set(got) & set(map(chr, [*range(9), *range(11, 32), *range(127, 160), 0x202E]))


@posix
@pytest.mark.parametrize("form", [[], ["--json"], ["--list"]])
def test_reader_that_has_enough(docs, form) -> None:
    docs(
        {f"docs/{number}.md": f"# N {number}\n\n" + "needle text\n" * 9000 for number in range(12)}
    )  # more than a pipe holds
    process("index", "docs")
    running = start("search", "-n", "100", "--max-tokens", "1000000", *form, "needle", "docs")
    running.stdout.readline()
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert running.wait() == 0
    assert err == b""


@posix
def test_interrupt(docs, tmp_path) -> None:
    docs({f"docs/{number}.md": AUTH * 300 for number in range(100)})
    running = start("search", "rotate", "docs", environment=pausing(tmp_path / "python", "docs/10.md"))
    assert running.stdout.readline() == b"paused\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert (running.returncode, out, err) == (130, b"", b"quire: interrupted\n")


def test_an_up_to_date_index_is_searched_without_what_reads_documents(run) -> None:
    run("index", "docs")
    code = (
        "import sys; from quire.cli import main; main(sys.argv[1:]);"
        "heavy = {'pyromark', 'yaml', 'toktok', 'quire.parsing', 'quire.cut', 'quire.tokens.tokenizers', 'importlib.metadata',"
        "'rich', 'multiprocessing', 'quire.pipeline', 'tomllib'}; print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "search", "rotate", "docs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("> Auth")
    assert done.stderr == "[]\n"


def test_python_m_quire() -> None:
    done = subprocess.run([*QUIRE, "search", "rotate", "docs"], capture_output=True, check=True)
    assert done.stdout.startswith(b"> Auth")


def test_a_tree_that_the_query_names_and_nobody_knows(run, docs) -> None:
    docs({"docs/a.md": "a\n"})
    assert refused(run("search", "tree:zz a", "docs")) == "quire: tree: no tree is called 'zz'; there are: docs\n"


# docs/reference/hit.md


PAGE = Path(__file__).parents[2] / "docs" / "reference" / "hit.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")
def test_the_reference_has_every_field(run) -> None:
    (hit, *_) = hits(run("search", "--json", "--explain", "rotate tokens", "docs"))
    named = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    inside = [name for name in named if name not in hit]
    assert [name for name in named if name in hit] == list(hit)
    assert set(inside) == {*hit["explanation"], "scores[].items", "scores[].words"}
    assert set(hit["explanation"]["scores"][0]) == {"id", "score", "items", "words"}
    attributes = {re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name) for name in hit}
    assert attributes - {"file", "match_ranges"} == set(Hit.__struct_fields__)


def test_a_section_that_is_not_shown_from_its_beginning_says_so(run, docs) -> None:
    before = "".join(
        f"Paragraph {number} says nothing of it, at some length and in many words.\n\n" for number in range(99)
    )
    docs({"more/a.md": f"# Long\n\n{before}The needle is here.\n"})
    printed = run("search", "--max-tokens", 120, "needle", "more").out.decode().splitlines()
    assert printed[3] == "…"
    assert "The needle is here." in printed


def test_a_word_that_occurs_nowhere_is_named(run, docs) -> None:
    docs({"more/a.md": "# Volume\n\nA volume.\n"})
    result = run("search", "xyzzyq volume", "more")
    assert (result.code, result.err) == (0, 'no match for "xyzzyq"\n')


def test_front_matter_restricts_and_weighs(run, docs, configured) -> None:
    docs({"docs/new.md": "---\nstatus: draft\n---\n# New\n\nRotate tokens.\n", "docs/old.md": "Rotate tokens.\n"})
    assert ids(run("search", "--json", "--where", "status=draft", "rotate tokens", "docs")) == ["docs:new.md#new"]
    assert ids(run("search", "--json", "rotate tokens status:draft", "docs")) == ["docs:new.md#new"]
    result = run("search", "--where", "owner=x", "rotate tokens", "docs")
    assert (result.code, result.out) == (1, b"")
    assert 'no front matter has the key "owner"; there are: status' in result.err
    assert "where: 'draft' is no condition" in refused(run("search", "--where", "draft", "tokens", "docs"))
    best = ids(run("search", "--json", "rotate tokens", "docs"))[0]
    configured(more=f'[search.where]\n"path:{best.partition(":")[2].partition("#")[0]}" = 0\n')
    assert best not in ids(run("search", "--json", "rotate tokens"))
    configured(more='[search.where]\n"status" = 0.5\n')
    assert "search.where: 'status' is no condition" in refused(run("search", "tokens"))
    configured(more='[search.where]\n"status:draft" = -1\n')
    assert "search.where" in refused(run("search", "tokens"))


def test_a_tree_has_a_weight(run, docs) -> None:
    docs({"quire.toml": '[trees]\ndocs = "docs"\nmore = { path = "more", weight = 0 }\n', "more/auth.md": AUTH})
    found = hits(run("search", "--json", "--all", "rotate tokens"))
    assert found[0]["tree"] == "docs"
    assert {hit["score"] for hit in found if hit["tree"] == "more"} == {0.0}
