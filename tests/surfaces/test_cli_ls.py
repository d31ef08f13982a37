"""``quire ls``: trees, the documents of a tree or a folder, the headings of a document or a section."""

from __future__ import annotations

import json

import pytest
from outputs import refused

AUTH = "# Auth\n\nIntro\n\n## OAuth\n\nTokens rotate.\n\n### Rotate\n\nrotate tokens daily\n\n## Basic\n\npassword\n"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch, docs):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    docs({"docs/guides/auth.md": AUTH, "docs/b.md": "b\n", "more/c.txt": "c\n"})
    return tmp_path


def test_trees(run, project) -> None:
    run("index", "docs", "more")
    result = run("ls")
    assert (result.code, result.err) == (0, "")
    assert result.out.decode() == (
        "docs  25 tokens  2 documents, 6 sections  docs\n"
        "more   2 tokens  1 document, 1 section  more\n"
    )  # fmt: skip
    assert json.loads(run("ls", "--json").out)[1] == {
        "name": "more", "folder": f"{project}/more", "language": "english", "files": 1, "nodes": 1, "tokens": 2,
    }  # fmt: skip


def test_a_tree_that_is_gone_is_listed_only_if_that_is_asked_for(run, project) -> None:
    run("index", "docs", "more")
    (project / "more").rename(project / "away")
    assert [each["name"] for each in json.loads(run("ls", "--json").out)] == ["docs"]
    for what in ("more", "more:c.txt"):
        result = run("ls", what)
        assert (result.code, result.out) == (1, b"")
        assert "does not exist; " in result.err
        assert run("ls", "--no-update", what).code == 0
    assert len(run("ls", "--no-update").out.splitlines()) == 2


def test_a_tree_of_a_file_that_is_gone(run, project) -> None:
    (project / "quire.toml").write_text('[trees]\ndocs = "docs"\nmore = "more"\n')
    run("index")
    (project / "more").rename(project / "away")
    result = run("ls")
    assert (result.code, len(result.out.splitlines())) == (0, 1)
    assert result.err == "quire: tree more: more does not exist; correct trees.more in quire.toml\n"
    assert len(run("ls", "--no-update").out.splitlines()) == 2
    assert run("ls", "--no-update", "more").out
    assert run("get", "--no-update", "more:c.txt").out
    assert b"more/c.txt" in run("search", "--no-update", "c").out
    assert b"more/c.txt" in run("search", "--no-update", "--tree", "more", "c").out


@pytest.mark.parametrize("what", ["docs", "docs/", "./docs/guides", "more"])
def test_documents(run, what) -> None:
    run("index", "docs", "more")
    expected = {"more": ["more/c.txt"], "./docs/guides": ["docs/guides/auth.md"]}
    files = [each["file"] for each in json.loads(run("ls", "--json", what).out)]
    assert files == expected.get(what, ["docs/b.md", "docs/guides/auth.md"])


def test_documents_from_another_folder(run, project, monkeypatch) -> None:
    run("index", "docs")
    monkeypatch.chdir(project / "more")
    result = run("ls", "--index", "../.quire", "docs")
    assert [line.split()[0] for line in result.out.decode().splitlines()] == ["../docs/b.md", "../docs/guides/auth.md"]


@pytest.mark.parametrize("what", ["docs/guides/auth.md", "guides/auth.md", "docs:guides/auth.md"])
def test_headings(run, what) -> None:
    run("index", "docs")
    result = run("ls", what)
    assert result.out.decode() == (
        "docs/guides/auth.md  23 tokens  lines 1-15\n"
        "  Auth               23 tokens  lines 1-15  #auth\n"
        "    OAuth            13 tokens  lines 5-11  #oauth\n"
        "      Rotate          7 tokens  lines 9-11  #rotate\n"
        "    Basic             5 tokens  lines 13-15  #basic\n"
    )


def test_headings_below_a_section(run) -> None:
    run("index", "docs")
    rows = json.loads(run("ls", "--json", "docs/guides/auth.md#oauth").out)
    assert [(row["id"], row["depth"], row["tokens"], row["startLine"], row["endLine"]) for row in rows] == [
        ("docs:guides/auth.md#oauth", 2, 13, 5, 11),
        ("docs:guides/auth.md#rotate", 3, 7, 9, 11),
    ]


def test_what_is_new_is_there(run, docs) -> None:
    run("index", "docs")
    docs({"docs/new.md": "n\n"})
    assert "docs/new.md" in run("ls", "docs").out.decode()
    docs({"docs/newer.md": "n\n"})
    assert "newer" not in run("ls", "--no-update", "docs").out.decode()


