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
TREES = '[trees]\ndocs = "docs"\n'
BOTH = f'{TREES}more = "more"\n'


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A folder with a tree that quire.toml names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quire.toml").write_text(TREES)
    return tmp_path


@pytest.fixture
def trees(run):
    """The documents of each tree."""

    def read(*paths) -> dict[str, list[str]]:
        listed: dict[str, list[str]] = {}
        for each in json.loads(run("outline", "--json", *paths).out):
            listed.setdefault(each["id"].partition(":")[0], []).append(each["path"])
        return listed

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
        assert (
            "convert the file to UTF-8, or set encoding or errors of its tree in quire.toml [undecodable]\n"
            in result.err
        )
    failed = json.loads(run("index", "--json").out)["failed"]
    assert [Path(each["path"]).name for each in failed] == ["bad.md"]
    assert failed[0]["message"].endswith(
        "; convert the file to UTF-8, or set encoding or errors of its tree in quire.toml"
    )


# Which trees


def test_the_current_folder_where_nothing_is_configured(run, docs, trees, project, monkeypatch) -> None:
    docs({"my notes/a.md": "a\n", "my notes/deep/b.txt": "b\n"})
    (project / "quire.toml").unlink()
    monkeypatch.chdir(project / "my notes")
    assert run("index").code == 0
    assert trees() == {"my-notes": ["a.md", "deep/b.txt"]}
    assert left(project / "my notes") == ["a.md", "deep"]


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


def test_names_of_trees_that_are_not_configured(run, docs) -> None:
    docs({"a/docs/x.md": "x\n", "b/docs/y.md": "y\n", "c/guide.md": "z\n", "c/other.md": "o\n"})
    paths = ("a/docs", "b/docs", "c/guide.md")
    assert changes(run("index", "--json", *paths)) == (3, 0, 0, 0)
    indexed = json.loads(run("status", "--json", *paths).out)["trees"]
    assert {name: tree["files"] for name, tree in indexed.items()} == {"docs": 1, "docs-2": 1, "guide": 1}


def test_names_that_are_no_text_are_escaped_in_json(run, docs) -> None:
    folder = docs({"caf\udce9.md": b"# \xff\n", "ok\udce9.md": "# A\n\nb\n"})
    for command in ("index", "status"):
        failed = json.loads(run(command, "--json", str(folder)).out)["failed"]
        assert [Path(each["path"]).name for each in failed] == ["caf%E9.md"]
    assert json.loads(run("outline", str(folder / "ok\udce9.md"), "--json").out)["path"] == "ok%E9.md"


def test_names_of_trees_that_are_no_text(run, docs) -> None:
    folder = docs({"caf\udce9.md": "# A\n\none\n", "fol\udce9/x.md": "# B\n\none\n"})
    named = ("caf\udce9.md", "fol\udce9")
    documents, hits, status = [
        json.loads(run(*each, "--json").out)
        for each in (["outline", "fol\udce9"], ["search", "one", *named], ["status", *named])
    ]
    assert [each["file"] for each in (*documents, *hits)] == ["fol%E9/x.md", "caf%E9.md", "fol%E9/x.md"]
    assert [each["folder"] for each in status["trees"].values()] == [f"{folder}/caf%E9.md", f"{folder}/fol%E9"]
    assert json.loads(run("get", "caf\udce9.md", "--json").out)[0]["file"] == "caf%E9.md"
    assert json.loads(run("status", "--json", "--index", "i\udce9").out)["index"] == f"{folder}/i%E9"


def test_names_that_are_no_text_are_printed_as_they_can_be_asked_for(run, docs, project) -> None:
    docs({"caf\udce9.md": "# A\n\nb\n"})
    (project / "quire.toml").unlink()
    assert run("outline").out.startswith(b"caf%E9.md  ")
    position = run("search", "--list", "b").out.split()[0].decode()
    assert position == "caf%E9.md:1"
    assert run("get", position).out == run("get", "caf\udce9.md").out != b""


@pytest.fixture
def own(docs, user_folders, project, monkeypatch):
    """Writes the user's own file with a folder of notes; the current folder has no quire.toml."""
    (project / "quire.toml").unlink()
    docs({"p/docs/a.md": "needle in docs\n"})
    monkeypatch.chdir(project / "p")
    folder = user_folders / "config" / "quire"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "n.md").write_text("needle in notes\n")

    def write(text) -> Path:
        (folder / "quire.toml").write_text(text)
        return folder

    return write


