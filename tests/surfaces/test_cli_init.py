"""``quire init``: a quire.toml that quire itself can read, and that nothing overwrites."""

from __future__ import annotations

import sys

import pytest
from msgspec.structs import replace
from outputs import refused

from quire.workspace.settings import load, search_fields


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trees(folder) -> dict[str, str]:
    trees = {name: tree.folder for name, tree in load(folder, {}).trees.items()}
    return {name: str(path.relative_to(folder)) for name, path in trees.items()}


def test_folders_and_the_readme_become_trees(run, docs) -> None:
    folder = docs({"docs/a.md": "x", "notes/deep/b.txt": "x", "README.md": "x", "src/code.py": "x"})
    result = run("init")
    assert (result.code, result.err) == (0, "")
    assert result.out.decode().splitlines() == [
        "quire.toml",
        "  docs = docs  1 document",
        "  notes = notes  1 document",
        "  readme = README.md  1 document",
    ]
    assert trees(folder) == {"docs": "docs", "notes": "notes", "readme": "README.md"}


def test_instructions_for_agents_are_no_documentation(run, docs) -> None:
    folder = docs({"docs/a.md": "x", "CLAUDE.md": "x", "AGENTS.md": "x"})
    assert run("init").code == 0
    assert trees(folder) == {"docs": "docs"}


def test_documents_beside_each_other_are_one_tree(run, docs) -> None:
    folder = docs({"hand book/a.md": "x", "hand book/b.md": "x", "hand book/more/c.md": "x"}) / "hand book"
    assert "  hand-book = .  3 documents\n" in run("init", folder).out.decode()
    assert trees(folder) == {"hand-book": "."}


@pytest.mark.parametrize("manifest", ["requirements.txt", "CMakeLists.txt", "pyproject.toml"])
def test_the_documentation_of_a_code_repository(run, docs, manifest) -> None:
    files = {
        "README.md": "x",
        "CHANGELOG.md": "x",
        manifest: "x",
        "docs/a.md": "x",
        "src/lib/b.md": "x",
        "NOTES.md": "x",
    }
    folder = docs({**files, "website/docusaurus.config.js": "", "website/docs/c.md": "x"})
    assert run("init").code == 0
    assert trees(folder) == {"docs": "docs", "website-docs": "website/docs", "readme": "README.md"}


def test_the_content_folder_of_a_generator(run, docs) -> None:
    folder = docs({"hugo.toml": "", "content/a.md": "a\n", "layouts/b.md": "b\n", "README.md": "c\n"})
    out = run("init", folder).out.decode().splitlines()[1:]
    assert out == ["  content = content  1 document", "  readme = README.md  1 document"]


def test_pages_about_a_project_are_no_documentation(run, docs) -> None:
    folder = docs({"README.md": "x", "CHANGELOG.md": "x", "CONTRIBUTING.md": "x", "guide/a.md": "x"})
    assert run("init").code == 0
    assert trees(folder) == {"guide": "guide", "readme": "README.md"}


@pytest.mark.skipif(sys.platform == "win32", reason="names that Windows does not have")
def test_odd_names(run, docs) -> None:
    folder = docs({'a "b"\\c/x.md': "x", "v1.0/x.md": "x", "Ärger/x.md": "x", "a b/x.md": "x", "a-b/x.md": "x"})
    assert run("init").code == 0
    assert sorted(trees(folder)) == ["a--b--c", "a-b", "a-b-2", "v1.0", "Ärger"]
    assert sorted(trees(folder).values()) == sorted(['a "b"\\c', "v1.0", "Ärger", "a b", "a-b"])


def test_nothing_to_search_yet(run, project) -> None:
    assert "no trees yet" in run("init").out.decode()
    assert trees(project) == {project.name: "."}


def test_every_value_is_there_as_a_comment(run, docs) -> None:
    folder = docs({"docs/a.md": "x"})
    before = load(folder, {})
    run("init")
    file = folder / "quire.toml"
    file.write_text(
        "".join(
            line.removeprefix("# ") if " = " in line and "handbuch" not in line and "german" not in line else line
            for line in file.read_text("utf-8").splitlines(keepends=True)
        ),
        "utf-8",
    )
    after = load(folder, {})
    named = {"index", *(f"search.{name}" for name in search_fields() if not name.startswith("rerank"))}
    assert {name for name, value in after.values.items() if value.origin == file} >= named
    assert after.search.where == {"path:archive/**": 0.3}
    assert (replace(after.search, where={}), after.index) == (before.search, folder / ".quire")


def test_what_is_there_stays(run, docs) -> None:
    folder = docs({"quire.toml": "# mine\n"})
    assert "quire.toml exists already" in refused(run("init"))
    assert (folder / "quire.toml").read_text() == "# mine\n"


def test_no_such_folder(run, docs) -> None:
    docs({"ff": ""})
    assert "nope: no such folder; make it first" in refused(run("init", "nope"))
    assert "ff: no such folder; make it first, or name a folder instead of a file" in refused(run("init", "ff"))


def test_a_pyproject_that_is_about_quire_stays_in_force(run, docs) -> None:
    folder = docs({"docs/a.md": "x", "pyproject.toml": '[tool.quire.trees]\nnotes = "n"\n', "p/pyproject.toml": ""})
    reason = "has a table [tool.quire], which a quire.toml would override; change that table"
    assert refused(run("init")) == f"quire: pyproject.toml: {reason}\n"
    assert trees(folder) == {"notes": "n"}
    assert run("init", "p").code == 0  # that pyproject.toml says nothing of quire


def test_a_folder_outside_of_the_project_is_not_added(docs, run, monkeypatch) -> None:
    folder = docs({"project/docs/a.md": "# A\n\na\n", "other/b.md": "# B\n\nb\n"})
    monkeypatch.chdir(folder / "project")
    refused = run("add", "../other")
    assert refused.code == 2
    assert "leads out of the project's folder" in refused.err
    assert not (folder / "project/quire.toml").exists()
    assert run("add", "docs").code == 0
    before = (folder / "project/quire.toml").read_bytes()
    assert run("add", "../other").code == 2
    assert (folder / "project/quire.toml").read_bytes() == before
    assert run("search", "a", "--list").code == 0


def test_a_file_that_cannot_be_read_is_no_obstacle(run, docs, monkeypatch) -> None:
    folder = docs({"docs/a.md": "# A\n\nText.\n"})
    (folder / "docs" / "b.md").write_bytes(bytes(range(256)) * 12)
    monkeypatch.chdir(folder)
    result = run("init")
    assert (result.code, result.out.decode().splitlines()[1]) == (0, "  docs = docs  2 documents")
