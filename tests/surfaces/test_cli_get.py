"""``quire get``: sections by id, by file and heading, by file and line."""

from __future__ import annotations

import json
import subprocess

import pytest
from outputs import left, refused
from processes import QUIRE

AUTH = "# Auth\n\nIntro\n\n## OAuth\n\nTokens rotate.\n\n### Rotate\n\nrotate tokens daily\n\n## Basic\n\npassword\n"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch, docs):
    monkeypatch.chdir(tmp_path)
    docs({"quire.toml": '[trees]\ndocs = "docs"\n', "docs/guides/auth.md": AUTH, "docs/b.md": "b\n"})
    return tmp_path


@pytest.fixture
def unconfigured(project):
    """The project without its quire.toml."""
    (project / "quire.toml").unlink()
    return project


def hits(result) -> list[dict]:
    return json.loads(result.out)


@pytest.mark.parametrize(
    "name",
    [
        "docs:guides/auth.md#oauth",
        "guides/auth.md#oauth",
        "docs/guides/auth.md#oauth",
        "./docs/guides/../guides/auth.md#oauth",
        "docs/guides/auth.md:5",
        "docs:guides/auth.md:7",
        "docs/guides/auth.md:5-11",
        "guides/auth.md:5-11",
    ],
)
def test_one_section_by_all_its_names(run, name) -> None:
    result = run("get", name)
    assert (result.code, result.err) == (0, "")
    assert result.out.decode() == (
        "> Auth › OAuth\n"
        "docs/guides/auth.md:5-11  13 tokens\n"
        "\n"
        "## OAuth\n\nTokens rotate.\n\n### Rotate\n\nrotate tokens daily\n"
    )  # fmt: skip


def test_the_whole_document(run) -> None:
    (hit,) = hits(run("get", "--json", "docs/guides/auth.md"))
    assert (hit["id"], hit["text"], hit["lines"], hit["complete"]) == ("docs:guides/auth.md", AUTH, [1, 15], True)


def test_without_children(run) -> None:
    (hit,) = hits(run("get", "--json", "--no-children", "guides/auth.md#oauth"))
    assert hit["text"].rstrip() == "## OAuth\n\nTokens rotate."
    start, end = hit["span"]
    assert AUTH[start:end] == hit["text"]
    start, end = hit["byteSpan"]
    assert AUTH.encode()[start:end].decode() == hit["text"]


def test_at_most_so_many_tokens(run, docs) -> None:
    docs({"docs/long.md": "# Long\n\n" + "\n\n".join(f"Paragraph {n} says this and that." for n in range(90))})
    (hit,) = hits(run("get", "--json", "--max-tokens", 100, "long.md"))
    assert hit["tokens"] <= 100
    assert not hit["complete"]
    assert hit["text"].startswith("# Long\n\nParagraph 0 ")


def test_several_in_the_order_given(run) -> None:
    result = run("get", "--json", "guides/auth.md#basic", "docs/b.md", "guides/auth.md#rotate", "docs/b.md")
    assert [hit["title"] for hit in hits(result)] == ["Basic", "b", "Rotate"]
    assert run("get", "docs/b.md", "guides/auth.md#basic").out.decode().split("\n\n") == [
        "> b\ndocs/b.md:1  2 tokens", "b", "> Auth › Basic\ndocs/guides/auth.md:13-15  5 tokens", "## Basic", "password\n",
    ]  # fmt: skip


def test_a_file_needs_no_configuration(run, unconfigured) -> None:
    (hit,) = hits(run("get", "--json", "docs/guides/auth.md#rotate"))
    assert (hit["tree"], hit["path"], hit["title"]) == ("auth", "auth.md", "Rotate")
    assert left(unconfigured) == ["docs"]


def test_an_id_that_a_search_printed(run, unconfigured) -> None:
    (found,) = hits(run("search", "--json", "-n", 1, "rotate tokens", "docs"))
    run("search", "rotate", "docs/b.md")
    for name in (found["id"], "docs:guides/auth.md#rotate", "guides/auth.md#rotate"):
        assert (
            [hit["id"] for hit in hits(run("get", "--json", name))] == [found["id"]] == ["docs:guides/auth.md#rotate"]
        )


def test_a_file_that_is_in_no_tree(run, docs) -> None:
    docs({"elsewhere/notes.md": "# Notes\n\nneedle\n"})
    (hit,) = hits(run("get", "--json", "elsewhere/notes.md"))
    assert (hit["id"], "needle" in hit["text"]) == ("notes:notes.md", True)
    assert run("search", "needle").code == 1  # the trees are those of quire.toml
    result = run("get", "elsewhere/notes.md#note")
    assert result.code == 1
    assert result.err == "quire: elsewhere/notes.md#note: not in the index; similar: notes:notes.md#notes\n"


