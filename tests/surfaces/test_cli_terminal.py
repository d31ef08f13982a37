"""What a terminal shows: colours, a readable view, progress; and nothing that a document could steer it with."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap

import pytest
from processes import process, terminal, with_progress_after

from quire.cli.output import progress_line, width, wrap

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no pty on Windows")

ESCAPE = "\x1b["
TEXT = "# Guide\n\nhello world\n\n## Install\n\n" + "".join(f"line {n}\n" for n in range(1, 10))


def plain(text: str) -> str:
    """``text`` without colours."""
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text)


def test_chunks_are_coloured_and_readable(docs) -> None:
    code, got = terminal("chunk", str(docs({"a.md": TEXT})))
    assert code == 0
    assert ESCAPE in got
    assert plain(got) == (
        "doc:a::ch0  44 tokens  lines 1-15\n"
        "> Guide\n"
        "  # Guide\n  \n  hello world\n  \n  ## Install\n  \n"
        "  … 9 more lines\n"
        "\n"
        "1 document, 1 chunk, 44 tokens\n"
    )


def test_nodes_of_the_tree_are_coloured_and_readable(docs) -> None:
    code, got = terminal("chunk", "-s", "tree", str(docs({"a.md": TEXT})))
    assert code == 0
    assert ESCAPE in got
    assert plain(got) == (
        "doc:a.md#guide  2 tokens  line 3\n"
        "> Guide\n"
        "  hello world\n"
        "\n"
        "doc:a.md#install  35 tokens  lines 7-15\n"
        "> Guide › Install\n" + "".join(f"  line {n}\n" for n in range(1, 7)) + "  … 3 more lines\n"
        "\n"
        "1 document, 2 chunks, 37 tokens\n"
    )


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
@pytest.mark.parametrize("command", ["chunk", "verify", "outline"])
def test_no_colour_where_it_is_not_wanted(docs, command, environment) -> None:
    file = docs({"a.md": TEXT, "b.md": "# Empty\n"}) / "a.md"
    code, got = terminal(command, str(file), environment=environment)
    assert code == 0
    assert "\x1b" not in got
    assert "tokens" in got


def test_empty_no_color_means_nothing(docs) -> None:
    assert ESCAPE in terminal("outline", str(docs({"a.md": TEXT}) / "a.md"), environment={"NO_COLOR": ""})[1]


@pytest.mark.parametrize("command", ["chunk", "verify", "outline"])
def test_no_colour_when_piped(docs, command) -> None:
    result = process(command, str(docs({"a.md": TEXT, "b.md": "# Empty\n"}) / "a.md"))
    assert b"\x1b" not in result.out
    assert "\x1b" not in result.err


def test_json_on_a_terminal_is_json(docs) -> None:
    for strategy, count in (("packed", 1), ("tree", 2)):
        code, got = terminal("chunk", "-s", strategy, "--json", "-q", str(docs({"a.md": TEXT})))
        assert code == 0
        assert len(json.loads(got)) == count


def test_a_format_on_a_terminal_is_that_format(docs) -> None:
    code, got = terminal("chunk", "--format", "compact", "-q", str(docs({"a.md": TEXT})))
    assert code == 0
    assert json.loads(got)["id"] == "a.md:0"


def test_what_goes_to_a_file_is_not_shown(docs, tmp_path) -> None:
    code, got = terminal("chunk", "-o", str(tmp_path / "x.jsonl"), str(docs({"a.md": TEXT})))
    assert (code, plain(got)) == (0, "1 document, 1 chunk, 44 tokens\n")


def test_outline_is_coloured(docs) -> None:
    code, got = terminal("outline", str(docs({"a.md": TEXT}) / "a.md"))
    assert code == 0
    assert ESCAPE in got
    assert [line.split("  ")[0] for line in plain(got).splitlines()[:2]] == ["a.md", "└─ Guide"]


def test_long_and_wide_lines_fit_the_terminal(docs) -> None:
    folder = docs({"a.md": "x" * 5_000_000 + "\n\n" + "長" * 500 + "\n"})
    _, got = terminal("chunk", "-s", "tree", str(folder))
    shown = [line for line in plain(got).splitlines() if line.endswith("…")]
    assert [len(line) for line in shown] == [100, 2 + 48 + 1]
    _, got = terminal("chunk", str(folder))
    shown = [line for line in plain(got).splitlines() if line.endswith("…")]
    assert len(shown) > 1000
    assert {len(line) for line in shown} == {100, 2 + 48 + 1}


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e"


@pytest.mark.parametrize("command", ["chunk", "verify", "outline"])
def test_documents_cannot_steer_the_terminal(docs, command) -> None:
    """Not by a title, the text, front matter, a finding or the name of the file."""
    text = f"---\ntitle: [{HOSTILE}\n---\n# T {HOSTILE}\n\ntext {HOSTILE}\n\n## {HOSTILE} without text\n"
    file = docs({f"n\x1b[31m{HOSTILE}.md": text, "b\x1b[2J.md": b"\xff"}) / f"n\x1b[31m{HOSTILE}.md"
    for target in (file, file.parent / "b\x1b[2J.md", file.parent / "no\x1b[2J\nsuch.md"):
        _, got = terminal(command, str(target), environment={"NO_COLOR": "1"})
        assert not set(got) & set(map(chr, [*range(10), *range(11, 32), *range(127, 160), 0x202E]))
        assert "␛[" in got


def test_wrong_arguments_cannot_steer_the_terminal(docs) -> None:
    for arguments in (["\x1b[2J"], ["chunk", "--\x1b[2J", "x"], ["chunk", "-t", "\x1b[2J", "x"]):
        code, got = terminal(*arguments)
        assert code == 2
        assert "\x1b" not in got


AT_ONCE = with_progress_after("0")


def test_progress_is_shown_on_a_long_run_and_taken_away(docs) -> None:
    folder = docs({"0.md": "in\n", "a.md": "a\n", "b\x1b[2J.md": "b\n"})
    code, got = terminal("verify", str(folder), program=AT_ONCE)
    assert code == 0
    bar = "█" * 6 + "·" * 14
    assert re.search(f"\r\x1b\\[2K{bar} 1/3  .*/a.md\r\x1b\\[2K", got)
    assert plain(got.rpartition("\r\x1b[2K")[2]) == "3 documents, 3 chunks, 3 tokens\nall laws hold\n"


def test_progress_says_how_fast_it_goes_and_how_long_it_takes() -> None:
    assert progress_line(0, 8, 3.0, "a.md", 80) == f"{'·' * 20} 0/8  a.md"
    assert progress_line(500, 2000, 10.0, "a.md", 80) == f"{'█' * 5}{'·' * 15} 500/2,000  0:30 left  a.md"
    assert progress_line(1, 3, 60.0, "a.md", 80).endswith("1/3  2:00 left  a.md")
    assert progress_line(0, 8, 0.0, "a/long/path/of/folders/to/a.md", 40) == f"{'·' * 20} 0/8  …lders/to/a.md"


def test_progress_does_not_stand_between_the_chunks(docs) -> None:
    code, got = terminal("chunk", str(docs({"a.md": "a\n", "b.md": "b\n", "c.md": "c\n"})), program=AT_ONCE)
    assert code == 0
    assert re.search("\n\r\x1b\\[2K█+·+ 1/3  .*/b.md\r\x1b\\[2K", got)
    shown = [line.rpartition("\r")[2] for line in plain(got).splitlines()]
    assert [line for line in shown if line.startswith("doc:")] == [
        f"doc:{name}::ch0  1 token  line 1" for name in ("a", "b", "c")
    ]


def test_no_progress_when_piped(docs) -> None:
    command = [*AT_ONCE, "chunk", str(docs({"a.md": "a\n", "b.md": "b\n"}))]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stderr == b"2 documents, 2 chunks, 2 tokens\n"


def test_no_progress_on_a_terminal_that_cannot_take_it_away(docs) -> None:
    folder = docs({"a.md": "a\n", "b.md": "b\n"})
    _, got = terminal("verify", str(folder), program=AT_ONCE, environment={"TERM": "dumb"})
    assert got == "2 documents, 2 chunks, 2 tokens\nall laws hold\n"


LINKED = """---
title: Guide
weight: 3
---

