"""Many documents on several processes: how much faster than one, beside what the machine gives two, and in what memory.

The machine's own limit is two runs side by side, each in one process and on one half of the documents: as long as they
take, two processes that had nothing to do with each other would take. All are whole commands, measured in turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from benchmarks import measure

MEGABYTES = int(os.environ.get("QUIRE_MANY_MB", "80"))
ROUNDS = int(os.environ.get("QUIRE_MANY_ROUNDS", "3"))
_EVERY = 0.02
"""Seconds between two looks at the memory."""


def run() -> list[str]:
    """A table as lines of Markdown."""
    documents = measure.documents()
    if not documents:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    with filled(documents, MEGABYTES) as (folder, halves, count):
        rows = [_row(form, folder, halves) for form in ("jsonl", "files")]
        has_arrow = find_spec("pyarrow") is not None
        rows.append(_row("parquet", folder, halves) if has_arrow else "| parquet | not run: no pyarrow | | | | |")
        memory = _memory(folder)
    return [
        f"{count:,} documents, {MEGABYTES} MB, `packed`. Each figure is the best of {ROUNDS} rounds in turn.",
        "",
        "| to | one process, s | two side by side, s | `-j 2`, s | limit | gain |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        *memory,
    ]


@contextmanager
def filled(documents: Sequence[measure.Document], megabytes: int) -> Iterator[tuple[Path, list[Path], int]]:
    """A folder for a while, two halves of so many megabytes below it in ``in``, and how many documents they hold."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        halves = [folder / "in" / half for half in ("a", "b")]
        yield folder, halves, sum(_fill(half, documents, megabytes * 500_000) for half in halves)


def _fill(folder: Path, documents: Sequence[measure.Document], least: int) -> int:
    """Copies of the documents below ``folder``, of at least so many bytes; the result is how many."""
    written = count = 0
    while written < least:
        for path, text in documents:
            file = folder / f"{count // len(documents):03}" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            written += file.write_bytes(text.encode())
            count += 1
            if written >= least:
                break
    return count


def _row(form: str, folder: Path, halves: Sequence[Path]) -> str:
    both = folder / "in"
    works: dict[str, Callable[[], object]] = {
        "one": lambda: wait(start(form, both, folder / "out", 1)),
        "side": lambda: [wait(each) for each in [start(form, half, folder / half.name, 1) for half in halves]],
        "two": lambda: wait(start(form, both, folder / "out", 2)),
    }
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            _clean(folder)
            started = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - started)
    _clean(folder)
    one, side, two = best.values()
    return f"| {form} | {one:.2f} | {side:.2f} | {two:.2f} | {one / side:.2f} | {one / two:.2f} |"


def start(form: str, source: Path, target: Path, jobs: int) -> subprocess.Popen[bytes]:
    """Start a command that cuts all of ``source``."""
    target = target if form == "files" else target.with_suffix(f".{form}")
    command = [sys.executable, "-m", "quire", "chunk", "-q", str(source), "-j", str(jobs)]
    return subprocess.Popen([*command, "--format", form, "-o", str(target)])


def wait(child: subprocess.Popen[bytes]) -> None:
    """Wait for a command; it must not fail."""
    if child.wait() != 0:
        raise SystemExit(f"{child.args} failed")


def _clean(folder: Path) -> None:
    subprocess.run(["rm", "-rf", *(str(each) for each in folder.iterdir() if each.name != "in")], check=True)


def _memory(folder: Path) -> list[str]:
    """The most memory that a run holds: the process itself, and all of its processes together."""
    if not Path("/proc/self/statm").exists():
        return ["Memory is looked up in /proc, which is not here."]
    rows = []
    for jobs in (1, 2):
        own, together = most_memory(start("jsonl", folder / "in", folder / "out", jobs), _EVERY)
        _clean(folder)
        rows.append(f"| `-j {jobs}` | {own / 1e6:.0f} | {together / 1e6:.0f} |")
    return ["| resident memory at most, MB | the process | all together |", "|---|---|---|", *rows]


def most_memory(child: subprocess.Popen[bytes], every: float) -> tuple[int, int]:
    """The most resident bytes that a process has until it ends, and that it has together with those it starts."""
    own = together = 0
    while child.poll() is None:
        sizes = resident_bytes(child.pid)
        own, together = max(own, sizes.get(child.pid, 0)), max(together, sum(sizes.values()))
        time.sleep(every)
    wait(child)
    return own, together


def resident_bytes(parent: int) -> dict[int, int]:
    """The resident bytes of a process and of those that it has started."""
    page = os.sysconf("SC_PAGE_SIZE")
    sizes = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                above = int((each / "stat").read_text().rpartition(")")[2].split()[1])
                if parent in (int(each.name), above):
                    sizes[int(each.name)] = int((each / "statm").read_text().split()[1]) * page
            except OSError:  # it has just ended
                continue
    return sizes
