"""Names that are not UTF-8, or that the system's encoding cannot hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="names here are text, or UTF-8")

ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
"""Where file names are ASCII to Python."""


def run(program: list[str | bytes], folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a Python program says on standard error; it must succeed."""
    done = subprocess.run(
        [sys.executable, *program],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stderr.decode(errors="replace")


def written(folder: Path, out: str) -> dict[bytes, bytes]:
    """The chunk files in a folder, by the bytes of their names."""
    root = os.fsencode(folder / out)
    return {
        os.path.join(at, name): Path(os.fsdecode(os.path.join(at, name))).read_bytes()  # noqa: PTH118
        for at, folders, names in os.walk(root)
        for name in names
        if b".quire" not in at
    }


@linux
@pytest.mark.parametrize(
    ("name", "options", "environment"),
    [
        (b"n\xff.md", [], {}),
        (b"b.md", ["--title", b"caf\xe9"], {}),
        ("é.md".encode(), [], ASCII),
    ],
    ids=["path", "title", "ascii"],
)
@pytest.mark.parametrize("form", ["files", "jsonl"])
def test_several_processes_write_what_one_does(
    tmp_path: Path, name: bytes, options: list[str | bytes], environment: dict[str, str], form: str
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.md").write_text("# a\n\nx é \U0001f600\n", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/d/" + name)).write_text(
        "---\nn: 1.5\nl: []\nm: {}\n---\n# b\n\ny é\n", encoding="utf-8"
    )
    outputs = []
    for jobs in "12":
        command = ["-m", "quire", "chunk", "d", "--format", form, "-j", jobs, "-o", f"out/{form}", *options]
        run(command, tmp_path, environment)
        outputs.append(written(tmp_path, "out"))
        (tmp_path / "out").rename(tmp_path / f"out{jobs}")
    assert len(outputs[0]) == (2 if form == "files" else 1)
    assert outputs[0] == outputs[1]


@linux
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("write_files('out', [chunks])", "doc_%u00E9%u1F600__ch0.json"),
        ("write_files('out', [quire.chunk('x', path='d\\xe9/b.md')])", "doc_b__ch0.json"),
        ("write_files('out/\\xe9', [chunks])", "QuireError"),
        ("write_jsonl('\\xe9.jsonl', [chunks])", "QuireError"),
        ("write_parquet('\\xe9/x.parquet', [chunks])", "QuireError"),
    ],
)
def test_names_that_the_system_cannot_hold(tmp_path: Path, call: str, said: str) -> None:
    program = f"""
import os, sys, quire
from quire.output.json_files import write_files
from quire.output.jsonl import write_jsonl
from quire.output.parquet import write_parquet
chunks = quire.chunk("x", path="\\xe9\\U0001f600.md")
try:
    {call}
    print(*(name for _, _, names in os.walk("out") for name in names), file=sys.stderr)
except quire.QuireError as error:
    print(type(error).__name__, ascii(error), file=sys.stderr)
"""
    said_now = run(["-X", "utf8=0", "-c", program], tmp_path, {**ASCII, "PYTHONIOENCODING": "utf-8"})
    assert said in said_now
    if said == "QuireError":
        assert "cannot be written: 'ascii' codec can't encode" in said_now
