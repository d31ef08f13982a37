"""``quire index``: what has changed, which trees there are, and what stands in the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from outputs import left, refused
from processes import pausing, process, start

from support.forged_files import forge

AUTH = "# Auth\n\nIntro\n\n## OAuth\n\nTokens rotate.\n\n### Rotate\n\nrotate tokens daily\n\n## Basic\n\npassword\n"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trees(run):
    """The trees of the index, with the paths of their documents."""

    def read() -> dict[str, list[str]]:
        names = [tree["name"] for tree in json.loads(run("ls", "--json").out)]
        return {
            name: [each["path"] for each in json.loads(run("ls", "--json", "--no-update", name).out)] for name in names
        }

    return read


def changes(result) -> tuple[int, int, int, int]:
    done = json.loads(result.out)
    return done["added"], done["changed"], done["removed"], done["unchanged"] + done["touched"]


def test_only_what_changed_is_read(run, docs) -> None:
    folder = docs({"docs/a.md": AUTH, "docs/b.md": "b\n", "docs/c.md": "c\n"})
    assert changes(run("index", "docs", "--json")) == (3, 0, 0, 0)
    (folder / "docs/a.md").write_text(AUTH + "\nmore\n")
    (folder / "docs/b.md").unlink()
    (folder / "docs/d.md").write_text("d\n")
    result = run("index")
    assert (result.code, result.err) == (0, "")
    assert result.out.decode() == ".quire: 1 added, 1 changed, 1 removed, 1 unchanged, 7 sections in all\n"
    assert changes(run("index", "--json")) == (0, 0, 0, 3)


def test_rebuild(run, docs) -> None:
    docs({"docs/a.md": AUTH})
    run("index", "docs")
    result = run("index", "--rebuild", "--json")
    assert (result.code, changes(result)) == (0, (1, 0, 0, 0))
    assert json.loads(result.out)["rebuilt"]


def test_what_cannot_be_read_is_named(run, docs) -> None:
    docs({"docs/a.md": "a\n", "docs/bad.md": b"\xff\xfe\xff"})
    for _ in range(2):
        result = run("index", "docs")
        assert result.code == 1
        assert result.err.startswith("docs/bad.md")
        assert "not UTF-16" in result.err
        assert "convert the file to UTF-8 [undecodable]\n" in result.err
    failed = json.loads(run("index", "--json").out)["failed"]
    assert [Path(each["path"]).name for each in failed] == ["bad.md"]
    assert failed[0]["message"].endswith("; convert the file to UTF-8")


# Which trees


def test_the_current_folder_where_nothing_else_is_known(run, docs, trees, monkeypatch) -> None:
    folder = docs({"my notes/a.md": "a\n", "my notes/deep/b.txt": "b\n"})
    monkeypatch.chdir(folder / "my notes")
    assert run("index").code == 0
    assert trees() == {"my-notes": ["a.md", "deep/b.txt"]}


def test_patterns_of_a_tree(run, docs, trees) -> None:
    files = {name: f"# A\n\n{name} text\n" for name in ("docs/a.md", "docs/guides/b.md", "docs/guides/drafts/c.md")}
    toml = '[trees.docs]\npath = "docs"\n'
    docs({**files, "quire.toml": f'{toml}include = ["guides/**"]\nexclude = ["drafts/"]\n'})
    assert changes(run("index", "--json")) == (1, 0, 0, 0)
    assert trees() == {"docs": ["guides/b.md"]}
    assert json.loads(run("status", "--json").out)["outdated"] == []
    values = json.loads(run("config", "--json").out)
    assert values["trees.docs.exclude"]["value"] == ["drafts/"]
    assert [b"trees.docs.include", b'["guides/**"]', b"quire.toml"] in map(bytes.split, run("config").out.splitlines())
    docs({"quire.toml": f'{toml}exclude = "drafts/"\n'})
    found = json.loads(run("search", "text", "--json").out)
    assert {each["path"] for each in found} == {"a.md", "guides/b.md"}
    docs({"quire.toml": toml})
    assert changes(run("index", "--json")) == (1, 0, 0, 2)
    docs({"quire.toml": f'{toml}include = ["/a.md"]\n'})
    assert changes(run("index", "--json")) == (0, 0, 2, 1)


def test_configured_trees(run, docs, trees, monkeypatch) -> None:
    folder = docs(
        {
            "quire.toml": '[trees]\nguides = "docs/guides"\nreadme = "README.md"\n',
            "docs/guides/a.md": "a\n",
            "docs/other.md": "x\n",
            "README.md": "r\n",
        }
    )
    monkeypatch.chdir(folder / "docs")
    assert run("index").code == 0
    assert trees() == {"guides": ["a.md"], "readme": ["README.md"]}
    assert left(folder / "docs") == ["guides", "other.md"]
    assert ".quire" in left(folder)


def test_a_configured_tree_that_is_not_there(run, docs) -> None:
    docs({"quire.toml": '[trees]\ndocs = "dosc"\n', "docs/a.md": "a\n"})
    assert "tree docs: dosc does not exist; correct trees.docs in quire.toml" in refused(run("index"))


def test_names_of_new_trees(run, docs, trees) -> None:
    docs({"a/docs/x.md": "x\n", "b/docs/y.md": "y\n", "c/guide.md": "z\n", "c/other.md": "o\n"})
    assert run("index", "a/docs", "b/docs", "c/guide.md").code == 0
    assert trees() == {"docs": ["x.md"], "docs-2": ["y.md"], "guide": ["guide.md"]}
    assert run("index", "a/docs", "b/docs/y.md", "c/guide.md").code == 0
    assert list(trees()) == ["docs", "docs-2", "guide"]


def test_a_larger_tree_takes_in_what_it_holds(run, docs, trees) -> None:
    docs({"docs/guides/a.md": "a\n", "docs/b.md": "b\n", "docs/.hidden/c.md": "c\n"})
    run("index", "docs/guides", "docs/b.md", "docs/.hidden")
    assert list(trees()) == ["b", "guides", "hidden"]
    run("index", "docs")
    assert trees() == {"docs": ["b.md", "guides/a.md"], "hidden": ["c.md"]}


def test_sections_are_counted_when_a_larger_tree_has_taken_in_what_it_holds(run, docs) -> None:
    folder = docs({"a/a.md": AUTH})
    run("index", str(folder / "a" / "a.md"))
    first = json.loads(run("index", str(folder / "a"), "--json").out)["nodes"]
    assert first == sum(tree["nodes"] for tree in json.loads(run("status", "--json").out)["trees"].values())


def test_names_that_are_no_text_are_escaped_in_json(run, docs) -> None:
    folder = docs({"caf\udce9.md": b"# \xff\n", "ok\udce9.md": "# A\n\nb\n"})
    made = run("index", str(folder), "--json")
    status = run("status", "--json")
    for result in (made, status):
        assert [Path(each["path"]).name for each in json.loads(result.out)["failed"]] == ["caf%E9.md"]
    assert json.loads(run("outline", str(folder / "ok\udce9.md"), "--json").out)["path"] == "ok%E9.md"


def test_names_of_trees_that_are_no_text(run, docs) -> None:
    folder = docs({"caf\udce9.md": "# A\n\none\n", "fol\udce9/x.md": "# B\n\ntwo\n"})
    run("index", "caf\udce9.md", "fol\udce9")
    said = [run(*each, "--json") for each in (["ls"], ["ls", "caf"], ["ls", "fol"], ["search", "one"], ["status"])]
    assert not [each for each in said if each.code or b"\\ud" in each.out]
    trees, *documents, hits, status = [json.loads(each.out) for each in said]
    assert [each["folder"] for each in trees] == [f"{folder}/caf%E9.md", f"{folder}/fol%E9"]
    assert [each["file"] for [each] in (*documents, hits)] == ["caf%E9.md", "fol%E9/x.md", "caf%E9.md"]
    assert [each["folder"] for each in status["trees"].values()] == [f"{folder}/caf%E9.md", f"{folder}/fol%E9"]
    assert json.loads(run("get", "caf\udce9.md", "--json").out)[0]["file"] == "caf%E9.md"


def test_names_that_are_no_text_in_what_status_says(run, docs) -> None:
    folder = docs({"caf\udce9.md": "a\n", "b.md": "b\n"})
    run("index", "caf\udce9.md")
    (folder / "quire.toml").write_text('[trees]\ncaf = "b.md"\n')
    changed = json.loads(run("status", "--json").out)["changedTrees"]
    assert changed["caf"].startswith("the index has caf%E9.md instead of b.md")
    assert json.loads(run("status", "--json", "--index", "i\udce9").out)["index"] == f"{folder}/i%E9"


def test_names_that_are_no_text_are_printed_as_they_can_be_asked_for(run, docs) -> None:
    docs({"caf\udce9.md": "# A\n\nb\n"})
    run("index", "caf\udce9.md")
    assert run("ls", "caf").out.startswith(b"caf%E9.md  ")
    place = run("search", "--list", "b").out.split()[0].decode()
    assert place == "caf%E9.md:1"
    assert run("get", place).out == run("get", "caf\udce9.md").out != b""


def test_what_is_ignored_but_named_is_taken(run, docs, trees) -> None:
    docs({"docs/.quireignore": "drafts/\n", "docs/drafts/d.md": "d\n", "docs/drafts/.x": "", "docs/a.md": "a\n"})
    run("index", "docs")
    assert changes(run("index", "docs/drafts", "--json")) == (1, 0, 0, 1)
    assert trees() == {"docs": ["a.md"], "drafts": ["d.md"]}
    assert changes(run("index", "docs/drafts", "--json")) == (0, 0, 0, 1)


def test_a_tree_of_the_configuration_stays(run, docs, trees) -> None:
    docs({"quire.toml": '[trees]\nguides = "docs/guides"\n', "docs/guides/a.md": "a\n", "docs/b.md": "b\n"})
    run("index")
    run("index", "docs")
    assert trees() == {"docs": ["b.md", "guides/a.md"], "guides": ["a.md"]}


def test_the_user_s_own_trees(run, docs, trees, tmp_path, monkeypatch) -> None:
    docs({"home/quire/quire.toml": '[trees]\nnotes = "notes"\n', "home/quire/notes/n.md": "n\n", "p/docs/a.md": "a\n"})
    monkeypatch.chdir(tmp_path / "p")
    assert run("index").code == 0
    assert trees() == {"notes": ["n.md"]}
    assert left(tmp_path / "p") == ["docs"]
    assert run("index", "docs").code == 0
    assert trees() == {"docs": ["a.md"], "notes": ["n.md"]}
    assert left(tmp_path / "p") == ["docs"]


def test_the_user_s_own_index(run, docs, trees, tmp_path, monkeypatch) -> None:
    docs({"home/quire/quire.toml": 'index = "ix"\n', "p/docs/a.md": "needle\n"})
    monkeypatch.chdir(tmp_path / "p")
    assert b"needle" in run("search", "needle", "docs").out
    assert trees() == {"docs": ["a.md"]}
    assert left(tmp_path / "p") == ["docs"]
    assert left(tmp_path / "home/quire") == ["ix", "quire.toml"]


def test_the_user_s_trees_stay_where_something_else_is_searched(run, docs, tmp_path, monkeypatch) -> None:
    docs({"home/quire/quire.toml": 'index = "ix"\n[trees]\nnotes = "n"\n', "home/quire/n/n.md": "needle in notes\n"})
    docs({"p/docs/a.md": "needle in docs\n"})
    monkeypatch.chdir(tmp_path / "p")
    assert b"needle in docs" in run("search", "needle", "docs").out
    assert b"needle in notes" in run("search", "needle").out
    assert left(tmp_path / "p") == ["docs"]


def test_languages(run, docs) -> None:
    docs({"quire.toml": '[trees.docs]\npath = "docs"\nlanguage = "german"\n', "docs/a.md": "a\n"})
    run("index")
    assert json.loads(run("ls", "--json").out)[0]["language"] == "german"
    docs({"quire.toml": '[trees]\ndocs = "docs"\n'})
    result = run("index")
    assert result.code == 0
    assert "rebuilt, because" in result.out.decode()
    assert json.loads(run("ls", "--json").out)[0]["language"] == "english"


def test_a_tree_whose_folder_is_gone(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n", "more/b.md": "b\n"})
    run("index", "docs", "more")
    shutil.rmtree(folder / "more")
    result = run("index")
    assert result.code == 0
    assert "tree more: more does not exist; `quire index --remove more` removes it" in result.err
    assert run("index", "--remove", "more").out == b"more: removed\n"
    assert run("index").err == ""


def test_remove(run, docs, trees) -> None:
    docs({"docs/a.md": "a\n", "more/b.md": "b\n"})
    run("index", "docs", "more")
    assert "--remove nope: no such tree; the trees are docs, more" in refused(run("index", "--remove", "nope"))
    assert "leave out PATH" in refused(run("index", "--remove", "docs", "docs"))
    assert json.loads(run("index", "--remove", "docs", "--json").out) == {"removedTrees": ["docs"]}
    assert list(trees()) == ["more"]


def test_a_tree_to_remove_that_is_named_twice_is_one(run, docs) -> None:
    docs({"docs/a.md": "a\n"})
    run("index", "docs")
    assert run("index", "--remove", "docs", "--remove", "docs") == (0, b"docs: removed\n", "")


# Where the index is


def test_index_folder(run, docs, monkeypatch) -> None:
    folder = docs({"docs/a.md": "a\n", "quire.toml": 'index = "from-file"\n'})
    run("index", "docs")
    monkeypatch.setenv("QUIRE_INDEX", "from-variable")
    run("index", "docs")
    run("index", "docs", "--index", "from-option")
    assert left(folder) == ["docs", "from-file", "from-option", "from-variable", "quire.toml"]
    assert "--index needs a folder" in refused(run("index", "docs", "--index", ""))


HIDDEN = "the index {} would hide the tree docs, {}; choose another folder for the index"


@pytest.mark.parametrize(
    ("index", "tree"), [("docs", "docs"), (".", "docs"), ("docs", "docs/guides"), ("docs/../docs", "docs")]
)
@pytest.mark.parametrize("command", [["index"], ["search", "x"], ["search", "x", "docs"], ["status"], ["ls"]])
def test_an_index_that_would_hide_a_tree(run, docs, index, tree, command) -> None:
    folder = docs({"docs/guides/a.md": "x\n", "quire.toml": f'index = "{index}"\n[trees]\ndocs = "{tree}"\n'})
    assert HIDDEN.format(os.path.normpath(index), tree) in refused(run(*command))
    assert (left(folder), left(folder / "docs")) == (["docs", "quire.toml"], ["guides"])


def test_an_index_that_would_hide_what_is_named(run, docs) -> None:
    folder = docs({"docs/a.md": "x\n"})
    for command in (["index"], ["search", "x"]):
        assert "docs: has other files in it and is not an index" in refused(run(*command, "docs", "--index", "docs"))
    assert left(folder / "docs") == ["a.md"]


@pytest.mark.parametrize("name", ["notes", "index.md", "index-notes", "index-1"])
def test_a_folder_of_the_user_becomes_no_index(run, docs, name) -> None:
    folder = docs({"docs/a.md": "x\n", f"mine/{name}": "n\n"})
    for command in (["index"], ["search", "x"], ["ls"]):
        said = refused(run(*command, "docs", "--index", "mine"))
        assert "mine: has other files in it and is not an index; choose another folder" in said
    assert left(folder / "mine") == [name]


def test_folders_that_may_become_an_index(run, docs) -> None:
    folder = docs({"docs/a.md": "x\n", "ignored/.gitignore": "*\n", "begun/index.lock": "", ".quire/manifest": ""})
    (folder / "empty").mkdir()
    for name in ("ignored", "begun", "empty", ".quire"):
        assert run("index", "docs", "--index", name).code == 0
        assert run("index", "docs", "--index", name).code == 0


def test_an_index_inside_a_tree(run, docs, trees) -> None:
    docs({"quire.toml": 'index = "docs/search"\n[trees]\ndocs = "docs"\n', "docs/a.md": "x\n"})
    assert run("index").code == 0
    assert run("index").code == 0
    assert trees() == {"docs": ["a.md"]}


# What stands in the way


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "nope: no such file or folder"),
        ([""], "is empty; name a file or a folder"),
        (["--index", "docs/a.md", "docs"], "quire: docs/a.md: is a file, and an index is a folder; choose another"),
        (["--index", "docs/a.md/x", "docs"], "quire: docs/a.md: is a file, and an index is a folder; choose another"),
        (["--rebild"], "no such option: --rebild"),
    ],
)
def test_refused(run, docs, arguments, said) -> None:
    folder = docs({"docs/a.md": "a\n", "empty/x.py": "x\n"})
    assert said in refused(run("index", *arguments))
    assert left(folder) == ["docs", "empty"]


EMPTY = "quire: empty: no documents; quire looks for Markdown and .txt files\n"


def test_no_documents(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n", "empty/x.py": "x\n"})
    assert run("index", "empty") == (1, b"", EMPTY)
    assert run("search", "a", "empty") == (1, b"", EMPTY)
    assert run("search", "--json", "a", "empty") == (1, b"[]\n", EMPTY)
    assert run("ls", "empty") == (1, b"", EMPTY)
    assert run("ls", "--json", "empty") == (1, b"[]\n", EMPTY)
    assert changes(run("index", "--json", "empty")) == (0, 0, 0, 0)
    assert left(folder) == ["docs", "empty"]
    assert run("chunk", "empty").code == run("verify", "empty").code == run("stats", "empty").code == 1


def test_no_documents_in_a_tree_that_is_named(run, docs) -> None:
    docs({"quire.toml": '[trees]\nempty = "empty"\n', "empty/x.py": "x\n"})
    for _ in range(2):
        for arguments in ([], ["empty"], ["--json"]):
            result = run("index", *arguments)
            assert (result.code, result.err) == (1, EMPTY)
            assert result.out
    docs({"empty/a.md": "a\n"})
    result = run("index")
    assert (result.code, result.err) == (0, "")


def test_no_documents_any_more(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n", "more/b.md": "b\n"})
    run("index", "docs", "more")
    (folder / "docs/a.md").unlink()
    for _ in range(2):
        result = run("index", "docs")
        assert (result.code, result.err) == (1, EMPTY.replace("empty", "docs"))
        result = run("index")  # there are some in another one
        assert (result.code, result.err) == (0, "")


def test_no_documents_but_some_that_cannot_be_read(run, docs) -> None:
    docs({"docs/bad.md": b"\xff"})
    for _ in range(2):
        result = run("index", "docs")
        assert result.code == 1
        assert "no documents" not in result.err


def test_no_documents_beside_some(run, docs, trees) -> None:
    docs({"docs/a.md": "a\n", "docs/none/x.py": "x\n", "empty/x.py": "x\n"})
    result = run("index", "docs", "empty")
    assert (result.code, result.err) == (0, EMPTY)
    assert run("search", "--json", "a", "empty", "docs").code == 0
    assert run("index", "docs/none") == (1, run("index").out, EMPTY.replace("empty", "docs/none"))
    assert run("search", "a", "docs/none").code == 1
    assert run("ls", "docs/none").code == 1
    assert trees() == {"docs": ["a.md"]}


def test_a_named_file_that_cannot_be_read(run, docs, trees) -> None:
    """As one in a folder: the others are indexed, and the exit code is 1."""
    docs({"docs/a.md": "# A\n\na\n", "bad.md": b"\xff\n", "x.bin": b"\0"})
    result = run("index", "bad.md", "x.bin")
    assert (result.code, result.out) == (1, b"")
    first, second = result.err.splitlines()
    assert first.startswith("bad.md:1: byte offset 0: not UTF-8")
    assert first.endswith("; convert the file to UTF-8 [undecodable]")
    assert second == "x.bin: not a text file; name Markdown or text [unreadable]"
    assert "there is no index yet" in run("status").err
    result = run("index", "--json", "bad.md", "docs")
    assert (result.code, changes(result)) == (1, (1, 0, 0, 0))
    assert [Path(each["path"]).name for each in json.loads(result.out)["failed"]] == ["bad.md"]
    assert json.loads(run("index", "--json", "bad.md").out)["nodes"] == 2
    assert trees() == {"docs": ["a.md"]}
    assert "bad.md: line 1" in refused(run("search", "a", "bad.md"))


def test_what_cannot_be_read_is_told_alike_in_a_folder_and_by_itself(run, docs) -> None:
    docs({"bad.md": b"ok\n\xff\n", "docs/bad.md": b"ok\n\xff\n"})
    alone, inside = [json.loads(run("index", each, "--json").out)["failed"] for each in ("bad.md", "docs")]
    assert [(each["line"], each["message"].partition(":")[0]) for each in alone] == [(2, "byte offset 3")]
    assert {**alone[0], "path": ""} == {**inside[0], "path": ""}


def test_a_file_of_a_tree_that_cannot_be_read_is_told_once(run, docs) -> None:
    docs({"docs/a.md": "a\n", "docs/bad.md": b"\xff\n"})
    run("index", "docs")
    result = run("index", "docs/bad.md")
    assert (result.code, result.err.count("bad.md")) == (1, 1)


def test_where_all_that_cannot_be_read_is_named(run, docs) -> None:
    docs({"docs/a.md": "a\n", **{f"docs/bad{number:02}.md": b"\xff" for number in range(25)}})
    for option, typed in ([], "`quire status`"), (["--index", "other ix"], "`quire status --index 'other ix'`"):
        assert run("index", "docs", *option).err.splitlines()[20:] == [f"… and 5 more findings; {typed} lists all"]
        assert run("search", "a", *option).err == f"quire: 25 files could not be read; {typed} lists them\n"
        assert run("status", *option).err.count("not UTF-8") == 25
        assert "more" not in run("status", *option).err


def test_a_lot_to_search(run, docs, monkeypatch) -> None:
    folder = docs({"a.md": "a\n"})
    monkeypatch.setenv("HOME", str(folder))
    assert f"{folder} is a lot to search; name the folders" in refused(run("index"))
    assert run("index", ".").code == 0  # it was named, so it is wanted


def test_odd_names(run, docs, trees) -> None:
    names = ["a b.md", "[1] *.md", "ünï.md", "new\nline.md", "a:1.md", "a#b.md", "-x.md"]
    docs({f"docs/{name}": f"# {number}\n\ntext\n" for number, name in enumerate(names)})
    assert run("index", "docs").code == 0
    assert trees() == {"docs": sorted(names)}


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n"})
    folder.chmod(0o500)
    try:
        assert ".quire" in refused(run("index", "docs"))
    finally:
        folder.chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_interrupt_leaves_the_index_as_it_was(run, docs, tmp_path) -> None:
    docs({"docs/a.md": "a\n"})
    run("index", "docs")
    docs({f"docs/{number}.md": AUTH * 200 for number in range(100)})
    running = start("index", "docs", environment=pausing(tmp_path / "python", "docs/10.md"))
    assert running.stdout.readline() == b"paused\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert (running.returncode, out, err) == (130, b"", b"quire: interrupted\n")
    listed = [each["path"] for each in json.loads(run("ls", "--no-update", "--json", "docs").out)]
    assert listed == ["a.md"]
    shutil.rmtree("docs")
    docs({"docs/a.md": "a\n"})
    assert run("index").code == 0  # nothing is locked


def test_a_damaged_index_is_made_anew(run, docs, trees) -> None:
    folder = docs({"docs/a.md": AUTH, "docs/b.md": "b\n"})
    run("index", "docs")
    for file in (folder / ".quire").glob("index-*/*"):
        file.write_bytes(b"")
    result = run("index")
    assert result.code == 0
    assert "2 added" in result.out.decode() or "2 unchanged" in result.out.decode()
    assert ".quire: the index is damaged (" in result.err
    assert result.err.endswith("); rebuilding it\n")
    assert run("index").err == ""
    assert trees() == {"docs": ["a.md", "b.md"]}


@pytest.mark.parametrize("part", ["fast", "idx"])
def test_damage_that_a_search_meets_is_mended_by_it(run, docs, part) -> None:
    folder = docs({f"docs/{name}.md": AUTH for name in "abc"})
    run("index", "docs")
    before = run("search", "--list", "rotate")
    (folder / ".quire" / "index.checked").unlink()
    for file in (folder / ".quire").glob(f"index-*/*.{part}"):
        forge(file, lambda data: bytes(len(data)))
    result = process("search", "--list", "rotate")
    assert (result.code, result.out) == before[:2]
    assert "quire: .quire: the index is damaged (" in result.err
    assert result.err.endswith("); rebuilding it\n")
    assert process("search", "--list", "rotate") == before


def test_nothing_but_json_on_standard_output(docs) -> None:
    docs({"docs/a.md": "a\n", "docs/bad.md": b"\xff"})
    result = process("index", "docs", "--json")
    assert result.code == 1
    assert json.loads(result.out)["added"] == 1


def test_an_only_tree_that_is_gone_is_no_success(run, docs, tmp_path) -> None:
    docs({"elsewhere/a.md": "# A\n\ntext\n"})
    assert run("index", "elsewhere").code == 0
    shutil.rmtree(tmp_path / "elsewhere")
    result = run("index")
    assert result.code == 1
    assert "elsewhere does not exist" in result.err
