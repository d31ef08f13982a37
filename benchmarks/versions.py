"""This version beside an earlier one: the time from text to chunks, with ten fields of every chunk read.

Each version has a process of its own; both cut the same documents in turn, a few at a time, and the best of several
rounds counts for each document. The earlier version is taken from the repository's history (``QUIRE_BASE`` names the
commit). ``python -m benchmarks.versions`` is such a process.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import quire
from benchmarks import measure
from benchmarks.measure import RUNS, Document

BASE = os.environ.get("QUIRE_BASE", "37114f3")
"""The commit of version 0.1.0."""
STEP = int(os.environ.get("QUIRE_STEP", "2"))
"""Every so many documents of Docker and Kubernetes are cut, and all of the other sites."""
ROUNDS = 4
_BATCH = 40
_HOSTILE = "# a\nb\n" * 20_000
GROUPS: Mapping[str, Callable[[Document], bool]] = {
    "all": lambda document: bool(document[0]),
    "below 4 KB": lambda document: bool(document[0]) and len(document[1].encode()) < 4_000,
    "other sites, with front matter": lambda document: document[0].startswith("wild/") and document[1][:3] == "---",
}
"""The columns of the table, by the documents that count for them; the hostile document has no path."""


def documents() -> list[Document]:
    """Documents of Docker and Kubernetes, every so many, all of other sites, and last a hostile one."""
    chosen = measure.documents("linkqa/docker", "linkqa/k8s")[::STEP]
    return [*chosen, *measure.documents("wild", pattern="*.md*"), ("", _HOSTILE)]


def run() -> Iterator[str]:
    """The page as lines of Markdown."""
    texts = documents()
    groups = {name: [each for each, text in enumerate(texts) if is_in(text)] for name, is_in in GROUPS.items()}
    with tempfile.TemporaryDirectory() as folder:
        workers = [_Worker(measure.unpacked(BASE, Path(folder))), _Worker(measure.ROOT / "src")]
        yield f"One in {STEP} documents of Docker and Kubernetes, and all of Docusaurus, FastAPI, Material for MkDocs"
        yield f"and Vue. Ten fields of every chunk are read. A cell has the µs of 0.1.0 (commit {BASE}) and of this"
        yield "version, and the ratio: for a document, and for a heading of a hostile document."
        yield ""
        heads = [f"{name}: {_described([texts[each] for each in group])}" for name, group in groups.items()]
        yield f"| | {' | '.join(heads)} | hostile |"
        yield "|---" * (len(groups) + 2) + "|"
        for name, (strategy, options) in RUNS.items():
            best = _best(workers, strategy, options, len(texts))
            cells = [
                _cell([sum(times[each] for each in group) / len(group) for times in best]) for group in groups.values()
            ]
            heading = _cell([times[-1] / _HOSTILE.count("#") for times in best])
            yield f"| {name} | {' | '.join(cells)} | {heading} |"
        for worker in workers:
            worker.stop()


def _described(chosen: Sequence[Document]) -> str:
    return f"{len(chosen):,} documents, {measure.megabytes(chosen):.1f} MB"


def _cell(seconds: Sequence[float]) -> str:
    old, new = (each * 1e6 for each in seconds)
    digits = 1 if old < 100 else 0
    return f"{old:.{digits}f}, {new:.{digits}f}, **{new / old:.2f}**"


class _Worker:
    """A process that cuts documents with one version."""

    def __init__(self, source: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.versions"]
        self._process = subprocess.Popen(
            command,
            cwd=source.parent,
            env=measure.environment(source),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def times(self, *work: Any) -> list[float]:
        """The CPU seconds of each document."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(work), file=self._process.stdin, flush=True)
        times: list[float] = json.loads(self._process.stdout.readline())
        return times

    def stop(self) -> None:
        """End the process."""
        self._process.communicate()


def _best(workers: Sequence[_Worker], strategy: str, options: dict[str, Any], size: int) -> list[list[float]]:
    best = [[float("inf")] * size for _ in workers]
    for _ in range(ROUNDS):
        for first in range(0, size, _BATCH):
            for worker, times in zip(workers, best, strict=True):
                for number, taken in enumerate(worker.times(strategy, options, first, first + _BATCH), first):
                    times[number] = min(times[number], taken)
    return best


def _serve() -> None:
    texts = documents()
    measure.load()
    gc.disable()
    for line in sys.stdin:
        strategy, options, first, last = json.loads(line)
        taken = []
        for _, text in texts[first:last]:
            started = time.thread_time()
            for chunk in quire.chunk(text, strategy, path="docs/a.md", **options):
                measure.ten_fields(chunk)
            taken.append(time.thread_time() - started)
        gc.collect()
        print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    _serve()
