"""Where files go: names are kept, never meet unnoticed, never lead out of the folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.model.operating_system import case_folded
from quire.output.json_files import _CHUNK_FILE, MOST_BYTES, file_names, folder_name

posix = pytest.mark.skipif(sys.platform == "win32", reason="names that Windows cannot hold")


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("strategy.md", "doc_strategy__ch0.json"),
        ("flatten-ast.md", "doc_flatten-ast__ch0.json"),
        ("guides/api/auth.md", "guides/api/doc_auth__ch0.json"),
        (None, "doc_untitled__ch0.json"),
        ("a.tar.md", "doc_a.tar__ch0.json"),
        (".hidden", "doc_.hidden__ch0.json"),
        ("no-extension", "doc_no-extension__ch0.json"),
        ("a b#c.md", "doc_a b#c__ch0.json"),
        ("😀/é漢.md", "😀/doc_é漢__ch0.json"),
        ("dots...md", "doc_dots..__ch0.json"),
        ("a__ch1.md", "doc_a__ch1__ch0.json"),
        ("CON.md", "doc_CON__ch0.json"),
        ("./a.md", "doc_a__ch0.json"),
        ("a//b/./c.md", "a/b/doc_c__ch0.json"),
        ("/etc/passwd.md", "etc/doc_passwd__ch0.json"),
        ("../../x.md", "%2E%2E/%2E%2E/doc_x__ch0.json"),
        ("a/../b.md", "a/%2E%2E/doc_b__ch0.json"),
        ("..", "doc_.__ch0.json"),
        ("", "doc___ch0.json"),
        (".quire/a.md", "%2Equire/doc_a__ch0.json"),
        (".QUIRE/a.md", "%2EQUIRE/doc_a__ch0.json"),
        ("doc_a__ch0.json/a.md", "doc_a__ch0%2Ejson/doc_a__ch0.json"),
        ("a\x00b.md", "doc_a%00b__ch0.json"),
        ("a\ud800b.md", "doc_a%uD800b__ch0.json"),
    ],
)
def test_places(path: str | None, file: str) -> None:
    place = file_names(path, "doc")
    assert f"{place.folder}/{place.file(0)}".lstrip("/") == file


@posix
@pytest.mark.parametrize("name", ["a\nb", "a:b", 'a"b', "a?*", "a\\b", "a\udcffb", "tail. "])
def test_names_that_only_windows_cannot_hold_are_kept(name: str) -> None:
    assert file_names(f"{name}.md", "doc").stem == f"doc_{name}"
    assert folder_name(name) == name


@pytest.mark.parametrize("length", [200, 238 - 4, 238 - 3, 255, 1000])
@pytest.mark.parametrize("char", ["a", "é", "漢", "😀"])
def test_long_names_are_shortened(length: int, char: str) -> None:
    name = char * (length // len(char.encode()))
    place = file_names(f"{name}/{name}.md", "doc")
    other = file_names(f"{name}/{name}{char}.md", "doc")
    assert len(os.fsencode(place.file(99_999_999))) <= MOST_BYTES
    assert len(os.fsencode(place.folder)) <= MOST_BYTES
    assert place == file_names(f"{name}/{name}.md", "doc")
    assert place.stem != other.stem
    assert (place.stem == f"doc_{name}") == (len(f"doc_{name}".encode()) <= 238)


@given(st.text(), st.sampled_from(["doc", "doc_a", "x__ch0"]), st.integers(0, 10**7))
def test_any_path_stays_inside(path: str, content_type: str, number: int) -> None:
    place = file_names(path, content_type)
    parts = [*PurePosixPath(place.folder).parts, place.file(number)]
    assert all(part not in ("", ".", "..", ".quire") and "/" not in part and "\0" not in part for part in parts)
    assert not place.folder.startswith("/")
    for part in parts:
        assert len(os.fsencode(part)) <= MOST_BYTES
    match = _CHUNK_FILE.fullmatch(place.file(number))
    assert match
    assert match["stem"] == place.stem


@given(st.text(), st.text())
def test_a_name_on_disk_belongs_to_one_document(first: str, second: str) -> None:
    one, other = file_names(first, "doc"), file_names(second, "doc")
    assert (one.file(1) == other.file(1)) == (one.stem == other.stem)
    assert one.file(1) != other.file(11)


@pytest.mark.parametrize(
    "name",
    [
        "doc_a__ch01.json",
        "doc_a__ch.json",
        "doc_a__ch1.JSON",
        "doc_a__ch1.json.bak",
        "doc_a__ch12345678901.json",
        "a.json",
        "doc_a__ch١.json",
    ],
)
def test_other_names_are_no_chunk_files(name: str) -> None:
    assert _CHUNK_FILE.fullmatch(name) is None


def test_the_last_number_counts() -> None:
    match = _CHUNK_FILE.fullmatch("doc_a__ch1__ch0.json")
    assert match
    assert match["stem"] == "doc_a__ch1"


@pytest.mark.parametrize(("first", "second"), [("A", "a"), ("é", "e\u0301"), ("ß", "SS"), ("İ", "i̇"), ("Å", "Å")])
def test_twins(first: str, second: str) -> None:
    assert case_folded(first) == case_folded(second)


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("a", "á"), ("a", "a "), ("1", "¹")])
def test_others(first: str, second: str) -> None:
    assert case_folded(first) != case_folded(second)


@posix
def test_odd_names_can_be_made(tmp_path: Path) -> None:
    for name in ("a\nb", "😀#", "x" * 400, "tail. ", "a\udcffb", "a\ud800b", "NUL"):
        place = file_names(f"{name}/{name}.md", "doc")
        (tmp_path / place.folder).mkdir()
        made = tmp_path / place.folder / place.file(0)
        made.write_bytes(b"")
        assert made.is_file()
        assert made.resolve().is_relative_to(tmp_path.resolve())
