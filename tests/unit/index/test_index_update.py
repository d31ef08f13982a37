"""An update reads what changed, and nothing else; what it leaves is what is on disk."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import quire
from quire import Index
from quire.index.changed_files import stale_files
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import VERSION, FileTimes, TreeRecord

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a document that is old enough to be trusted."""

    def made(name: str | bytes, text: str = "# A\n\ntext\n", age: float = 100) -> Path:
        file = tmp_path / "docs" / os.fsdecode(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        os.utime(file, (time.time() - age, time.time() - age))
        return file

    return made


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index.open(tmp_path / ".quire")


def docs(tmp_path: Path) -> dict[str, Path]:
    return {"docs": tmp_path / "docs"}


def ids(index: Index) -> list[str]:
    return [node.id for record in index.documents() for node in index.outline(record.id)]


def commits(tmp_path: Path) -> object:
    """Everything in the index's folder as it is from outside."""
    return {
        path: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in (tmp_path / ".quire").rglob("*")
        if path.is_file()
    }


def test_added_changed_removed(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md")
    gone = write("sub/b.md", "# B\n\ntext\n\n## C\n\nmore\n")
    first = index.update(docs(tmp_path))
    assert (first.added, first.changed, first.removed, first.nodes, first.rebuilt) == (2, 0, 0, 5, None)
    assert ids(index) == ["docs:a.md", "docs:a.md#a", "docs:sub/b.md", "docs:sub/b.md#b", "docs:sub/b.md#c"]
    write("a.md", "# A2\n\ntext\n")
    write("c.txt", "plain")
    gone.unlink()
    second = index.update()
    assert (second.added, second.changed, second.removed, second.unchanged) == (1, 1, 1, 0)
    assert ids(index) == ["docs:a.md", "docs:a.md#a2", "docs:c.txt"]
    assert index.get("docs:a.md#a2").text == "# A2\n\ntext\n"


def test_nothing_changed_nothing_written(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md")
    write("new.md", age=0)
    index.update(docs(tmp_path))
    before = commits(tmp_path)
    (tmp_path / ".quire" / "index.lock").unlink()
    for _ in range(3):
        done = Index.open(tmp_path / ".quire").update(docs(tmp_path))
        assert (done.added, done.changed, done.removed, done.touched, done.unchanged) == (0, 0, 0, 0, 2)
    assert not (tmp_path / ".quire" / "index.lock").exists()
    assert commits(tmp_path).items() <= before.items()  # type: ignore[attr-defined]


def test_touched_is_not_changed(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md", age=100)
    index.update(docs(tmp_path))
    write("a.md", age=50)
    done = index.update()
    assert (done.changed, done.touched, done.unchanged) == (0, 1, 0)
    assert index.update().unchanged == 1


def test_an_edit_of_the_same_size_with_the_old_date_is_seen(tmp_path: Path, index: Index, write: Write) -> None:
    file = write("a.md", "# A\n\none\n")
    status = file.stat()
    index.update(docs(tmp_path))
    file.write_text("# A\n\ntwo\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert index.update().changed == 1
    assert "two" in index.get("a.md#a").text


def test_a_file_from_the_far_future_is_indexed(tmp_path: Path, index: Index, write: Write) -> None:
    file = write("a.md")
    os.utime(file, (2**34, 2**34))  # the year 2514; nanoseconds of it need more than 63 bits
    assert index.update(docs(tmp_path)).added == 1
    assert index.update().unchanged == 1
    file.write_text("# A\n\nother text\n")
    assert index.update().changed == 1


def test_a_file_written_just_before_is_not_trusted(
    tmp_path: Path, index: Index, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What git calls racily clean: a later edit may leave the same size and times."""
    hour = 3600 * 10**9
    monkeypatch.setattr("quire.index.changed_files._TICK_NS", hour)
    monkeypatch.setattr("quire.index.changed_files._COARSE_TICK_NS", hour)
    old, new = write("old.md"), write("new.md", age=0)
    index.update(docs(tmp_path))
    assert {record.path: record.racy for record in index.documents()} == {"old.md": True, "new.md": True}
    edited = {
        record.id: msgspec.structs.replace(record, digest=b"another content", racy=record.path == "new.md")
        for record in index.documents()
    }
    snapshot = Snapshot(index._snapshot().folder)
    monkeypatch.setattr(snapshot, "files", edited, raising=False)
    monkeypatch.setattr(snapshot, "file_times", lambda: [{"docs": FileTimes.of(list(edited.values()))}])
    made = stale_files(tmp_path, {"docs": TreeRecord(b"docs", "english")}, snapshot)
    assert [task.record.path for task in made.tasks] == ["new.md"]
    assert made.unchanged == 1
    monkeypatch.setattr("quire.index.changed_files._TICK_NS", 0)  # as if an hour had passed
    monkeypatch.setattr("quire.index.changed_files._COARSE_TICK_NS", 0)
    write("other.md")
    index.update()
    assert not any(record.racy for record in index.documents() if record.path != "other.md")
    assert new.read_text() == old.read_text()


def test_a_file_that_cannot_be_read_is_not_unchanged(tmp_path: Path, index: Index, write: Write) -> None:
    write("good.md")
    (tmp_path / "docs" / "bad.md").write_bytes(b"\xff\xfe\xff")
    for unchanged in (0, 1, 1):
        done = index.update(docs(tmp_path))
        assert (done.unchanged, len(done.failed)) == (unchanged, 1)


def test_a_file_that_cannot_be_read_and_has_new_times_is_counted_once(
    tmp_path: Path, index: Index, write: Write
) -> None:
    bad = write("bad.md", "# A\n\n\udcff\n")
    write("good.md")
    index.update(docs(tmp_path))
    os.utime(bad, (time.time() - 50, time.time() - 50))
    done = index.update()
    assert (done.touched, done.unchanged, len(done.failed)) == (1, 1, 1)


def test_other_trees_stay(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "n.md").write_text("# N\n\nnote\n")
    index.update(docs(tmp_path))
    index.update({"notes": tmp_path / "notes"})
    (tmp_path / "notes" / "n.md").unlink()
    write("a.md", "# B\n\nx\n")
    assert index.update(docs(tmp_path)).changed == 1
    assert ids(index) == ["docs:a.md", "docs:a.md#b", "notes:n.md", "notes:n.md#n"]
    assert index.update().removed == 1
    assert ids(index) == ["docs:a.md", "docs:a.md#b"]
    assert sorted(index.trees()) == ["docs", "notes"]
    index.remove("docs")
    assert ids(index) == []
    assert sorted(index.trees()) == ["notes"]
    with pytest.raises(quire.OptionError, match=r"no tree is called 'docs'.*notes"):
        index.remove("docs")


def test_a_single_file_is_a_tree(tmp_path: Path, index: Index, write: Write) -> None:
    file = write("odd name", "# A\n\ntext\n")
    index.update({"one": file})
    assert index.trees()["one"].folder == file
    assert ids(index) == ["one:odd name"]
    assert index.update().unchanged == 1


def test_what_cannot_be_read_is_named_each_time_and_the_rest_is_there(
    tmp_path: Path, index: Index, write: Write
) -> None:
    write("good.md")
    bad = write("bad.md", "# A\n\n\udcff\n")
    first = index.update(docs(tmp_path))
    assert (first.added, [(each.path, each.code) for each in first.failed]) == (1, [(str(bad), "undecodable")])
    before = commits(tmp_path)
    again = index.update()
    assert again.failed == first.failed
    assert again.failed[0].line == 3
    assert commits(tmp_path) == before
    assert ids(index) == ["docs:good.md", "docs:good.md#a"]
    write("bad.md", "# Now\n\ngood\n")
    assert (index.update().failed, ids(index)[0]) == ((), "docs:bad.md")
    write("bad.md", "\udcff")
    assert len(index.update().failed) == 1
    assert ids(index) == ["docs:good.md", "docs:good.md#a"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_what_may_not_be_read_is_tried_again(tmp_path: Path, index: Index, write: Write) -> None:
    file = write("a.md")
    index.update(docs(tmp_path))
    file.chmod(0)
    done = index.update()
    assert [each.code for each in done.failed] == ["unreadable"]
    assert ids(index) == []
    assert index.update().failed == done.failed
    file.chmod(0o644)
    assert index.update().failed == ()
    assert ids(index) == ["docs:a.md", "docs:a.md#a"]


def test_what_discover_leaves_out_is_left_out(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md")
    write(".hidden.md")
    write("ignored.md")
    write("image.png")
    (tmp_path / "docs" / ".gitignore").write_text("ignored.md\n")
    index.update({"all": tmp_path})
    assert ids(index) == ["all:docs/a.md", "all:docs/a.md#a"]
    assert (tmp_path / ".quire" / ".gitignore").read_text() == "*\n"
    (tmp_path / "docs" / ".gitignore").unlink()
    assert index.update().added == 1


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes")
def test_every_file_name(tmp_path: Path, index: Index, write: Write) -> None:
    names = [
        b"a.md", b"A.md", "é.md".encode(), "e\u0301.md".encode(), b"with space.md", b"a#b.md", b"a.md#a.md", b"a:12.md",
        b"docs:a.md", b":.md", b"#.md", "🎉.md".encode(), b"caf\xe9.md", b"line\nend.md", b"%E9.md", b"'\"`$(x).md",
        b"\xff\xfe.md", b"a\\b.md", b"-n.md", b"deep/er/x y#z:1.md", b"." + b"x" * 200 + b".x.md",
    ]  # fmt: skip
    for number, name in enumerate(names):
        write(name, f"# A\n\ntext {number}\n")
    done = index.update(docs(tmp_path))
    assert done.failed == ()
    taken = [name for name in names if not name.startswith(b".")]
    assert done.added == len(taken)
    shown = ids(index)
    assert len(set(shown)) == len(shown) == 2 * len(taken)
    for name in taken:
        number, path = names.index(name), os.fsdecode(name)
        short = () if path.startswith("docs:") else (f"{path}#a", f"{path}:3")  # it would be the id of another
        for asked in (f"docs:{path}#a", f"docs:{path}:1", *short):
            assert index.get(asked).text == f"# A\n\ntext {number}\n", asked
        hit = index.get(f"docs:{path}")
        assert index.get(hit.id).id == hit.id
        hit.id.encode()
    assert index.update().unchanged == len(taken)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes")
def test_two_files_never_have_one_id(tmp_path: Path, index: Index, write: Write) -> None:
    write(b"caf\xe9.md", "# A\n\none\n")
    write(b"caf%E9.md", "# A\n\ntwo\n")
    done = index.update(docs(tmp_path))
    assert [each.code for each in done.failed] == ["same-id"]
    assert len(ids(index)) == 2
    with pytest.raises(quire.OptionError, match="cannot be called 'a:b'"):
        index.update({"a:b": tmp_path / "docs"})


def test_a_very_long_heading(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md", f"# {'word ' * 30_000}\n\ntext\n\n## B\n\nmore\n")
    index.update(docs(tmp_path))
    long = ids(index)[1]
    assert len(long) > 1_000
    assert index.get(long).id == long
    assert index.get("a.md#b").title == "B"


def test_an_index_moves_with_its_documents(tmp_path: Path, write: Write) -> None:
    write("a.md")
    Index.open(tmp_path / ".quire").update(docs(tmp_path))
    home = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(home)
    moved = Index.open(home / ".quire")
    assert moved.update().unchanged == 1
    assert moved.trees()["docs"].folder == home / "docs"
    home.rename(tmp_path)


def test_a_folder_that_is_missing(tmp_path: Path, index: Index, write: Write) -> None:
    with pytest.raises(quire.InputError, match="nowhere: does not exist"):
        index.update({"docs": tmp_path / "nowhere"})
    assert not (tmp_path / ".quire").exists()
    file = write("a.md")
    index.update(docs(tmp_path))
    file.unlink()
    file.parent.rmdir()
    done = index.update()
    assert (done.removed, [each.path for each in done.failed]) == (1, [str(tmp_path / "docs")])


def test_languages(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md")
    index.update(docs(tmp_path))
    done = index.update(docs(tmp_path), languages={"docs": "german"})
    assert (done.rebuilt, done.added) == ("the language of docs is german now", 1)
    assert index.trees()["docs"].language == "german"
    assert index.update(docs(tmp_path)).rebuilt is None
    assert [path.name for path in (tmp_path / ".quire").glob("index-*")] == ["index-2"]
    with pytest.raises(quire.OptionError, match=r"unknown language 'klingon'.*english"):
        index.update(docs(tmp_path), languages={"docs": "klingon"})
    with pytest.raises(quire.OptionError, match="no tree is called 'doc'"):
        index.update(docs(tmp_path), languages={"doc": "german"})


def test_trees_in_several_languages_come_and_go(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md", "# A\n\nThe houses.\n")
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / "b.md").write_text("# B\n\nDie Häuser.\n")
    index.update(docs(tmp_path))
    done = index.update({"de": tmp_path / "de"}, languages={"de": "german"})
    assert (done.rebuilt, done.added) == ("there is a new language: german", 2)
    assert [hit.id for hit in index.search("haus")] == ["de:b.md#b"]
    assert [hit.id for hit in index.search("house")] == ["docs:a.md#a"]
    index.remove("de")
    write("a.md", "# A\n\nAnother house.\n")
    assert index.update().changed == 1
    assert [hit.id for hit in index.search("another house")] == ["docs:a.md#a"]
    index.remove("docs")
    assert index.search("house") == []


def test_another_version_makes_it_anew(tmp_path: Path, index: Index, write: Write, monkeypatch) -> None:
    write("a.md")
    index.update(docs(tmp_path))
    monkeypatch.setattr("quire.index.update_plan.__version__", "9.9")
    assert index.status().rebuild == f"it was made by quire {quire.__version__}"
    assert index.update().rebuilt == f"it was made by quire {quire.__version__}"
    assert index.status().rebuild is None
    pointer = tmp_path / ".quire" / "index.current"
    pointer.write_text(pointer.read_text().replace(f'"version":{VERSION}', '"version":99'))
    with pytest.raises(quire.StoreError, match=r"another version of quire.*run: quire index"):
        index.get("a.md")
    said = f"the index was made by another version of quire (index version 99, this one has {VERSION})"
    assert index.update().rebuilt == said
    assert index.get("a.md#a").text == "# A\n\ntext\n"
    assert index.update(rebuild=True).rebuilt == "a rebuild was requested"


def test_nothing_to_look_at(tmp_path: Path, index: Index) -> None:
    with pytest.raises(quire.OptionError, match="nothing in the index yet"):
        index.update()
    with pytest.raises(quire.NotFoundError, match="there is no index yet"):
        index.get("a.md")
    (tmp_path / "docs").mkdir()
    assert index.update(docs(tmp_path)).nodes == 0
    assert index.documents() == []


def test_progress(tmp_path: Path, index: Index, write: Write) -> None:
    for number in range(3):
        write(f"{number}.md")
    told: list[tuple[int, int, str]] = []
    index.update(docs(tmp_path), on_progress=lambda *each: told.append(each))
    assert told == [(1, 3, "0.md"), (2, 3, "1.md"), (3, 3, "2.md")]


def test_what_is_no_text_is_named_with_its_line(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md", "# A\n\nx\udcff\n")
    [finding] = index.update(docs(tmp_path)).failed
    assert (finding.code, finding.line) == ("undecodable", 3)
    advice = "convert the file to UTF-8, or set encoding or errors of its tree in quire.toml"
    assert finding.message == f"byte offset 6: not UTF-8 (invalid start byte); {advice}"


def test_what_a_full_disk_left_of_the_gitignore_is_mended(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md")
    index.update(docs(tmp_path))
    ignore = tmp_path / ".quire" / ".gitignore"
    assert ignore.read_text() == "*\n"
    for left, mended in (("", "*\n"), ("# mine\n", "# mine\n")):
        ignore.write_text(left)
        index.update(rebuild=True)
        assert ignore.read_text() == mended


def test_sources_are_not_touched(tmp_path: Path, index: Index, write: Write) -> None:
    write("a.md")
    before = [(path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in (tmp_path / "docs").rglob("*")]
    index.update(docs(tmp_path))
    index.update(rebuild=True)
    assert [(path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in (tmp_path / "docs").rglob("*")] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [".quire", "docs"]
