"""One file a chunk: what is written, replaced, refused, and left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.output import chunk_json, json_files
from quire.output.json_files import FileWriter, write_files
from quire.output.lock import held

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


def doc(path: str | None, size: int = 2, word: str = "text", **chosen: Any) -> quire.Chunks:
    text = "".join(f"# H{index}\n\n{word} {index}.\n\n" for index in range(size))
    return quire.chunk(text, "tree", path=path, **chosen)


def files(out: Path) -> dict[str, str]:
    """All files but quire's own, with what they hold: the text of a chunk, or the content itself."""
    return {
        file.relative_to(out).as_posix(): shown(file)
        for file in sorted(out.rglob("*"))
        if file.is_file() and ".quire" not in file.parts
    }


def shown(file: Path) -> str:
    content = file.read_text(encoding="utf-8")
    return json.loads(content)["originalText"] if content.startswith("{") else content


def test_one_file_a_chunk(out: Path) -> None:
    chunks = doc("guides/auth.md", 3)
    written = write_files(out, [chunks])
    assert (written.documents, written.chunks, written.refused) == (1, 3, ())
    assert list(files(out)) == [f"guides/doc_auth__ch{number}.json" for number in range(3)]
    for chunk in chunks:
        data = (out / f"guides/doc_auth__ch{chunk.chunk_number}.json").read_bytes()
        assert chunk_json.decode(data) == chunk
        assert data.endswith(b"}\n")


def test_the_names_of_the_format(out: Path) -> None:
    write_files(out, [doc("strategy.md", 4), doc("post.md", 1, content_type="post"), doc(None, 1)])
    assert list(files(out)) == [
        *(f"doc_strategy__ch{number}.json" for number in range(4)), "doc_untitled__ch0.json", "post_post__ch0.json",
    ]  # fmt: skip


@pytest.mark.parametrize("sizes", [(3, 1), (1, 3), (2, 0), (0, 2), (12, 11)])
def test_a_run_replaces_what_the_one_before_wrote(out: Path, sizes: tuple[int, int]) -> None:
    others = [doc("b.md", 2), doc("guides/a.md", 2), doc("a__ch1.md", 2)]
    write_files(out, [doc("a.md", sizes[0]), *others])
    before = files(out)
    write_files(out, [doc("a.md", sizes[1], "new")])
    after = files(out)
    mine = {name: text for name, text in after.items() if name.startswith("doc_a__ch") and "__ch1__" not in name}
    assert mine == {f"doc_a__ch{number}.json": f"new {number}." for number in range(sizes[1])}
    rest = set(after) - set(mine)
    assert len(rest) == 6
    assert all(after[name] == before[name] for name in rest)


def test_what_is_there_already_is_not_touched(out: Path) -> None:
    write_files(out, [doc("a.md"), doc("g/b.md")])
    inodes = {file: file.stat().st_mtime_ns for file in out.rglob("*")}
    written = write_files(out, [doc("a.md"), doc("g/b.md")])
    assert written.documents == 2
    assert {file: file.stat().st_mtime_ns for file in out.rglob("*") if ".quire" not in file.parts} == {
        file: time for file, time in inodes.items() if ".quire" not in file.parts
    }


