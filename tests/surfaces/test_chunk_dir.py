"""``quire.chunk_dir``: what ``quire chunk DIR`` reads, one document at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "docs"
    for name in ("b.md", "a.md", "guides/auth.md", "guides/drafts/x.md", "notes.txt", "left-out.md", ".hidden.md"):
        file = top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\n\ntext\n")
    (top / ".quireignore").write_text("left-out.md\n")
    (top / "code.py").write_text("x = 1\n")
    return top


def paths(*arguments: Any, **options: Any) -> list[str | None]:
    return [chunks.document.path for chunks in quire.chunk_dir(*arguments, **options)]


def test_the_chunks_are_those_of_the_command(folder, capsys) -> None:
    assert main(["chunk", str(folder), "-s", "tree", "--content-type", "kb"]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    made = [chunk for chunks in quire.chunk_dir(folder, "tree", content_type="kb") for chunk in chunks]
    assert [chunk.id for chunk in made] == [record["id"] for record in printed]
    assert paths(str(folder)) == ["a.md", "b.md", "guides/auth.md", "guides/drafts/x.md", "notes.txt"]


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"include": "guides/**"}, ["guides/auth.md", "guides/drafts/x.md"]),
        ({"include": ["*.txt", "/a.md"]}, ["a.md", "notes.txt"]),
        ({"include": ["./guides/"], "exclude": "drafts/"}, ["guides/auth.md"]),
        ({"exclude": ["guides", "?.md"]}, ["notes.txt"]),
        ({"exclude": "guides/*/"}, ["a.md", "b.md", "guides/auth.md", "notes.txt"]),
        ({"exclude": "guides/*.md"}, ["a.md", "b.md", "guides/drafts/x.md", "notes.txt"]),
        ({"include": "left-out.md"}, []),
    ],
)
def test_patterns(folder, given, taken) -> None:
    assert paths(folder, **given) == taken


def test_documents_are_read_one_at_a_time(folder) -> None:
    chunks = quire.chunk_dir(folder)
    assert next(chunks).document.path == "a.md"
    (folder / "b.md").write_bytes(b"# B\n\n\xff\n")
    with pytest.raises(quire.UndecodableError, match="line 3"):
        next(chunks)
    assert ["undecodable"] in [
        [each.code for each in one.findings] for one in quire.chunk_dir(folder, errors="replace")
    ]


def test_a_missing_folder_is_an_error_at_once(folder) -> None:
    with pytest.raises(quire.InputError, match="none: does not exist"):
        quire.chunk_dir(folder / "none")
    assert [chunks.document.path for chunks in quire.chunk_dir(folder / "a.md")] == ["a.md"]
    with pytest.raises(TypeError, match="int"):
        quire.chunk_dir(1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [{"strategy": "none"}, {"targte": 1}, {"tokenizer": "none"}, {"errors": "none"}, {"include": [1]}, {"exclude": ""}],
)
def test_impossible_options_are_errors_at_once(tmp_path, options) -> None:
    with pytest.raises(quire.OptionError):
        quire.chunk_dir(tmp_path, **options)
