"""Asking questions: at which rank the right section is found, and how many tokens are read until then.

Hits in the documents that hold a question's link are skipped, and it is asked in an index whose documents lack that
link: a search that uses the words of links would know the answer.
"""

import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import NamedTuple

from quire.errors import InputError, NotFoundError, QueryError
from quire.evals.questions import SEED, Question, Trees
from quire.index.read_files import OnProgress
from quire.model.document import Link
from quire.search.hit import Hit
from quire.search.index_api import Index
from quire.search.search_settings import Mode, SearchSettings

DEPTH = 10  # how many hits are looked at
_MOST_HITS = 1_000
FOLDS = 5  # so many if all questions are asked
_LINK = re.compile(r"\[(.*)\]\(.*\)|\[(.*?)\](?:\[[^\[\]]*\])?", re.DOTALL)  # the words of any kind of link


class Outcome(NamedTuple):
    """The result of asking one question."""

    question: Question
    rank: int  # of the first right hit; 0 if there is none
    tokens: int  # of all hits up to the right one, in an answer of the usual length; 0 if it does not have that
    first: str  # the id of the first hit; empty if nothing was found
    repeats_title: bool  # whether the query is the title of an answer, which makes it easy


def ask(
    index: Index,
    questions: Sequence[Question],
    *,
    trees: Sequence[str] | None = None,
    without: Sequence[str] = (),
    mode: Mode = "words",
    on_progress: OnProgress | None = None,
) -> list[Outcome]:
    """Ask each question in ``trees``, ``without`` some documents. An answer must be in what is searched."""
    searched = {record.id for record in index.documents() if trees is None or record.tree in trees}.difference(without)
    outcomes = []
    for done, question in enumerate(questions):
        if on_progress:
            on_progress(done, len(questions), question.query)
        try:
            answers = [index.get(name) for name in question.answers]
            for name, answer in zip(question.answers, answers, strict=True):
                if _document_id(answer) not in searched:
                    problem = f"{name}: not in the documents that are searched"
                    raise NotFoundError(problem, "name its folder, too, or leave the question out")  # noqa: TRY301
        except NotFoundError as error:
            raise InputError(question.line or question.query, f"answer {error.problem}", error.advice) from error
        search = partial(index.search, trees=trees, without=without or None, mode=mode)
        ranked = _hits(partial(search, every=True, max_tokens=0), question)
        shown = _hits(search, question)
        tokens = sum(hit.tokens for hit in shown[: _rank(shown, answers, question)])
        first = ranked[0].id if ranked else ""
        repeats_title = question.query.casefold() in {answer.title.casefold() for answer in answers}
        outcomes.append(Outcome(question, _rank(ranked, answers, question), tokens, first, repeats_title))
    return outcomes


def _hits(search: Callable[..., Sequence[Hit]], question: Question) -> list[Hit]:
    """The best hits that are not in a document with the question's link."""
    limit = DEPTH * (2 if question.holders else 1)
    while True:
        try:
            results = search(question.query, limit=limit)
        except QueryError as error:
            if question.line:
                raise InputError(question.line, f"invalid query: {error.problem}", error.advice) from error
            return []  # the text of a link need not be a query
        hits = [hit for hit in results if _document_id(hit) not in question.holders]
        if len(hits) >= DEPTH or len(results) < limit or limit >= _MOST_HITS:
            return hits[:DEPTH]
        limit *= 3


def _rank(hits: Sequence[Hit], answers: Sequence[Hit], question: Question) -> int:
    for rank, hit in enumerate(hits, start=1):
        if any(is_right(hit, answer, is_pasted=question.is_pasted) for answer in answers):
            return rank
    return 0


def is_right(hit: Hit, answer: Hit, *, is_pasted: bool = False) -> bool:
    """Whether a hit is an answer, contains it without being the whole document, or lies inside it."""
    # A section inside an answer does not have the sentence of it that was pasted.
    if _document_id(hit) != _document_id(answer):
        return False
    outer, inner = answer.span, hit.span
    contains = hit.depth > 0 and inner.start <= outer.start and outer.end <= inner.end
    if is_pasted:
        return contains or hit.id == answer.id
    return contains or answer.depth == 0 or (hit.depth > 0 and outer.start <= inner.start and inner.end <= outer.end)


def _document_id(hit: Hit) -> str:
    return f"{hit.tree}:{hit.path}"


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
