"""A run replaces what quire wrote for its documents, and nothing else; what cannot be put in place stays as it was."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import quire
from quire.output.json_files import FileWriter, write_files

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


def doc(path: str, word: str = "old", size: int = 3) -> quire.Chunks:
    return quire.chunk("".join(f"# H{index}\n\n{word} {index}.\n\n" for index in range(size)), "tree", path=path)


def texts(out: Path) -> dict[str, str]:
    """The text of each chunk file."""
    return {
        file.relative_to(out).as_posix(): json.loads(file.read_bytes())["originalText"]
        for file in sorted(out.rglob("*__ch*.json"))
    }


def of(path: str, word: str, size: int = 3) -> dict[str, str]:
    """The text of each chunk file of a document."""
    folder, slash, name = path.removesuffix(".md").rpartition("/")
    return {f"{folder}{slash}doc_{name}__ch{number}.json": f"{word} {number}." for number in range(size)}


def a_file(place: Path) -> None:
    place.write_text('{"mine": 1}')


def a_folder(place: Path) -> None:
    place.mkdir()
    (place / "precious").write_text("precious")


def a_record(place: Path) -> None:
    place.write_text(json.dumps({"id": "x", "metadata": {"sourceFile": "other.md"}}))


def a_link(place: Path) -> None:
    place.symlink_to("elsewhere")


def made(place: Path) -> os.stat_result:
    """What was made; a folder may be another one, with the same files."""
    return (place / "precious" if place.is_dir() else place).lstat()


MADE = [a_file, a_folder, a_record, pytest.param(a_link, marks=posix)]


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("number", [1, 9])
def test_what_is_called_like_a_chunk_file_and_is_none_stays(
    out: Path, make: Callable[[Path], None], number: int
) -> None:
    foreign = out / f"doc_b__ch{number}.json"
    write_files(out, [doc("b.md", size=1), doc("c.md")])
    make(foreign)
    before = made(foreign)
    written = write_files(out, [doc("b.md", "new"), doc("c.md", "new")])
    assert [each.path for each in written.refused] == ["b.md"]
    assert str(foreign) in written.refused[0].reason
    assert os.path.samestat(made(foreign), before)
    assert "old 0." in (out / "doc_b__ch0.json").read_text()
    assert "new 2." in (out / "doc_c__ch2.json").read_text()


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("number", [2, 9])
def test_what_comes_while_a_run_is_writing_stays(out: Path, make: Callable[[Path], None], number: int) -> None:
    foreign = out / f"doc_b__ch{number}.json"
    write_files(out, [doc("b.md", size=2), doc("c.md")])
    with FileWriter(out) as writer:
        writer.add(doc("b.md", "new", 2))
        writer.add(doc("c.md", "new"))
        make(foreign)
        before = made(foreign)
    assert os.path.samestat(made(foreign), before)
    assert "new 1." in (out / "doc_b__ch1.json").read_text()
    assert "new 2." in (out / "doc_c__ch2.json").read_text()


def test_a_document_that_cannot_be_put_in_place_stays_whole_and_the_others_are_new(out: Path) -> None:
    paths = ["a/x.md", "b/x.md", "b/y.md", "c/x.md"]
    write_files(out, [doc(path) for path in paths])
    with FileWriter(out) as writer:
        for path in paths:
            assert writer.add(doc(path, "new", 2))
        place = out / "b" / "doc_x__ch1.json"
        place.unlink()
        a_folder(place)
    (refused,) = writer.written.refused
    assert refused.path == "b/x.md"
    assert str(place) in refused.reason
    assert (writer.written.documents, writer.written.chunks) == (3, 6)
    shutil.rmtree(place)
    wanted = {**of("a/x.md", "new", 2), **of("b/x.md", "old"), **of("b/y.md", "new", 2), **of("c/x.md", "new", 2)}
    del wanted["b/doc_x__ch1.json"]
    assert texts(out) == wanted
    assert {each.name for each in (out / ".quire").iterdir()} <= {"README", "lock"}
    assert write_files(out, [doc(path, "new", 2) for path in paths]).documents == 4


def bound(*arguments: str) -> subprocess.CompletedProcess[str]:
    """``quire`` as somebody whom permissions bind."""
    program = [sys.executable, "-m", "quire", *arguments]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("needs a user whom permissions bind, or setpriv")
        program = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *program]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@posix
@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_a_folder_that_cannot_be_written_to_costs_its_own_documents_only(tmp_path: Path, mode: int) -> None:
    source, out = tmp_path / "k", tmp_path / "kk"
    for word in ("old", "new"):
        for name in "abc":
            (source / name).mkdir(parents=True, exist_ok=True)
            (source / name / "x.md").write_text(f"{word} {name}")
        if word == "old":
            assert bound("chunk", str(source), "-o", str(out), "-q").returncode == 0
            (out / "b").chmod(mode)
    try:
        for said in (f"{source}/b/x.md: {out}/b", "2 documents, 2 chunks, 4 tokens, 1 skipped"):
            done = bound("chunk", str(source), "-o", str(out))
            assert done.returncode == 2
            assert said in done.stderr
            assert "Permission denied; free some space, correct the permissions" in done.stderr
        (source / "b" / "x.md").unlink()
        assert bound("chunk", str(source), "-o", str(out)).returncode == 0
    finally:
        (out / "b").chmod(0o755)
    assert texts(out) == {f"{name}/doc_x__ch0.json": f"{'old' if name == 'b' else 'new'} {name}" for name in "abc"}


@posix
def test_a_folder_that_cannot_be_written_to_leaves_nothing_beside_the_output(tmp_path: Path) -> None:
    source, out, elsewhere = tmp_path / "k", tmp_path / "kk", tmp_path / "elsewhere"
    (source / "b").mkdir(parents=True)
    (source / "b" / "x.md").write_text("b")
    elsewhere.mkdir(mode=0o555)
    for word in ("old", "new", "newer"):
        (source / "t.md").write_text(word)
        assert bound("chunk", str(source), "-o", str(out), "-q").returncode == 0
        if word == "old":
            (out / "b" / "link").symlink_to(elsewhere)
            (out / "b").chmod(0o555)
    (out / "b").chmod(0o755)
    assert texts(out) == {"b/doc_x__ch0.json": "b", "doc_t__ch0.json": "newer"}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["elsewhere", "k", "kk"]
    assert elsewhere.stat().st_mode & 0o777 == 0o555
