"""Folds: each question made from links is asked in an index whose documents lack its own links.

Otherwise a search that uses the words of links would know the answer.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from quire.evals.outcomes import Outcome, ask
from quire.evals.questions import Question, Trees
from quire.indexed import Index
from quire.model import Link
from quire.search.fusion import Mode
from quire.search.ranking_settings import SearchSettings

if TYPE_CHECKING:
    from quire.index.read_files import OnProgress

FOLDS = 5
"""So many folds if all questions are asked: each leaves out a fifth of the links."""
SEED = 0
_LINK = re.compile(r"\[(.*)\]\(.*\)|\[(.*?)\](?:\[[^\[\]]*\])?", re.DOTALL)
"""The words of an inline link, or of one by reference or a wiki link."""


def sample(questions: Sequence[Question], most: int | None) -> list[Question]:
    """At most so many questions, always the same ones, in their order."""
    if most is None or most >= len(questions):
        return list(questions)
    return [questions[number] for number in sorted(Random(SEED).sample(range(len(questions)), most))]  # noqa: S311


def ask_in_folds(
    trees: Trees,
    languages: Mapping[str, str],
    questions: Sequence[Question],
    total: int,
    *,
    settings: Sequence[SearchSettings],
    mode: Mode = "words",
    embedder: object = None,
    on_progress: OnProgress | None = None,
) -> list[list[Outcome]]:
    """The outcomes of questions made from links, for each of ``settings``. ``total`` counts them before sampling.

    Other modes than ``words`` need an ``embedder``.
    """
    outcomes: list[list[Outcome]] = [[] for _ in settings]
    for fold in _folds(questions, total):
        with build_index(trees, languages, fold, on_progress) as folder:
            for number, search_settings in enumerate(settings):
                with Index.open(folder, settings=search_settings) as index:
                    if mode != "words":
                        index.embed(embedder, on_progress=on_progress)
                    outcomes[number] += ask(index, fold, mode=mode, on_progress=on_progress)
    return [sorted(search_settings, key=lambda outcome: outcome.question.query) for search_settings in outcomes]


def _folds(questions: Sequence[Question], total: int) -> list[Sequence[Question]]:
    """The questions in as few parts as leave out at most a fifth of the links."""
    count = max(1, -(-FOLDS * len(questions) // total))
    shuffled = Random(SEED).sample(questions, len(questions))  # noqa: S311
    return [shuffled[number::count] for number in range(count)]


@contextmanager
def build_index(
    trees: Trees, languages: Mapping[str, str], questions: Sequence[Question], on_progress: OnProgress | None = None
) -> Iterator[Path]:
    """The folder of a temporary index of ``trees`` without the links of ``questions``."""
    left_out: dict[str, list[Link]] = defaultdict(list)
    for question in questions:
        for held in question.links:
            left_out[held.document].append(held.link)
    with tempfile.TemporaryDirectory(prefix="quire-eval-") as folder:
        copies = {tree: Path(folder, "trees", str(number)) for number, tree in enumerate(trees)}
        for tree, documents in trees.items():
            for path, document in documents.items():
                copy = copies[tree] / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(without_links(document.text, left_out[f"{tree}:{path}"]).encode())
        with Index.open(Path(folder, "index")) as index:
            index.update(copies, languages=languages, on_progress=on_progress)
        yield Path(folder, "index")


def without_links(text: str, links: Sequence[Link]) -> str:
    r"""``text`` with ``\[words\]`` in the place of each link ``[words](target)``, so that all words stay."""
    kept, start = [], 0
    for link in sorted(links, key=lambda held: held.start):
        match = _LINK.fullmatch(text, link.start, link.end)
        if match:
            kept += [text[start : link.start], f"\\[{match[1] or match[2]}\\]"]
            start = link.end
    return "".join([*kept, text[start:]])
