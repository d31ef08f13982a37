"""Folders that are no place for an index are refused before anything is written to them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import quire
from quire import Index
from quire.index.file_records import VERSION


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs" / "guides").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("# A\n\nalpha\n")
    (tmp_path / "docs" / "guides" / "b.md").write_text("# B\n\nbeta\n")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "code.md").write_text("# M\n\ngamma\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


OTHERS = "docs: has other files in it and is not an index; choose another folder for the index"


@pytest.mark.parametrize("use", [lambda index: index.update({"m": "m"}), lambda index: index.remove("m")])
def test_a_folder_of_the_user(home: Path, use: Any) -> None:
    before = everything(home)
    with pytest.raises(quire.StoreError) as refused:
        use(Index.open("docs"))
    assert str(refused.value) == OTHERS
    assert everything(home) == before


def test_what_looks_like_a_generation_is_not_swept_away(home: Path) -> None:
    (home / "docs" / "index-1").mkdir()
    (home / "docs" / "index-1" / "mine.md").write_text("mine\n")
    before = everything(home)
    with pytest.raises(quire.StoreError) as refused:
        Index.open("docs").update({"m": "m"})
    assert str(refused.value) == OTHERS
    assert everything(home) == before


@pytest.mark.parametrize(
    ("index", "tree"), [("docs", "docs"), ("docs", "docs/guides"), (".", "docs"), (".quire", ".quire/docs")]
)
def test_a_folder_that_is_or_holds_a_tree(home: Path, index: str, tree: str) -> None:
    (home / tree).mkdir(parents=True, exist_ok=True)
    before = everything(home)
    with pytest.raises(quire.OptionError) as refused:
        Index.open(index).update({"docs": tree, "m": "m"})
    said = f"the index {index} would hide the tree docs, {tree}; choose another folder for the index"
    assert str(refused.value) == said
    assert everything(home) == before


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights")
def test_a_link_to_a_tree(home: Path) -> None:
    (home / "link").symlink_to(".")
    with pytest.raises(quire.OptionError, match="the index link/docs would hide the tree docs, docs; choose"):
        Index.open("link/docs").update({"docs": "docs"})
    assert everything(home / "docs") == ["a.md", "guides", "guides/b.md"]


def test_a_tree_is_refused_by_an_index_that_there_is(home: Path) -> None:
    index = Index.open("store")
    index.update({"m": "m"})
    (home / "store" / "docs").mkdir()
    with pytest.raises(quire.OptionError, match="the index store would hide the tree docs"):
        index.update({"docs": "store/docs"})
    assert list(index.trees()) == ["m"]


@pytest.mark.parametrize("path", ["m/code.md", "m/code.md/index", "m/code.md/x/y"])
def test_a_file(home: Path, path: str) -> None:
    with pytest.raises(quire.StoreError) as refused:
        Index.open(path)
    said = "is a file, and an index is a folder; choose another path for the index"
    assert str(refused.value) == f"{Path('m/code.md')}: {said}"
    assert everything(home / "m") == ["code.md"]


@pytest.mark.parametrize("folder", [3, None, b"docs", "", "a\0b", ["docs"]])
def test_what_is_no_path(folder: Any) -> None:
    with pytest.raises(quire.OptionError, match=r"^folder=.* is invalid: must be a path$"):
        Index.open(folder)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_looked_into(home: Path) -> None:
    (home / "m").chmod(0o000)
    try:
        with pytest.raises(quire.StoreError, match=r"cannot be (read|written): Permission denied"):
            Index.open("m/index").update({"docs": "docs"})
    finally:
        (home / "m").chmod(0o700)


@pytest.mark.parametrize("left", [[], [".gitignore"], ["index.lock"], ["index.current"], ["index.checked", "x"]])
def test_folders_that_may_become_an_index(home: Path, left: list[str]) -> None:
    (home / "store").mkdir()
    for name in left:
        (home / "store" / name).write_text("")
    assert Index.open("store").update({"docs": "docs"}).added == 2
    assert Index.open("new/store").update({"docs": "docs"}).added == 2


def test_an_index_of_another_version_is_made_anew(home: Path) -> None:
    Index.open("store").update({"docs": "docs"})
    pointer = home / "store" / "index.current"
    pointer.write_text(pointer.read_text().replace(f'"version":{VERSION}', '"version":1'))
    index = Index.open("store")
    status = index.status()
    said = f"made by another version of quire (index version 1, this one has {VERSION})"
    assert (status.version, status.rebuild, status.damaged) == (1, f"it was {said}", None)
    assert index.update().rebuilt == f"the index was {said}"
    assert (index.status().version, index.status().rebuild) == (VERSION, None)


@pytest.mark.parametrize("lost", ["index.current", "index.lock", "index.checked"])
def test_an_index_that_has_lost_a_file_is_made_anew(home: Path, lost: str) -> None:
    Index.open("store").update({"docs": "docs"})
    (home / "store" / lost).unlink()
    index = Index.open("store")
    index.update({"docs": "docs"})
    assert [hit.path for hit in index.search("beta")] == ["guides/b.md"]


def test_an_index_of_which_only_the_documents_are_left(home: Path) -> None:
    Index.open("store").update({"docs": "docs"})
    for file in (home / "store").glob("index.*"):
        file.unlink()
    assert Index.open("store").update({"docs": "docs"}).added == 2
