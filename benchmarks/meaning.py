"""Search by meaning: whether it answers better, what a query costs, and how fast texts are embedded."""

from __future__ import annotations

import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import quire
from benchmarks import measure
from quire.evals.figures import differences, figures
from quire.evals.folds import FOLDS, build_index
from quire.evals.outcomes import Outcome, ask
from quire.evals.questions import Question, link_questions
from quire.index.engine.analysis import terms
from quire.indexed import Index
from quire.search.fusion import Mode

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
    for name, folder in (("Docker", "docker"), ("Kubernetes", "k8s")):
        yield from _quality(name, data / "linkqa" / folder)
    yield from _QUALITY
    yield from _query_cost(data / "linkqa")
    yield from _embedding()


_QUALITY = (
    "A question is a link's text, asked in an index without its own link, as `quire eval` does it. *No common word*:",
    "no word of the question, stemmed, is in the heading of an answer. In brackets: the difference to `words`, with",
    "its 95 % interval.",
    "",
)


def _quality(name: str, folder: Path) -> Iterator[str]:
    documents = {
        file.relative_to(folder).as_posix(): quire.parse(
            file.read_bytes().decode(), path=file.relative_to(folder).as_posix()
        )
        for file in sorted(folder.rglob("*.md"))
    }
    questions = link_questions({"docs": documents})
    found: dict[Mode, list[Outcome]] = {mode: [] for mode in MODES}
    unlike: set[Question] = set()
    for number in range(FOLDS):
        with build_index({"docs": documents}, {}, questions[number::FOLDS]) as made, Index.open(made) as index:
            index.embed(_EMBEDDER)
            unlike |= {each for each in questions[number::FOLDS] if not _has_common_word(index, each)}
            for mode in MODES:
                found[mode] += ask(index, questions[number::FOLDS], mode=mode)
    yield f"## {name}: {len(documents):,} pages, {len(questions):,} questions, {len(unlike):,} without a common word"
    yield ""
    yield "| | MRR@10 | recall at 10 | MRR@10, no common word | recall at 10, no common word |"
    yield "|---|---|---|---|---|"
    hard = {mode: [each for each in outcomes if each.question in unlike] for mode, outcomes in found.items()}
    for mode in MODES:
        cells = [_cell(each["words"], each[mode], name) for each in (found, hard) for name in ("mrr", "recall_10")]
        yield f"| {mode} | {' | '.join(cells)} |"
    yield ""


def _has_common_word(index: Index, question: Question) -> bool:
    asked = set(terms(question.query, "english"))
    return any(asked & set(terms(index.get(answer).title, "english")) for answer in question.answers)


def _cell(words: Sequence[Outcome], outcomes: Sequence[Outcome], name: str) -> str:
    value = f"{figures(outcomes)[name].value:.3f}"
    if outcomes is words:
        return value
    change = differences(words, outcomes)[name]
    return f"{value} ({change.value:+.3f}, {change.low:+.3f} to {change.high:+.3f})"


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

    from quire.embed import resolve  # noqa: PLC0415

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
