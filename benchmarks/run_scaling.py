"""``quire chunk --engine`` with one and with two workers: in processes of this machine, and on two Ray nodes."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.many import filled
from quire.run.dataset import write_parts
from quire.run.engines import ENGINES
from quire.run.parts import parts_of

MEGABYTES = int(os.environ.get("QUIRE_SCALING_MB", "40"))
ROUNDS = int(os.environ.get("QUIRE_SCALING_ROUNDS", "3"))


def run() -> list[str]:
    """A table as lines of Markdown."""
    documents = measure.documents()
    if not documents or find_spec("ray") is None:
        return ["Not run: needs Ray, and QUIRE_SHARED as a folder with Markdown files."]
    best = {(engine, workers): float("inf") for engine in ENGINES for workers in (1, 2)}
    with filled(documents, MEGABYTES) as (folder, _, count), _two_nodes():
        for _ in range(ROUNDS):
            for (engine, workers), before in best.items():
                best[engine, workers] = min(before, _seconds(folder, engine, workers))
    load = os.getloadavg()[1]
    return [
        f"{count:,} documents, {MEGABYTES} MB, `packed`, to Parquet. The best of {ROUNDS} rounds in turn.",
        f"`ray` runs on two nodes of this machine with one core each. Load average at the end: {load:.1f}.",
        "",
        "| engine | one worker, s | two, s | gain |",
        "|---|---|---|---|",
        *(_row(name, best[name, 1], best[name, 2]) for name in ENGINES),
    ]


def _row(name: str, one: float, two: float) -> str:
    return f"| {name} | {one:.1f} | {two:.1f} | {one / two:.2f} |"


@contextmanager
def _two_nodes() -> Iterator[Any]:
    import ray  # noqa: PLC0415  an extra
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, log_to_driver=False)
    try:
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()


def _seconds(folder: Path, engine: str, workers: int) -> float:
    """How long a run takes, with listing the documents."""
    with tempfile.TemporaryDirectory(
        dir=folder
    ) as output:  # a new one each time: a dataset that is there is not made again
        started = time.perf_counter()
        parts, _ = parts_of(str(folder / "in"))
        for _ in write_parts(parts, output, engine=engine, workers=workers):
            pass
        return time.perf_counter() - started