def test_the_user_s_own_trees(run, own, trees, project) -> None:
    folder = own('[trees]\nnotes = "notes"\n')
    assert run("index").code == 0
    assert trees() == {"notes": ["n.md"]}
    assert ".quire" in left(folder)
    assert trees("docs") == {"docs": ["a.md"]}  # not in the user's trees, so in the cache
    assert trees() == {"notes": ["n.md"]}
    assert left(project / "p") == ["docs"]


def test_the_user_s_own_index(run, own, project) -> None:
    folder = own('index = "ix"\n')
    assert b"needle in docs" in run("search", "needle", "docs").out
    assert (left(project / "p"), left(folder)) == (["docs"], ["ix", "notes", "quire.toml"])


def test_languages(run, docs) -> None:
    docs({"quire.toml": '[trees.docs]\npath = "docs"\nlanguage = "german"\n', "docs/a.md": "a\n"})
    run("index")
    assert json.loads(run("status", "--json").out)["trees"]["docs"]["language"] == "german"
    docs({"quire.toml": TREES})
    result = run("index")
    assert (result.code, result.err) == (0, "quire: .quire: rebuilt, because the language of docs is english now\n")
    assert json.loads(run("status", "--json").out)["trees"]["docs"]["language"] == "english"


def test_a_tree_whose_folder_is_missing(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n", "more/b.md": "b\n", "quire.toml": BOTH})
    run("index")
    shutil.rmtree(folder / "more")
    said = "tree more: more does not exist; correct trees.more in quire.toml"
    assert run("index").err == f"quire: {said}\n"
    shutil.rmtree(folder / "docs")
    assert refused(run("index")) == f"quire: tree docs: docs does not exist; correct trees.docs in quire.toml; {said}\n"


def test_a_tree_that_quire_toml_no_longer_names(run, docs) -> None:
    docs({"docs/a.md": "needle\n", "more/b.md": "needle\n", "quire.toml": BOTH})
    run("index")
    docs({"quire.toml": TREES})
    assert b"more" not in run("search", "--list", "needle").out
    assert list(json.loads(run("status", "--json").out)["trees"]) == ["docs"]


# Where the index is


def test_index_folder(run, docs, monkeypatch) -> None:
    folder = docs({"docs/a.md": "a\n", "quire.toml": 'index = "from-file"\n'})
    run("index", "docs")
    monkeypatch.setenv("QUIRE_INDEX", "from-variable")
    run("index", "docs")
    run("index", "docs", "--index", "from-option")
    assert left(folder) == ["docs", "from-file", "from-option", "from-variable", "quire.toml"]
    assert "'--index': is empty; name a file or a folder" in refused(run("index", "docs", "--index", ""))


HIDDEN = "the index {} would hide the tree docs, {}; choose another folder for the index"


@pytest.mark.parametrize(
    ("index", "tree"), [("docs", "docs"), (".", "docs"), ("docs", "docs/guides"), ("docs/../docs", "docs")]
)
@pytest.mark.parametrize("command", [["index"], ["search", "x"], ["outline"]])
def test_an_index_that_would_hide_a_tree(run, docs, index, tree, command) -> None:
    folder = docs({"docs/guides/a.md": "x\n", "quire.toml": f'index = "{index}"\n[trees]\ndocs = "{tree}"\n'})
    assert HIDDEN.format(os.path.normpath(index), tree) in refused(run(*command))
    assert (left(folder), left(folder / "docs")) == (["docs", "quire.toml"], ["guides"])


def test_an_index_that_would_hide_what_is_named(run, docs) -> None:
    folder = docs({"docs/a.md": "x\n"})
    for command in (["index"], ["search", "x"]):
        assert HIDDEN.format("docs", "docs") in refused(run(*command, "docs", "--index", "docs"))
    assert left(folder / "docs") == ["a.md"]


@pytest.mark.parametrize("name", ["notes", "index.md", "index-notes", "index-1"])
def test_a_folder_of_the_user_becomes_no_index(run, docs, name) -> None:
    folder = docs({"docs/a.md": "x\n", f"mine/{name}": "n\n"})
    for command in (["index"], ["search", "x"], ["outline"]):
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


def test_a_quiet_command_prints_no_summary(run, docs) -> None:
    docs({"docs/a.md": "# A\n\ntext\n"})
    done = run("index", "-q", "docs", "--index", "mine")
    assert (done.code, done.out, done.err) == (0, b"", "")


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
    assert left(folder) == ["docs", "empty", "quire.toml"]


EMPTY = "quire: no documents in empty; quire looks for Markdown and .txt files\n"


def test_no_documents(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n", "empty/x.py": "x\n"})
    result = run("index", "empty")
    assert (result.code, result.err) == (1, EMPTY)
    assert run("search", "a", "empty") == (1, b"", f"{EMPTY}nothing found\n")
    assert run("search", "--json", "a", "empty") == (1, b"[]\n", f"{EMPTY}nothing found\n")
    assert run("outline", "empty") == (1, b"", EMPTY)
    assert run("outline", "--json", "empty") == (1, b"[]\n", EMPTY)
    assert changes(run("index", "--json", "empty")) == (0, 0, 0, 0)
    assert left(folder) == ["docs", "empty", "quire.toml"]
    assert run("chunk", "empty").code == run("verify", "empty").code == run("stats", "empty").code == 1


def test_no_documents_in_a_configured_tree(run, docs) -> None:
    folder = docs({"quire.toml": BOTH, "docs/a.md": "a\n", "more/x.py": "x\n"})
    assert run("index").err == ""  # there are some in another one
    for _ in range(2):
        for arguments in (["more"], ["more", "--json"]):
            result = run("index", *arguments)
            assert (result.code, result.err, bool(result.out)) == (1, EMPTY.replace("empty", "more"), True)
    (folder / "docs/a.md").unlink()
    assert (run("index").code, run("index").err) == (1, EMPTY.replace("empty", "docs, more"))


def test_no_documents_but_some_that_cannot_be_read(run, docs) -> None:
    docs({"docs/bad.md": b"\xff"})
    for _ in range(2):
        result = run("index", "docs")
        assert result.code == 1
        assert "no documents" not in result.err


@pytest.mark.parametrize("command", [["index"], ["search", "a"]])
def test_a_named_file_that_cannot_be_read(run, docs, command) -> None:
    docs({"docs/a.md": "a\n", "docs/bad.md": b"\xff\n", "bad.md": b"ok\n\xff\n"})
    said = "quire: bad.md: line 2, byte offset 3: not UTF-8 (invalid start byte); convert the file to UTF-8, or set encoding or errors of its tree in quire.toml\n"
    assert refused(run(*command, "bad.md")) == said


def test_where_all_that_cannot_be_read_is_named(run, docs) -> None:
    docs({"docs/a.md": "a\n", **{f"docs/bad{number:02}.md": b"\xff" for number in range(25)}})
    for paths, hint in (
        ([], "`quire status`"),
        (["--index", "other ix"], "`quire status --index 'other ix'`"),
    ):
        assert run("index", *paths).err.splitlines()[20:] == [f"… and 5 more findings; {hint} lists all"]
        assert run("search", "a", *paths).err == f"quire: 25 files could not be read; {hint} shows why\n"
        assert run("status", *paths).err.count("not UTF-8") == 25


def test_a_lot_to_search(run, docs, project, monkeypatch) -> None:
    docs({"a.md": "a\n"})
    (project / "quire.toml").unlink()
    monkeypatch.setenv("HOME", str(project))
    assert f"{project} is too large to search; name the folders" in refused(run("index"))
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
        assert ".quire: cannot be written" in refused(run("index", "docs"))
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
    listed = [each["path"] for each in json.loads(run("outline", "--no-update", "--json", "docs").out)]
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
    assert result.err.startswith("quire: .quire: rebuilt, because the index is damaged (")
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
    assert result.err.startswith("quire: .quire: rebuilt, because the index is damaged (")
    assert process("search", "--list", "rotate") == before


def test_nothing_but_json_on_standard_output(docs) -> None:
    docs({"docs/a.md": "a\n", "docs/bad.md": b"\xff"})
    result = process("index", "docs", "--json")
    assert result.code == 1
    assert json.loads(result.out)["added"] == 1
