"""Search in a store of sections: the answers of the index that was copied, while it is written and after kills."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import quire
from quire.cli import main
from quire.search.index_api import Index

pytest.importorskip("lancedb", reason="needs quire-md[lancedb]: make test-integrations")

from lancedb import connect

from quire.stores import NodeIndex, copy_nodes, lancedb, node_rows
from quire.workspace.workspace import Workspace

TOPICS = ("backup", "network", "storage", "cluster", "certificate", "firewall", "monitoring", "filesystem")
QUERIES = (
    "restore a backup",
    "network policy",
    "certifcate",  # a correction
    "moni*",
    "clust",  # a prefix
    '"rotate the certificate"',
    "--no-cache",
    "storage -backup",
    "title:firewall",
    "file system",
    "status:draft storage",
    "tree:docs cluster",
    "the setup of a network needs a name and an address before it starts to work with storage",
    "nothingatall",
)


def page(number: int) -> str:
    topic, other = TOPICS[number % len(TOPICS)], TOPICS[(number * 3 + 1) % len(TOPICS)]
    return (
        f"---\nstatus: {'draft' if number % 3 else 'done'}\n---\n# {topic.title()} {number}\n\nAbout {topic} and {other}.\n\n"
        f"## Setup\n\nThe setup of a {topic} needs a name and an address before it starts to work with {other}.\n\n"
        f"### Options\n\n`--no-cache` and `--{topic}`, see [{other} policy](page-{(number * 5 + 2) % 24}.md#setup).\n\n"
        f"## Restore\n\nRestore a {topic}; rotate the {other} {number} times.\n"
    )


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(24):
        (folder / f"page-{number}.md").write_text(page(number))
    return folder


@pytest.fixture
def index(tmp_path: Path, docs: Path) -> Iterator[Index]:
    with Index.open(tmp_path / "index") as index:
        index.update({"docs": docs})
        yield index


@pytest.fixture
def target(tmp_path: Path) -> str:
    return f"lancedb:{tmp_path / 'store'}"


def check(index: Index, stored: Index, most: int | None = None) -> None:
    """Both give the same answers, or the same first ``most`` results."""
    for query in QUERIES:
        expected, found = index.search(query), stored.search(query)
        assert found.corrections == expected.corrections, query
        assert [hit.id for hit in found[:most]] == [hit.id for hit in expected[:most]], query
        assert [hit.text for hit in found[:most]] == [hit.text for hit in expected[:most]], query


def test_answers_are_those_of_the_index(index: Index, target: str) -> None:
    assert copy_nodes(index, target).written == 24
    with NodeIndex.open(target) as stored:
        check(index, stored)
        for options in (
            {"where": "status=done"},
            {"path": "page-1*"},
            {"trees": "docs"},
            {"without": "docs:page-0.md"},
        ):
            expected = [hit.id for hit in index.search("backup setup", **options)]
            assert sorted(hit.id for hit in stored.search("backup setup", **options)) == sorted(expected), options
        for name in ("docs:page-3.md#setup", "page-3.md#setup", "page-3.md:12"):
            assert stored.get(name) == index.get(name)
        assert stored.documents() == index.documents()
        assert stored.outline("docs:page-7.md") == index.outline("docs:page-7.md")
        assert stored.trees() == index.trees()
        similar = [hit.id for hit in stored.similar("docs:page-0.md#setup", limit=3)]
        assert similar
        assert not any(name.startswith("docs:page-0.md") for name in similar)
        assert "300 best sections" in stored.status().engine


def test_only_changed_documents_are_copied(index: Index, docs: Path, target: str) -> None:
    copy_nodes(index, target)
    assert copy_nodes(index, target) == node_rows.Copied(written=0, removed=0, unchanged=24)
    stored = NodeIndex.open(target)
    (docs / "page-0.md").write_text("# Volcano\n\nAbout lava, and [hot network](page-9.md#setup).\n")
    (docs / "page-1.md").unlink()
    (docs / "page-2.md").rename(docs / "page-99.md")
    index.update()
    copied = copy_nodes(index, target)
    assert copied.removed == 2
    assert copied.written < 12  # the changed ones, and those with other links to them
    assert [hit.id for hit in stored.search("lava")] == ["docs:page-0.md#volcano"]
    check(index, stored, most=1)  # the index counts removed sections for a while, and the order of near-ties differs


def test_two_indexes_in_one_store(index: Index, tmp_path: Path, target: str) -> None:
    """Words are counted in both; one that has another tree leaves the first alone."""
    more = tmp_path / "more"
    more.mkdir()
    (more / "lava.md").write_text("# Lava\n\nA volcano has a backup.\n")
    both, other = Index.open(tmp_path / "both"), Index.open(tmp_path / "other")
    both.update({"docs": tmp_path / "docs", "more": more})
    other.update({"more": more})
    copy_nodes(index, target)
    copy_nodes(other, target)
    stored = NodeIndex.open(target)
    assert sorted(stored.trees()) == ["docs", "more"]
    for query in QUERIES[:3]:
        assert stored.search(query)[0].text == both.search(query)[0].text
    assert [hit.id for hit in stored.search("volcano backup", trees="more")] == ["more:lava.md#lava"]


def test_a_tree_that_is_gone(index: Index, tmp_path: Path, target: str) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "lava.md").write_text("# Lava\n\nA volcano.\n")
    index.update({"more": tmp_path / "more"})
    copy_nodes(index, target)
    stored = NodeIndex.open(target)
    assert stored.search("volcano")
    index.remove("more")
    assert copy_nodes(index, target).removed == 1
    assert not stored.search("volcano")
    assert list(stored.trees()) == ["docs"]


def test_two_readers_while_a_writer_writes(index: Index, docs: Path, target: str) -> None:
    """A reader sees every document whole, as it was or as it is."""
    copy_nodes(index, target)
    is_done = False

    def read() -> set[str]:
        seen = set()
        with NodeIndex.open(target) as stored:
            while not is_done or not seen:
                [hit] = stored.search("edition number of the ledger", limit=1, trees="docs") or [None]
                seen.add(hit.text if hit else "")
        return seen

    with ThreadPoolExecutor(2) as readers:
        seen = [readers.submit(read) for _ in range(2)]
        editions = [f"# Ledger\n\nThe edition number of the ledger is {number}.\n" for number in range(4)]
        for text in editions:
            (docs / "ledger.md").write_text(text)
            index.update()
            copy_nodes(index, target)
        is_done = True
        found = set[str]().union(*[each.result() for each in seen])
    assert {text for text in found if "edger" in text} <= set(editions)
    assert NodeIndex.open(target).search("edition of the ledger")[0].text == editions[-1]


KILLED = """
import os, sys
from quire.search.index_api import Index
from quire.stores import copy_nodes, lancedb, node_rows
node_rows._BATCH = 4
steps = int(sys.argv[3])
def counted(name):
    method = getattr(lancedb.NodeTables, name)
    def call(*arguments):
        global steps
        steps -= 1
        if steps < 0:
            os._exit(9)
        return method(*arguments)
    setattr(lancedb.NodeTables, name, call)
