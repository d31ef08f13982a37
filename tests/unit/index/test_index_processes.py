"""Reading in several processes gives the same index; a process that dies takes nothing with it."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from quire import Index


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    for number in range(60):
        file = docs / f"{number % 7}" / f"{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"---\ntags: t{number}\n---\n# Title {number}\n\n" + f"Sentence {number}, é. " * (20 * number + 1)
        )
    (docs / "bad.md").write_bytes(b"# A\n\n\xff\n")
    return docs


def content(index: Index) -> object:
    return [(record.id, record.digest, record.title, index.outline(record.id)) for record in index.documents()]


def test_the_same_index_however_many_processes(tmp_path: Path, docs: Path) -> None:
    indexes = [Index.open(tmp_path / f".quire{jobs}") for jobs in (1, 2, 3)]
    done = [index.update({"docs": docs}, jobs=jobs) for jobs, index in enumerate(indexes, start=1)]
    assert [(each.added, each.nodes, [finding.code for finding in each.failed]) for each in done] == [
        (60, 120, ["undecodable"])
    ] * 3
    assert content(indexes[0]) == content(indexes[1]) == content(indexes[2])
    results = [[(hit.id, round(hit.score, 3)) for hit in index.search("sentence 17")] for index in indexes]
    assert results[0] == results[1] == results[2]


def test_a_process_that_is_killed(tmp_path: Path, docs: Path) -> None:
    index = Index.open(tmp_path / ".quire")
    killed: list[int | None] = []

    def kill(done: int, total: int, path: str) -> None:
        if done == 5:
            for child in multiprocessing.active_children():
                child.kill()
                killed.append(child.pid)

    done = index.update({"docs": docs}, jobs=2, on_progress=kill)
    assert len(killed) == 2
    assert (done.added, [finding.code for finding in done.failed]) == (60, ["undecodable"])
    assert index.update().unchanged == 60
    assert multiprocessing.active_children() == []


def test_an_update_that_is_stopped_leaves_no_processes_and_no_changes(tmp_path: Path, docs: Path) -> None:
    index = Index.open(tmp_path / ".quire")
    index.update({"docs": docs}, jobs=1)
    before = content(index)
    for file in docs.glob("1/*.md"):
        file.write_text("# Other\n\ntext\n")

    def stop(done: int, total: int, path: str) -> None:
        raise KeyboardInterrupt

    for rebuild in (False, True):
        with pytest.raises(KeyboardInterrupt):
            index.update(jobs=2, on_progress=stop, rebuild=rebuild)
        assert multiprocessing.active_children() == []
        assert content(index) == before
        assert len(list((tmp_path / ".quire").glob("index-*"))) == 1
    assert index.update().changed == len(list(docs.glob("1/*.md")))