def test_two_sources_that_meet(out: Path) -> None:
    written = write_files(out, [doc("a.md", 1), doc("a.mdx", 2), doc("b.md", 1), doc("A.md", 1), doc("x/a.md", 1)])
    assert list(files(out)) == ["doc_a__ch0.json", "doc_b__ch0.json", "x/doc_a__ch0.json"]
    assert written.documents == 3
    assert [each.path for each in written.refused] == ["a.mdx", "A.md"]
    assert "would clash with those of a.md" in written.refused[0].reason


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (doc("G/a.md"), doc("g/a.md")),
        (doc("é.md"), doc("e\u0301.md")),
        (doc("a_b.md", content_type="doc"), doc("b.md", content_type="doc_a")),
        (doc(None), doc("untitled.md")),
        (doc("a.md"), doc("/a.md")),
        (doc("a.md"), doc("a.md")),
    ],
    ids=["folders", "accents", "content types", "no path", "absolute", "twice"],
)
def test_more_that_meet(tmp_path: Path, first: quire.Chunks, second: quire.Chunks) -> None:
    written = write_files(tmp_path / "out", [first, second])
    assert len(files(tmp_path / "out")) == 2
    assert [each.path for each in written.refused] == [second.document.source.name]
    assert f"clash with those of {first.document.source.name}" in written.refused[0].reason


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (doc("a.md"), doc("a.mdx", 5)),
        (doc("A.md"), doc("a.md", 5)),
        (doc("a_b.md"), doc("b.md", 5, content_type="doc_a")),
        (doc(None), doc("untitled.md", 5)),
    ],
    ids=["extension", "case", "content type", "no path"],
)
def test_another_document_s_files_of_an_earlier_run_stay(out: Path, first: quire.Chunks, second: quire.Chunks) -> None:
    write_files(out, [first])
    before = files(out)
    written = write_files(out, [second, doc("z.md", 1)])
    assert written.refused[0].path == second.document.source.name
    assert f"belongs to {first.document.path or 'a text without a path'}" in written.refused[0].reason
    assert files(out) == {**before, "doc_z__ch0.json": "text 0."}


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}', ""])
def test_a_file_that_is_not_quire_s_is_not_overwritten(out: Path, content: str) -> None:
    write_files(out, [])
    (out / "doc_a__ch5.json").write_text(content)
    written = write_files(out, [doc("a.md"), doc("b.md", 1)])
    assert "is not a quire chunk file; remove it" in written.refused[0].reason
    assert (out / "doc_a__ch5.json").read_text() == content
    assert (out / "doc_b__ch0.json").exists()


def test_other_files_stay(out: Path) -> None:
    write_files(out, [doc("g/a.md")])
    others = {"README.md": "mine", "g/notes.txt": "too", "g/doc_a__ch0.json.bak": "x", ".hidden/x": "y", "h/i/j": ""}
    for name, content in others.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(content)
    write_files(out, [doc("g/a.md", 1, "new"), doc("a.md", 1)])
    assert files(out) == {**others, "g/doc_a__ch0.json": "new 0.", "doc_a__ch0.json": "text 0."}


def test_a_folder_that_is_not_quire_s_stays_the_same_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("x")
    inode = out.stat().st_ino
    write_files(out, [doc("a.md")])
    write_files(out, [doc("a.md", 5)])
    assert out.stat().st_ino == inode
    assert len(files(out)) == 6


