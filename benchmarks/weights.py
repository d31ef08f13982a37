"""Weights of the ranking, chosen on one collection and reported on the other, both ways.

Each weight in turn is tried at some multiples of its value, and the best is kept. Choosing looks at some of the
questions, the report at all of them. Every question is asked in an index without its own link.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import asdict

from benchmarks import linkqa
from benchmarks.linkqa import Collection, Outcome, Place, Question
from quire.search.index_api import Index
from quire.search.search_settings import Boosts, SearchSettings

_MULTIPLES = (0.5, 0.7, 1.4, 2.0)
_SAMPLE = 500
"""How many questions the choice looks at."""
_NAMES = ("tie", "coordination", "adjacent", "title_coverage", "in_links", "page_links", "match_cutoff", "stub_tokens")

Weights = Mapping[str, float]
"""The weights by name; ``boosts.title`` is the weight of a field."""


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (data / "linkqa").is_dir():
        yield f"Not run: no link questions at {data / 'linkqa'}; set QUIRE_SHARED."
        return
    with tempfile.TemporaryDirectory() as folder:
        collections = [
            _indexed(collection, Path(folder) / collection.name)
            for collection in (linkqa.docker(data), linkqa.kubernetes(data), linkqa.rust_book(data))
        ]
        default = _defaults()
        chosen = {each.name: _chosen(each, default) for each in collections[:2]}
        rows = {"today's": default} | {f"chosen on {name}": weights for name, weights in chosen.items()}
        yield "| MRR@10 (not exact) R@10 | " + " | ".join(each.heading for each in collections) + " |"
        yield "|---" * (len(collections) + 1) + "|"
        for name, weights in rows.items():
            figures = [_figures(each.asked(weights)) for each in collections]
            yield f"| {name} | " + " | ".join(figures) + " |"
    yield ""
    for name, weights in chosen.items():
        changes = [f"{key} {weights[key]:.3g} ({default[key]:.3g})" for key in default if weights[key] != default[key]]
        yield f"Chosen on {name}, in brackets today's: {', '.join(changes) or 'no changes'}."
        yield ""
    multiples = ", ".join(f"{each:g}" for each in _MULTIPLES)
    yield f"Each weight in turn is tried at {multiples} times its value on {_SAMPLE} questions, and the best MRR@10 is"
    yield "kept. The table has all questions. A row says how well a choice carries over where it was not made."


@dataclass(frozen=True)
class _Indexed:
    """A collection with its indexes, each without the links of one fold's questions."""

    collection: Collection
    folders: Sequence[Path]

    @property
    def name(self) -> str:
        return self.collection.name

    @property
    def heading(self) -> str:
        return f"{self.name}, {len(self.collection.questions):,} questions"

    @property
    def sample(self) -> list[Question]:
        """Some questions, spread evenly over the list."""
        step = max(len(self.collection.questions) // _SAMPLE, 1)
        return list(self.collection.questions[::step][:_SAMPLE])

    def asked(self, weights: Weights, questions: Sequence[Question] | None = None) -> list[Outcome]:
        chosen = self.collection.questions if questions is None else questions
        outcomes: list[Outcome] = []
        for fold, folder in enumerate(self.folders):
            with Index.open(folder, settings=_settings(weights)) as index:
                mine = [question for question in chosen if question.fold == fold]
                outcomes += linkqa.asked(self.collection, _Search(index), questions=mine)
        return outcomes


@dataclass(frozen=True)
class _Search:
    index: Index

    def __call__(self, text: str, limit: int) -> list[Place]:
        return [
            Place(hit.path, hit.span.start, hit.span.end, hit.tokens, is_page=hit.depth == 0)
            for hit in self.index.search(text, limit=limit, every=True, max_tokens=0)
        ]


def _indexed(collection: Collection, folder: Path) -> _Indexed:
    pages = linkqa.write_folds(collection, folder / "pages")
    folders = [folder / f"index-{fold}" for fold in range(len(pages))]
    for index, fold in zip(folders, pages, strict=True):
        Index.open(index).update({"pages": fold})
    return _Indexed(collection, folders)


def _defaults() -> dict[str, float]:
    settings = SearchSettings()
    weights = {name: float(getattr(settings, name)) for name in _NAMES}
    return weights | {f"boosts.{name}": boost for name, boost in asdict(Boosts()).items()}


def _settings(weights: Weights) -> SearchSettings:
    boosts = {name.removeprefix("boosts."): value for name, value in weights.items() if name.startswith("boosts.")}
    numbers = {name: weights[name] for name in _NAMES if name != "stub_tokens"}
    return SearchSettings(boosts=Boosts(**boosts), stub_tokens=round(weights["stub_tokens"]), **numbers)


def _chosen(indexed: _Indexed, start: Weights) -> Weights:
    """The weights that answer a sample of a collection best, each tried in turn."""
    weights, sample = dict(start), indexed.sample
    best = linkqa.mrr(indexed.asked(weights, sample))
    for name in start:
        tried = {each * weights[name]: 0.0 for each in _MULTIPLES if name != "tie" or each * weights[name] <= 1}
        for value in tried:
            tried[value] = linkqa.mrr(indexed.asked({**weights, name: value}, sample))
        value = max(tried, key=lambda each: tried[each])
        if tried[value] > best:
            weights[name], best = value, tried[value]
    return weights


def _figures(outcomes: Sequence[Outcome]) -> str:
    hard = [each for each in outcomes if not each.question.exact]
    return f"{linkqa.mrr(outcomes):.3f} ({linkqa.mrr(hard):.3f}) {linkqa.recall(outcomes, linkqa.DEPTH):.3f}"