for name in ("write_terms", "write_nodes", "finish"):
    counted(name)
copy_nodes(Index.open(sys.argv[1]), sys.argv[2])
"""


@pytest.mark.parametrize("steps", [0, 2, 6, 7])
def test_a_killed_writer(index: Index, tmp_path: Path, target: str, steps: int) -> None:
    """What it has written can be searched, and the next one writes the rest."""
    command = [sys.executable, "-c", KILLED, str(tmp_path / "index"), target, str(steps)]
    assert subprocess.run(command, check=False).returncode == 9
    with NodeIndex.open(target) as stored:
        assert len(stored.documents()) == (24 if steps == 7 else 0)  # a new tree is known at the end
        for query in ("restore a backup", QUERIES[-2]):
            assert bool(stored.search(query)) == (steps == 7)
    assert copy_nodes(index, target).unchanged == min(24, steps * 4)
    check(index, NodeIndex.open(target))


@pytest.mark.parametrize("steps", [1, 2])
def test_a_writer_killed_after_its_sections(index: Index, docs: Path, tmp_path: Path, target: str, steps: int) -> None:
    """The next one also writes words and makes the indexes of the store, although no section is left to write."""
    for name in ("lion", "wolf"):
        (docs / "page-0.md").write_text(f"# Animals\n\nA {name} sleeps.\n")
        index.update()
        if name == "lion":
            copy_nodes(index, target)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "index"), target, str(steps)]
    assert subprocess.run(command, check=False).returncode == 9
    assert copy_nodes(index, target).written == 0
    assert [hit.path for hit in NodeIndex.open(target).search("wolf")] == ["page-0.md"]
    tables = lancedb.open_nodes(target.partition(":")[2], "quire")
    assert tables is not None
    assert tables.is_finished()


def test_tables_with_other_columns(index: Index, target: str) -> None:
    """Those of another version are made anew."""
    database = connect(target.partition(":")[2])
    for name in ("quire__nodes", "quire__terms"):
        database.create_table(name, [{"id": "a", "earlier": "b"}])
    assert copy_nodes(index, target).written == 24
    check(index, NodeIndex.open(target))


def test_bad_targets(index: Index, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(quire.StoreError, match="there are no sections; run: quire index --to"):
        NodeIndex.open(target)
    assert not (tmp_path / "store").exists()
    (tmp_path / "file").write_text("x")
    with pytest.raises(quire.StoreError):
        NodeIndex.open(f"lancedb:{tmp_path / 'file'}")
    copy_nodes(index, target)
    stored = NodeIndex.open(target)
    for write in (stored.update, stored.embed):
        with pytest.raises(quire.StoreError, match="only read here"):
            write()
    monkeypatch.setattr(node_rows, "VERSION", 12)
    copy_nodes(index, target)
    with pytest.raises(quire.StoreError, match="has sections of version 12"):
        stored.search("backup")


def test_the_command_line(
    docs: Path, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same JSON from the index and from the store, and without the documents."""
    monkeypatch.chdir(tmp_path)
    assert main(["index", "docs", "--to", target]) == 0
    assert "24 copied, 0 removed, 0 unchanged" in capfd.readouterr().out
    assert main(["search", "restore backup", "docs", "--json", "--limit", "1"]) == 0
    expected = json.loads(capfd.readouterr().out)
    docs.rename(tmp_path / "elsewhere")
    assert main(["search", "restore backup", "--index", target, "--json", "--limit", "1"]) == 0
    assert json.loads(capfd.readouterr().out)[0]["text"] == expected[0]["text"]
    monkeypatch.setenv("QUIRE_INDEX", target)
    docs.mkdir()  # another folder of the name, which has nothing to do with the store
    (docs / "notes.txt").write_text("Notes.\n")
    (tmp_path / ".git").mkdir()
    (docs / "package.json").write_text("{}")
    assert main(["status"]) == 0
    status = capfd.readouterr().out
    assert "ranks the 300 best sections" in status
    assert "left out" not in status
    assert main(["get", "docs:page-3.md#setup"]) == 0
    assert "Setup" in capfd.readouterr().out
    assert main(["search", "backup", "elsewhere"]) == 2
    assert "a store is searched whole" in capfd.readouterr().err


