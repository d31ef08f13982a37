"""Ctrl-C right after a file or folder was made, linked or renamed, each of them in turn: nothing temporary stays."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from quire import Index
from quire.cli import main

# A file that was opened and not yet assigned is closed by the garbage collector, which warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

MAKING = (open, os.mkdir, os.link, os.symlink, os.rename, os.replace)
KEPT = {".gitignore", "index.checked", "index.current", "index.lock"}


def interrupted(work: Callable[[], object], step: int) -> bool:
    """Do ``work`` with a Ctrl-C right after its ``step``-th call that makes something; whether there was such a call."""
    left = step

    def look(frame: FrameType, event: str, function: Any) -> None:
        nonlocal left
        if event == "c_return" and function in MAKING:
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    sys.setprofile(look)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
    return left <= 0


def at_each_step(before: Callable[[], object], work: Callable[[], object], fewest: int) -> Iterator[int]:
    """Interrupt ``work`` at its first step, at its second, and so on until it gets through."""
    step = 1
    before()
    while interrupted(work, step):
        yield step
        step += 1
        before()
    assert step > fewest, f"only {step - 1} steps were seen"


def entries(folder: Path) -> dict[str, bytes | None]:
    """All that is in a folder: the content of files, None for a folder."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\none\n\n## B\n\ntwo\n")
    (folder / "b.md").write_text("# C\n\nthree\n")
    return folder


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet", "files", "files of others"])
@pytest.mark.parametrize("is_there", [True, False], ids=["old", "new"])
def test_chunk(source: Path, tmp_path: Path, name: str, is_there: bool) -> None:
    out, old = tmp_path / "to", tmp_path / "old"
    arguments = ["chunk", "-q", "-j", "1", "-s", "tree", "-o", str(out / name), str(source)]
    if name == "files of others":
        (out / name / "somebody's").mkdir(parents=True)  # so that files change one by one
    out.mkdir(exist_ok=True)
    if is_there:
        assert main(arguments) == 0
    out.rename(old)
    (source / "a.md").write_text("# A\n\nchanged\n")

    def restore() -> None:
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(old, out)

    restore()
    assert main(arguments) == 0
    new = entries(out)
    made = {name, f"{name}/.quire", f"{name}/.quire/lock", f"{name}/.quire/README"}  # and kept, in a folder

    def state(content: dict[str, bytes | None], document: str) -> dict[str, bytes | None]:
        return {path: data for path, data in content.items() if path not in made and document in path}

    # Files of others are left in place, so documents change one by one; each of them is old or new.
    documents = ["doc_a_", "doc_b_"] if name == "files of others" else [""]
    for _ in at_each_step(restore, lambda: main(arguments), 2):
        for document in documents:
            assert state(entries(out), document) in (state(entries(old), document), state(new, document))
        assert state(entries(out), "somebody") == state(new, "somebody")
    assert entries(out) == new


@pytest.mark.parametrize("is_there", [True, False], ids=["old", "new"])
def test_index(source: Path, tmp_path: Path, is_there: bool) -> None:
    home, old = tmp_path / ".quire", tmp_path / "old"
    old.mkdir()
    if is_there:
        Index.open(home).update({"docs": source})
        home.rename(tmp_path / "old" / "index")

    def restore() -> None:
        shutil.rmtree(home, ignore_errors=True)
        if is_there:
            shutil.copytree(old / "index", home)

    for _ in at_each_step(restore, lambda: Index.open(home).update({"docs": source}, rebuild=True), 4):
        names = {path.name for path in home.iterdir()} - KEPT
        new = "index-2" if is_there else "index-1"
        assert names <= {"index-1", new}
        if new in names:
            assert new in (home / "index.current").read_text()
        if names:
            assert [record.path for record in Index.open(home).documents()] == ["a.md", "b.md"]
        assert Index.open(home).update({"docs": source}).nodes == 5


def test_init(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(source)
    file = source / "quire.toml"
    assert main(["init"]) == 0
    whole = file.read_bytes()
    before = entries(source)
    for _ in at_each_step(file.unlink, lambda: main(["init"]), 2):
        assert entries(source) in (before, {name: data for name, data in before.items() if name != file.name})
        file.touch()
    assert file.read_bytes() == whole


def test_a_folder_of_links_to_an_index(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Index.open(tmp_path / ".quire").update({"docs": source})
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write everywhere

    def search() -> None:
        assert [hit.id for hit in Index.open(tmp_path / ".quire").search("three")] == ["docs:b.md#c"]

    for _ in at_each_step(lambda: None, search, 4):
        assert list((tmp_path / "tmp").iterdir()) == []
