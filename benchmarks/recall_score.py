"""How much of an answered passage the best chunks bring: within the first five, or within a number of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchmarks.recall_sets import Question, Span

CHUNKS = 5
BUDGETS = (1_000, 2_000)
MEASURES = (f"R@{CHUNKS}", *(f"{budget // 1_000}k" for budget in BUDGETS))


class Ranked(NamedTuple):
    """A chunk in the order of relevance: its document, its span there, the tokens of the text that was embedded."""

    path: str
    start: int
    end: int
    tokens: int


def scores(best: Sequence[Ranked], question: Question) -> tuple[float, ...]:
    """The share of the passages in the first chunks, and within each budget of tokens, from 0 to 1."""
    return (share(best[:CHUNKS], question), *(share(within(best, budget), question) for budget in BUDGETS))


def within(best: Iterable[Ranked], budget: int) -> list[Ranked]:
    """The chunks that fit a budget; one that does not fit whole counts with its first part."""
    taken: list[Ranked] = []
    for chunk in best:
        if budget <= 0:
            break
        length = int((chunk.end - chunk.start) * min(1, budget / max(chunk.tokens, 1)))
        taken.append(chunk._replace(end=chunk.start + length))
        budget -= chunk.tokens
    return taken


def share(chunks: Iterable[Ranked], question: Question) -> float:
    """The share of the question's passages that the chunks cover, counted in characters."""
    spans = sorted((chunk.start, chunk.end) for chunk in chunks if chunk.path == question.path)
    covered = sum(_covered(spans, passage) for passage in question.passages)
    return covered / sum(end - start for start, end in question.passages)


def _covered(spans: Sequence[Span], passage: Span) -> int:
    """How many characters of a passage are in at least one of the sorted spans."""
    at, end = passage
    covered = 0
    for first, last in spans:
        first, last = max(first, at), min(last, end)  # noqa: PLW2901
        if first < last:
            covered += last - first
            at = last
    return covered
