"""What a store of sections has, for tests that compare two of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lancedb
import msgspec

from quire.index.file_records import FileRecord
from quire.search.index_api import Index

QUERIES = ("restore a backup", "certifcate", "moni*", '"rotate the certificate"', "storage -backup", "title:firewall")
TOPICS = ("backup", "network", "storage", "cluster", "certificate", "firewall", "monitoring", "filesystem")


def page(number: int) -> str:
    """A page with front matter, sections, flags and a link to another one."""
    topic, other = TOPICS[number % len(TOPICS)], TOPICS[(number * 3 + 1) % len(TOPICS)]
    return (
        f"---\nstatus: {'draft' if number % 3 else 'done'}\n---\n# {topic.title()} {number}\n\nAbout {topic} and {other}.\n\n"
        f"## Setup\n\nThe setup of a {topic} needs a café and an address before it starts to work with {other}.\n\n"
        f"### Options\n\n`--no-cache` and `--{topic}`, see [{other} policy](page-{(number * 5 + 2) % 24}.md#setup).\n\n"
        f"## Restore\n\nRestore a {topic}; rotate the {other} {number} times.\n"
    )


def write_shards(folder: Path, documents: Mapping[str, str], count: int = 3) -> str:
    """Write documents by path as JSON lines; returns the pattern."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        lines = [json.dumps({"path": path, "text": text}) for path, text in sorted(documents.items())[number::count]]
        (folder / f"part-{number}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return str(folder / "*.jsonl")


def rows(place: Path, *without: str) -> dict[str, dict[str, Any]]:
    """All rows of sections and terms; the times of files and the summary are left out."""
    database, found = lancedb.connect(place), {}
    for row in database.open_table("quire__nodes").to_arrow().to_pylist():
        if row["record"]:
            record = msgspec.msgpack.decode(row["record"], type=FileRecord)
            row["record"] = msgspec.structs.replace(record, mtime_ns=0, ctime_ns=0, racy=False, number=0)
        found[row["id"]] = {name: value for name, value in row.items() if name not in without}
    assert len(found) == database.open_table("quire__nodes").count_rows()
    terms = database.open_table("quire__terms").to_arrow().to_pylist()
    found |= {f"{row['owner']} {row['term']}": row for row in terms if row["term"]}
    return found


def answers(index: Index) -> list[list[tuple[str, float, str]]]:
    """Ids, scores and texts of the results of all queries, in order."""
    return [[(hit.id, hit.score, hit.text) for hit in index.search(query)] for query in QUERIES]
