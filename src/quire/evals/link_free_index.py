"""A question made from links is asked in an index whose documents lack these links.

A search that uses the words of links would know the answer.
"""

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from random import Random

from quire.evals.outcomes import Outcome, ask
from quire.evals.questions import SEED, Question, Trees
from quire.index.read_files import OnProgress
from quire.model.document import Link
from quire.search.index_api import Index
from quire.search.search_settings import Mode, SearchSettings

FOLDS = 5  # so many if all questions are asked
_LINK = re.compile(r"\[(.*)\]\(.*\)|\[(.*?)\](?:\[[^\[\]]*\])?", re.DOTALL)  # the words of any kind of link


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
    """The outcomes of questions made from links, for each of ``settings``. ``total`` counts them before sampling."""
    # As few folds as leave out at most a fifth of the links. Modes other than ``words`` need an ``embedder``.
    outcomes: list[list[Outcome]] = [[] for _ in settings]
    count = max(1, -(-FOLDS * len(questions) // total))
    shuffled = Random(SEED).sample(questions, len(questions))  # noqa: S311
    for fold in [shuffled[number::count] for number in range(count)]:
        with build_index(trees, languages, fold, on_progress) as folder:
            for number, search_settings in enumerate(settings):
                with Index.open(folder, settings=search_settings) as index:
                    if mode != "words":
                        index.embed(embedder, on_progress=on_progress)
                    outcomes[number] += ask(index, fold, mode=mode, on_progress=on_progress)
    return [sorted(search_settings, key=lambda outcome: outcome.question.query) for search_settings in outcomes]


@contextmanager
def build_index(
    trees: Trees, languages: Mapping[str, str], questions: Sequence[Question], on_progress: OnProgress | None = None
) -> Iterator[Path]:
    """The folder of a temporary index of ``trees`` without the links of ``questions``."""
    left_out: dict[str, list[Link]] = defaultdict(list)
    for held in chain.from_iterable(question.links for question in questions):
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
    for link in sorted(links, key=lambda link: link.start):
        match = _LINK.fullmatch(text, link.start, link.end)
        if match:
            kept += [text[start : link.start], f"\\[{match[1] or match[2]}\\]"]
            start = link.end
    return "".join([*kept, text[start:]])
