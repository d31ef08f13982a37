"""How well SQLite's FTS5 answers the same link questions, over sections that a regular expression finds.

Forty lines that many programs have. It is asked as quire is: in copies of the pages without the questions' own links.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import linkqa
from benchmarks.linkqa import Collection, Place
from quire.tokens.tokenizers import resolve

_HEADING = re.compile(r"^(?:(```|~~~)(?s:.*?)^\1|(#{1,6})[ \t]+([^\n]*)$)", re.MULTILINE)
_FRONT = re.compile(r"---\n(?:.*\n)*?title:[ ]*(.*)\n")


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


def sections(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Title, start, end and text of each section of a page, the part above the first heading included."""
    marks = [(match.start(), match[3]) for match in _HEADING.finditer(text) if match[2]]
    front = _FRONT.match(text)
    starts = [(0, front[1] if front else ""), *marks]
    for (start, title), (end, _) in zip(starts, [*marks, (len(text), "")], strict=True):
        if body := text[start:end].strip():
            yield title, start, end, body


class _Fts5:
    """The sections of pages in a table of FTS5."""

    def __init__(self, collection: Collection, folder: Path) -> None:
        self._table = sqlite3.connect(":memory:")
        self._table.execute("CREATE VIRTUAL TABLE s USING fts5(title, body, tokenize = 'porter unicode61')")
        self._places: list[Place] = []
        count = resolve(None, "o200k_base").count
        for path in collection.sections:
            for title, start, end, body in sections((folder / path).read_bytes().decode()):
                self._table.execute("INSERT INTO s VALUES (?, ?)", (title, body))
                self._places.append(Place(path, start, end, count(body)))

    def search(self, text: str, limit: int) -> list[Place]:
        """The best sections; any word may match."""
        query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        if not query:
            return []
        order = "SELECT rowid FROM s WHERE s MATCH ? ORDER BY bm25(s, 4.0, 1.0) LIMIT ?"
        return [self._places[row - 1] for (row,) in self._table.execute(order, (query, limit))]
