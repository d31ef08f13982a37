"""This version beside an earlier one: the time from text to chunks, with every field of every chunk read.

Each version has a process of its own; both cut the same documents in turn, a few at a time, and the best of several
rounds counts for each document. The earlier version is taken from the repository's history (``QUIRE_BASE`` names the
commit). ``python -m benchmarks.versions STEP`` is such a process.
"""

from __future__ import annotations

import gc
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import quire
from benchmarks import measure

BASE = os.environ.get("QUIRE_BASE", "37114f3")
"""The commit of version 0.1.0."""
ROUNDS = 4
_BATCH = 40
_ROOT = Path(__file__).parents[1]
_HOSTILE = "# a\nb\n" * 20_000
_SMALL = 1_500
RUNS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("`packed`", "packed", {}),
    ("`packed`, 512/256", "packed", {"hard_cap": 512, "target": 256}),
    ("`flow`", "flow", {}),
    ("`sections`", "sections", {}),
    ("`tree`", "tree", {}),
)


def texts(step: int) -> list[str]:
    """Docker's and Kubernetes' documents, every so many, and last a hostile one."""
    names = ("linkqa/docker/", "linkqa/k8s/")
    chosen = [text for name, text in measure.documents() if name.startswith(names)]
    return [*chosen[::step], _HOSTILE]


def run(step: int = 1) -> Iterator[str]:
    """The page as lines of Markdown."""
    documents = texts(step)
    megabytes = sum(len(text.encode()) for text in documents[:-1]) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        workers = [_Worker(unpack(Path(folder)), step), _Worker(_ROOT / "src", step)]
        yield f"{len(documents) - 1:,} documents of Docker and Kubernetes, {megabytes:.1f} MB; 0.1.0 is commit {BASE}."
        yield ""
        yield "| strategy | 0.1.0, ms/MB | now, ms/MB | ratio | small documents, µs | hostile heading, µs |"
        yield "|---|---|---|---|---|---|"
        for label, strategy, options in RUNS:
            old, new = _best(workers, strategy, options, len(documents))
            small = [number for number, text in enumerate(documents) if len(text) < _SMALL]
            means = [sum(times[number] for number in small) / len(small) * 1e6 for times in (old, new)]
            heads = [times[-1] / _HOSTILE.count("#") * 1e6 for times in (old, new)]
            sums = [sum(times[:-1]) * 1000 / megabytes for times in (old, new)]
            yield (
                f"| {label} | {sums[0]:.1f} | {sums[1]:.1f} | {sums[1] / sums[0]:.2f} "
                f"| {means[0]:.0f}, {means[1]:.0f} | {heads[0]:.1f}, {heads[1]:.1f} |"
            )
        for worker in workers:
            worker.stop()


def unpack(folder: Path) -> Path:
    """The sources of the earlier version, unpacked into a folder."""
    archive = subprocess.run(["git", "archive", BASE, "src"], cwd=_ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / "src"


class _Worker:
    """A process that cuts documents with one version."""

    def __init__(self, source: Path, step: int) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{_ROOT}"}
        command = [sys.executable, "-m", "benchmarks.versions", str(step)]
        self._process = subprocess.Popen(
            command, cwd=source.parent, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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


def _serve(step: int) -> None:
    documents = texts(step)
    names = [each.name for each in fields(quire.Chunk)] + ["content_hash"]
    measure.load()
    gc.disable()
    for line in sys.stdin:
        strategy, options, first, last = json.loads(line)
        taken = []
        for text in documents[first:last]:
            started = time.thread_time()
            for chunk in quire.chunk(text, strategy, path="docs/a.md", **options):
                for name in names:
                    getattr(chunk, name)
            taken.append(time.thread_time() - started)
        gc.collect()
        print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
