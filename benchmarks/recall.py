"""Which chunks bring the answer? The share of the answered passage among the best chunks, with real embeddings.

Every cutter's chunks are embedded and ranked by cosine for each question. The budgets of tokens count the text that was
embedded, so a repeated heading is paid for. Neighbours: recall_sets.py, recall_cuts.py, recall_vectors.py,
recall_score.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import quire
from benchmarks import svg
from benchmarks.recall_cuts import DEFAULT, QUIRE, SMALL_TO_BIG, WIDE, Cutter, cutters
from benchmarks.recall_score import MEASURES, Ranked, scores
from benchmarks.recall_sets import QuestionSet, question_sets
from benchmarks.recall_vectors import NEEDS, Vectors, cache_folder

WINDOWS = (256, 512)
"""Tokens of a text that the model reads."""
PICTURE = Path(__file__).parent / "results" / "recall.svg"
_DEPTH = 60
"""Chunks that are ranked for a question: more than 2,000 tokens of them."""
_SAMPLES = 2_000
_WIDTH, _LEFT, _RIGHT, _TOP, _ROW = 900, 300, 250, 64, 24


class Result(NamedTuple):
    """What a cutter reached on a set."""

    chunks: int
    tokens: float
    """The mean of the embedded texts."""
    shares: Any
    """A matrix: a row for each question, a column for each measure, in percent."""

    @property
    def means(self) -> list[float]:
        """The mean of each measure."""
        return [float(mean) for mean in self.shares.mean(0)]


Results = Mapping[str, Result]
"""By the names of cutters."""


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    sets = list(question_sets(data))
    missing = [package for package in NEEDS if find_spec(package) is None]
    if missing or not sets:
        yield f"Not run: needs {', '.join(missing) or f'questions at {data}'}."
        return
    vectors, found = Vectors(cache_folder()), _available()
    tables = {(each.name, window): _results(each, found, vectors, window) for window in WINDOWS for each in sets}
    PICTURE.write_text(_picture({each.name: tables[each.name, WINDOWS[0]] for each in sets}), encoding="utf-8")
    yield from _ABOUT
    yield "![recall within 1,000 tokens](recall.svg)"
    for each in sets:
        for window in WINDOWS:
            yield from ("", f"## {each.name}, a window of {window} tokens", "")
            yield f"{len(each.texts)} documents, {len(each.questions)} questions."
            yield from ("", *_table(tables[each.name, window]))
            yield from ("", *_differences(tables[each.name, window]))


_ABOUT = (
    "The share of the answered passage, in percent, in the best five chunks (R@5) and in the best chunks that fill",
    "1,000 and 2,000 tokens; a chunk that does not fit whole counts with its first part. all-MiniLM-L6-v2, cosine. In",
    "brackets: 95 % of 2,000 bootstrap samples of the questions. Links of Kubernetes' and Docker's pages to one",
    "section each; the links themselves are taken out. Chroma's questions on three of its corpora, which have few",
    "headings. The sizes of `packed` without options were chosen on these questions, so its margins are optimistic.",
    "`expand` ranks pieces of 64 tokens and returns their sections; the tokens of the sections count.",
    "",
)


def _available() -> dict[str, Cutter]:
    """The cutters whose packages are installed."""
    found: dict[str, Cutter] = {}
    for name, make in cutters():
        try:
            found[name] = make()
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return found


def _results(questions: QuestionSet, found: Mapping[str, Cutter], vectors: Vectors, window: int) -> dict[str, Result]:
    results: dict[str, Result] = {}
    for name, cutter in found.items():
        if window > WINDOWS[0] and name not in WIDE:
            continue
        result = results[name] = measure(questions, cutter, vectors, window, is_expanded=name == SMALL_TO_BIG)
        means = ", ".join(f"{mean:.1f}" for mean in result.means)
        print(f"{questions.name} {window} {name}: {result.tokens:.0f} tokens, {means}", file=sys.stderr, flush=True)
    return results


def measure(
    questions: QuestionSet, cutter: Cutter, vectors: Vectors, window: int, *, is_expanded: bool = False
) -> Result:
    """Cut, embed, rank and score, if ``is_expanded`` the sections of the chunks."""
    import numpy as np  # noqa: PLC0415 - an extra

    chunks = [(path, chunk) for path, text in questions.texts.items() for chunk in cutter(path, text)]
    texts = [chunk.text for _, chunk in chunks]
    counts = vectors.token_counts(texts)
    ranked = [Ranked(path, chunk.start, chunk.end, count) for (path, chunk), count in zip(chunks, counts, strict=True)]
    asked = vectors.embed([question.text for question in questions.questions], window)
    order = np.argsort(-(asked @ vectors.embed(texts, window).T), axis=1, kind="stable")[:, :_DEPTH]
    shares = []
    for best, question in zip(order, questions.questions, strict=True):
        answer = [ranked[number] for number in best]
        shares.append(scores(_expanded(answer, questions.texts, vectors) if is_expanded else answer, question))
    return Result(len(chunks), float(np.mean(counts)), 100 * np.array(shares))


def _expanded(best: Sequence[Ranked], texts: Mapping[str, str], vectors: Vectors) -> list[Ranked]:
    rows = [{"source_path": each.path, "char_start": each.start, "char_end": each.end} for each in best]
    sections = quire.expand(rows, texts)
    counts = vectors.token_counts([section.embed_text for section in sections])
    places = [(section.source_path or "", section.source_position) for section in sections]
    return [Ranked(path, at.char_start, at.char_end, count) for (path, at), count in zip(places, counts, strict=True)]


def interval(shares: Any) -> tuple[Any, Any]:
    """The limits that hold 95 % of the means of resampled rows, for each column."""
    import numpy as np  # noqa: PLC0415 - an extra

    rows = np.random.default_rng(0).integers(0, len(shares), (_SAMPLES, len(shares)))
    low, high = np.percentile(shares[rows].mean(1), [2.5, 97.5], axis=0)
    return low, high


def _table(results: Results) -> Iterator[str]:
    yield f"| | chunks | tokens each | {' | '.join(MEASURES)} |"
    yield "|---" * (len(MEASURES) + 3) + "|"
    for name, result in results.items():
        yield f"| {name} | {result.chunks:,} | {result.tokens:.0f} | {' | '.join(_cells(result.shares, '.1f'))} |"


def _cells(shares: Any, form: str) -> Iterator[str]:
    for mean, low, high in zip(shares.mean(0), *interval(shares), strict=True):
        yield f"{mean:{form}} [{low:{form}}, {high:{form}}]"


def _differences(results: Results) -> Iterator[str]:
    """The default beside the peer that is best by each measure, question by question."""
    import numpy as np  # noqa: PLC0415 - an extra

    own, peers = results[DEFAULT], [name for name in results if name not in QUIRE]
    if not peers:
        return
    best = [max(peers, key=lambda name, at=at: results[name].means[at]) for at in range(len(MEASURES))]  # type: ignore[misc]
    others = np.stack([results[name].shares[:, at] for at, name in enumerate(best)], axis=1)
    cells = [
        f"{m} {cell} to {name}"
        for m, name, cell in zip(MEASURES, best, _cells(own.shares - others, "+.1f"), strict=True)
    ]
    yield f"{DEFAULT} without options, beside the best peer by each measure: {'; '.join(cells)}."


def _picture(tables: Mapping[str, Results]) -> str:
    """A bar for the mean of the sets at 1,000 tokens, and the figures of each set beside it."""
    at = MEASURES.index("1k")
    names = sorted(
        next(iter(tables.values())), key=lambda name: -sum(results[name].means[at] for results in tables.values())
    )
    heading = "How much of the answer is in the best 1,000 tokens of chunks, in percent"
    height = _TOP + _ROW * len(names) + 34
    column: Callable[[int], float] = lambda number: _WIDTH - 16 - 78.0 * (len(tables) - 1 - number)  # noqa: E731
    shapes = [svg.text(16, 26, heading, "title"), svg.text(_LEFT, 52, "mean of the sets", "small quiet")]
    shapes += [svg.text(column(number), 52, name, "small quiet", "end") for number, name in enumerate(tables)]
    for number, name in enumerate(names):
        figures = [results[name].means[at] for results in tables.values()]
        shapes += _bar(name, figures, _TOP + _ROW * number, [column(each) for each in range(len(tables))])
    below = f"all-MiniLM-L6-v2, a window of {WINDOWS[0]} tokens; headings and titles that are repeated count"
    return svg.picture(_WIDTH, height, heading, [*shapes, svg.text(16, height - 10, below, "small quiet")])


def _bar(name: str, figures: Sequence[float], top: float, columns: Sequence[float]) -> list[str]:
    mean, base = sum(figures) / len(figures), top + _ROW - 9
    length = mean / 100 * (_WIDTH - _LEFT - _RIGHT)
    return [
        svg.text(_LEFT - 10, base, name.replace("`", ""), anchor="end"),
        svg.bar(_LEFT, top + 3, length, _ROW - 8, "own" if name in QUIRE else "other"),
        svg.text(_LEFT + length + 6, base, f"{mean:.1f}", "small"),
        *(svg.text(x, base, f"{figure:.1f}", "small", "end") for x, figure in zip(columns, figures, strict=True)),
    ]
