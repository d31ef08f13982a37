"""An index of 1,000 to 50,000 documents: what building, searching and updating take in a new process.

CPU seconds with all processes, as the machine may be busy, and the most memory that the command had. Documents are
copies of the shared data with other words (``copies``). ``QUIRE_SIZES`` sets other sizes: ``1000,150000``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import quire
from benchmarks import measure
from benchmarks.copies import write_copies

SIZES = tuple(map(int, os.environ.get("QUIRE_SIZES", "1000,14000,50000").split(",")))
QUERY = "rolling update of a deployment"
_QUESTIONS = 300
_ROUNDS = 3


def run() -> Iterator[str]:
    """The page as lines of Markdown."""
    questions = list(_questions())
    if not questions:
        yield "No documents: set QUIRE_SHARED to a folder with Markdown files."
        return
    columns = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            columns.append(dict(_measured(Path(folder), size, questions)))
    yield "| | " + " | ".join(f"{size:,}" for size in SIZES) + " |"
    yield "|---" * (len(SIZES) + 1) + "|"
    for name in columns[0]:
        yield f"| {name} | " + " | ".join(column[name] for column in columns) + " |"


def _questions() -> Iterator[str]:
    for file, _ in measure.documents("linkqa", pattern="*.jsonl"):
        lines = (measure.ROOT.parent / "shared" / "data" / file).read_text(encoding="utf-8").splitlines()
        yield from [" ".join(json.loads(line)["query"].split()) for line in lines[:: len(lines) // _QUESTIONS + 1]]


def _measured(home: Path, size: int, questions: Sequence[str]) -> Iterator[tuple[str, str]]:
    docs, index = home / "docs", str(home / "index")
    yield "MB of documents", f"{write_copies(docs, size) / 1e6:.0f}"
    time.sleep(0.1)  # so that the times of folders can be trusted
    yield "build, CPU s / MB of memory", _command("index", docs, index)
    yield "MB of index", f"{sum(file.stat().st_size for file in Path(index).rglob('*') if file.is_file()) / 1e6:.0f}"
    yield "`quire search`", _command("search", QUERY, docs, index)
    yield "`quire search --no-update`", _command("search", QUERY, docs, index, "--no-update")
    yield "`quire index`, nothing changed", _command("index", docs, index)
    file = sorted(docs.rglob("*.md"))[size // 2]
    text, renamed = file.read_bytes(), file.with_name(f"renamed-{file.name}")
    edits: dict[str, Callable[[], object]] = {
        "one file edited": lambda: file.write_bytes(text + b"\n\nOne more sentence.\n"),
        "renamed": lambda: file.rename(renamed),
        "removed": renamed.unlink,
    }
    for name, edit in edits.items():
        edit()
        yield name, _command("index", docs, index, rounds=1)
    yield "query in an open index, CPU ms p50 / p95", _queries(index, questions)


def _command(name: str, *arguments: str | Path, rounds: int = _ROUNDS) -> str:
    """The least CPU seconds of a command, and its memory. The index is the argument after the documents."""
    at = 2 if name == "search" else 1
    words = [*map(str, arguments[:at]), "--index", *map(str, arguments[at:])]
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    taken = []
    for _ in range(rounds):
        command = [sys.executable, "-c", script, sys.executable, "-m", "quire", name, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        taken.append(tuple(map(float, done.stdout.split())))
        if name == "index" and len(taken) == 1 and taken[0][0] > 1:
            break  # a build
    seconds, memory = min(taken)
    return f"{seconds:.2f} / {memory / 1024:.0f}"


def _queries(index: str, questions: Sequence[str]) -> str:
    opened, best = quire.Index.open(index), [float("inf")] * len(questions)
    for _ in range(_ROUNDS):
        for at, question in enumerate(questions):
            started = _cpu()
            opened.search(question.replace('"', " "))
            best[at] = min(best[at], _cpu() - started)
    ordered = sorted(best)
    return f"{ordered[len(best) // 2] * 1e3:.1f} / {ordered[len(best) * 95 // 100] * 1e3:.1f}"


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
