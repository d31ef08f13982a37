"""``-j``: several processes give what one gives, to the byte; and they end when they should."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from outputs import DOCUMENTS, LONG, left, written
from processes import customized, pausing, process, start, terminal

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals are POSIX's")
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")

ODD = {
    "bad/latin.md": b"# Caf\xe9\n",
    "bad/meets.md": "one\n",
    "bad/meets.txt": "two\n",
    "empty.md": "",
    "end.md": "# Alone\n",
    "front.md": "---\nbig: 123456789012345678901234567890\nday: 2024-01-02\nnan: .nan\nmap: {1: a}\n---\n# F\n\nx\n",
    "utf16.md": "# Ä\n\nwide\n".encode("utf-16"),
    "vertical.txt": "a\x0bb\x85c\u2028d\n",
}


@pytest.fixture
def folder(docs) -> Path:
    """Documents of all kinds, enough for several batches."""
    docs({f"in/{name}": text for name, text in {**DOCUMENTS, **ODD}.items()})
    return docs({f"in/many/{number}.md": f"# N{number}\n\n{LONG}\n\n## Sub\n\n{LONG}\n" for number in range(12)}) / "in"


PRINTED = [
    ["chunk"],
    ["chunk", "--json", "-s", "flow"],
    ["chunk", "--format", "compact", "-s", "sections", "--errors", "replace"],
    ["chunk", "--format", "nodes", "-s", "tree", "--tree", "t", "--hidden"],
    [
        "chunk",
        "-t",
        "cl100k_base",
        "--title",
        "T",
        "--content-type",
        "c",
        "--hard-cap",
        "200",
        "--breadcrumb",
        "always",
    ],
    ["chunk", "-q", "--syntax", "text"],
    ["verify", "-s", "flow"],
    ["verify", "--json"],
    ["stats"],
    ["stats", "--json", "-s", "packed", "-t", "estimate"],
]


@pytest.mark.parametrize("arguments", PRINTED, ids=" ".join)
def test_several_processes_print_what_one_prints(run, folder, arguments) -> None:
    alone = run(*arguments, folder, "-j", 1)
    assert run(*arguments, folder, "-j", 2) == alone
    assert alone.out or arguments[0] == "verify"


@posix
def test_a_terminal_shows_the_same(folder) -> None:
    """Without progress, which depends on the time that it takes."""
    dumb = {"TERM": "dumb"}
    alone = terminal("chunk", str(folder), "-j", "1", environment=dumb)
    assert terminal("chunk", str(folder), "-j", "2", environment=dumb) == alone
    assert "more lines" in alone[1]


@pytest.mark.parametrize("name", ["files", "a.jsonl", "a.parquet"])
def test_several_processes_write_what_one_writes(run, folder, tmp_path, name) -> None:
    alone, shared = tmp_path / "1", tmp_path / "2"
    first = run("chunk", folder, "-j", 1, "-o", alone / name)
    second = run("chunk", folder, "-j", 2, "-o", shared / name)
    assert second._replace(err=second.err.replace(str(shared), str(alone))) == first
    assert first.code == 2  # there are documents that cannot be read
    assert written(shared) == written(alone)
    assert written(alone)


def test_the_compact_record_in_a_file(run, folder, tmp_path) -> None:
    for jobs in (1, 2):
        run("chunk", folder, "-j", jobs, "--format", "compact", "-o", tmp_path / f"{jobs}.jsonl")
    assert (tmp_path / "2.jsonl").read_bytes() == (tmp_path / "1.jsonl").read_bytes()


def test_a_run_that_changes_nothing(run, folder, tmp_path) -> None:
    """Files that one process wrote are those that several would write."""
    run("chunk", folder, "-j", 1, "-o", tmp_path / "out")
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.json")}
    run("chunk", folder, "-j", 2, "-o", tmp_path / "out")
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.json")} == before


def test_a_tokenizer_of_the_users(run, folder, tmp_path, monkeypatch) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = {word: number for number, word in enumerate(["[UNK]", *LONG.split()])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    monkeypatch.chdir(tmp_path)
    alone = run("chunk", "-t", "tokenizer.json", folder, "-j", 1)
    assert run("chunk", "-t", "tokenizer.json", folder, "-j", 2) == alone
    assert b'"tokenizer":"tokenizer.json"' in alone.out


def test_standard_input_among_documents(run, folder) -> None:
    alone = run(
        "chunk",
        folder / "a.md",
        "-",
        folder / "more.md",
        stdin=b"# In\n\nbetween\n",
    )
    assert run("chunk", folder / "a.md", "-", folder / "more.md", "-j", 2, stdin=b"# In\n\nbetween\n") == alone


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_number_that_is_none(run, folder, number) -> None:
    result = run("chunk", folder, "-j", number)
    assert (result.code, result.out) == (2, b"")
    assert result.err.startswith("quire: invalid value for '-j' / '--jobs'")


def test_little_to_do_takes_no_processes(folder) -> None:
    code = "import sys; from quire.cli import main; main(sys.argv[1:]); print('multiprocessing' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, "chunk", "-q", folder / "many"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


DEADLY = """
import multiprocessing, os, signal, sys
def hook(event, arguments):  # the command itself reads files to tell the dialect; only their processes cut them
    if event == "open" and str(arguments[0]).endswith("deadly.md") and multiprocessing.parent_process():
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
"""


@posix
def test_a_document_that_kills_its_process(folder, tmp_path) -> None:
    deadly = customized(tmp_path / "python", DEADLY)
    expected = process("chunk", "-j", "1", str(folder))
    (folder / "many" / "deadly.md").write_text("# Death\n\nto whoever reads this\n")
    result = process("chunk", "-j", "2", str(folder), environment=deadly)
    assert result.out == expected.out
    assert result.code == 2
    (line,) = [line for line in result.err.splitlines() if "deadly.md" in line]
    assert line.startswith(f"{folder}/many/deadly.md: its process died, perhaps for lack of memory")
    assert line.endswith("[skipped]")


@pytest.fixture
def big(docs) -> Path:
    """Documents that give more output than any pipe holds."""
    return docs({f"big/{number:03}.md": f"# A\n\n{LONG}\n\n" * 5 for number in range(60)}) / "big"


def children(pid: int) -> dict[int, str]:
    """The processes that a process has started, those that have ended but are not buried aside."""
    found = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                _, _, rest = (each / "stat").read_text(errors="replace").rpartition(")")
                command = (each / "cmdline").read_text(errors="replace")
            except OSError:  # it has just ended
                continue
            if int(rest.split()[1]) == pid and command:
                found[int(each.name)] = command
    return found


def are_gone(pids) -> bool:
    """Whether processes have ended. All of them write to the pipe that has been read to its end, so they must have."""
    return not any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)


@linux
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
def test_interrupt(big, form) -> None:
    with start("chunk", "-j", "2", *form, str(big), group=True) as child:
        first = child.stdout.readline()
        pids = children(child.pid)
        os.killpg(child.pid, signal.SIGINT)  # it cannot have ended: nobody has read the rest
        _, err = child.communicate()
    assert first
    assert len(pids) >= 2
    assert (child.returncode, err) == (130, b"quire: interrupted\n")
    assert are_gone(pids)


@linux
@pytest.mark.parametrize(("name", "begun"), [("a.jsonl", ".quire-tmp-"), ("files", ".quire/stage/")])
def test_interrupt_leaves_nothing_half_written(big, tmp_path, name, begun) -> None:
    target = tmp_path / "out" / name
    command = ["chunk", "-j", "2", "-s", "flow", str(big), "-o", str(target)]
    with start(*command, environment=pausing(tmp_path / "python", begun), group=True) as child:
        assert child.stdout.readline() == b"paused\n"
        pids = children(child.pid)
        os.killpg(child.pid, signal.SIGINT)
        _, err = child.communicate()
    assert (child.returncode, err) == (130, b"quire: interrupted\n")
    assert are_gone(pids)
    assert left(tmp_path / "out") == ([] if name == "a.jsonl" else ["files"])
    assert name == "a.jsonl" or written(target) == {}


@linux
def test_reader_that_has_enough(big) -> None:
    with start("chunk", "-j", "2", str(big), group=True) as child:
        child.stdout.readline()
        pids = children(child.pid)
        child.stdout.close()
        err = child.stderr.read()
        assert (child.wait(), err) == (0, b"")
    assert are_gone(pids)


@linux
def test_a_worker_that_is_killed_is_not_missed(big) -> None:
    alone = process("chunk", "-j", "1", str(big))
    with start("chunk", "-j", "2", str(big), group=True) as child:
        first = child.stdout.readline()
        os.kill(child.pid, signal.SIGSTOP)  # else what one was at may be tried by the next that is killed
        for pid, command in children(child.pid).items():
            if "spawn_main" in command:
                os.kill(pid, signal.SIGKILL)
        os.kill(child.pid, signal.SIGCONT)
        rest, err = child.communicate()
    assert first + rest == alone.out
    assert (child.returncode, err.decode()) == (0, alone.err)


@posix
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_is_stopped_and_goes_on_loses_nothing(big, jobs, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # each write goes to the pipe, and may be cut short there
    alone = process("chunk", str(big))
    reader, writer = os.pipe()
    read = b""
    with os.fdopen(reader, "rb", buffering=0) as stream:
        child = start("chunk", "-j", jobs, str(big), stdout=writer)
        for _ in range(5):
            while select.select([], [writer], [], 0)[1]:  # until the pipe is full, and the run waits
                os.sched_yield()
            os.kill(child.pid, signal.SIGSTOP)
            os.waitpid(child.pid, os.WUNTRACED)
            os.kill(child.pid, signal.SIGCONT)
            read += stream.read(50_000)
        os.close(writer)
        rest = stream.read()
        child.communicate()
    assert read + rest == alone.out


@posix
def test_lines_come_while_documents_are_still_read(docs) -> None:
    """The last document is written anew when the first line is there, so it is read after that."""
    folder = docs({f"in/{number:04}.md": f"# N\n\n{LONG}\n" * 12 for number in range(110)}) / "in"
    last = folder / "9999.md"
    last.write_text("# Old\n\nold\n")
    with start("chunk", "-j", "2", str(folder), group=True) as child:
        lines = [child.stdout.readline()]
        last.write_text("# New\n\nnew\n")
        out, _ = child.communicate()
    lines += out.splitlines()
    assert json.loads(lines[-1])["originalText"] == "# New\n\nnew"


@posix
def test_processes_that_cannot_be_started(folder) -> None:
    command = f"ulimit -n 10; exec {sys.executable} -m quire chunk -j 2 {folder}"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    alone = process("chunk", "-j", "1", str(folder))
    said, rest = done.stderr.decode().split("\n", 1)
    assert said == "quire: cannot start 2 processes (Too many open files); this process does the work"
    assert (done.returncode, done.stdout, rest) == (alone.code, alone.out, alone.err)