def test_a_configured_store(
    docs: Path, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It answers commands without paths, and ``quire index`` copies to it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quire.toml").write_text('[index]\nstore = "lancedb:store"\n[trees]\ndocs = "docs"\n')
    assert main(["search", "restore backup"]) == 2
    assert "there are no sections; run: quire index --to" in capfd.readouterr().err
    assert main(["index"]) == 0
    assert "24 copied" in capfd.readouterr().out
    (docs / "page-0.md").write_text("# Volcano\n\nLava.\n")
    assert main(["search", "lava"]) == 1  # nothing is updated by a search
    assert main(["search", "lava", "docs"]) == 0  # paths are those of documents
    capfd.readouterr()
    assert main(["status", "--json"]) == 0
    status = json.loads(capfd.readouterr().out)
    assert (status["index"], status["engine"].startswith("LanceDB: ranks the 300 best")) == (f"{target}#quire", True)
    assert main(["index"]) == 0
    assert main(["search", "lava"]) == 0
    monkeypatch.setenv("QUIRE_INDEX", str(tmp_path / "elsewhere"))
    assert main(["status"]) == 1
    assert "there is no index yet" in capfd.readouterr().err


def test_a_workspace_for_servers(index: Index, target: str) -> None:
    copy_nodes(index, target)
    with Workspace.open_updated(index=target) as workspace:
        assert workspace.search("network policy", path=["page-1*"])[0].path.startswith("page-1")
        assert workspace.get("docs:page-3.md#setup").title == "Setup"
        assert workspace.tree_infos()["docs"].files == 24


def test_links_to_a_section(index: Index, target: str) -> None:
    copy_nodes(index, target)
    with NodeIndex.open(target) as stored:
        for name in ("docs:page-3.md", "docs:page-3.md#setup"):
            assert stored.links_to(name) == index.links_to(name)
        assert index.links_to("docs:page-3.md")
        with pytest.raises(quire.StoreError, match="only read here; run this where the documents are"):
            stored.orphans()
