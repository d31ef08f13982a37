"""What a search knows of nodes that it has not read, and how it reads those that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire import Index
from quire.index.engine.snapshot import Snapshot, open_snapshot
from quire.index.file_records import NODES, blob_count
from quire.index.folder import Folder

_MANY = "".join(f"## Part {number}\n\nWords here.\n\n### Below {number}\n\nMore of them.\n\n" for number in range(80))
DOCUMENTS = {
    "nested.md": "# A\n\ntext\n\n### Deep\n\ntext\n\n## Two\n\ntext\n\n### Three\n\ntext\n\n#### Four\n\ntext\n",
    "plain.md": "Only text.\n",
    "empty.md": "",
    "bare.md": "# One\n\n## Nothing\n\n## Two\n\ntext\n",
    "many.md": f"# Many\n\n{_MANY}",
}


@pytest.fixture
def index(tmp_path: Path) -> Index:
    for name, text in DOCUMENTS.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    index = Index.open(tmp_path / ".quire")
    index.update({"docs": tmp_path / "docs"})
    return index


def snapshot_of(folder: Path) -> Snapshot:
    snapshot, _ = open_snapshot(Folder(folder / ".quire"))
    assert snapshot is not None
    return snapshot


def assert_known(snapshot: Snapshot) -> None:
    """Where a node stands is known without reading it, as the node itself has it."""
    records = snapshot.files
    assert len({record.number for record in records.values()}) == len(records)
    for name, record in records.items():
        nodes = snapshot.nodes_of(name)
        hits = [snapshot.top(snapshot.index.parse_query(f'"{node.id}"', ["id"]), 1)[0] for node in nodes]
        matches = snapshot.matches_at(hits)
        assert [(match.number, match.position) for match in matches] == [
            (record.number, at) for at in range(len(nodes))
        ]
        outline = snapshot.outlines(record.number)
        assert outline.depths == [node.depth for node in nodes]
        assert outline.children == [sum(below.ancestors[-1:] == (node.position,) for below in nodes) for node in nodes]
        ancestors = [tuple(outline.ancestors(node.position))[::-1] for node in nodes]
        assert ancestors == [node.ancestors for node in nodes]


def test_where_nodes_stand_is_known(index: Index, tmp_path: Path) -> None:
    assert len(index.documents()) == len(DOCUMENTS)
    assert_known(snapshot_of(tmp_path))


def test_numbers_stay_apart_over_updates(index: Index, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "plain.md").unlink()
    (docs / "nested.md").write_text("# Other\n\n## Than\n\nbefore\n", encoding="utf-8")
    (docs / "new.md").write_text("# New\n\ntext\n", encoding="utf-8")
    index.update()
    (docs / "plain.md").write_text("Back again.\n", encoding="utf-8")
    index.update()
    assert_known(snapshot_of(tmp_path))


def test_nodes_and_blobs_are_counted_without_an_index(index: Index, tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)
    total = snapshot.totals[NODES] + blob_count(snapshot.files, len(snapshot.settings.trees))
    assert snapshot.node_total == total
    (tmp_path / "docs" / "plain.md").unlink()
    index.update({"more": tmp_path / "docs"})
    snapshot = snapshot_of(tmp_path)
    assert snapshot.node_total == snapshot.totals[NODES] + blob_count(snapshot.files, 2)
