"""What a search costs: in a process, beside the engine alone; and as a command."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from quire.index.engine.snapshot import Snapshot
from quire.indexed import Index
from quire.query import parse
from quire.search.matching_nodes import make_compiler
from quire.search.phases import search
from quire.search.ranking_settings import SearchSettings

_NODES = 100_000
_FILES = 1_000
_QUERIES = 150
_ROUNDS = 3
_LIMIT = 10


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data")) / "linkqa"
    if not data.is_dir():
        yield f"Not run: no pages at {data}; set QUIRE_SHARED."
        return
    lines = (data / "docker.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [" ".join(json.loads(line)["query"].split()) for line in lines[:: len(lines) // _QUERIES]]
    yield from _in_process(data / "docker", queries)
    yield from _as_a_command(data / "docker", queries[:20])


def _in_process(pages: Path, queries: Sequence[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        index = Index.open(Path(folder) / "index")
        nodes = index.update({"copy0": pages}).nodes
        copies = -(-_NODES // nodes)
        links = {f"copy{number}": Path(folder) / f"copy{number}" for number in range(1, copies)}
        for link in links.values():
            link.symlink_to(pages)  # one folder has one name
        nodes = index.update({"copy0": pages, **links}).nodes
        snapshot = Snapshot(next(Path(folder).rglob("meta.json")).parent)
        rows = {name: _times(work, queries) for name, work in _works(snapshot).items()}
        index.close()
    yield f"## In a process: {nodes:,} nodes ({copies} copies of the pages), {len(queries)} questions, ten hits"
    yield ""
    yield "| | p50 ms | p99 ms | p50 to the engine's |"
    yield "|---|---|---|---|"
    engine = _percentile(next(iter(rows.values())), 50)
    for name, times in rows.items():
        middle, slow = _percentile(times, 50), _percentile(times, 99)
        yield f"| {name} | {1000 * middle:.2f} | {1000 * slow:.2f} | {middle / engine:.1f} |"
    yield ""
    yield "The engine alone: the same query, compiled beforehand, its best ten nodes read and decoded. No node is"
    yield "remembered from one search to the next. One row after the other in one process; of each question the best of"
    yield f"{_ROUNDS} times."
    yield ""


def _works(snapshot: Snapshot) -> dict[str, Callable[[str], object]]:
    compiler = make_compiler(snapshot, SearchSettings())
    compiled = {}

    def engine(text: str) -> object:
        if text not in compiled:
            compiled[text] = compiler.compile(parse(text))
        forget(snapshot)
        started = time.perf_counter()
        found = snapshot.nodes(key for _, key in snapshot.top(compiled[text], _LIMIT))
        return time.perf_counter() - started if found else 0.0

    def forget(snapshot: Snapshot) -> None:
        snapshot._nodes.clear()  # noqa: SLF001  nodes that an earlier search read would flatter both
        snapshot._outlines.clear()  # noqa: SLF001

    def searched(merge: bool) -> Callable[[str], object]:
        def work(text: str) -> object:
            forget(snapshot)
            started = time.perf_counter()
            search(snapshot, text, limit=_LIMIT, merge=merge)
            return time.perf_counter() - started

        return work

    return {"the engine alone": engine, "quire, not merged": searched(merge=False), "quire": searched(merge=True)}


def _times(work: Callable[[str], object], queries: Sequence[str]) -> list[float]:
    best = [float("inf")] * len(queries)
    for _ in range(_ROUNDS):
        for number, query in enumerate(queries):
            best[number] = min(best[number], float(str(work(query))))
    return best


def _percentile(times: Sequence[float], percent: int) -> float:
    return statistics.quantiles(times, n=100, method="inclusive")[percent - 1]


def _as_a_command(pages: Path, queries: Sequence[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        for file in sorted(pages.rglob("*.md"))[:_FILES]:
            to = docs / file.relative_to(pages)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)
        command = [sys.executable, "-m", "quire", "search"]
        subprocess.run([*command, queries[0], "docs"], cwd=folder, check=False, capture_output=True)
        times = sorted(_command([*command, query, "docs"], folder) for query in queries for _ in range(2))
        bare = sorted(_command([sys.executable, "-c", "pass"], folder) for _ in range(10))
    yield f"## As a command: `quire search … docs`, {_FILES:,} files, nothing changed"
    yield ""
    yield "| | median ms | best ms |"
    yield "|---|---|---|"
    yield f"| quire search | {1000 * statistics.median(times):.0f} | {1000 * times[0]:.0f} |"
    yield f"| python -c pass | {1000 * statistics.median(bare):.0f} | {1000 * bare[0]:.0f} |"


def _command(command: Sequence[str], folder: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, check=False, capture_output=True)
    return time.perf_counter() - started
