"""``FileChanges`` notices every change that could change an answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quire.file_changes import FileChanges

OLD = 1_600_000_000_123_456_789


@pytest.fixture
def changes(tmp_path) -> FileChanges:
    """Of a folder that was quiet for long."""
    for name in ("a.md", "sub/b.md", ".gitignore", "ignored/c.md"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("ignored/\n")
    (tmp_path / "empty").mkdir()
    made = FileChanges({"docs": tmp_path})
    _quiet(made, tmp_path)
    return made


def _quiet(changes: FileChanges, folder: Path) -> None:
    """Look once the clock of the file system has moved on; nothing can make a change time older."""
    while not changes.is_unchanged():
        changes.look()
        changes.keep()


def test_nothing_changed(changes) -> None:
    assert changes.is_unchanged()
    assert changes.is_unchanged()


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "a.md").write_text("other"),
        lambda folder: (folder / "a.md").write_text("ignored/\n"),
        lambda folder: (folder / "sub/b.md").unlink(),
        lambda folder: (folder / "empty/new.md").write_text("new"),
        lambda folder: (folder / "sub/new.md").write_text("new"),
        lambda folder: (folder / "deeper/er").mkdir(parents=True),
        lambda folder: (folder / ".gitignore").write_text("sub/\n"),
        lambda folder: (folder / "sub/.quireignore").write_text("*.md\n"),
        lambda folder: (folder / "sub").rename(folder / "other"),
        lambda folder: os.utime(folder / "a.md", ns=(OLD, OLD)),
    ],
)
def test_changes_are_noticed(changes, change, tmp_path) -> None:
    change(tmp_path)
    assert not changes.is_unchanged()
    _quiet(changes, tmp_path)
    assert changes.is_unchanged()


def test_ignored_files_do_not_matter(changes, tmp_path) -> None:
    (tmp_path / "ignored/c.md").write_text("other text")
    (tmp_path / "ignored/d.md").write_text("more text")
    assert changes.is_unchanged()


def test_a_missing_folder_is_a_change(changes, tmp_path) -> None:
    tmp_path.rename(tmp_path.with_name("moved"))
    assert not changes.is_unchanged()
    changes.look()
    changes.keep()
    assert not changes.is_unchanged()


def test_before_a_look_everything_may_have_changed(tmp_path) -> None:
    changes = FileChanges({"docs": tmp_path})
    assert not changes.is_unchanged()
    changes.look()
    assert not changes.is_unchanged()


def test_a_file_that_is_new_is_not_trusted(tmp_path) -> None:
    changes = FileChanges({"docs": tmp_path})
    future = tmp_path / "future.md"
    future.write_text("text")
    os.utime(future, ns=(2**62, 2**62))
    changes.look()
    changes.keep()
    assert not changes.is_unchanged()
