"""Paths to documents: what is taken, what is left out, in which order, and what git says."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.read.discover import Discovery


def make(root: Path, *files: str) -> None:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def ignore(folder: Path, *lines: str, name: str = ".gitignore") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n", "utf-8")


def paths(found: Discovery) -> list[str]:
    return [each.path for each in found.documents]


def test_directory_gives_markdown_and_text_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a-b/x.MD", "a.txt", "a/b/c.markdown", "x.mdx", "no.py", "README", "a.md.bak")
    found = Discovery(str(tmp_path))
    assert paths(found) == sorted(["b.md", "a/z.md", "a-b/x.MD", "a.txt", "a/b/c.markdown", "x.mdx"])
    assert all(each.file == tmp_path / each.path for each in found.documents)
    assert found.skipped == []


def test_named_file_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    make(tmp_path, "docs/.hidden", "docs/x.py")
    ignore(tmp_path / "docs", "*")
    assert paths(Discovery(str(tmp_path / "docs" / "x.py"))) == ["x.py"]
    assert paths(Discovery(str(tmp_path / "docs" / ".hidden"))) == [".hidden"]


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "docs/a/x.md")
    monkeypatch.chdir(tmp_path / "docs")
    for root, path in ((".", "a/x.md"), ("a", "x.md"), ("a/", "x.md"), ("..", "docs/a/x.md"), ("a/x.md", "x.md")):
        (found,) = Discovery(root).documents
        assert found.path == path
        assert found.file.is_file()


@pytest.mark.parametrize(("name", "reason"), [("no.md", "does not exist"), ("", "does not exist"), ("\0", "NUL")])
def test_missing_path_is_an_error(tmp_path: Path, name: str, reason: str) -> None:
    missing = str(tmp_path / name) if len(name) > 1 else name
    found = Discovery(missing)
    assert paths(found) == []
    assert [(each.path, each.is_error) for each in found.skipped] == [(missing, True)]
    assert reason in found.skipped[0].reason


def test_hidden_entries(tmp_path: Path) -> None:
    make(tmp_path, ".a.md", ".b/c.md", ".md", "d.md", ".git/e.md", "f/.git/g.md", ".quire/h.md", ".github/i.md")
    assert paths(Discovery(str(tmp_path))) == ["d.md"]
    assert paths(Discovery(str(tmp_path), hidden=True)) == [".a.md", ".b/c.md", ".github/i.md", "d.md"]
    assert paths(Discovery(str(tmp_path / ".b"))) == ["c.md"]


def test_ignore_files(tmp_path: Path) -> None:
    make(
        tmp_path,
        "a.md",
        "b.md",
        "keep.md",
        "out/a.md",
        "sub/b.md",
        "sub/c.md",
        "sub/d/keep.md",
        "sub/e/c.md",
        "sub/out",
    )
    ignore(tmp_path, "# comment", "", "b.md", "/out/", "keep.md")
    ignore(tmp_path / "sub", "c.md", "!b.md", "!/d/keep.md", "\r")
    assert paths(Discovery(str(tmp_path))) == ["a.md", "sub/b.md", "sub/d/keep.md"]


def test_an_escaped_space_at_the_end_of_a_pattern_counts(tmp_path: Path) -> None:
    make(tmp_path, "a /a.md", "a/a.md", "b/b.md", "c\\/c.md")
    ignore(tmp_path, "a\\ ", "b  ", "c\\\\ ", "d\\\r")
    assert paths(Discovery(str(tmp_path))) == ["a/a.md"]


def test_nothing_below_an_ignored_directory_comes_back(tmp_path: Path) -> None:
    make(tmp_path, "out/keep.md", "all/keep.md", "all/x.md", "a.md")
    ignore(tmp_path, "out/", "!out/keep.md", "all/*", "!all/keep.md")
    ignore(tmp_path / "out", "!keep.md")
    assert paths(Discovery(str(tmp_path))) == ["a.md", "all/keep.md"]


def test_quireignore_wins_over_gitignore(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md", "out/c.md", "out/d.md")
    ignore(tmp_path, "a.md", "out/")
    ignore(tmp_path, "!a.md", "b.md", "!out/", "d.md", name=".quireignore")
    assert paths(Discovery(str(tmp_path))) == ["a.md", "out/c.md"]


def test_rules_of_the_repository_above_count(tmp_path: Path) -> None:
    make(tmp_path, "docs/a/draft.md", "docs/a/x.md", "docs/a/y.md", "docs/z.md")
    ignore(tmp_path, "draft.md", "/docs/a/x.md", "z.md")
    ignore(tmp_path / "docs", "!z.md")
    docs, a = str(tmp_path / "docs"), str(tmp_path / "docs" / "a")
    assert paths(Discovery(docs)) == ["a/draft.md", "a/x.md", "a/y.md", "z.md"]  # no repository
    (tmp_path / ".git").touch()  # a file in worktrees and submodules
    assert paths(Discovery(docs)) == ["a/y.md", "z.md"]
    assert paths(Discovery(a)) == ["y.md"]


def test_ignored_directory_that_is_named_is_wanted(tmp_path: Path) -> None:
    make(tmp_path, "build/docs/a.md", "build/docs/b.md")
    (tmp_path / ".git").mkdir()
    ignore(tmp_path, "build/")
    ignore(tmp_path / "build" / "docs", "b.md")
    assert paths(Discovery(str(tmp_path))) == []
    assert paths(Discovery(str(tmp_path / "build"))) == ["docs/a.md"]
    assert paths(Discovery(str(tmp_path / "build" / "docs"))) == ["a.md"]


def test_ignore_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    make(tmp_path, "a/x.md", "b/x.md", "c/x.md", "d/x.md")
    (tmp_path / "a" / ".gitignore").write_bytes(b"\xff\xfex")  # half a character of UTF-16
    (tmp_path / "b" / ".gitignore").mkdir()
    (tmp_path / "c" / ".quireignore").symlink_to("nothing")
    os.mkfifo(tmp_path / "d" / ".quireignore")
    found = Discovery(str(tmp_path))
    assert paths(found) == ["a/x.md", "b/x.md", "c/x.md", "d/x.md"]
    assert all(each.is_error for each in found.skipped)
    for each, reason in zip(
        found.skipped,
        ("UTF-16", "is a directory", "does not exist", "not a regular file; make"),
        strict=True,
    ):
        assert each.reason.startswith("ignore file not used: ")
        assert reason in each.reason


@pytest.mark.skipif(sys.platform != "linux", reason="file names need not be text on Linux only")
def test_bytes_that_are_no_text_stand_in_an_ignore_file_as_in_names(tmp_path: Path) -> None:
    make(tmp_path, "x.md", "caf\udce9.md", "caf\udcea.md", "z.md")
    (tmp_path / ".gitignore").write_bytes(b"x.md\ncaf\xe9.md\n# \xff\nz.md\n")
    found = Discovery(str(tmp_path))
    assert (paths(found), found.skipped) == (["caf\udcea.md"], [])


def test_ignore_file_may_be_utf16_or_have_a_mark(tmp_path: Path) -> None:
    make(tmp_path, "a/x.md", "b/x.md", "c/x.md", "c/y.md")
    (tmp_path / "a" / ".gitignore").write_bytes("x.md\r\n".encode("utf-16"))
    (tmp_path / "b" / ".gitignore").write_bytes(b"\xef\xbb\xbfx.md")
    (tmp_path / "c" / ".gitignore").write_bytes(b"[z-a]x\n!\n\\\n[\n/\nx.md  \n")  # what makes no sense is passed over
    assert paths(Discovery(str(tmp_path))) == ["c/y.md"]


def test_links_are_not_followed_but_reported(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md", "docs/ignored.md", "other/b.md", "other/c.py")
    docs = tmp_path / "docs"
    (docs / "dir").symlink_to(tmp_path / "other")
    (docs / "b.md").symlink_to(tmp_path / "other" / "b.md")
    (docs / "c").symlink_to(tmp_path / "other" / "c.py")
    (docs / ".hidden.md").symlink_to(tmp_path / "other" / "b.md")
    (docs / "out.md").symlink_to("nothing")
    ignore(docs, "out.md", "ignored.md")
    found = Discovery(str(docs))
    assert paths(found) == ["a.md"]
    assert [each.path for each in found.skipped] == [str(docs / "b.md"), str(docs / "dir")]
    assert all(each.reason.startswith("symbolic link;") and not each.is_error for each in found.skipped)


def test_links_are_followed_once(tmp_path: Path) -> None:
    make(tmp_path, "docs/z/a.md", "other/b.md", "other/sub/c.md")
    docs = tmp_path / "docs"
    (docs / "a").symlink_to("z")  # the same directory under an earlier name
    (docs / "loop").symlink_to(".")
    (docs / "z" / "up").symlink_to("../..")
    (docs / "link.md").symlink_to("z/a.md")
    (docs / "other.md").symlink_to(tmp_path / "other" / "sub" / "c.md")
    (docs / "gone").symlink_to("nothing")
    (docs / "long").symlink_to("x" * 300)  # no system has such a name
    (docs / "round").symlink_to("round")
    (docs / "tool").symlink_to(sys.executable)
    found = Discovery(str(docs), follow_symlinks=True)
    assert paths(found) == ["other.md", "z/a.md", "z/up/other/b.md"]
    assert [(each.path, each.is_error) for each in found.skipped] == [
        (str(docs / "gone"), True),
        (str(docs / "long"), True),
        (str(docs / "round"), True),
    ]


def test_link_that_is_named_is_followed(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md")
    (tmp_path / "link").symlink_to("docs")
    (tmp_path / "link.md").symlink_to("docs/a.md")
    assert paths(Discovery(str(tmp_path / "link"))) == ["a.md"]
    assert paths(Discovery(str(tmp_path / "link.md"))) == ["link.md"]


def test_what_is_not_a_regular_file_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    os.mkfifo("pipe.md")
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        found = [Discovery(root) for root in (".", "pipe", "/dev/null")]
    assert [each.documents for each in found] == [[], [], []]
    skipped = [each for discovery in found for each in discovery.skipped]
    assert [(Path(each.path).name, each.is_error) for each in skipped] == [
        ("pipe.md", False), ("socket.md", False), ("pipe", True), ("null", True),
    ]  # fmt: skip
    assert all("not a regular file" in each.reason for each in skipped)


@pytest.mark.skipif(os.name == "nt", reason="needs a system that allows such names")
def test_any_name_will_do(tmp_path: Path) -> None:
    names = [
        "a b.md",
        "#c.md",
        "é😀.md",
        "new\nline.md",
        "back\\slash.md",
        os.fsdecode(b"\xff\xfe.md"),
        "[x]*?.md",
        "-.md",
        "!.md",
    ]
    make(tmp_path, *names, *(f"{name}/{name}" for name in ["fol\nder.md", os.fsdecode(b"d\xe9.txt")]))
    make(tmp_path, "fol\nder.md/out.md", "out.md\n.md", "in.md\n")
    ignore(tmp_path, "out.md", "in.md")
    found = Discovery(str(tmp_path))
    assert paths(found) == sorted(
        [*names, "fol\nder.md/fol\nder.md", os.fsdecode(b"d\xe9.txt/d\xe9.txt"), "out.md\n.md"]
    )
    assert all(each.file.is_file() for each in found.documents)


def test_very_deep_directories(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(1000):
        deep /= "d"
        deep.mkdir()
    make(deep, "a.md")
    try:
        assert paths(Discovery(str(tmp_path))) == ["d/" * 1000 + "a.md"]
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)  # shutil.rmtree recurses


@pytest.mark.skipif(os.name == "nt", reason="needs relative access to directories")
def test_directory_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "z.md")
    here = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(25):  # deeper than a path may be long
            Path("x" * 200).mkdir()
            os.chdir("x" * 200)
    finally:
        os.chdir(here)
    found = Discovery(str(tmp_path))
    subprocess.run(["rm", "-rf", str(tmp_path / ("x" * 200))], check=True)
    assert paths(found) == ["a.md", "z.md"]
    assert [(each.is_error, each.reason.split(";")[0]) for each in found.skipped] == [
        (True, "cannot be read: File name too long")
    ]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_directory_without_permission_is_an_error(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "locked/b.md")
    (tmp_path / "locked").chmod(0)
    found = Discovery(str(tmp_path))
    (tmp_path / "locked").chmod(0o700)
    assert paths(found) == ["a.md"]
    assert [(each.path, each.is_error) for each in found.skipped] == [(str(tmp_path / "locked"), True)]


TREE = [f"{x}{y}{z}.md" for x in ("", "a/", "keep/", "b.md/") for y in ("", "a/", "keep/") for z in ("a", "c", "keep")]
PATTERNS = st.builds(
    lambda negation, start, name, end: negation + start + name + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/", "a/", "**/", "a/**/", "keep/", "*/"]),
    st.sampled_from(
        [
            "a",
            "b.md",
            "c.md",
            "keep",
            "keep.md",
            "*",
            "*.md",
            "**",
            "?.md",
            "[!a].md",
            "[^a]*",
            "[b-a].md",
            "k*p",
            "\\a",
            "k**e*p.md",
            "*[",
            "\\",
        ]
    ),
    st.sampled_from(["", "", "/", "/*", "/**", " ", "\\ ", "\\\\ "]),
)
FILES = st.dictionaries(
    st.sampled_from(["", "a", "keep", "a/a", "b.md"]), st.lists(PATTERNS, min_size=1, max_size=5), max_size=4
)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to compare with")
@settings(max_examples=60)
@given(FILES)
def test_ignores_what_git_ignores(tmp_path_factory: pytest.TempPathFactory, files: dict[str, list[str]]) -> None:
    root = tmp_path_factory.mktemp("repository")
    make(root, *TREE)
    for folder, lines in files.items():
        ignore(root / folder, *lines)
    git = ["git", "-C", str(root), "-c", "core.excludesFile=/dev/null"]
    subprocess.run([*git, "init", "-q", "--template="], check=True)
    listed = subprocess.run([*git, "ls-files", "-o", "--exclude-standard", "-z"], check=True, capture_output=True)
    by_git = sorted(name for name in listed.stdout.decode().split("\0") if name.endswith(".md"))
    assert paths(Discovery(str(root))) == by_git
    shutil.rmtree(root)
