"""The documents and the index of a command: configured, cached or named; nothing depends on what was searched before."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from outputs import left
from test_cli_get import in_read_only_folder

from quire.index.folder import Folder
from quire.index.update import locked
from quire.read.ignore_files import covers
from quire.search import conditions
from quire.workspace.cached_indexes import cache_folder
from quire.workspace.selected_trees import cached
from quire.workspace.workspace import Workspace

TREES = '[trees]\ndocs = "docs"\n'


@pytest.fixture(autouse=True)
def project(docs, monkeypatch):
    folder = docs({"docs/a.md": "# A\n\nneedle in docs\n", "other/b.md": "# B\n\nneedle in other\n"})
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cache(user_folders) -> Path:
    """The folder of the cached indexes."""
    return user_folders / "cache" / "quire"


def found(*paths: str, **options) -> list[str]:
    with Workspace.open_updated(paths, **options) as workspace:
        return sorted(hit.id for hit in workspace.search("needle"))


def kind(*paths: str, **options) -> tuple[str, Path]:
    with Workspace.open(paths, **options) as workspace:
        return workspace.kind, workspace.index_folder


# Which index


def test_without_a_configuration_indexes_are_in_the_cache(project, cache) -> None:
    assert found() == [f"{project.name}:docs/a.md#a", f"{project.name}:other/b.md#b"]
    assert found("docs") == ["docs:a.md#a"]
    assert found("docs", "other") == ["docs:a.md#a", "other:b.md#b"]
    assert found("other/b.md") == ["b:b.md#b"]
    assert left(project) == ["docs", "other"]
    assert len(left(cache)) == 4
    assert kind("docs") == ("cached", cache_folder([str(project / "docs")]) / ".quire")
    assert kind("docs")[1].is_relative_to(cache)


def test_the_same_folder_has_the_same_index_whatever_it_is_called(project, monkeypatch) -> None:
    first = kind("docs")
    (project / "link").symlink_to("docs")
    assert kind("docs/") == kind(str(project / "docs")) == kind("link") == first
    monkeypatch.chdir(project / "docs")
    assert kind() == kind(".") == first


def test_a_configured_project_has_its_index_beside_its_file(docs, project, cache, monkeypatch) -> None:
    docs({"quire.toml": TREES})
    assert kind() == kind("docs") == kind("docs/a.md") == ("configured", project / ".quire")
    assert found() == ["docs:a.md#a"]
    monkeypatch.chdir(project / "other")
    assert kind() == ("configured", project / ".quire")
    assert left(project) == [".quire", "docs", "other", "quire.toml"]
    assert not cache.exists()


def test_a_path_outside_of_all_trees_has_an_index_of_its_own(docs, project, cache) -> None:
    docs({"quire.toml": TREES})
    assert kind("other")[0] == kind("docs", "other")[0] == "cached"
    assert found("other") == ["other:b.md#b"]
    assert found() == ["docs:a.md#a"]
    assert len(left(cache)) == 1


def test_a_path_that_a_tree_ignores_has_an_index_of_its_own(docs, cache) -> None:
    docs({"quire.toml": TREES, "docs/.quireignore": "drafts/\nold.md\n", "docs/code.rst": "needle\n"})
    docs({"docs/drafts/d.md": "# D\n\nneedle\n", "docs/old.md": "# O\n\nneedle\n"})
    assert found("docs") == ["docs:a.md#a"]
    assert found("docs/drafts") == ["drafts:d.md#d"]
    assert found("docs/old.md") == ["old:old.md#o"]
    assert found("docs/code.rst") == ["code:code.rst"]
    assert found() == ["docs:a.md#a"]
    assert len(left(cache)) == 3


def test_an_index_that_is_named(docs, project, cache) -> None:
    assert found("docs", index="ix") == ["docs:a.md#a"]
    assert found("other", index="ix") == ["other:b.md#b"]
    assert found(index="ix") == ["docs:a.md#a", "other:b.md#b"]
    docs({"quire.toml": TREES})
    assert kind(index="ix") == ("configured", project / "ix")
    assert not cache.exists()


def test_ids_do_not_depend_on_earlier_searches() -> None:
    first = {paths: found(*paths) for paths in [("docs",), (".",), ("docs/a.md",), ("docs", "other"), ()]}
    for paths in reversed(first):
        assert found(*paths) == first[paths]


# Trees


def test_trees_of_the_user_that_are_always_searched(docs, project, user_folders) -> None:
    own = user_folders / "config" / "quire"
    (own / "notes").mkdir(parents=True)
    (own / "notes" / "n.md").write_text("# N\n\nneedle in notes\n")
    (own / "quire.toml").write_text('[trees]\nnotes = { path = "notes", always = true }\n')
    docs({"quire.toml": TREES})
    assert found() == ["docs:a.md#a", "notes:n.md#n"]
    assert found("docs") == ["docs:a.md#a"]
    assert found(trees=["notes"]) == ["notes:n.md#n"]
    (own / "quire.toml").write_text('[trees]\nnotes = "notes"\n')
    assert found() == ["docs:a.md#a"]
    (project / "quire.toml").unlink()
    assert found() == ["notes:n.md#n"]


def test_a_project_without_trees_is_a_tree(docs, project) -> None:
    docs({"quire.toml": "[search]\nlimit = 5\n"})
    assert found("docs") == [f"{project.name}:docs/a.md#a"]


def test_trees_that_are_no_longer_named_are_removed_at_the_next_update(docs) -> None:
    docs({"quire.toml": f'{TREES}other = "other"\n'})
    found()
    docs({"quire.toml": TREES})
    with Workspace.open_updated() as workspace:
        assert list(workspace.index.trees()) == ["docs"]


# What may go wrong


@contextmanager
def updating(folder: Path):
    """Another updater of an index, which does not come to an end."""
    with locked(Folder(folder), 1):
        yield


def test_another_process_that_updates(docs, run) -> None:
    docs({"quire.toml": TREES})
    found()
    docs({"docs/new.md": "# New\n\nneedle\n"})
    said: list[str] = []
    with updating(Path(".quire")), Workspace.open_updated(on_message=said.append) as workspace:
        assert [hit.id for hit in workspace.search("needle")] == ["docs:a.md#a"]
        assert "the index may be outdated" in workspace.note
    (line,) = said
    assert line.endswith("; answering from the index as it was")
    assert found() == ["docs:a.md#a", "docs:new.md#new"]


def test_a_folder_that_is_missing_for_a_while(docs, project) -> None:
    docs({"quire.toml": f'{TREES}other = "other"\n'})
    before = found()
    (project / "other").rename(project / "away")
    said: list[str] = []
    assert found(on_message=said.append) == ["docs:a.md#a"]
    assert said == ["tree other: other does not exist; correct trees.other in quire.toml"]
    (project / "away").rename(project / "other")
    assert found() == before


def test_a_cache_folder_that_cannot_be_written(project, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "none"))
    for _ in range(2):
        done = in_read_only_folder(project, "search", "--list", "needle", "docs")
        assert done.stdout.decode().startswith("docs/a.md:1")
        assert b"cannot be written: Read-only file system; indexing for this call only" in done.stderr
    assert left(project) == ["docs", "other"]


def test_caches_that_nobody_uses_are_removed(project, cache) -> None:
    found("docs")
    found("other")
    old = time.time() - 31 * 86_400
    os.utime(cache_folder([str(project / "docs")]) / "paths", (old, old))
    found("docs/a.md")
    paths = [[tree.path for tree in selection.trees.values()] for selection in cached()]
    assert paths == [[str(project / "docs/a.md")], [str(project / "other")]]


def test_a_cache_that_is_used_stays(project, cache) -> None:
    found("docs")
    file = cache_folder([str(project / "docs")]) / "paths"
    os.utime(file, (1, 1))
    found("docs")
    found("other")
    assert file.exists()
    assert len(left(cache)) == 2


def test_a_section_by_an_id_of_a_folder_that_was_searched(run, project, cache) -> None:
    (hit,) = json.loads(run("search", "--json", "needle", "other").out)
    assert b"needle in other" in run("get", hit["id"]).out
    assert "not in the index" in run("get", "other:nope.md").err
    assert left(project) == ["docs", "other"]


def test_a_search_in_some_paths_matches_each_document_once(docs, monkeypatch) -> None:
    """It once matched every document with a pattern for every other one, which took minutes for 3,000 documents."""
    calls = []
    monkeypatch.setattr(conditions, "covers", lambda *arguments: calls.append(arguments) or covers(*arguments))
    docs({f"many/{folder}/{number}.md": "# Tables\n\nRows.\n" for folder in "ab" for number in range(100)})
    with Workspace.open_updated(["many"]) as workspace:
        results = workspace.search("tables", path=["a/*"], limit=200, max_tokens=0)
        assert {hit.path.partition("/")[0] for hit in results} == {"a"}
    assert len(calls) <= 210  # the folder of the tree is matched, too


def test_results_have_the_address_of_the_published_page(docs) -> None:
    page = "# A\n\nx\n\n## Größe\n\nneedle here\n"
    docs(
        {
            "docs/a.md": page,
            "docs/index.md": "needle\n",
            "quire.toml": '[trees.docs]\npath = "docs"\nbase_url = "https://x.org/d"\n',
        }
    )
    docs({"mkdocs.yml": "site_name: x\n"})
    with Workspace.open_updated() as workspace:
        urls = {hit.id: hit.url for hit in workspace.search("needle")}
        assert workspace.get("a.md").url == workspace.index.url("a.md", "https://x.org/d", "mkdocs")
    with Workspace.open_updated(["other"]) as workspace:
        assert [hit.url for hit in workspace.search("needle")] == [""]
    assert urls == {"docs:a.md#gre": "https://x.org/d/a/#größe", "docs:index.md": "https://x.org/d/"}
