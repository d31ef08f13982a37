"""Sections that workers write to a store equal those that are copied from an index of the same documents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import quire
from quire.cli import main
from quire.search.index_api import Index

pytest.importorskip("lancedb", reason="needs quire-md[lancedb]: make test-integrations")

from integrations.written_sections import answers, page, rows, write_shards
from quire.stores import Copied, NodeIndex, copy_documents, copy_nodes


class Documents:
    """The same documents in a folder and in shards, both called docs."""

    def __init__(self, home: Path) -> None:
        self.home, self.folder = home, home / "docs"
        self.texts = {f"page-{number}.md": page(number) for number in range(24)}
        self.target = f"lancedb:{home / 'store'}"
        self.write()

    def write(self) -> None:
        self.folder.mkdir(exist_ok=True)
        for file in self.folder.iterdir():
            file.unlink()
        for path, text in self.texts.items():
            (self.folder / path).write_text(text)
        self.trees = {"docs": write_shards(self.home / "shards", self.texts)}

    def change(self) -> None:
        """Edit a document, so that another link leads from it, remove one, and rename one."""
        self.texts["page-0.md"] = "# Volcano\n\nAbout lava, and [hot network](page-9.md#setup).\n"
        del self.texts["page-1.md"]
        self.texts["page-99.md"] = self.texts.pop("page-2.md")
        self.write()

    def check(self) -> None:
        """The store is what a new index gives, which is copied to a new store."""
        copies = len(list(self.home.glob("expected-*")))
        expected = self.home / f"expected-{copies}"
        with Index.open(self.home / f"index-{copies}") as index:
            index.update({"docs": self.folder})
            copy_nodes(index, f"lancedb:{expected}")
            assert rows(self.home / "store") == rows(expected)
            with NodeIndex.open(self.target) as written, NodeIndex.open(f"lancedb:{expected}") as copied:
                assert answers(written) == answers(copied)
                assert written.trees()["docs"].resolved_links == index.trees()["docs"].resolved_links > 0
                assert [hits[0][0] for hits in answers(written)] == [hits[0][0] for hits in answers(index)]


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path)


def test_rows_and_answers_are_those_of_an_index(documents: Documents) -> None:
    assert copy_documents(documents.trees, documents.target) == Copied(written=24, removed=0, unchanged=0)
    documents.check()
    assert copy_documents(documents.trees, documents.target) == Copied(written=0, removed=0, unchanged=24)
    assert copy_documents({"docs": str(documents.folder)}, documents.target).unchanged == 24
    documents.change()
    copied = copy_documents(documents.trees, documents.target)
    assert copied.removed == 2
    assert copied.written < 12
    documents.check()


def test_nothing_is_written_if_nothing_changed(documents: Documents) -> None:
    """Also by processes in which sets have another order."""
    for path in list(documents.texts)[:3]:
        documents.texts[path] = f"---\nowner: me\nteam: us\nreviewed: 2026\n---\n{documents.texts[path]}"
    documents.write()
    command = ["index", documents.trees["docs"], "--to", documents.target, "--engine", "local"]
    versions = set()
    for seed in "123":
        env = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-m", "quire", *command], check=True, env=env)
        database = pytest.importorskip("lancedb").connect(documents.home / "store")
        versions.add(tuple(database.open_table(f"quire__{name}").version for name in ("nodes", "terms")))
    assert len(versions) == 1


def test_a_folder(documents: Documents) -> None:
    """With the options of an index; and an index of the same folder has nothing to copy."""
    options = {"languages": {"docs": "german"}, "slugs": {"docs": "auto"}, "dialects": {"docs": "hugo"}}
    trees = {"docs": str(documents.folder)}
    assert copy_documents(trees, documents.target, **options).written == 24
    with Index.open(documents.home / "index") as index:
        index.update(trees, **options)
        assert copy_nodes(index, documents.target) == Copied(written=0, removed=0, unchanged=24)


KILLED = """
import os, sys
from quire.stores import copy_documents, lancedb, node_rows
if __name__ == "__main__":
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
    copy_documents({"docs": sys.argv[1]}, sys.argv[2])