def test_a_folder_needs_no_earlier_step(run) -> None:
    assert run("ls", "docs").out.count(b"\n") == 2


def test_no_index_yet(run) -> None:
    for arguments in (["ls"], ["ls", "nope"], ["ls", "--no-update", "docs"]):
        assert "there is no index yet" in refused(run(*arguments))


def test_not_there(run) -> None:
    run("index", "docs")
    result = run("ls", "docs/guides/auht.md")
    assert (result.code, result.out) == (1, b"")
    assert "docs:guides/auth.md" in result.err
    assert run("ls", "--json", "docs/guides/auht.md") == (1, b"[]\n", result.err)
    assert run("ls", "docs:gides").code == run("ls", "guid").code == 1


@pytest.mark.parametrize("what", ["two", "two:"])
def test_a_tree_before_a_folder_of_the_same_name(run, docs, what) -> None:
    docs({"quire.toml": '[trees]\ntwo = "sub/two"\n', "sub/two/2.md": "# Two\n", "two/1.md": "# One\n"})
    assert files(run("ls", "--json", what)) == ["sub/two/2.md"]
    assert [each["name"] for each in json.loads(run("ls", "--json").out)] == ["two"]
    assert files(run("ls", "--json", "./two")) == ["two/1.md"]
    assert files(run("ls", "--json", what)) == ["sub/two/2.md"]


@pytest.mark.parametrize("what", ["guides", "guides/", "docs:guides", "docs:guides/"])
def test_a_folder_of_a_tree(run, what) -> None:
    run("index", "docs", "more")
    assert files(run("ls", "--json", what)) == ["docs/guides/auth.md"]


def test_a_folder_of_several_trees(run, docs) -> None:
    docs({"more/guides/d.md": "d\n"})
    run("index", "docs", "more")
    assert files(run("ls", "--json", "guides")) == ["docs/guides/auth.md", "more/guides/d.md"]
    assert files(run("ls", "--json", "more:guides")) == ["more/guides/d.md"]


def files(result) -> list[str]:
    assert (result.code, result.err) == (0, "")
    return [each["file"] for each in json.loads(result.out)]


def test_a_named_tree_that_was_never_there(run, docs) -> None:
    docs({"quire.toml": '[trees]\ndocs = "docs"\nmore = "mroe"\n'})
    said = "quire: tree more: mroe does not exist; correct trees.more in quire.toml\n"
    for _ in range(2):
        for command in (["ls", "more"], ["search", "--tree", "more", "c"]):
            assert refused(run(*command)) == refused(run(*command, "--no-update")) == said
        run("index", "docs")
    assert run("ls").err == run("ls", "--no-update").err == said


def test_a_tree_without_documents(run, docs) -> None:
    docs({"quire.toml": '[trees]\nbare = "bare"\n', "bare/x.py": "x\n"})
    said = "quire: bare: no documents; quire looks for Markdown and .txt files\n"
    assert run("ls", "--json", "bare") == (1, b"[]\n", said)


def test_a_tree_that_has_no_documents_any_more(run, project) -> None:
    run("index", "docs", "more")
    (project / "more/c.txt").unlink()
    run("index")
    said = "quire: more: no documents; quire looks for Markdown and .txt files\n"
    for what in ("more", "./more"):
        for options in ([], ["--no-update"]):
            assert run("ls", what, *options) == (1, b"", said)
    assert run("search", "c", "more", "--no-update") == run("search", "c", "more") == (1, b"", "nothing found\n")
    (project / "docs/none").mkdir()
    assert "docs/none: not in the index; leave out --no-update" in refused(run("ls", "docs/none", "--no-update"))


@pytest.mark.parametrize("command", ["ls", "get"])
def test_what_is_not_there_is_advised_for_the_index_that_is_asked(run, command) -> None:
    run("index", "docs")
    run("index", "docs", "--index", "other ix")
    assert run(command, "zzzz").err == "quire: zzzz: not in the index; quire ls shows what is\n"
    said = "quire: zzzz: not in the index; quire ls --index 'other ix' shows what is\n"
    assert run(command, "zzzz", "--index", "other ix").err == said


def test_no_index_yet_where_another_is_asked_for(run) -> None:
    said = "quire: zz: there is no index yet; `quire index PATH --index zz` makes one\n"
    assert refused(run("ls", "--index", "zz")) == said
    assert run("status", "--index", "zz") == (1, b"", said)


def test_a_damaged_index_is_mended_where_it_is(run, project) -> None:
    run("index", "docs", "--index", "zz")
    (project / "zz/index.current").write_text("{")
    assert refused(run("ls", "--no-update", "--index", "zz")).endswith("; run: quire index --index zz\n")
