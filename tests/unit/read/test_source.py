"""Bytes to text, text to Source."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import InputError, OptionError, UndecodableError
from quire.model.document import Span, Syntax
from quire.model.trees import OnUndecodable
from quire.read.source import decode, make_source, read_file


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_text_comes_back_to_the_character(text: str) -> None:
    marked = "\ufeff" + text
    assert decode(marked.encode("utf-8"), "x") == (marked, ())
    for encoding in ("utf-16-le", "utf-16-be"):
        if text.count("\0") < 9:  # with more it is binary
            assert decode(marked.encode(encoding), "x") == (marked, ())
    if not text.encode().startswith((b"\xff\xfe", b"\xfe\xff")):
        assert decode(text.encode("utf-8"), "x") == (text, ())


def test_line_ends_and_nul_stay() -> None:
    assert decode(b"a\r\nb\rc\0d\n", "x")[0] == "a\r\nb\rc\0d\n"


@pytest.mark.parametrize(
    ("data", "offset", "line"),
    [
        (b"\xe9", 0, 1),
        (b"one\ntwo \xff three", 8, 2),
        (b"one\r\ntwo\rthree \xc3", 15, 3),
        ("é\n".encode() + b"\xed\xa0\x80", 3, 2),
        (b"one\r\xff", 4, 2),
        (b"\xff\xfea\0\n\0b", 6, 2),  # half a character
        (b"\xff\xfe\n\0\x00\xd8a\0", 4, 2),  # half a surrogate pair
        (b"\xfe\xff\0", 2, 1),
    ],
)
def test_undecodable_bytes_are_named(data: bytes, offset: int, line: int) -> None:
    with pytest.raises(UndecodableError) as caught:
        decode(data, "docs/a.md")
    assert (caught.value.path, caught.value.offset) == ("docs/a.md", offset)
    assert f"line {line}, byte offset {offset}:" in str(caught.value)
    assert 'convert the file to UTF-8, or set errors to "replace"' in str(caught.value)
    text, (finding,) = decode(data, "docs/a.md", "replace")
    assert "\ufffd" in text
    assert (finding.code, finding.path, finding.line) == ("undecodable", "docs/a.md", line)


def test_the_first_replaced_place_is_named() -> None:
    text, (finding,) = decode("\ufffd\n".encode() + b"\xff a \xfe", "x", "replace")
    assert text == "\ufffd\n\ufffd a \ufffd"
    assert finding.message.startswith("undecodable bytes became U+FFFD, the first at byte offset 4;")


@given(st.binary())
def test_any_bytes_give_text_or_one_error(data: bytes) -> None:
    try:
        text, findings = decode(data, "x", "replace")
    except InputError:
        with pytest.raises(InputError, match="is binary"):
            decode(data, "x")
        return
    assert len(findings) <= 1
    if not findings:
        assert decode(data, "x") == (text, ())
        return
    with pytest.raises(UndecodableError) as caught:
        decode(data, "x")
    assert 0 <= caught.value.offset < len(data)


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("data", [b"\x89PNG" + bytes(range(128, 256)) * 9, "text".encode("utf-16-le") * 9, bytes(100)])
def test_binary_files(data: bytes, errors: OnUndecodable) -> None:
    with pytest.raises(InputError, match="is binary"):
        decode(data, "x", errors)


def test_other_encodings() -> None:
    assert decode("Größe".encode("latin-1"), "x", encoding="latin-1") == ("Größe", ())
    assert decode("слово".encode("cp1251") * 9, "x", encoding="cp1251") == ("слово" * 9, ())
    with pytest.raises(UndecodableError, match="not ASCII"):
        decode("Größe".encode(), "x", encoding="ascii")
    with pytest.raises(OptionError, match="encoding='nope' is invalid"):
        decode(b"a", "x", encoding="nope")


@pytest.mark.parametrize(
    ("path", "override", "syntax"),
    [
        (None, None, "markdown"),
        ("a.md", None, "markdown"),
        ("a/b.MarkDown", None, "markdown"),
        ("a.mdx", None, "markdown"),
        ("a.Rmd", None, "markdown"),
        ("a.txt", None, "text"),
        ("README", None, "text"),
        ("docs.md/notes", None, "text"),
        ("", None, "text"),
        ("a.txt", "markdown", "markdown"),
        ("a.md", "text", "text"),
        (None, "text", "text"),
    ],
)
def test_syntax(path: str | None, override: Syntax | None, syntax: Syntax) -> None:
    assert make_source("", path, override).syntax == syntax


def test_source_of_markdown_has_its_front_matter_taken_off() -> None:
    source = make_source("\ufeff---\ntitle: A\n---\n# B\n", "a.md")
    assert (source.frontmatter, source.text[source.body_start :]) == ({"title": "A"}, "# B\n")
    assert source.path == "a.md"


def test_source_of_text_is_all_body() -> None:
    source = make_source("\ufeff---\ntitle: A\n---\n", "a.txt")
    assert (source.syntax, source.frontmatter, source.body_start, source.malformed_frontmatter) == ("text", {}, 1, None)
    assert make_source("---\ntitle: A\n---\n", syntax="text").body_start == 0


def test_source_keeps_the_findings_of_front_matter() -> None:
    source = make_source("---\na: [\n---\nx", "a.md")
    assert [finding.code for finding in source.findings] == ["frontmatter-malformed"]
    assert source.malformed_frontmatter == Span(0, 13)
    assert make_source("---\na: [\n---\n").findings[0].path == "<text>"


def test_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "ü #\n.md"
    file.write_bytes(b"a\r\n")
    assert read_file(file, "name") == ("a\r\n", ())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.md", "does not exist"),
        ("folder", "is a directory"),
        ("file.md/below.md", "Not a directory"),
        ("x" * 5000, "File name too long"),
        ("a\0b", "NUL"),
        ("loop", "Too many levels of symbolic links"),
    ],
)
def test_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.md").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InputError) as caught:
        read_file(tmp_path / name, "as typed")
    assert caught.value.path == "as typed"
    assert reason in caught.value.reason


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_file_without_permission_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.touch(mode=0)
    with pytest.raises(InputError, match="permission denied"):
        read_file(file, "a.md")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux")
def test_other_failures_are_said_in_the_words_of_the_system() -> None:
    with pytest.raises(InputError, match="cannot be read: "):
        read_file(Path("/proc/self/mem"), "mem")
