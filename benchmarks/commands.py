"""Commands beside an earlier version, on documents that have not changed: CPU time, all in turn.

``quire search`` is a whole process from the shell. Looking for changes is ``Index.update`` in a process that runs.
``python -m benchmarks.commands INDEX FOLDER`` is such a process: for each line of its input it looks once.
"""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shutil import which

import quire
from benchmarks import measure
from benchmarks.versions import BASE

FILES = int(os.environ.get("QUIRE_FILES", "20000"))
ROUNDS = 21
QUERIES = ("how to restart a deployment", "access modes of a volume", "kubectl drain", "label selector", "configmap")
_ROOT = Path(__file__).parents[1]


def run() -> Iterator[str]:
    """The page as lines of Markdown."""
    documents = [(path, text) for path, text in measure.documents() if path.startswith("linkqa/k8s/")]
    if not documents:
        yield "No documents: set QUIRE_SHARED to a folder with Markdown files."
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        few, many = _write(home / "few", documents, len(documents)), _write(home / "many", documents, FILES)
        sources = {"0.1.0": measure.unpacked(BASE, home / "earlier"), "now": _ROOT / "src"}
        for source in sources.values():
            subprocess.run([sys.executable, "-m", "compileall", "-q", str(source)], check=True)
        yield f"Kubernetes' documents; {FILES:,} are copies of them in several folders. 0.1.0 is commit {BASE}."
        yield f"Median (least) of {ROUNDS} rounds in turn, user and system time of all threads."
        yield ""
        yield "| CPU time, ms | 0.1.0 | now | ratio |"
        yield "|---|---|---|---|"
        searches = {name: _search(source, home / f"few-{name}", few) for name, source in sources.items()}
        yield _row(f"`quire search` from the shell, {len(documents):,} files", searches)
        looks = {name: _Looks(source, home / f"many-{name}", many) for name, source in sources.items()}
        yield _row(f"looking for changes in {FILES:,} files", looks)
        for each in looks.values():
            each.stop()
        if which("valgrind"):
            old, new = (_instructions(source, home / f"few-{name}", few) for name, source in sources.items())
            yield ""
            yield f"`quire search`, million instructions: {old / 1e6:.0f}, now {new / 1e6:.0f}, ratio {new / old:.2f}."


def _write(folder: Path, documents: list[measure.Document], count: int) -> Path:
    for number in range(count):
        path, text = documents[number % len(documents)]
        file = folder / f"version-{number // len(documents)}" / path.removeprefix("linkqa/k8s/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return folder


def _row(name: str, works: Mapping[str, Callable[[int], float]]) -> str:
    """A row of the table: the CPU seconds of each version, in turn."""
    taken: dict[str, list[float]] = {version: [] for version in works}
    for number in range(-2, ROUNDS):  # the first two rounds make the index and are not counted
        for version in list(works)[:: 1 if number % 2 else -1]:
            taken[version].append(works[version](number))
    (old, least_old), (new, least_new) = ((statistics.median(each[2:]), min(each[2:])) for each in taken.values())
    figures = f"{old * 1e3:.0f} ({least_old * 1e3:.0f}) | {new * 1e3:.0f} ({least_new * 1e3:.0f})"
    return f"| {name} | {figures} | {new / old:.2f} ({least_new / least_old:.2f}) |"


def _search(source: Path, index: Path, docs: Path) -> Callable[[int], float]:
    def work(number: int) -> float:
        query = QUERIES[number % len(QUERIES)]
        command = [sys.executable, "-m", "quire", "search", query, str(docs), "--index", str(index)]
        before = _seconds(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env={**os.environ, "PYTHONPATH": str(source)}, check=True, capture_output=True)
        return _seconds(resource.RUSAGE_CHILDREN) - before

    return work


def _instructions(source: Path, index: Path, docs: Path) -> int:
    """The instructions of a search from the shell, which the load of the machine does not change."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", sys.executable]
    command += ["-m", "quire", "search", QUERIES[0], str(docs), "--index", str(index)]
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, cwd=docs, check=True, capture_output=True, text=True)
    return int(re.findall(r"I\s+refs:\s+([0-9,]+)", done.stderr)[0].replace(",", ""))


class _Looks:
    """A process that looks for changes with one version."""

    def __init__(self, source: Path, index: Path, docs: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.commands", str(index), str(docs)],
            env={**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{_ROOT}"},
            cwd=source.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, number: int) -> float:
        assert self._process.stdin
        assert self._process.stdout
        print(number, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def stop(self) -> None:
        """End the process."""
        self._process.communicate()


def _seconds(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _serve(index: str, docs: str) -> None:
    opened = quire.Index.open(index)
    for _ in sys.stdin:
        before = _seconds(resource.RUSAGE_SELF)
        opened.update({"docs": docs})
        print(_seconds(resource.RUSAGE_SELF) - before, flush=True)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