# Guide

See [the other page](b.md#nothing) {{< icon "bell" >}} and read on about relays, retries, timeouts and the queue that keeps them.

```console
$ relay --with-a-long-option one --with-a-long-option two --with-a-long-option three --with-a-long-option four
```
"""


def test_a_search_shows_the_best_answer_and_one_line_for_each_of_the_others(docs) -> None:
    long = "".join(f"Line {number} of hay.\n\n" for number in range(60))
    folder = docs({"a.md": f"# Hay\n\n{long}", **{f"b{n}.md": f"# Barn {n}\n\nA hay loft.\n" for n in range(3)}})
    code, got = terminal("search", "hay", ".", "--all", cwd=folder, environment={"LINES": ""})
    lines = plain(got).splitlines()
    assert code == 0
    assert "  Line 59 of hay." in lines
    assert lines[-5:-1] == ["", *(f"b{n}.md:1  Barn {n}  9 tokens" for n in range(3))]
    assert lines[-1] == "more: quire get b0.md:1, or --full for all of them"
    _, got = terminal("search", "hay", ".", "--all", cwd=folder, environment={"LINES": "45"})
    assert len(plain(got).splitlines()) <= 45
    assert "lines left out; --full shows all" in got
    assert "b2.md:1  Barn 2" in plain(got)
    _, got = terminal("search", "hay", ".", "--full", "--all", cwd=folder)
    assert plain(got).count("A hay loft.") == 3
    assert process("search", "hay", "--all", str(folder)).out.decode().count("A hay loft.") == 3


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_prose_is_wrapped_at_words_and_code_is_not(docs, columns) -> None:
    folder = docs({"a.md": LINKED})
    for command in (["search", "relays", "."], ["get", "a.md"]):
        _, got = terminal(*command, cwd=folder, environment={"COLUMNS": str(columns)})
        lines = plain(got).splitlines()
        code = next(line for line in LINKED.splitlines() if line.startswith("$"))
        assert f"  {code}" in lines
        assert {width(line) <= columns for line in lines if "relay --" not in line} == {True}
        start = next(number for number, line in enumerate(lines) if line.startswith("  See"))
        rows = lines[start : lines.index("", start)]
        assert " ".join(row.strip() for row in rows) == LINKED.splitlines()[7]
        assert len(rows) > 1 or columns == 200


def test_the_last_row_of_a_wrapped_line_is_filled(docs) -> None:
    """Paragraphs of 79 columns do not leave single words on rows of a terminal with 80."""
    lines = ["many words in a row " * 4] * 3 + [
        "- an item with many words in a row " * 2 + "and more of it",
        "- another",
        "",
        "End",
    ]
    front = f"---\nkeywords: {'many, ' * 20}words\ntitle: T\n---\n"
    folder = docs({"a.md": front + "\n".join(line.strip() for line in lines)})
    _, got = terminal("get", "a.md", cwd=folder, environment={"COLUMNS": "80"})
    _, before, after = plain(got).split("\n  ---\n")
    assert before.endswith("words\n  title: T")
    rows = after.splitlines()
    assert rows[:3] == [f"  {row}" for row in textwrap.wrap("many words in a row " * 12, 78)[:3]]
    assert rows[-4:] == ["    of it", "  - another", "", "  End"]


def test_rows_keep_the_indentation_of_their_line() -> None:
    assert wrap("  - one two three", 11) == ["  - one two", "    three"]
    assert wrap("      one two three", 13) == ["      one two", "      three"]
    assert wrap("| one           | two |", 20) == ["| one  | two |"]
    assert wrap("one two three", 8, "  ") == ["one two", "  three"]
    assert wrap("\x1b[1mone\x1b[0m two", 7) == ["\x1b[1mone\x1b[0m two"]
    assert wrap("a https://example.org/long b", 10) == ["a", "https://example.org/long", "b"]


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("command", [["outline", "x/y/a.md"], ["outline", "."], ["links", "."]], ids=" ".join)
def test_tables_and_findings_fit_the_terminal(docs, command, columns) -> None:
    titles = "".join(f"## A heading with a rather long title of {n} words\n\n[text](no.md)\n\n" for n in range(3))
    folder = docs({"x/y/a.md": f"# Title\n\n{titles}", "a-file-with-a-name-that-is-quite-long/and-another.md": "a\n"})
    code, got = terminal(*command, cwd=folder, environment={"COLUMNS": str(columns)})
    assert code == (1 if command[0] == "links" else 0)
    assert max(map(width, plain(got).splitlines())) <= columns


def test_the_terminal_itself_says_how_wide_it_is(docs) -> None:
    """Where COLUMNS does not."""
    code = "import os, fcntl, termios, struct; fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 30, 0, 0));"
    program = (sys.executable, "-c", code + "from quire.cli import main; main(['nothing'])")
    _, got = terminal(program=program, environment={"COLUMNS": ""})
    assert 20 < max(map(width, got.splitlines())) <= 30


@pytest.mark.parametrize("command", ["chunk", "stats", "verify", "links", "index", "eval"])
def test_long_commands_show_progress(docs, command) -> None:
    folder = docs({f"{n}.md": f"# Page {n}\n\n[about page number {n - 1}]({n - 1}.md)\n" for n in range(3)})
    _, got = terminal(command, ".", program=AT_ONCE, cwd=folder)
    assert re.search("\r\x1b\\[2K█*·+ [0-2]/[0-9]+", got)


def test_rows_of_an_outline_stay_in_their_columns(docs) -> None:
    titles = "".join(f"{'#' * depth} A heading with a rather long title of words\n\n" for depth in range(1, 7))
    folder = docs({"a.md": titles, "a-file-with-a-name-that-is-quite-long/and-another-name.md": titles})
    for name, count in ((".", 2), ("a.md", 7)):
        _, got = terminal("outline", name, cwd=folder, environment={"COLUMNS": "80"})
        rows = [row for row in plain(got).splitlines() if " tokens" in row]
        assert len(rows) == count
        assert len({width(row.partition(" tokens")[0]) for row in rows}) == 1
