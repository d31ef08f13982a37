"""How often the right section comes first, and among three, for questions as people ask them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from quire.evals.outcomes import Outcome, ask
from quire.evals.questions import read_questions
from quire.search.index_api import Index

_COLLECTIONS = {"kubernetes": "k8s", "docker": "docker"}
"""The file with questions, and the folder with the documents."""
_AMONG = 3


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[3] / "shared" / "data")) / "linkqa"
    if not data.is_dir():
        yield f"Not run: no documents at {data}; set QUIRE_SHARED."
        return
    asked = {name: _asked(name, data / folder) for name, folder in _COLLECTIONS.items()}
    yield f"| | questions | first hit right | among {_AMONG} |"
    yield "|---|---|---|---|"
    for name, outcomes in asked.items():
        yield _row(name.capitalize(), outcomes)
    yield _row("both", [each for outcomes in asked.values() for each in outcomes])
    yield ""
    yield "A hit is right when it is an answer, lies inside one, or contains one without being the whole page; if an"
    yield "answer is a whole page, any section of it is right."
    for name, outcomes in asked.items():
        yield from (
            "",
            f"## {name.capitalize()}: first hit wrong",
            "",
            "| question | right one at | first |",
            "|---|---|---|",
        )
        yield from (_miss(each) for each in outcomes if each.rank != 1)


def _asked(name: str, documents: Path) -> list[Outcome]:
    file = Path(__file__).with_name(f"{name}.jsonl")
    with tempfile.TemporaryDirectory() as folder, Index.open(folder) as index:
        index.update({name: documents})
        return ask(index, read_questions(file, file.name))


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    first, among = (sum(0 < each.rank <= depth for each in outcomes) for depth in (1, _AMONG))
    return f"| {name} | {len(outcomes)} | {first} | {among} |"


def _miss(outcome: Outcome) -> str:
    return f"| {outcome.question.query} | {outcome.rank or 'none'} | {outcome.first.partition(':')[2]} |"
