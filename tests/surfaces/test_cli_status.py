"""``quire status``: what the index says of itself; nothing is changed by asking."""

from __future__ import annotations

import json

import pytest
from msgspec import structs

from quire.index.file_records import VERSION
from quire.search.index_api import Index


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A folder with a tree that quire.toml names."""
    (tmp_path / "quire.toml").write_text('[trees]\ndocs = "docs"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_up_to_date(run, docs) -> None:
    docs({"docs/a.md": "# A\n\nx\n", "docs/b.md": "b\n", "README.md": "r\n"})
    docs({"quire.toml": '[trees]\ndocs = "docs"\nREADME = "README.md"\n'})
    run("index")
    result = run("status")
    assert (result.code, result.err) == (0, "")
    first, readme, docs_line, last = result.out.decode().splitlines()
    assert first.startswith(".quire  ")
    assert docs_line == "  docs  2 documents, 3 sections, 7 tokens  english  docs"
    assert readme.split()[0] == "README"
    assert last == "up to date"


def test_the_share_of_links_that_resolve(run, docs) -> None:
    """Links to other sites and to files that are no documents do not count."""
    docs({"docs/a.md": "[b](b.md) [c](c.md) [d](d.png) <https://a.example>\n", "docs/b.md": "[a](/site/a) [b](#b)\n"})
    run("index", "docs")
    assert "2 documents, 2 sections, 35 tokens, 67% of 3 internal links resolved  english" in run("status").out.decode()
    tree = json.loads(run("status", "--json").out)["trees"]["docs"]
    assert (tree["internalLinks"], tree["resolvedLinks"]) == (3, 2)


def test_large_sizes_are_in_megabytes(run, docs, monkeypatch) -> None:
    docs({"docs/a.md": "a\n"})
    run("index", "docs")
    real = Index.status
    monkeypatch.setattr(Index, "status", lambda index: structs.replace(real(index), size=12_345_678))
    assert "  12.3 MB, " in run("status").out.decode()


def test_outdated(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n", "docs/b.md": "b\n", "docs/c.md": "c\n"})
    run("index", "docs")
    (folder / "docs/a.md").write_text("other\n")
    (folder / "docs/b.md").unlink()
    (folder / "docs/d.md").write_text("d\n")
    for _ in range(2):  # asking changes nothing
        result = run("status")
        assert result.code == 1
        assert "outdated: 3 documents" in result.out.decode()
    assert json.loads(run("status", "--json").out)["outdated"] == ["docs:a.md", "docs:b.md", "docs:d.md"]


def test_a_tree_whose_folder_is_missing(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n", "more/b.md": "b\n", "quire.toml": '[trees]\ndocs = "docs"\nmore = "more"\n'})
    run("index")
    (folder / "more").rename(folder / "away")
    (folder / "docs/a.md").write_text("other\n")
    result = run("status")
    assert result.code == 1
    why = "correct trees.more in quire.toml"
    assert f"outdated: tree more: more does not exist; {why}" in result.out.decode()
    assert "outdated: 1 document; `quire index` reads them\n  docs:a.md\n" in result.out.decode()
    status = json.loads(run("status", "--json").out)
    assert (status["outdated"], list(status["changedTrees"]), status["failed"]) == (["docs:a.md"], ["more"], [])


def test_what_cannot_be_read(run, docs) -> None:
    docs({"docs/a.md": "a\n", "docs/bad.md": b"\xff"})
    run("index", "docs")
    result = run("status")
    assert result.code == 1
    assert "cannot be read: 1 file" in result.out.decode()
    assert result.err.startswith("docs/bad.md")


def test_damaged(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n"})
    run("index", "docs")
    for file in (folder / ".quire").glob("index-*/*.store"):
        file.write_bytes(bytes(reversed(file.read_bytes())))
    result = run("status")
    assert result.code == 1
    assert "damaged: " in result.out.decode()
    assert json.loads(run("status", "--json").out)["damaged"]


def test_a_damaged_index_is_mended_where_it_is(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n"})
    for option, typed in ([], "quire index"), (["--index", "zz"], "quire index --index zz"):
        run("index", "docs", *option)
        (folder / (option[-1] if option else ".quire") / "index.current").write_text("{")
        said = f"the index is damaged (index.current has invalid content); run: {typed}"
        assert run("status", *option).out.decode().endswith(f"\ndamaged: {said}\n")
        assert json.loads(run("status", "--json", *option).out)["damaged"] == said


def test_an_index_of_another_version(run, docs) -> None:
    folder = docs({"quire.toml": '[trees]\ndocs = "docs"\n', "docs/a.md": "a\n"})
    run("index")
    (folder / ".quire/index.current").write_text('{"version": 1, "of": "old"}')
    result = run("status")
    first, second = result.out.decode().splitlines()
    assert (result.code, result.err) == (1, "")
    assert first.endswith(("bytes, version 1", "KB, version 1"))
    said = f"it was made by another version of quire (index version 1, this one has {VERSION})"
    assert second == f"outdated: {said}; the next update rebuilds it"
    status = json.loads(run("status", "--json").out)
    assert (status["version"], status["rebuild"], status["damaged"]) == (1, said, None)
    assert f"rebuilt, because the index was made by {said.partition(' by ')[2]}" in run("index").err
    assert run("status").code == 0


# The trees that quire.toml names


@pytest.fixture
def indexed(run, docs):
    """An index of one tree, which quire.toml names."""
    folder = docs({"quire.toml": '[trees]\ndocs = "docs"\n', "docs/a.md": "a\n", "more/b.md": "b\n"})
    run("index")
    assert run("status").out.endswith(b"\nup to date\n")
    return folder


@pytest.mark.parametrize(
    ("trees", "said"),
    [
        ('docs = "docs"\nmore = "more"\n', "tree more: more is not in the index yet; `quire index` reads it"),
        ('docs = "docs"\nx = "y"\n', "tree x: y does not exist; correct trees.x in quire.toml"),
        ('docs = "more"\n', "tree docs: the index has docs instead of more; `quire index` reads it"),
        (
            'docs.path = "docs"\ndocs.language = "german"\n',
            "tree docs: its language, slugs or dialect were changed; `quire index` applies that",
        ),
    ],
)
def test_a_tree_that_is_not_in_the_index_as_it_is_named(run, indexed, trees, said) -> None:
    (indexed / "quire.toml").write_text(f"[trees]\n{trees}")
    result = run("status")
    assert (result.code, result.err) == (1, "")
    assert result.out.decode().endswith(f"\noutdated: {said}\n")
    changed = json.loads(run("status", "--json").out)["changedTrees"]
    assert [f"tree {name}: {why}" for name, why in changed.items()] == [said]
    if "correct" not in said:
        run("index")
        assert run("status").code == 0


def test_a_tree_that_quire_toml_no_longer_names(run, indexed) -> None:
    (indexed / "quire.toml").write_text('[trees]\nmore = "more"\n')
    run("index")
    result = run("status")
    assert (result.code, b"docs" in result.out) == (0, False)


def test_a_damaged_index_says_nothing_of_trees(run, indexed) -> None:
    for file in (indexed / ".quire").glob("index-*/*.store"):
        file.unlink()
    result = run("status")
    assert result.code == 1
    assert "damaged: " in result.out.decode()
    assert "tree docs" not in result.out.decode()


def test_json(run, docs) -> None:
    folder = docs({"docs/a.md": "# A\n\nx\n"})
    run("index", "docs")
    status = json.loads(run("status", "--json").out)
    assert status["index"] == f"{folder}/.quire"
    assert status["trees"] == {
        "docs": {
            "folder": f"{folder}/docs", "language": "english", "files": 1, "expectedFiles": 1, "nodes": 2,
            "tokens": 5, "dialect": "", "slugs": "github", "slugRule": "github", "internalLinks": 0, "resolvedLinks": 0,
        }
    }  # fmt: skip
    assert (status["damaged"], status["outdated"], status["failed"]) == (None, [], [])
    assert status["size"] > 0


def test_no_index_yet(run, docs) -> None:
    folder = docs({"docs/a.md": "a\n"})
    said = "quire: .quire: there is no index yet; `quire index` makes one\n"
    assert run("status") == (1, b"", said)
    result = run("status", "--json")
    assert (result.code, result.err) == (1, said)
    status = json.loads(result.out)
    assert (status["index"], status["rebuild"], status["trees"]) == (f"{folder}/.quire", "there is no index yet", {})
    assert not (folder / ".quire").exists()
    run("index")
    assert set(json.loads(run("status", "--json").out)) == set(status)


def test_where_the_index_of_a_folder_is_that_is_not_configured(run, docs, user_folders) -> None:
    (docs({"docs/a.md": "a\n"}) / "quire.toml").unlink()
    assert "there is no index yet; `quire index docs` makes one" in run("status", "docs").err
    run("index", "docs")
    result = run("status", "docs")
    assert result.code == 0
    assert json.loads(run("status", "docs", "--json").out)["index"].startswith(f"{user_folders}/cache/quire/docs-")
    docs({"docs/b.md": "b\n"})
    assert "outdated: 1 document; `quire index docs` reads them" in run("status", "docs").out.decode()


def test_the_advice_for_what_cannot_be_read(run, docs) -> None:
    docs({"docs/a.md": "a\n", "docs/bad.md": b"\xff"})
    run("index", "docs")
    advice = "; convert the file to UTF-8, or set encoding or errors of its tree in quire.toml"
    assert f"{advice} [undecodable]\n" in run("status").err
    (failed,) = json.loads(run("status", "--json").out)["failed"]
    assert failed["message"].endswith(advice)


LINKS = {"docs/a.md": "# Q: A & B?\n\n[x](#q-a-b) [x](b.md#e_f)\n", "docs/b.md": "# \u00c9_f\n\nx\n"}
MORE_LINKS = {"docs/c.md": f"# C & D\n\n{' [x](#c--d)' * 4}\n"}


def test_the_rule_for_slugs_stays_until_the_index_is_rebuilt(run, docs) -> None:
    docs({"quire.toml": '[trees.docs]\npath = "docs"\n[trees.docs.chunk]\nslugs = "auto"\n', **LINKS})
    run("index")
    assert "english  docs  slugs: mkdocs (auto)\nup to date\n" in run("status").out.decode()
    docs(MORE_LINKS)
    run("index")
    assert "slugs: mkdocs (auto)\nup to date\n" in run("status").out.decode()
    run("index", "--rebuild")
    assert "slugs: github (auto)\nup to date\n" in run("status").out.decode()
    docs({"quire.toml": '[chunk]\ndialect = "mkdocs"\n[trees]\ndocs = "docs"\n'})
    assert (
        "outdated: tree docs: its language, slugs or dialect were changed; `quire index` applies that"
        in run("status").out.decode()
    )
    assert "rebuilt" not in run("index").out.decode()
    assert "slugs: mkdocs\nup to date\n" in run("status").out.decode()
    [tree] = json.loads(run("status", "--json").out)["trees"].values()
    assert (tree["slugs"], tree["slugRule"]) == ("mkdocs", "mkdocs")