"""


@pytest.mark.parametrize("steps", [0, 2, 6, 7])
def test_a_killed_writer(documents: Documents, steps: int) -> None:
    """The next call writes the rest."""
    command = [sys.executable, "-c", KILLED, documents.trees["docs"], documents.target, str(steps)]
    assert subprocess.run(command, check=False).returncode == 9
    assert copy_documents(documents.trees, documents.target).unchanged == min(24, steps * 4)
    documents.check()


def test_documents_that_cannot_be_read(documents: Documents, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    """Their sections stay, and their words are counted."""
    monkeypatch.chdir(documents.home)
    command = ["index", "docs", "--to", documents.target, "--engine", "local", "--json"]
    assert main(command) == 0
    assert json.loads(capfd.readouterr().out) == {"copied": {"written": 24, "removed": 0, "unchanged": 0}, "failed": []}
    before = rows(documents.home / "store")
    (documents.folder / "page-3.md").write_bytes(b"\xff\xfe\xfa")
    (documents.folder / "page-4.md").unlink()
    assert main(command) == 2
    captured = capfd.readouterr()
    assert [each["path"] for each in json.loads(captured.out)["failed"]] == [str(documents.folder / "page-3.md")]
    assert "page-3.md" in captured.err
    documents.texts.pop("page-4.md")
    documents.write()
    (documents.folder / "page-3.md").write_text(page(3))
    documents.check()
    assert {name for name in before if name.startswith("docs:")} > {
        name for name in rows(documents.home / "store") if name.startswith("docs:")
    }


def test_a_line_that_cannot_be_read(documents: Documents) -> None:
    """It may be any document, so none is removed."""
    copy_documents(documents.trees, documents.target)
    (documents.home / "shards" / "part-1.jsonl").write_text("no JSON\n")
    problems: list[str] = []
    copied = copy_documents(documents.trees, documents.target, on_problem=lambda path, _: problems.append(path))
    assert problems == [f"{documents.home / 'shards' / 'part-1.jsonl'}: byte 0"]
    assert copied == Copied(written=0, removed=0, unchanged=24)
    documents.check()
    with pytest.raises(quire.InputError, match="byte 0"):
        copy_documents(documents.trees, documents.target)


def test_bad_input(documents: Documents, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(documents.home)
    shards = documents.trees["docs"]
    for arguments, message in (
        (["shards/none-*.jsonl", "--to", documents.target], "no such file"),
        (["nothing", "--to", documents.target], "no such file or folder"),
        (["docs"], "name it with --to"),
        (["docs", "--to", documents.target, "--rebuild"], "--engine makes no index"),
    ):
        assert main(["index", *arguments, "--engine", "local"]) == 2, arguments
        assert message in capfd.readouterr().err
    assert not (documents.home / "store").exists()
    assert main(["index", "docs", "-j", "2"]) == 2
    (documents.home / "shards" / "twice.jsonl").write_text((documents.home / "shards" / "part-1.jsonl").read_text())
    assert main(["index", shards, "--to", documents.target, "--engine", "local"]) == 2
    captured = capfd.readouterr()
    assert "page-0.md: occurs twice; give each document a path of its own" in captured.err.replace("page-1", "page-0")
    (documents.home / "empty").mkdir()
    assert main(["index", "empty", "--to", documents.target, "--engine", "local"]) == 2
    assert "no documents, so nothing is copied" in capfd.readouterr().err


def test_another_store(documents: Documents) -> None:
    pytest.importorskip("chromadb", reason="needs quire-md[chroma]: make test-integrations")
    with pytest.raises(quire.OptionError, match="quire writes sections to lancedb only"):
        copy_documents(documents.trees, f"chroma:{documents.home / 'store'}")


def test_a_document_without_a_path(documents: Documents) -> None:
    """It is called untitled everywhere, so it is found, and not written again."""
    shard = documents.home / "untitled.jsonl"
    shard.write_text('{"path": "", "text": "# Whale"}\n')
    trees = {"whales": str(shard)}
    assert copy_documents(trees, documents.target).written == 1
    assert [hit.id for hit in NodeIndex.open(documents.target).search("whale")] == ["whales:untitled"]
    assert copy_documents(trees, documents.target) == Copied(written=0, removed=0, unchanged=1)


def test_names_of_trees(documents: Documents, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    """Shards are called like their folder, and trees are those of quire.toml without paths."""
    monkeypatch.chdir(documents.home)
    command = ["index", "--to", documents.target, "--engine", "local"]
    assert main([*command, documents.trees["docs"], f"file://{documents.folder}", "shards/part-0.jsonl"]) == 0
    assert sorted(NodeIndex.open(documents.target).trees()) == ["docs", "part-0", "shards"]
    (documents.home / "quire.toml").write_text('[index]\nstore = "lancedb:store"\n[trees]\nmanual = "docs"\n')
    assert main(["index", "--engine", "local"]) == 0
    assert "manual" in NodeIndex.open(documents.target).trees()


def test_two_documents_of_one_id(documents: Documents, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    """The second is reported, and the others are written."""
    monkeypatch.chdir(documents.home)
    (documents.folder / "caf\udce9.md").write_text("# First\n\nOne.\n")
    (documents.folder / "caf%E9.md").write_text("# Second\n\nTwo.\n")
    assert main(["index", "docs", "--to", documents.target, "--engine", "local"]) == 2
    captured = capfd.readouterr()
    assert "25 copied" in captured.out
    assert "another file has the id of caf%E9.md too" in captured.err
