"""Folders that have not changed are not listed again, and every change that matters is noticed nevertheless."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from quire.search.index_api import Index

OLD = 1_600_000_000_123_456_789


@pytest.fixture
def index(tmp_path: Path) -> Index:
    """Of a folder that was quiet when it was listed."""
    docs = tmp_path / "docs"
    for name in ("a.md", "sub/b.md", "ignored/c.md", ".gitignore"):
        (docs / name).parent.mkdir(exist_ok=True, parents=True)
        (docs / name).write_text("ignored/\n")
    (docs / "empty").mkdir()
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs})
    for number in count():  # until the clock of the file system has moved on
        if all(map(any, index._snapshot().folder_times("docs").values())):
            return index
        (docs / "a.md").write_text(f"text {number}\n")
        index.update()
    raise AssertionError


def paths(index: Index) -> list[str]:
    return [each.path for each in index.documents()]


def test_nothing_is_listed_if_nothing_has_changed(index: Index, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "docs" / "ignored" / "d.md").write_text("more")
    scan = os.scandir

    def scan_others(folder: str) -> Iterator[os.DirEntry[str]]:
        assert not Path(folder).is_relative_to(tmp_path / "docs")
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scan_others)
    done = index.update()
    assert (done.unchanged, done.added, done.changed, done.removed) == (2, 0, 0, 0)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda docs: (docs / "a.md").write_text("other"), ["a.md", "sub/b.md"]),
        (lambda docs: (docs / "sub/b.md").unlink(), ["a.md"]),
        (lambda docs: (docs / "empty/new.md").write_text("new"), ["a.md", "empty/new.md", "sub/b.md"]),
        (lambda docs: (docs / "sub/new.md").write_text("new"), ["a.md", "sub/b.md", "sub/new.md"]),
        (lambda docs: (docs / ".gitignore").write_text("sub/\n"), ["a.md", "ignored/c.md"]),
        (lambda docs: (docs / "sub/.quireignore").write_text("*.md\n"), ["a.md"]),
        (lambda docs: (docs / "sub").rename(docs / "other"), ["a.md", "other/b.md"]),
        (lambda docs: (docs / "sub/b.md").rename(docs / "a.md"), ["a.md"]),
        (lambda docs: os.utime(docs / "a.md", ns=(OLD, OLD)), ["a.md", "sub/b.md"]),
    ],
)
def test_changes_are_noticed(
    index: Index, tmp_path: Path, change: Callable[[Path], object], expected: list[str]
) -> None:
    change(tmp_path / "docs")
    done = index.update()
    assert done.added + done.changed + done.removed + done.touched > 0
    assert paths(index) == expected
    again = index.update()
    assert (again.added, again.changed, again.removed, again.touched) == (0, 0, 0, 0)


def test_other_patterns_list_the_folders_again(index: Index) -> None:
    index.update(exclude={"docs": "sub/**"})
    assert paths(index) == ["a.md"]
    index.update(exclude={"docs": ()})
    assert paths(index) == ["a.md", "sub/b.md"]


def test_a_file_from_the_future_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / ".gitignore").write_text("")
    os.utime(tmp_path / "docs" / ".gitignore", ns=(2**62, 2**62))
    (tmp_path / "docs" / "a.md").write_text("text")
    index = Index.open(tmp_path / "index")
    index.update({"docs": tmp_path / "docs"})
    ignore_file = os.fsencode(tmp_path / "docs" / ".gitignore")
    assert index._snapshot().folder_times("docs")[ignore_file] == (0, 0)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda docs: (docs / "sub/new.md").write_text("new"), ["a.md", "deep/er/c.md", "sub/b.md", "sub/new.md"]),
        (lambda docs: (docs / "sub/b.md").rename(docs / "sub/c.md"), ["a.md", "deep/er/c.md", "sub/c.md"]),
        (lambda docs: (docs / "deep/er").rename(docs / "deep/est"), ["a.md", "deep/est/c.md", "sub/b.md"]),
        (lambda docs: (docs / "deep").rename(docs / "sub/deep"), ["a.md", "sub/b.md", "sub/deep/er/c.md"]),
        (lambda docs: _become_link(docs / "sub"), ["a.md", "deep/er/c.md"]),
        (lambda docs: _become_link(docs / "deep"), ["a.md", "sub/b.md"]),
        (lambda docs: (docs / "deep/pyvenv.cfg").write_text(""), ["a.md", "sub/b.md"]),
        (lambda docs: (docs / "deep/er/Makefile").write_text(""), ["a.md", "deep/er/c.md", "sub/b.md"]),
    ],
)
def test_only_changed_folders_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], expected: list[str]
) -> None:
    """What is found is what a new index finds, although folders beside those that changed are not listed."""
    docs = tmp_path / "docs"
    for name in ("a.md", "sub/b.md", "deep/er/c.md"):
        (docs / name).parent.mkdir(exist_ok=True, parents=True)
        (docs / name).write_text("text\n")
    monkeypatch.setattr("quire.index.changed_files._TICK_NS", 0)  # as if an hour had passed
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs})
    change(docs)
    index.update()
    assert paths(index) == expected
    again = Index.open(tmp_path / "again")
    again.update({"docs": docs})
    assert paths(again) == expected
    folders = [Index._snapshot(each).folder_times("docs") for each in (index, again)]
    assert folders[0].keys() <= folders[1].keys()
    done = index.update()
    assert (done.added, done.changed, done.removed, done.touched) == (0, 0, 0, 0)


def test_a_folder_that_has_not_changed_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs = tmp_path / "docs"
    for name in ("sub/b.md", "deep/er/c.md"):
        (docs / name).parent.mkdir(exist_ok=True, parents=True)
        (docs / name).write_text("text\n")
    monkeypatch.setattr("quire.index.changed_files._TICK_NS", 0)
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs})
    (docs / "sub/new.md").write_text("new\n")
    listed, scan = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: (listed.append(Path(folder)), scan(folder))[1])
    assert index.update().added == 1
    assert [folder for folder in listed if folder.is_relative_to(docs)] == [docs, docs / "sub"]


def _become_link(folder: Path) -> None:
    """Put the folder elsewhere, and a link in its place: links are not followed."""
    elsewhere = folder.parent.parent / f"elsewhere-{folder.name}"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
