"""A large build answers before it is complete, goes on if it was killed, and is then as if it had been small."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from quire import Index
from quire.cli import main
from quire.index import update
from quire.index.engine.writer import Writer
from quire.index.link_words import TreeLinks
from support.shared import needs_shared, shared_data

DOCUMENTS = 12
PART = 600  # bytes: three documents

KILLED = """
import os, sys
from quire import Index
from quire.index import update
from quire.index.engine.writer import Writer
home, commits, moment = sys.argv[1], int(sys.argv[2]), sys.argv[3]
update.LARGE_BUILD = update.FIRST_PART = {part}
commit = Writer.commit
def counted(writer):
    global commits
    commits -= 1
    if commits == 0 and moment == "before":
        os._exit(9)
    commit(writer)
    if commits == 0 and moment == "after":
        os._exit(9)
Writer.commit = counted
Index.open(f"{{home}}/index").update({{"docs": f"{{home}}/docs"}}, jobs=1)
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(DOCUMENTS):
        other = (number * 5 + 3) % DOCUMENTS
        links = f"See [page {other:02}]({other:02}.md#setup) and [the first](00.md)."
        (folder / f"{number:02}.md").write_text(f"# Page {number:02}\n\n{links}\n\n## Setup\n\n{'text ' * 30}\n")
    return folder


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "LARGE_BUILD", PART)
    monkeypatch.setattr(update, "FIRST_PART", PART)


def content(index: Index) -> list[object]:
    """The documents and links of an index; two builds number documents differently."""
    snapshot = index._snapshot()
    records = [(record.id, record.digest, record.nodes, record.tokens) for record in index.documents()]
    names = [record.path for record in index.documents()]
    links = TreeLinks("docs", snapshot)._stored(names)
    return [records, sorted(links.items()), +Counter(snapshot.signs("docs"))]


def answers(index: Index, query: str) -> list[str]:
    return [hit.id for hit in index.search(query, every=True, limit=20)]


def test_the_last_commit_is_as_if_it_were_the_only_one(docs: Path, tmp_path: Path, small_parts: None) -> None:
    several = Index.open(tmp_path / "several")
    assert several.update({"docs": docs}, jobs=1).added == DOCUMENTS
    update.LARGE_BUILD = 10**9
    one = Index.open(tmp_path / "one")
    one.update({"docs": docs}, jobs=1)
    assert content(several) == content(one)
    for query in ("setup", "page 03", "the first"):
        assert sorted(answers(several, query)) == sorted(answers(one, query))
    assert several.search("setup").progress == (DOCUMENTS, DOCUMENTS)
    assert several.update().unchanged == DOCUMENTS


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("commit", [1, 2])
def test_a_killed_build_goes_on(docs: Path, tmp_path: Path, commit: int, moment: str) -> None:
    command = [sys.executable, "-c", KILLED.format(part=PART), str(tmp_path), str(commit), moment]
    assert subprocess.run(command, check=False).returncode == 9
    index = Index.open(tmp_path / "index")
    if commit == 2:  # the first one answers; the second was not made the current one
        found = index.search("setup", limit=20, every=True)
        assert found.progress == (len(index.documents()), DOCUMENTS) == (3, DOCUMENTS)
        assert f"3 of {DOCUMENTS} documents indexed so far" in found.notes()
        assert index.trees()["docs"].expected_files == DOCUMENTS
    read: list[str] = []
    update.LARGE_BUILD, large = PART, update.LARGE_BUILD
    try:
        done = index.update({"docs": docs}, on_progress=lambda _done, _total, path: read.append(path))
    finally:
        update.LARGE_BUILD = large
    assert (done.added, done.rebuilt) == (DOCUMENTS, None)
    assert len(read) == (DOCUMENTS - 3 if commit == 1 else 0)
    whole = Index.open(tmp_path / "whole")
    whole.update({"docs": docs})
    assert content(index) == content(whole)
    assert not index.search("setup").notes()
    assert not (tmp_path / "index" / "index.reading").exists()


