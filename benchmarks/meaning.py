"""Search by meaning: whether it answers better, what a query costs, and how fast texts are embedded."""

from __future__ import annotations

import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import quire
from benchmarks import measure, quality
from quire.search.index_api import Index
from quire.search.search_settings import Mode, SearchSettings

MODES: tuple[Mode, ...] = ("words", "hybrid", "meaning")
_EMBEDDER = "wordllama"
_NODES = 60_000
_QUERIES = 100
_ROUNDS = 3
_TEXTS = 1_024


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if find_spec(_EMBEDDER) is None or not (data / "linkqa").is_dir():
        yield f"Not run: needs wordllama, and pages at {data / 'linkqa'}."
        return
    for name in ("Docker", "Kubernetes"):
        yield from _quality(quality.read_collection(data, name))
    yield from _QUALITY
    yield from _query_cost(data / "linkqa")
    yield from _embedding()


_QUALITY = (
    "The questions of `quality.md`, asked in the same way. The other rows have differences to `words`.",
    "",
)


def _quality(collection: quality.Collection) -> Iterator[str]:
    variants = [(SearchSettings(), mode) for mode in MODES]
    outcomes = quality.asked(collection, variants, lambda index: index.embed(_EMBEDDER))
    kinds = [kind for kind, questions in collection.questions.items() if questions]
    yield f"## {collection.name}"
    yield ""
    yield "| | " + " | ".join(kinds) + " |"
    yield "|---" * (len(kinds) + 1) + "|"
    for number, mode in enumerate(MODES):
        cells = [quality.cell(kind, outcomes[kind][0], outcomes[kind][number]) for kind in kinds]
        yield f"| {mode} | {' | '.join(cells)} |"
    yield ""


def _query_cost(data: Path) -> Iterator[str]:
    """The CPU time of queries in an index with many nodes, all of which have a vector of their own."""
    lines = (data / "docker.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [" ".join(json.loads(line)["query"].split()) for line in lines[:: len(lines) // _QUERIES]]
    with tempfile.TemporaryDirectory() as folder, Index.open(Path(folder) / "index") as index:
        trees = {"copy0": data / "docker"}
        copies = -(-_NODES // index.update(trees).nodes)
        for number in range(1, copies):
            trees[f"copy{number}"] = _copy(data / "docker", Path(folder) / f"copy{number}", number)
        nodes = index.update(trees).nodes
        index.embed(_EMBEDDER)
        rows = {mode: [float("inf")] * len(queries) for mode in MODES}
        for number, query in [*enumerate(queries)] * _ROUNDS:
            for mode in MODES:
                taken = _cpu(lambda query=query, mode=mode: index.search(query, mode=mode))  # type: ignore[misc]
                rows[mode][number] = min(rows[mode][number], taken)
    yield f"## A query, {nodes:,} nodes, {len(queries)} questions"
    yield ""
    yield "| | CPU ms, median | to words |"
    yield "|---|---|---|"
    middle = {mode: statistics.median(times) for mode, times in rows.items()}
    for mode in MODES:
        yield f"| {mode} | {1000 * middle[mode]:.1f} | {middle[mode] / middle['words']:.2f} |"
    yield ""
    yield f"All modes in turn for each question, the best of {_ROUNDS} times; answers as they are by default. The pages"
    yield f"are {copies} copies of Docker's with a number in every heading, so that no two have the same vector."
    yield ""


def _copy(pages: Path, folder: Path, number: int) -> Path:
    for file in pages.rglob("*.md"):
        copy = folder / file.relative_to(pages)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = re.sub(r"^(#{1,6} .*|title: .*)$", rf"\1 {number}", file.read_bytes().decode(), flags=re.MULTILINE)
        copy.write_bytes(text.encode())
    return folder


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _embedding() -> Iterator[str]:
    import wordllama  # noqa: PLC0415  an extra

    from quire.embed.embedder import resolve  # noqa: PLC0415

    texts = [each.embed_text for path, text in measure.documents() for each in quire.chunk(text, "packed", path=path)]
    own = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    model = resolve(_EMBEDDER)
    times = {"wordllama's own `embed`": 0.0, "quire": 0.0}
    for first in range(0, len(texts), _TEXTS):
        some = texts[first : first + _TEXTS]
        times["wordllama's own `embed`"] += _cpu(lambda some=some: own.embed(some, norm=True))  # type: ignore[misc]
        times["quire"] += _cpu(lambda some=some: model.embed(some))  # type: ignore[misc]
    yield f"## Embedding with wordllama: {len(texts):,} chunks of all documents at hand"
    yield ""
    yield "| | texts per CPU-s | to its own |"
    yield "|---|---|---|"
    slow = times["wordllama's own `embed`"]
    for name, taken in times.items():
        yield f"| {name} | {len(texts) / taken:,.0f} | {slow / taken:.2f} |"