def test_an_empty_folder_may_hold_a_gitignore(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*")
    write_files(tmp_path, [doc("a.md")])
    assert (tmp_path / ".quire" / "README").exists()


@posix
def test_links_permissions_and_times_are_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_files(out, [doc("g/a.md"), doc("h/b.md")])
    (out / "link").symlink_to("/nowhere")
    (out / "g").chmod(0o750)
    out.chmod(0o711)
    os.utime(out / "h", (1, 1))
    write_files(out, [doc("g/a.md", 5), doc("a.md")])
    assert (out / "link").readlink() == Path("/nowhere")
    assert (out / "g").stat().st_mode & 0o777 == 0o750
    assert out.stat().st_mode & 0o777 == 0o711
    assert (out / "h").stat().st_mtime == 1
    assert (out / "g").stat().st_mtime > 1


@pytest.mark.parametrize(
    "path",
    ["../../x.md", "/etc/x.md", "a/../../../x.md", "..md", "../x.md", "....//x.md", ".quire/x.md", ".quire/lock/x.md"],
)
def test_nothing_is_written_outside(tmp_path: Path, path: str) -> None:
    inner = tmp_path / "one" / "two"
    write_files(inner / "out", [doc(path)])
    write_files(inner / "out", [doc(path, 3)])
    assert [each.name for each in inner.iterdir()] == ["out"]
    assert [each.name for each in inner.parent.iterdir()] == ["two"]
    assert len(files(inner / "out")) == 3
    assert not (inner / "out" / ".quire" / "stage").exists()


@posix
def test_symbolic_links_are_not_followed(out: Path) -> None:
    elsewhere = out.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret").write_text("s")
    write_files(out, [])
    (out / "g").symlink_to(elsewhere)
    (out / "doc_b__ch0.json").symlink_to(elsewhere / "secret")
    (out / "doc_c__ch7.json").symlink_to(elsewhere / "nothing")
    (out / "f").write_text("a file")
    written = write_files(
        out, [doc("g/a.md"), doc("g/h/a.md"), doc("b.md"), doc("c.md"), doc("f/a.md"), doc("d.md", 1)]
    )
    assert [each.path for each in written.refused] == ["g/a.md", "g/h/a.md", "b.md", "c.md", "f/a.md"]
    assert "must be a folder, no link" in written.refused[0].reason
    assert "must be a folder" in written.refused[4].reason
    assert [each.name for each in elsewhere.iterdir()] == ["secret"]
    assert (elsewhere / "secret").read_text() == "s"
    assert (out / "doc_d__ch0.json").exists()


@posix
def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    write_files(tmp_path / "out", [doc("a.md", 1)])
    write_files(tmp_path / "out", [doc("a.md", 2)])
    assert (tmp_path / "out").is_symlink()
    assert len(files(tmp_path / "real")) == 2


@posix
def test_quire_s_own_folder_may_not_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".quire").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(quire.QuireError, match="must be a folder, no link"):
        write_files(tmp_path / "out", [doc("a.md")])
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_folder_one_is_in_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    write_files(out, [doc("a.md"), doc("g/b.md")])
    (out / "g").resolve()
    monkeypatch.chdir(out / "g")
    write_files("..", [doc("a.md", 3), doc("g/b.md", 3)])
    assert len(list(Path.cwd().iterdir())) == 3
    assert len(files(out)) == 6


def test_an_error_changes_nothing(out: Path) -> None:
    write_files(out, [doc("a.md")])
    before = files(out)

    def documents() -> Iterator[quire.Chunks]:
        yield doc("a.md", 5)
        yield doc("b.md", 5)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_files(out, documents())
    assert files(out) == before
    assert not (out / ".quire" / "stage").exists()


def test_an_output_that_cannot_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(quire.QuireError, match=r"file.*: cannot be written"):
        write_files(tmp_path / "file" / "out", [doc("a.md")])
    with pytest.raises(quire.QuireError, match="cannot be written"):
        write_files(tmp_path / "file", [doc("a.md")])


def test_numbers_need_not_be_without_gaps(out: Path) -> None:
    chunks = doc("a.md", 4)
    del chunks[1]
    write_files(out, [chunks])
    assert list(files(out)) == ["doc_a__ch0.json", "doc_a__ch2.json", "doc_a__ch3.json"]


@posix
def test_odd_names(out: Path) -> None:
    names = [
        "a b",
        "#",
        "😀",
        "a\nb",
        "tail. ",
        "CON",
        "a__ch3",
        "_",
        "__ch0",
        "x" * 400,
        "%2E%2E",
        "a\udcffb",
        "a\ud800b",
    ]
    written = write_files(out, [doc(f"{name}/{name}.md", 2) for name in names])
    assert written.refused == ()
    written = write_files(out, [doc(f"{name}/{name}.md", 1, "new") for name in names])
    assert written.refused == ()
    assert len([file for file in out.rglob("*.json") if file.is_file()]) == len(names)