@pytest.mark.parametrize("change", ["edited", "torn", "other settings"])
def test_what_was_read_is_read_again_if_it_changed(docs: Path, tmp_path: Path, small_parts: None, change: str) -> None:
    command = [sys.executable, "-c", KILLED.format(part=PART), str(tmp_path), "2", "before"]
    assert subprocess.run(command, check=False).returncode == 9
    reading = tmp_path / "index" / "index.reading"
    if change == "edited":
        (docs / "03.md").write_text("# Another page\n\nabout zebras\n")
    elif change == "torn":
        data = reading.read_bytes()
        reading.write_bytes(data[: data.index(b"docs\xa511.md") + 10])  # in the record of the last file
    slugs = {"docs": "hugo"} if change == "other settings" else {}
    read: list[str] = []
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs}, slugs=slugs, on_progress=lambda _done, _total, path: read.append(path))
    expected = {"edited": ["03.md"], "torn": ["11.md"], "other settings": sorted(file.name for file in docs.iterdir())}
    assert read == expected[change]
    assert bool(index.search("zebras")) == (change == "edited")
    whole = Index.open(tmp_path / "whole")
    whole.update({"docs": docs}, slugs=slugs)
    assert content(index) == content(whole)


def test_what_is_left_of_a_killed_build_may_be_removed(docs: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED.format(part=PART), str(tmp_path), "2", "after"]
    subprocess.run(command, check=False)
    index = Index.open(tmp_path / "index")
    known = {record.path for record in index.documents()}
    for file in docs.iterdir():
        if file.name not in known:
            file.unlink()
    index.update()
    assert index.search("setup").progress == (len(known), len(known)) == (3, 3)


def test_commands_say_how_far_a_build_is(
    docs: Path, tmp_path: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A search while another process builds answers from what there is."""
    said: list[str] = []
    commit = Writer.commit

    def searched(writer: Writer) -> None:
        if (tmp_path / "index" / "index.current").exists() and not said:
            main(["search", "setup", str(docs), "--index", str(tmp_path / "index")])
            said.append(capsys.readouterr().err)
            main(["status", str(docs), "--index", str(tmp_path / "index")])
            said.append(capsys.readouterr().out)
        commit(writer)

    monkeypatch.setattr(Writer, "commit", searched)
    Index.open(tmp_path / "index").update({"docs": docs}, jobs=1)
    assert "is updating the index; answering from the index as it was" in said[0]
    assert "3 of 12 documents indexed so far" in said[0]
    assert "3 of 12 documents" in said[1]


@pytest.mark.parametrize("reason", ["requested", "another version"])
def test_a_rebuild_replaces_a_readable_index_at_once(
    docs: Path, tmp_path: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs})
    pointer = tmp_path / "index" / "index.current"
    if reason == "another version":
        monkeypatch.setattr("quire.index.file_records.VERSION", 0)
        pointer.write_bytes(pointer.read_bytes().replace(b'"version":', b'"version":9'))
    seen: list[str] = []
    commit = Writer.commit
    monkeypatch.setattr(Writer, "commit", lambda writer: (seen.append(pointer.read_text()), commit(writer)))
    index.update({"docs": docs}, rebuild=reason == "requested", jobs=1)
    assert len(seen) == (1 if reason == "requested" else 2)  # parts answer only if nothing else does
    assert len(index.documents()) == DOCUMENTS


@needs_shared
def test_answers_are_those_of_one_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Docker's pages, which link to each other in many ways."""
    data = shared_data()
    assert data
    lines = (data / "linkqa" / "docker.jsonl").read_text(encoding="utf-8").splitlines()[::40]
    found = []
    for size in (2_000_000, 10**9):
        monkeypatch.setattr(update, "LARGE_BUILD", size)
        monkeypatch.setattr(update, "FIRST_PART", size // 4)
        index = Index.open(tmp_path / str(size))
        index.update({"docs": data / "linkqa" / "docker"})
        results = [index.search(json.loads(line)["query"].replace('"', ""), every=True) for line in lines]
        found.append([[(hit.id, hit.score, hit.text) for hit in hits] for hits in results])
    assert found[0] == found[1]
