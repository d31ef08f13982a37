"""Files to fields: many at once as one by one, and what the nodes of a document have in common."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from quire.index.changed_files import Task
from quire.index.engine.node_fields import NodeFields
from quire.index.file_records import FileRecord, TreeRecord
from quire.index.read_files import IndexedFile, read_file

TREES = {"docs": TreeRecord(b"", "english")}


def task(file: Path) -> Task:
    return Task(os.fsencode(file), FileRecord("docs", file.name, 0, 0, 0, racy=False))


def written(folder: Path, text: str, name: str = "a.md") -> Task:
    file = folder / name
    file.write_text(text, encoding="utf-8", newline="")
    return task(file)


def read(file: Task) -> IndexedFile:
    return read_file(TREES, file)


def fields(reading: IndexedFile) -> NodeFields:
    return msgspec.msgpack.decode(reading.nodes, type=NodeFields) if reading.nodes else NodeFields()


def whole(reading: IndexedFile) -> list[dict[str, Any]]:
    """The fields of each node, common ones included."""
    nodes = fields(reading)
    return [nodes.common | own for own in nodes.own]


def test_many_files_are_read_as_each_is_alone(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_bytes(b"# A\n\n\xff\n")
    long = "".join(f"Sentence {number} of a text.\n\n" for number in range(200))
    tasks = [
        task(tmp_path / "missing.md"),
        written(tmp_path, f"# One\n\nText.\n\n## Two\n\n{long}", "one.md"),
        task(tmp_path / "bad.md"),
        written(tmp_path, "", "empty.md"),
        written(tmp_path, "# Three\n\nMore.\n", "three.md"),
    ]
    readings = [read_file(TREES, task) for task in tasks]
    assert readings == [read(each) for each in tasks]
    assert [(reading.record.title, bool(reading.record.problem), len(fields(reading).own)) for reading in readings] == [
        ("", True, 0),
        ("One", False, 3),
        ("", True, 0),
        ("empty", False, 1),
        ("Three", False, 2),
    ]


def test_a_reading_can_be_sent(tmp_path: Path) -> None:
    reading = read(written(tmp_path, "---\ntags: [a, b]\n---\n# One\n\nText.\n"))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(reading), type=IndexedFile) == reading


def test_what_all_nodes_have_is_there_once(tmp_path: Path) -> None:
    reading = read(written(tmp_path, "---\ntags: [a, b]\n---\n# One\n\nText.\n\n## Two\n\nMore.\n"))
    common = {"doc", "tree", *(f"{name}_english" for name in ("description", "file", "folder", "tags", "path"))}
    assert set(fields(reading).common) == common
    assert all(common.isdisjoint(own) for own in fields(reading).own)
    assert fields(reading).common["tags_english"] == ["a", "b"]


def test_of_front_matter_the_nodes_repeat_only_the_beginning_of_the_description(tmp_path: Path) -> None:
    front = f"---\nnote: other\ndescription: {'x' * 2_000}\n---\n"
    for node in whole(read(written(tmp_path, f"{front}# One\n\nText.\n"))):
        [description] = node["description_english"]
        assert description.startswith("x" * 100)
        assert len(description) <= 1_010


def test_a_node_has_the_titles_above_it_each_cut_if_it_is_long(tmp_path: Path) -> None:
    long = "y" * 2_000
    text = f"# One\n\nText.\n\n## {long}\n\nText.\n\n### parseJSON\n\nText.\n\n## Two\n\nText.\n"
    document, one, two, three, four = whole(read(written(tmp_path, text)))
    assert document["headings_english"] == ["One"]
    assert one["headings_english"] == ["One"]
    assert two["headings_english"] == ["One", "One"]
    assert two["title_english"] == [f"{long[:999]}..."]
    assert three["headings_english"] == ["One", "One", f"{long[:999]}..."]
    assert three["title_english"] == ["parseJSON"]  # its parts would find every section with such a name
    assert three["body_english"][1:] == ["parse JSON"]
    assert four["headings_english"] == ["One", "One"]


def test_the_title_of_a_document_is_its_own_if_front_matter_gives_it(tmp_path: Path) -> None:
    given, taken = (read(written(tmp_path, f"{front}# One\n\nText.\n")) for front in ("---\ntitle: T\n---\n", ""))
    assert [own["title_english"] for own in fields(given).own] == [["T"], ["One"]]
    assert [own["title_english"] for own in fields(taken).own] == [[], ["One"]]
