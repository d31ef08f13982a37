"""What a query costs beside version 0.1.0: CPU time in a process, both versions in turn, some questions at a time.

Each version has a process and an index of its own. Hits are read, match ranges are not. *First time*: the index was
opened anew, so no title and no node is remembered. ``python -m benchmarks.search_speed DOCS INDEX`` is such a process.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import quire
from benchmarks import measure
from benchmarks.versions import BASE

_QUESTIONS = 300
_ROUNDS = 5
_BATCH = 30
_ROOT = Path(__file__).parents[1]
_ATTRIBUTES = ("id", "score", "title", "breadcrumb_line", "text", "span", "lines", "tokens", "constituents")


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", _ROOT.parent / "shared" / "data")) / "linkqa"
    if not data.is_dir():
        yield f"Not run: no pages at {data}; set QUIRE_SHARED."
        return
    lines = (data / "k8s.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [" ".join(json.loads(line)["query"].split()) for line in lines[:: len(lines) // _QUESTIONS]][:_QUESTIONS]
    with tempfile.TemporaryDirectory() as folder:
        sources = [measure.unpacked(BASE, Path(folder) / "old"), _ROOT / "src"]
        workers = [_Worker(source, data / "k8s", Path(folder) / f"index-{at}") for at, source in enumerate(sources)]
        yield f"Kubernetes' documentation, {len(queries)} questions, ten hits; 0.1.0 is commit {BASE}."
        yield ""
        yield "| CPU ms | 0.1.0, p50 | now, p50 | ratio | 0.1.0, mean | now, mean | ratio | 0.1.0, p99 | now, p99 |"
        yield "|---|---|---|---|---|---|---|---|---|"
        for name, forget in (("first time", True), ("again", False)):
            yield _row(name, *_best(workers, queries, forget=forget))
        for worker in workers:
            worker.stop()
    yield ""
    yield f"Of each question the best of {_ROUNDS} rounds. *First time*: each round opens the index anew. Hits are"
    yield "read, match ranges are not. 0.1.0 has no token budget, so it returns more text."


def _row(name: str, old: Sequence[float], new: Sequence[float]) -> str:
    figures = []
    for of in (statistics.median, statistics.fmean):
        before, now = 1000 * of(old), 1000 * of(new)
        figures += [f"{before:.2f}", f"{now:.2f}", f"{now / before:.2f}"]
    figures += [f"{1000 * sorted(times)[len(times) * 99 // 100]:.2f}" for times in (old, new)]
    return f"| {name} | {' | '.join(figures)} |"


def _best(workers: Sequence[_Worker], queries: Sequence[str], *, forget: bool) -> list[list[float]]:
    best = [[float("inf")] * len(queries) for _ in workers]
    for _ in range(_ROUNDS):
        for worker in workers:
            worker.ask(["warm up"], forget=forget)
        for first in range(0, len(queries), _BATCH):
            for worker, times in zip(workers, best, strict=True):
                for number, taken in enumerate(worker.ask(queries[first : first + _BATCH]), first):
                    times[number] = min(times[number], taken)
    return best


class _Worker:
    """A process that asks questions with one version."""

    def __init__(self, source: Path, docs: Path, index: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{_ROOT}"}
        command = [sys.executable, "-m", "benchmarks.search_speed", str(docs), str(index)]
        self._process = subprocess.Popen(
            command, cwd=source.parent, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, queries: Sequence[str], *, forget: bool = False) -> list[float]:
        """The CPU seconds of each query."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([queries, forget]), file=self._process.stdin, flush=True)
        times: list[float] = json.loads(self._process.stdout.readline())
        return times

    def stop(self) -> None:
        """End the process."""
        self._process.communicate()


def _serve(docs: str, folder: str) -> None:
    index: Any = quire.Index.open(folder)
    index.update({"docs": docs})
    gc.disable()
    for line in sys.stdin:
        queries, forget = json.loads(line)
        if forget:
            index.close()
            index = quire.Index.open(folder)
        taken = []
        for query in queries:
            started = time.thread_time()
            for hit in index.search(query):
                for name in _ATTRIBUTES:
                    getattr(hit, name)
            taken.append(time.thread_time() - started)
        gc.collect()
        print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