@posix
def test_a_path_longer_than_the_system_allows(out: Path) -> None:
    long = "/".join(["d" * 250] * 17) + "/a.md"
    written = write_files(out, [doc("before.md", 1), doc(long, 1), doc("behind.md", 1)])
    assert [each.path for each in written.refused] == [long]
    assert (
        "File name too long; free some space, correct the permissions, or choose another name or folder"
        in written.refused[0].reason
    )
    assert sorted(each.name for each in out.glob("*.json")) == ["doc_before__ch0.json", "doc_behind__ch0.json"]


def test_lone_surrogates_in_a_text(out: Path) -> None:
    chunks = quire.chunk("x \ud800 y", "tree", path="a.md")
    write_files(out, [chunks])
    assert chunk_json.decode((out / "doc_a__ch0.json").read_bytes()) == chunks[0]


def test_the_writer_says_what_it_has_done(out: Path) -> None:
    with FileWriter(out) as writer:
        assert writer.add(doc("a.md", 3))
        assert not writer.add(doc("a.txt", 1))
        assert (writer.written.documents, len(writer.written.refused)) == (1, 1)
        assert files(out) == {}
    assert len(files(out)) == 3


def test_a_second_run_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    said: list[str] = []
    monkeypatch.setattr(json_files, "PATIENCE", 0.05)
    with FileWriter(out), pytest.raises(quire.QuireError, match="out: another run of quire is writing there; wait"):
        write_files(out, [doc("a.md")], on_wait=said.append)
    assert said == [f"{out}: waiting for another run of quire that is writing there"]
    assert write_files(out, [doc("a.md")]).documents == 1


def test_a_lock_on_a_folder_that_was_deleted_is_none(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with held(file, "x", patience=0):
        file.unlink()
        with held(file, "x", patience=0):
            assert file.exists()


WRITER = """
import sys
from pathlib import Path
import quire
from quire.output.json_files import write_files

def doc(path, size, word):
    return quire.chunk("".join(f"# H{i}\\n\\n{word} {i}.\\n\\n" for i in range(size)), "tree", path=path)

out, me = Path(sys.argv[1]), sys.argv[2]
for round in range(12):
    size = 1 + (round * 5 + len(me)) % 7
    written = write_files(out, [doc(f"{me}.md", size, me), doc(f"g/{me}.md", size, me), doc("both.md", size, me)])
    assert not written.refused
"""


def test_two_runs_at_the_same_time(out: Path) -> None:
    runs = [subprocess.Popen([sys.executable, "-c", WRITER, out, name]) for name in ("one", "three")]
    assert [run.wait() for run in runs] == [0, 0]
    there = files(out)
    last = {"one": 1 + (11 * 5 + 3) % 7, "three": 1 + (11 * 5 + 5) % 7}
    for name, size in last.items():
        for before in ("", "g/"):
            mine = {file: text for file, text in there.items() if file.startswith(f"{before}doc_{name}__")}
            assert mine == {f"{before}doc_{name}__ch{number}.json": f"{name} {number}." for number in range(size)}
    shared = [text for file, text in there.items() if file.startswith("doc_both")]
    name = shared[0].split()[0]
    assert shared == [f"{name} {number}." for number in range(last[name])]


def at_step(out: Path, step: str, what: str, *documents: str) -> None:
    program = Path(__file__).with_name("steps.py")
    done = subprocess.run(
        [sys.executable, program, out, step, what, *documents], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@posix
def test_what_others_write_meanwhile_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_files(out, [doc("a.md"), doc("g/b.md")])
    (out / "old.txt").write_text("old")
    at_step(out, "adding", "write", "a.md=1")
    there = files(out)
    assert (there["late.txt"], there["new/folder/late.txt"], there["old.txt"]) == ("late", "late", "new")
    assert "doc_a__ch1.json" not in there


@posix
@pytest.mark.parametrize(
    ("step", "documents", "number"),
    [
        ("copying", ["a.md=3", "g/b.md=1", "n/c.md=2"], 6),
        ("adding", ["a.md=3", "g/b.md=1", "n/c.md=2"], 6),
        ("moving", ["n/c.md=2"], 12),
    ],
)
def test_where_folders_cannot_change_places_files_do(
    tmp_path: Path, step: str, documents: list[str], number: int
) -> None:
    out = tmp_path / "out"
    write_files(out, [doc("a.md", 5), doc("g/b.md", 5)])
    at_step(out, step, "fail", *documents)
    assert len(files(out)) == number
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    assert sorted(each.name for each in (out / ".quire").iterdir()) == ["README", "lock"]


@posix
@pytest.mark.parametrize("is_fresh", [True, False])
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("name", [".quire", ".quire/README", ".quire/lock", ".quire/stage"])
def test_no_link_leads_what_quire_keeps_out_of_the_folder(
    tmp_path: Path, name: str, there: bool, is_fresh: bool
) -> None:
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    if not is_fresh:
        (out / "other").write_text("there")
    elsewhere = tmp_path / "elsewhere"
    if there and name in (".quire", ".quire/stage"):
        elsewhere.mkdir()
    elif there:
        elsewhere.write_text("precious")
    (out / name).symlink_to(elsewhere)
    with pytest.raises(quire.QuireError) as caught:
        write_files(out, [doc("a.md")])
    assert str(caught.value).startswith(f"{out / name}: must be a f")
    assert elsewhere.exists() == there
    if there:
        assert list(elsewhere.iterdir()) == [] if elsewhere.is_dir() else elsewhere.read_text() == "precious"
    assert set(files(out)) <= {"other"}


@pytest.mark.parametrize(
    ("name", "is_folder"), [(".quire", False), (".quire/stage", False), (".quire/lock", True), (".quire/README", True)]
)
def test_what_is_in_the_way_of_what_quire_keeps_is_named(tmp_path: Path, name: str, is_folder: bool) -> None:
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).mkdir() if is_folder else (out / name).write_text("mine")
    for _ in range(2):
        with pytest.raises(quire.QuireError) as caught:
            write_files(out, [doc("a.md")])
        assert str(caught.value).startswith(f"{out / name}: must be a {'file' if is_folder else 'folder'}, no link, on")


@posix
def test_a_file_that_is_the_readme_by_another_name_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "out" / ".quire").mkdir(parents=True)
    (tmp_path / "out" / ".quire" / "README").hardlink_to(tmp_path / "precious")
    write_files(tmp_path / "out", [doc("a.md")])
    assert (tmp_path / "precious").read_text() == "precious"


