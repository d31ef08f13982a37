"""A damaged index is seen, named, and made anew from the documents."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import quire
from quire import Index
from quire.index.engine import damage
from support.forged_files import content_length, forge

PARTS = ["idx", "pos", "term", "store", "fast", "fieldnorm"]


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "docs").mkdir()
    for number in range(20):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# A\n\ntext {number}\n\n## B\n\nmore\n")
    index = Index.open(tmp_path / ".quire")
    index.update({"docs": tmp_path / "docs"})
    (tmp_path / "docs" / "0.md").write_text("# A\n\ntext, too\n")
    index.update()
    index.close()
    return Index.open(tmp_path / ".quire")


def files(tmp_path: Path, part: str) -> list[Path]:
    (generation,) = (tmp_path / ".quire").glob("index-*")
    return sorted(generation.glob(f"*.{part}"), key=lambda file: -file.stat().st_size)


def flip(file: Path, seed: int = 1) -> None:
    """Change one bit of what the file holds."""
    change(file, random.Random(seed).randrange(content_length(file.read_bytes())), 0x20)


def change(file: Path, at: int, bits: int) -> None:
    with file.open("r+b") as stream:
        stream.seek(at)
        byte = stream.read(1)[0]
        stream.seek(at)
        stream.write(bytes([byte ^ bits]))


def replace(file: Path, data: bytes) -> None:
    """A new file: a thread of the engine may have the old one mapped, and reading what was cut off ends the process."""
    other = file.with_suffix(".new")
    other.write_bytes(data)
    other.replace(file)


def truncate(file: Path) -> None:
    replace(file, file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    replace(file, b"")


def garbage(file: Path) -> None:
    replace(file, b"\x00garbage\xff" * 30)


def assert_healed(index: Index, tmp_path: Path) -> None:
    with pytest.raises(quire.IndexDamagedError, match=r"\.quire: the index is damaged .*; run: quire index"):
        index.get("1.md#a")
    with pytest.raises(quire.IndexDamagedError):
        Index.open(tmp_path / ".quire").trees()
    done = Index.open(tmp_path / ".quire").update()
    assert done.rebuilt is not None
    assert done.rebuilt.startswith("the index is damaged (")
    assert done.added == 20
    assert index.get("1.md#a").text == "# A\n\ntext 1\n\n## B\n\nmore\n"
    assert index.status().damaged is None
    assert index.update().rebuilt is None
    assert len(list((tmp_path / ".quire").glob("index-*"))) == 1


@pytest.mark.parametrize("how", [flip, truncate, empty, garbage, os.unlink])
@pytest.mark.parametrize("part", [*PARTS, "del"])
def test_each_kind_of_file(tmp_path: Path, index: Index, part: str, how: Callable[[Path], None]) -> None:
    how(files(tmp_path, part)[0])
    assert_healed(index, tmp_path)


@pytest.mark.parametrize("how", [truncate, empty, garbage, os.unlink])
def test_the_description_of_the_commit(tmp_path: Path, index: Index, how: Callable[[Path], None]) -> None:
    (generation,) = (tmp_path / ".quire").glob("index-*")
    how(generation / "meta.json")
    assert_healed(index, tmp_path)


def test_a_generation_that_is_gone(tmp_path: Path, index: Index) -> None:
    (generation,) = (tmp_path / ".quire").glob("index-*")
    shutil.rmtree(generation)
    assert_healed(index, tmp_path)


@pytest.mark.parametrize("text", ["", "garbage", '{"generation": "../docs", "version": 1}', "[]"])
def test_a_pointer_that_leads_nowhere(tmp_path: Path, index: Index, text: str) -> None:
    (tmp_path / ".quire" / "index.current").write_text(text)
    with pytest.raises(quire.IndexDamagedError, match="run: quire index"):
        index.get("1.md#a")
    assert index.update({"docs": tmp_path / "docs"}).rebuilt
    assert index.get("1.md#a").title == "A"
    assert len(list((tmp_path / "docs").iterdir())) == 20


def test_an_open_index_sees_it_at_the_next_update(tmp_path: Path, index: Index) -> None:
    assert index.get("1.md#a").title == "A"
    flip(files(tmp_path, "store")[0])
    assert index.update().rebuilt
    assert index.get("1.md#a").text == "# A\n\ntext 1\n\n## B\n\nmore\n"


@pytest.mark.parametrize("part", PARTS)
def test_a_failing_disk_changes_no_time_and_status_finds_it(tmp_path: Path, index: Index, part: str) -> None:
    file = files(tmp_path, part)[0]
    before = file.stat()
    change(file, 0, 0x01)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Index.open(tmp_path / ".quire").status().damaged
    assert index.update().rebuilt
    assert index.status().damaged is None


def test_what_is_remembered_is_no_truth(tmp_path: Path, index: Index) -> None:
    memory = tmp_path / ".quire" / "index.checked"
    for spoil in (os.unlink, empty, garbage):
        spoil(memory)
        assert Index.open(tmp_path / ".quire").get("1.md#a").title == "A"
        flip(files(tmp_path, "idx")[0])
        assert index.update().rebuilt
        assert memory.exists()


def test_other_entries_stay(tmp_path: Path, index: Index) -> None:
    other = tmp_path / ".quire" / "stage"
    other.mkdir()
    (tmp_path / ".quire" / "lock").write_text("")
    assert index.update(rebuild=True).rebuilt
    assert other.is_dir()
    assert (tmp_path / ".quire" / "lock").exists()


@pytest.mark.parametrize("seed", range(20))
def test_any_flipped_byte_of_a_file_is_seen(tmp_path: Path, index: Index, seed: int) -> None:
    (generation,) = (tmp_path / ".quire").glob("index-*")
    seen = damage.check(generation)
    name = sorted(seen)[seed % len(seen)]
    flip(generation / name, seed)
    with pytest.raises(damage.DamageError, match=name):
        damage.check(generation)


SEARCHES = """
    import sys
    import quire
    try:
        index = quire.Index.open(sys.argv[1])
        for query in ("text more", "mroe", "te*", '"text 7" more', "b", "path:1"):
            index.search(query)
    except quire.IndexDamagedError as error:
        print(error)
"""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("part", ["idx", "term", "store", "fast"])
def test_damage_that_no_checksum_shows_is_named_when_it_is_met(
    index: Index, tmp_path: Path, part: str, seed: int
) -> None:
    index.close()
    (tmp_path / ".quire" / "index.checked").unlink()
    for file in files(tmp_path, part):
        forge(file, lambda data: random.Random(seed).randbytes(len(data)))
    command = [sys.executable, "-c", textwrap.dedent(SEARCHES), str(tmp_path / ".quire")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ".quire: the index is damaged (" in done.stdout
    assert done.stdout.count("\n") <= 1
    reopened = Index.open(tmp_path / ".quire")
    assert reopened.status().damaged
    assert reopened.update().rebuilt
    assert reopened.get("1.md#a").title == "A"


def test_a_file_that_may_not_be_read_is_named_with_what_to_do(tmp_path: Path, index: Index) -> None:
    file = files(tmp_path, "store")[0]
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("needs a user whom permissions bind")
    reason = f"the index is damaged ({file.name} cannot be read: Permission denied); "
    with pytest.raises(quire.IndexDamagedError) as caught:
        index.search("text")
    assert caught.value.reason == f"{reason}correct its rights, or run: quire index"
