"""Input that is wrong or extreme: one clear line, the right exit code, and all other documents still come out."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest
from outputs import left, refused

import quire
from quire.cli.input_documents import Inputs, Summary, results
from quire.model.options import STRATEGIES

GOOD = {"a.md": "# A\n\nfirst\n", "z.md": "# Z\n\nlast\n"}
FIRST, LAST = (text.strip() for text in GOOD.values())


def originals(found):
    return [each["originalText"] for each in found]


def test_missing_file(run, docs, chunks) -> None:
    folder = docs(GOOD)
    result = run("chunk", folder / "a.md", folder / "nope.md", folder / "z.md")
    assert result.code == 2
    assert originals(chunks(result)) == [FIRST, LAST]
    assert f"{folder}/nope.md: does not exist" in result.err
    assert result.err.endswith("2 documents, 2 chunks, 8 tokens, 1 skipped\n")


def test_missing_file_is_told_even_if_quiet(run, docs) -> None:
    result = run("chunk", "-q", docs(GOOD) / "nope.md")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "nope.md: does not exist" in result.err


@pytest.mark.parametrize("command", ["chunk", "verify"])
def test_directory_without_documents(run, docs, command) -> None:
    folder = docs({"code.py": "x\n"})
    for options, expected in (([], b""), (["--json"], b"[]\n")):
        result = run(command, *options, folder)
        assert (result.code, result.out) == (1, expected)
        assert f"quire: no documents in {folder}; quire looks for Markdown and .txt files\n" in result.err
        assert "laws hold" not in result.err


def test_json_of_nothing_but_an_error_is_an_empty_array(run, docs) -> None:
    result = run("chunk", "--json", docs(GOOD) / "nope.md")
    assert (result.code, result.out) == (2, b"[]\n")


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_undecodable_bytes_do_not_stop_the_others(run, docs, chunks, form) -> None:
    folder = docs({**GOOD, "m.md": b"# M\n\nab\xff\n"})
    result = run("chunk", *form, folder)
    assert result.code == 2
    assert originals(chunks(result)) == [FIRST, LAST]
    assert f"{folder}/m.md: line 3, byte offset 7: not UTF-8" in result.err
    assert "use --errors replace [skipped]" in result.err


def test_undecodable_bytes_can_be_replaced(run, docs, chunks) -> None:
    folder = docs({**GOOD, "m.md": b"# M\n\nab\xff\n"})
    result = run("chunk", "--errors", "replace", folder)
    assert result.code == 0
    assert originals(chunks(result)) == [FIRST, "# M\n\nab\ufffd", LAST]
    assert f"{folder}/m.md:3: undecodable bytes became U+FFFD, the first at byte offset 7" in result.err


def test_undecodable_standard_input(run) -> None:
    result = run("chunk", "-", stdin=b"\xff\xff")
    assert (result.code, result.out) == (2, b"")
    assert "<stdin>: line 1, byte offset 0: not UTF-8" in result.err


@pytest.mark.parametrize(
    ("fence", "content"),
    [("---", "title: [open\nb: 2"), ("---", "a: 1\n\tb: {"), ("---", 'a: "\\ud800"'), ("+++", "title = \nb = 2")],
)
def test_malformed_front_matter_is_kept_as_text_with_a_finding(run, docs, chunks, fence, content) -> None:
    block = f"{fence}\n{content}\n{fence}"
    folder = docs({**GOOD, "m.md": f"{block}\n\n# M\n\nmiddle\n"})
    result = run("chunk", folder)
    assert result.code == 0
    assert originals(chunks(result)) == [FIRST, f"{block}\n\n# M\n\nmiddle", LAST]
    assert originals(chunks(run("chunk", "-s", "tree", folder))) == ["first", block, "middle", "last"]
    assert re.search(re.escape(f"{folder}/m.md:") + r"\d+: .*\[frontmatter-malformed\]", result.err)
    for strategy in STRATEGIES:
        assert run("verify", "-s", strategy, folder).code == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rule_is_no_front_matter(run, docs, chunks, strategy) -> None:
    folder = docs({"a.md": "---\n\n# A\n\ntext\n\n---\n"})
    result = run("chunk", "-s", strategy, folder)
    assert result.code == 0
    assert "frontmatter" not in result.err
    assert "".join(originals(chunks(result))).count("---") == 2
    assert run("verify", "-s", strategy, folder).code == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("front", ["---\ntitle: T\n---\n", "+++\ntitle = 'T'\n+++\n"])
def test_file_with_only_front_matter(run, docs, chunks, front, strategy) -> None:
    folder = docs({"a.md": front})
    result = run("chunk", "-s", strategy, folder)
    assert result.code == 0
    assert {each["fileTitle"] for each in chunks(result)} <= {"T"}
    assert run("verify", "-s", strategy, folder).code == 0
    assert result.err.startswith("1 document, " if strategy == "tree" else "1 document (1 without text), ")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("content", [b"", b"\n", b" \n\t\r\n", b"\xef\xbb\xbf"])
def test_empty_file(run, docs, content, strategy) -> None:
    folder = docs({"a.md": content})
    result = run("chunk", "-s", strategy, folder)
    assert (result.code, result.out) == (0, b"")
    assert result.err == "1 document (1 without text), 0 chunks, 0 tokens\n"
    assert run("chunk", "-s", strategy, "--json", folder).out == b"[]\n"
    assert run("verify", "-s", strategy, folder).code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="a file that even root cannot read")
def test_file_that_cannot_be_read(run, docs, chunks) -> None:
    folder = docs(GOOD)
    result = run("chunk", folder / "a.md", "/proc/self/mem", folder / "z.md")
    assert result.code == 2
    assert originals(chunks(result)) == [FIRST, LAST]
    assert "/proc/self/mem: cannot be read: Input/output error [skipped]" in result.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission(run, docs, chunks) -> None:
    folder = docs({**GOOD, "m.md": "m\n"})
    (folder / "m.md").chmod(0)
    result = run("chunk", folder)
    assert result.code == 2
    assert originals(chunks(result)) == [FIRST, LAST]
    assert f"{folder}/m.md: permission denied" in result.err


def test_part_of_the_path_is_a_file(run, docs) -> None:
    result = run("chunk", docs(GOOD) / "a.md" / "b.md")
    assert result.code == 2
    assert "Not a directory" in result.err


def test_directory_called_like_a_document(run, docs, chunks) -> None:
    folder = docs({"x.md/inner.md": "inner\n"})
    assert originals(chunks(run("chunk", folder / "x.md"))) == ["inner"]
    assert b"x.md/inner.md" in run("outline", folder / "x.md").out


def test_named_pipe_does_not_wait_for_ever(run, docs, chunks) -> None:
    folder = docs(GOOD)
    os.mkfifo(folder / "pipe.md")
    result = run("chunk", folder)
    assert originals(chunks(result)) == [FIRST, LAST]
    assert "pipe.md: not a regular file" in result.err


@pytest.mark.parametrize("options", [[], ["--follow"]])
def test_symbolic_links_in_a_circle(run, docs, chunks, options) -> None:
    folder = docs(GOOD)
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "up").symlink_to(folder)
    result = run("chunk", *options, folder)
    assert originals(chunks(result)) == [FIRST, LAST]
    assert f"{folder}/loop.md: symbolic link" in result.err
    assert result.code == (2 if options else 0)


def test_named_link_in_a_circle(run, docs) -> None:
    folder = docs(GOOD)
    (folder / "loop.md").symlink_to(folder / "loop.md")
    result = run("chunk", folder / "loop.md")
    assert result.code == 2
    assert "Too many levels of symbolic links" in result.err


def test_link_out_of_the_root_is_followed_only_when_asked_for(run, docs, chunks) -> None:
    folder = docs({"in/a.md": "in\n", "out/b.md": "out\n"})
    (folder / "in" / "elsewhere").symlink_to(folder / "out")
    result = run("chunk", folder / "in")
    assert originals(chunks(result)) == ["in"]
    assert "elsewhere: symbolic link; not followed without --follow" in result.err
    assert originals(chunks(run("chunk", "--follow", folder / "in"))) == ["in", "out"]


def test_file_that_vanishes_before_it_is_read(docs) -> None:
    folder = docs({**GOOD, "m.md": "m\n"})
    summary = Summary()
    inputs = Inputs((str(folder),), {}, {})
    found = results(
        inputs.documents(summary),
        lambda text: (Summary.of(text, quire.chunk(text.text)), text.path),
        summary,
        jobs=1,
        prepare=list,
    )
    assert next(found) == "a.md"
    (folder / "m.md").unlink()
    assert list(found) == ["z.md"]
    (skipped,) = summary.skipped
    assert skipped.path == f"{folder}/m.md"
    assert skipped.reason.startswith("does not exist")
    assert summary.exit_code([str(folder)]) == 2


def test_document_that_cannot_be_cut_does_not_stop_the_others(run, docs, chunks) -> None:
    folder = docs({**GOOD, "m.md": "***\n"})
    result = run("chunk", "-s", "flow", "--guard", "raise", "--json", folder)
    assert result.code == 2
    assert originals(chunks(result)) == [FIRST, LAST]
    assert re.search(re.escape(f"{folder}/m.md: line 1, ") + r".* \[skipped\]\n", result.err)


def test_mistake_in_quire_leaves_valid_json_and_is_no_nothing_found(run, docs, chunks, monkeypatch) -> None:
    real = quire.chunk

    def chunk(text, *arguments, **options):
        return real(text, *arguments, **options) if "last" not in text else 1 / 0

    monkeypatch.setattr("quire.pipeline.chunk", chunk)
    result = run("chunk", "--json", docs(GOOD))
    assert result.code == 2
    assert originals(chunks(result)) == [FIRST]
    assert "ZeroDivisionError" in result.err
    assert result.err.endswith(
        "quire: this is a bug in quire; please report it with the lines above at https://github.com/quire-md/quire/issues\n"
    )


EXTREME = {
    "one long line of words": "word " * 200_000,
    "one long word": "x" * 1_000_000,
    "nested quotes": "> " * 10_000 + "deep\n",
    "nested lists": "- " * 10_000 + "deep\n",
    "brackets": "[" * 50_000,
    "stars": "*a **a " * 20_000,
    "fences": "```\n" * 20_001,
    "control characters": "".join(map(chr, range(32))) * 1000,
    "headings": "".join(f"{'#' * (1 + i % 6)} h{i}\n\nt\n\n" for i in range(10_000)),
    "headings without text": "# h\n" * 20_000,
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("text", EXTREME.values(), ids=EXTREME)
def test_extreme_documents_are_cut_by_the_laws_and_shown(run, docs, text, strategy) -> None:
    file = docs({"a.md": text}) / "a.md"
    verdict = run("verify", "-s", strategy, file)
    assert (verdict.code, verdict.out) == (0, b"")
    assert verdict.err.endswith("all laws hold\n")
    result = run("chunk", "-s", strategy, "--json", file)
    assert result.code == 0
    assert json.loads(result.out)


@pytest.mark.parametrize("text", EXTREME.values(), ids=EXTREME)
def test_extreme_documents_have_an_outline(run, docs, text) -> None:
    assert run("outline", docs({"a.md": text}) / "a.md").code == 0


def test_hundreds_of_thousands_of_headings(run, docs) -> None:
    """The outline only; cutting so many chunks takes longer than all other tests together."""
    file = docs({"a.md": "# h\n\nt\n\n" * 250_000}) / "a.md"
    result = run("outline", "--json", "--depth", 0, "-t", "estimate", file)
    assert result.code == 0
    root = json.loads(result.out)
    assert (root["title"], root["endLine"], root["tokens"]) == ("h", 999_999, 500_000)


@pytest.mark.parametrize(
    "arguments",
    [
        ["chunk", ""],
        ["chunk", "a.md", ""],
        ["chunk", "a.md", "-o", ""],
        ["chunk", "a.md", "-o", "", "--format", "jsonl"],
        ["verify", ""],
        ["stats", ""],
        ["outline", ""],
        ["migrate", ""],
        ["search", "x", ""],
        ["index", ""],
        ["get", ""],
        ["init", ""],
    ],
    ids=repr,
)
def test_an_empty_path_is_not_the_current_folder(run, docs, monkeypatch, arguments) -> None:
    folder = docs({"a.md": "# A\n\nx\n", "x.json": "{}"})
    monkeypatch.chdir(folder)
    said = refused(run(*arguments))
    assert "is empty; name a file or a folder" in said
    assert f"(see quire {arguments[0]} --help)" in said
    assert left(folder) == ["a.md", "x.json"]


def test_an_ignore_file_that_cannot_be_read_is_told_even_if_quiet(run, docs, chunks) -> None:
    folder = docs({"a.md": "a\n"})
    (folder / ".gitignore").mkdir()
    result = run("chunk", "-q", folder)
    assert (result.code, originals(chunks(result))) == (2, ["a"])
    assert result.err.startswith(f"{folder}/.gitignore: ignore file not used: is a directory")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("command", ["outline", "migrate", "chunk"])
def test_a_folder_that_cannot_be_entered(run, docs, command) -> None:
    folder = docs({"closed/a.json": "{}"})
    (folder / "closed").chmod(0)
    result = run(command, folder / "closed/a.json")
    (folder / "closed").chmod(0o755)
    assert result.code == 2
    assert f"{folder}/closed/a.json: " in result.err
    assert "ermission denied" in result.err
    assert "cannot write" not in result.err
