"""quire as a process: start-up, pipes that close, Ctrl-C, streams that are not there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from processes import QUIRE, process, start

import quire.cli

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals are POSIX's")


def test_python_m_quire_is_the_command_line() -> None:
    result = process("outline", "-", stdin=b"# A\n\nx\n")
    assert result.code == 0
    assert "└─ A" in result.out.decode()


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version_loads_nothing(option) -> None:
    code = (
        "import sys; from quire.cli import main; code = main(sys.argv[1:]);"
        "print(code, {'click', 'msgspec', 'yaml', 'pyromark', 'quire.pipeline'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True, check=True)
    assert done.stdout == f"quire {quire.__version__}\n0 set()\n"


def test_importing_the_command_line_loads_nothing() -> None:
    code = "import quire.cli, sys; print({'click', 'msgspec', 'yaml', 'pyromark'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_version_beside_other_arguments(run) -> None:
    result = run("--version", "chunk")
    assert (result.code, result.out.decode()) == (0, f"quire {quire.__version__}\n")


def test_main_can_be_called_again_and_again(capsys) -> None:
    for _ in range(2):
        assert quire.cli.main(["chunk", "--help"]) == 0
        from quire.cli import main  # noqa: PLC0415  what a caller would write

        assert main(["verify", "--help"]) == 0


@pytest.fixture
def big(docs):
    """Documents that give more output than any pipe holds."""
    return docs({f"{number:03}.md": "# A\n\nsome text\n\n" * 200 for number in range(60)})


@posix
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
def test_reader_that_has_enough(big, form) -> None:
    running = start("chunk", *form, str(big))
    running.stdout.readline()
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert running.wait() == 0
    assert err == b""


@posix
def test_nobody_reads_at_all(big) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    file = str(big / "000.md")
    for arguments in (["chunk", file], ["outline", file], ["chunk", "--help"], ["--help"], ["--version"], ["-V", "x"]):
        done = subprocess.run([*QUIRE, *arguments], stdout=writer, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    os.close(writer)


@posix
def test_nobody_reads_the_messages(big) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*QUIRE, "chunk", "-s", "tree", str(big / "000.md")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, check=False)
    os.close(writer)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 200


@posix
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
def test_interrupt(big, form) -> None:
    running = start("chunk", *form, str(big))
    first = running.stdout.readline()
    running.send_signal(signal.SIGINT)  # it cannot have ended: nobody has read the rest
    _, err = running.communicate()
    assert first
    assert running.returncode == 130
    assert err == b"quire: interrupted\n"


@posix
def test_interrupt_when_the_reader_is_interrupted_too(big) -> None:
    running = start("chunk", str(big))
    running.stdout.readline()
    running.send_signal(signal.SIGINT)
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert running.wait() in (0, 130)
    assert err in (b"", b"quire: interrupted\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is always full")  # noqa: PTH110
@pytest.mark.parametrize("arguments", [["chunk", "BIG"], ["--version"], ["--help"], ["chunk", "--help"]], ids=" ".join)
def test_full_disk(big, arguments) -> None:
    arguments = [str(big) if each == "BIG" else each for each in arguments]
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run([*QUIRE, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"quire: cannot write the output: No space left on device\n"


@posix
def test_closed_streams(big) -> None:
    file = big / "000.md"
    command = f"{sys.executable} -m quire chunk"
    for arguments in (f"chunk {file}", "--version", "--help"):
        call = f"{sys.executable} -m quire {arguments} >&-"
        no_output = subprocess.run(call, shell=True, capture_output=True, check=False)
        assert no_output.returncode == 2
        assert no_output.stderr == b"quire: standard output is closed; there is nowhere to write to\n"
    no_input = subprocess.run(f"{command} - <&-", shell=True, capture_output=True, check=False)
    assert no_input.returncode == 2
    assert no_input.stderr.startswith(b"<stdin>: is closed; pipe a document into it [skipped]\n")
    no_diff = subprocess.run(
        f"{sys.executable} -m quire context --diff <&-", shell=True, capture_output=True, check=False
    )
    assert (no_diff.returncode, no_diff.stderr) == (2, b"quire: <stdin>: is closed; pipe a git diff into it\n")
    no_messages = subprocess.run(f"{command} -s tree {file} 2>&-", shell=True, capture_output=True, check=False)
    assert no_messages.returncode == 0
    assert len([json.loads(line) for line in no_messages.stdout.splitlines()]) == 200


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/null", "there"])
def test_an_output_that_is_no_folder_and_says_no_format(docs, name) -> None:
    folder = docs({"a.md": "# A\n\nx\n", "there": "mine\n"})
    name = name if name.startswith("/") else str(folder / name)
    result = process("chunk", str(folder / "a.md"), "-o", name)
    said = f"quire: -o {name} is no folder, .jsonl or .parquet file; add --format, or name one of those"
    assert result == (2, b"", f"{said} (see quire chunk --help)\n")
    assert (folder / "there").read_text() == "mine\n"


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_standard_output_by_its_name(docs, tmp_path, name) -> None:
    file = docs({"a.md": "# A\n\nx\n"}) / "a.md"
    expected = process("chunk", str(file)).out
    assert process("chunk", "--format", "jsonl", "-o", name, str(file)).out == expected  # a pipe
    log = tmp_path / "log"
    log.write_bytes(b"old\n")
    for mode in ("ab", "r+b"):
        with log.open(mode) as stream:
            stream.seek(0, os.SEEK_END)
            subprocess.run(
                [*QUIRE, "chunk", "-q", "--format", "jsonl", "-o", name, str(file)], stdout=stream, check=True
            )
    assert log.read_bytes() == b"old\n" + expected * 2


def test_the_current_folder_is_gone(docs, tmp_path) -> None:
    file = docs({"a.md": "x\n"}) / "a.md"
    gone = tmp_path / "gone"
    code = (
        "import os, subprocess, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
    )
    gone.mkdir()
    command = [sys.executable, "-c", code, str(gone), *QUIRE, "chunk", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "quire: the current folder is gone; change to another one\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.parametrize("kind", [RuntimeError, ImportError, quire.QuireError])
def test_an_interrupt_that_looks_like_an_error(run, docs, monkeypatch, kind) -> None:
    """While classes are made, Python 3.11 turns Ctrl-C into a RuntimeError; a module may turn it into an ImportError."""

    def chunk(*_arguments, **_options):
        raise kind("while loading") from KeyboardInterrupt()

    monkeypatch.setattr("quire.cli.chunk.results", chunk)
    assert run("chunk", docs({"a.md": "x\n"})) == (130, b"", "quire: interrupted\n")