@pytest.mark.parametrize("is_indexed", [False, True])
def test_a_folder_that_cannot_be_written(run, docs, project, user_folders, is_indexed) -> None:
    """The index beside quire.toml is a temporary one; one of a file elsewhere is in the cache."""
    docs({"notes.md": "# Notes\n\n## Needle\n\nText.\n"})
    if is_indexed:
        run("index")
    before = sorted(project.rglob("*"))
    result = in_read_only_folder(project, "get", "notes.md#needle", "docs/guides/auth.md#oauth")
    assert (result.returncode, result.stdout.count(b"# Needle"), result.stdout.count(b"# OAuth")) == (0, 1, 1)
    said = "cannot be written: Read-only file system; "
    assert (f"{said}indexing for this call only" in result.stderr.decode()) == (not is_indexed)
    docs({"docs/b.md": "# New\n"})
    found = in_read_only_folder(project, "search", "rotate", "--list")
    assert found.stdout.decode().startswith("docs/guides/auth.md:9  Auth › OAuth › Rotate")
    assert f"{said}{'answering from the index as it was' if is_indexed else 'indexing'}" in found.stderr.decode()
    assert sorted(project.rglob("*")) == before


def in_read_only_folder(folder, *arguments) -> subprocess.CompletedProcess[bytes]:
    mounts = 'mount --bind . . && mount -o remount,bind,ro . && cd "$0" && exec "$@"'
    if subprocess.run(["unshare", "-rm", "sh", "-c", mounts, ".", "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs a Linux that lets users mount")
    command = ["unshare", "-rm", "sh", "-c", mounts, str(folder), *QUIRE, *arguments]
    return subprocess.run(command, check=False, capture_output=True, cwd=folder)


def test_what_was_edited_is_read_again(run, docs) -> None:
    run("index")
    docs({"docs/b.md": "# New\n\nother\n"})
    assert "other" not in run("get", "--no-update", "b.md").out.decode()
    assert "other" in run("get", "b.md#new").out.decode()


def test_not_found(run) -> None:
    result = run("get", "--json", "guides/auth.md#oath", "b.md", "nope.md#x")
    assert result.code == 1
    assert [hit["id"] for hit in hits(result)] == ["docs:b.md"]
    first, second = result.err.splitlines()
    assert first.startswith("quire: guides/auth.md#oath: not in the index; similar: docs:guides/auth.md#oauth")
    assert second.startswith("quire: nope.md#x: not in the index")
    result = run("get", "--json", "nope.md#x")
    assert (result.code, hits(result)) == (1, [])


def test_a_path_in_several_trees(run, docs) -> None:
    docs({"more/b.md": "b\n", "quire.toml": '[trees]\ndocs = "docs"\nmore = "more"\n'})
    result = run("get", "b.md")
    assert result.code == 1
    assert "docs:b.md, more:b.md" in result.err
    assert run("get", "more:b.md").code == 0


def test_a_line_that_is_not_there(run) -> None:
    result = run("get", "docs/guides/auth.md:99")
    assert result.code == 1
    assert "lines 1 to 15" in result.err


def test_no_index_yet(run, unconfigured) -> None:
    assert "there is no index yet" in refused(run("get", "--no-update", "docs:guides/auth.md#oauth"))


@pytest.mark.parametrize("name", ["a:1.md", "a#b.md", "[1] *.md"])
def test_odd_names(run, docs, name) -> None:
    docs({f"docs/{name}": "# T\n\ntext\n"})
    for asked in (f"docs/{name}", f"docs/{name}#t", f"docs/{name}:3", f"docs:{name}#t"):
        (hit,) = hits(run("get", "--json", asked))
        assert hit["path"] == name


def test_documents_cannot_steer_the_terminal(run, docs) -> None:
    docs({"docs/x.md": "# T \x1b[31m\n\ntext \x1b]0;owned\x07 \x9b\ttab\n"})
    out = run("get", "x.md").out.decode()
    assert not set(out) & set(map(chr, [*range(9), *range(11, 32), *range(127, 160)]))
    assert "␛[31m" in out
    assert "\ttab" in out


def test_a_budget_counts_the_breadcrumb(run) -> None:
    assert hits(run("get", "--json", "--max-tokens", 17, "docs:guides/auth.md#oauth"))[0]["complete"]
    assert not hits(run("get", "--json", "--max-tokens", 16, "docs:guides/auth.md#oauth"))[0]["complete"]


def test_a_tree_whose_folder_is_missing(run, docs, project) -> None:
    docs({"more/b.md": "# More\n\nneedle\n", "quire.toml": '[trees]\ndocs = "docs"\nmore = "more"\n'})
    run("index")
    (project / "more").rename(project / "away")
    result = run("get", "more:b.md")
    assert (result.code, result.out) == (1, b"")
    assert "tree more: more does not exist; correct trees.more in quire.toml" in result.err
    (project / "away").rename(project / "more")  # as a drive that is mounted again
    assert run("get", "more:b.md").code == 0


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_nothing_fits(run, form) -> None:
    result = run("get", *form, "--max-tokens", 1, "docs:guides/auth.md#oauth")
    assert (result.code, result.out) == (1, b"[]\n" if form else b"")
    said = "no part of it fits in 1 token"
    assert result.err == f"quire: docs:guides/auth.md#oauth: {said}\n"


def test_a_folder_is_no_document(run) -> None:
    said = "quire: docs/guides: is a folder; `quire outline docs/guides` lists its documents\n"
    for others in ([], ["docs/b.md"]):
        result = run("get", "--json", "docs/guides", *others)
        assert (result.code, result.err) == (1, said)
        assert [hit["text"] for hit in hits(result)] == ["b\n"] * len(others)
    assert run("outline", "docs/guides").code == 0