def test_what_killed_runs_left_beside_the_folder_is_removed_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    left = tmp_path / ".out.quire-swap"
    (left / "new").mkdir(parents=True)
    kept = [".out.quire-backup", ".other.quire-swap"]
    for name in kept:
        (tmp_path / name / "new").mkdir(parents=True)
    write_files(out, [doc("a.md")])
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*kept, "out"])
    (left / "mine").mkdir(parents=True)
    write_files(out, [doc("a.md", 3)])
    assert [each.name for each in left.iterdir()] == ["mine"]
    assert len(files(out)) == 3


def test_a_text_without_a_path_is_not_taken_for_the_file_that_its_front_matter_names(out: Path) -> None:
    for text in ("one", "two"):
        chunks = quire.chunk(f"---\nsourceFile: x.md\n---\n{text}\n", "tree")
        assert write_files(out, [chunks]).refused == ()
    assert chunk_json.decode((out / "doc_untitled__ch0.json").read_bytes()).metadata.get("sourceFile") is None


@pytest.mark.parametrize("documents", [doc("a.md")[:1], [[doc("a.md")]], ["text"], [None]])
def test_what_are_no_documents_is_refused(tmp_path: Path, documents: Any) -> None:
    with pytest.raises(quire.OptionError, match=r"expected the result of quire.chunk, or a list of such results, not "):
        write_files(tmp_path / "out", documents)
    assert files(tmp_path) == {}
    assert not (tmp_path / "out" / ".quire" / "stage").exists()
