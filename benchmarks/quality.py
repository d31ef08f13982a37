"""How well the search answers three kinds of question: links, pasted sentences, and questions as people typed them.

All is asked as ``quire eval`` asks it: a link's question in an index without its own link, a sentence and a typed
question in an index of the pages as they are. Beside it SQLite's FTS5 over heading sections, the title four times.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import quire
from quire.evals.figures import Figure, figures
from quire.evals.link_free_index import FOLDS, build_index
from quire.evals.outcomes import DEPTH, Outcome, ask
from quire.evals.questions import HeldLink, Question, link_questions, pasted_questions, section_id
from quire.links.broken_links import LinkTargets
from quire.search.index_api import Index
from quire.search.search_settings import Mode, SearchSettings

_COLLECTIONS = {
    "Docker": "linkqa/docker",
    "Kubernetes": "linkqa/k8s",
    "Rust Book": "linkqa/rustbook",
    "FastAPI": "wild/fastapi",
    "Vue": "wild/vitepress",
    "Material for MkDocs": "wild/mkdocs-material",
}
_TYPED = {"Kubernetes": "questions/k8s.jsonl"}
_SENTENCES, _WORDS = 300, 8
_WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "without in-links": {"in_links": 0.0, "page_links": 0.0},
    "without title coverage": {"title_coverage": 0.0},
    "without adjacent words in bodies": {"adjacent_body": 0.0},
    "without coordination": {"coordination": 0.0},
    "news as the manual": {"news": 1.0},
    "without further sections of a page": {"page_sections": 0.0},
    "two results of a page": {"per_document": 2},
    "parents of any size": {"parent_size": 0},
}
"""What each ingredient is worth."""


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (data / "linkqa").is_dir():
        yield f"Not run: no link questions at {data / 'linkqa'}; set QUIRE_SHARED."
        return
    for name in _COLLECTIONS:
        yield from _measured(read_collection(data, name))
    yield from _EXPLAINED


_EXPLAINED = (
    "In brackets 95 % intervals; the other rows have differences to the first. *Links*: a link's text, asked in an",
    "index without that link; MRR@10. *Sentence*: sentences of 8 to 25 words that one section has, drawn with a fixed",
    "seed, and their first eight words; the share whose first hit has the sentence and is no whole page. *Typed*:",
    "questions as people wrote them, with published answers; MRR@10 and R@10. FTS5: heading sections, any word, BM25,",
    "the title four times.",
)


class Collection(NamedTuple):
    """Documents and what is asked about them."""

    name: str
    documents: Mapping[str, quire.Document]
    questions: Mapping[str, Sequence[Question]]
    """By kind: links, sentence, first words, typed."""


def read_collection(data: Path, name: str) -> Collection:
    """The documents of a collection, with its questions."""
    folder = data / _COLLECTIONS[name]
    paths = [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*.md"))]
    documents = {path: quire.parse((folder / path).read_bytes().decode(), path=path) for path in paths}
    trees, links = {"docs": documents}, folder.with_suffix(".jsonl")
    typed = [json.loads(line) for line in (data / _TYPED[name]).read_text().splitlines()] if name in _TYPED else []
    return Collection(
        name,
        documents,
        {
            "links": _linked(documents, links) if links.exists() else link_questions(trees),
            "sentence": pasted_questions(trees, _SENTENCES),
            "first words": pasted_questions(trees, _SENTENCES, _WORDS),
            "typed": [Question(record["q"], tuple(record["answers"])) for record in typed],
        },
    )


def _linked(documents: Mapping[str, quire.Document], file: Path) -> list[Question]:
    """The link questions of a file, with all links that have their words and their target."""
    targets, held = LinkTargets(documents), defaultdict[tuple[str, str], list[HeldLink]](list)
    for path, links in targets.links.items():
        for link in links:
            target = targets.resolve(path, link)
            if target.path and not target.problem:
                answer = section_id("docs", target.path, documents[target.path], target.section)
                held[_words(link.text), answer].append(HeldLink(f"docs:{path}", link))
    anchors = {
        (path, section.anchor): section_id("docs", path, document, section.number)
        for path, document in documents.items()
        for section in reversed(document.sections)
    }
    questions = []
    for record in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        answers = [anchors[path, slug] for path, slug in record["answers"] if (path, slug) in anchors]
        holding = [link for answer in answers for link in held[_words(record["query"]), answer]]
        questions += [Question(" ".join(record["query"].split()), tuple(answers), tuple(holding))] if answers else []
    return questions


def _words(text: str) -> str:
    return " ".join(re.sub(r"\s*\n\s*>?\s*", " ", text).split()).casefold()


def _measured(collection: Collection) -> Iterator[str]:
    kinds = {kind: questions for kind, questions in collection.questions.items() if questions}
    yield f"## {collection.name}: {len(collection.documents):,} pages"
    yield ""
    yield "| | " + " | ".join(f"{kind}, {len(questions):,}" for kind, questions in kinds.items()) + " |"
    yield "|---" * (len(kinds) + 1) + "|"
    rows: dict[str, Mapping[str, Any]] = {"quire": {}, **_WITHOUT}
    outcomes = asked(collection, [(SearchSettings(**settings), "words") for settings in rows.values()])
    for number, name in enumerate(rows):
        yield (
            f"| {name} | " + " | ".join(cell(kind, outcomes[kind][0], outcomes[kind][number]) for kind in kinds) + " |"
        )
    search = _fts5(collection.documents)
    shares = {kind: _first_right(search, kinds[kind]) for kind in ("sentence", "first words")}
    yield "| FTS5 | " + " | ".join(f"{shares[kind]:.3f}" if kind in shares else "" for kind in kinds) + " |"
    yield ""


def asked(
    collection: Collection,
    variants: Sequence[tuple[SearchSettings, Mode]],
    prepare: Callable[[Index], object] = lambda _: None,
) -> dict[str, list[list[Outcome]]]:
    """The outcomes of each kind of question, for each of the variants; ``prepare`` gets every index."""
    outcomes: dict[str, list[list[Outcome]]] = {kind: [[] for _ in variants] for kind in collection.questions}
    links = collection.questions["links"]
    folds: list[Mapping[str, Sequence[Question]]] = [{"links": links[number::FOLDS]} for number in range(FOLDS)]
    folds.append({kind: questions for kind, questions in collection.questions.items() if kind != "links"})
    for fold in folds:
        with build_index({"docs": collection.documents}, {}, fold.get("links", ())) as folder:
            for number, (settings, mode) in enumerate(variants):
                with Index.open(folder, settings=settings) as index:
                    prepare(index)
                    for kind, questions in fold.items():
                        outcomes[kind][number] += ask(index, questions, mode=mode)
    return outcomes


def cell(kind: str, first: Sequence[Outcome], outcomes: Sequence[Outcome]) -> str:
    """The figures of a kind of question; for other outcomes than the first, differences to them."""
    names = {"typed": ("mrr", "recall_10"), "links": ("mrr",)}.get(kind, ("recall_1",))
    if outcomes is first:
        return ", ".join(_shown(figures(outcomes)[name], "") for name in names)
    return ", ".join(_shown(figures(first, outcomes)[name], "+") for name in names)


def _shown(figure: Figure, sign: str) -> str:
    value, low, high = (f"{number or 0.0:{sign}.3f}" for number in figure)
    return f"{value} ({low} to {high})"


def _first_right(search: Callable[[str], Sequence[str]], questions: Sequence[Question]) -> float:
    return sum(not set(search(question.query)[:1]).isdisjoint(question.answers) for question in questions) / len(
        questions
    )


def _fts5(documents: Mapping[str, quire.Document]) -> Callable[[str], Sequence[str]]:
    """SQLite's full-text search over heading sections; the ids of the best."""
    table = sqlite3.connect(":memory:")
    table.execute("create virtual table sections using fts5(title, body, id unindexed)")
    for path, document in documents.items():
        for section in document.sections:
            row = (section.title, document.text[section.body_start : section.body_end])
            table.execute(
                "insert into sections values (?, ?, ?)", (*row, section_id("docs", path, document, section.number))
            )
    order = "select id from sections where sections match ? order by bm25(sections, 4.0, 1.0) limit ?"

    def search(text: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        return [row[0] for row in table.execute(order, (words, DEPTH))]

    return search
