"""How well SQLite's FTS5 answers the same link questions, over sections that a regular expression finds.

It is asked as quire is: in copies of the pages without the questions' own links.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import fts5_table, linkqa
from benchmarks.linkqa import Collection, Place
from quire.tokens.tokenizers import resolve


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (data / "linkqa").is_dir():
        yield f"Not run: no link questions at {data / 'linkqa'}; set QUIRE_SHARED."
        return
    yield f"SQLite {sqlite3.sqlite_version}, the tokenizer `porter`, any word may match, ranked by `bm25`, the title"
    yield "four times: the best of 1, 2, 4 and 8 on Docker's (.605, .616, .620, .618), also without function words."
    yield "The questions, folds and figures are those of [quality](quality.md), where quire's figures are."
    yield ""
    yield "| | questions | MRR@10 | R@1 | R@5 | R@10 | tokens of ten sections |"
    yield "|---|---|---|---|---|---|---|"
    for collection in (linkqa.docker(data), linkqa.kubernetes(data), linkqa.rust_book(data)):
        outcomes = []
        with tempfile.TemporaryDirectory() as folder:
            for number, fold in enumerate(linkqa.write_folds(collection, Path(folder))):
                questions = [question for question in collection.questions if question.fold == number]
                outcomes += linkqa.asked(collection, _Fts5(collection, fold).search, questions=questions)
        figures = [linkqa.mrr(outcome.first(linkqa.DEPTH) for outcome in outcomes)]
        figures += [linkqa.recall(outcomes, depth) for depth in (1, 5, 10)]
        shown = " | ".join(f"{figure:.3f}" for figure in figures)
        yield f"| {collection.name} | {len(outcomes):,} | {shown} | {linkqa.tokens_returned(outcomes):,.0f} |"


class _Fts5:
    """The sections of pages in a table of FTS5, and where each is."""

    def __init__(self, collection: Collection, folder: Path) -> None:
        pages = {path: (folder / path).read_bytes().decode() for path in collection.sections}
        count = resolve(None, "o200k_base").count
        self._table = fts5_table.table(":memory:", pages.values())
        self._places = [
            Place(path, start, end, count(body))
            for path, page in pages.items()
            for _, start, end, body in fts5_table.sections(page)
        ]

    def search(self, text: str, limit: int) -> list[Place]:
        return [self._places[row - 1] for row, _ in fts5_table.search(self._table, text, limit)]
