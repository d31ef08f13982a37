"""Asking questions: at which rank the right section is found, and how many tokens are read until then.

Hits in the documents that hold a question's link are skipped.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from quire.errors import InputError, NotFoundError, QueryError
from quire.evals.questions import Question
from quire.index.read_files import OnProgress
from quire.search.hit import Hit
from quire.search.index_api import Index
from quire.search.search_settings import Mode

DEPTH = 10  # how many hits are looked at


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
    others = [record.id for record in index.documents() if trees is not None and record.tree not in trees]
    outcomes = []
    for done, question in enumerate(questions):
        if on_progress:
            on_progress(done, len(questions), question.query)
        try:
            answers = [index.get(name, without=[*others, *without]) for name in question.answers]
        except NotFoundError as error:
            problem = f"answer not found in what is searched: {error.problem}"
            raise InputError(question.line or question.query, problem, error.advice) from error
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
    try:
        results = search(question.query, limit=DEPTH * (2 if question.holders else 1))
    except QueryError as error:
        if question.line:
            raise InputError(question.line, f"invalid query: {error.problem}", error.advice) from error
        return []  # the text of a link need not be a query
    return [hit for hit in results if f"{hit.tree}:{hit.path}" not in question.holders][:DEPTH]


def _rank(hits: Sequence[Hit], answers: Sequence[Hit], question: Question) -> int:
    for rank, hit in enumerate(hits, start=1):
        if any(is_right(hit, answer, is_pasted=question.is_pasted) for answer in answers):
            return rank
    return 0


def is_right(hit: Hit, answer: Hit, *, is_pasted: bool = False) -> bool:
    """Whether a hit is an answer, contains it without being the whole document, or lies inside it."""
    # A section inside an answer does not have the sentence of it that was pasted.
    if (hit.tree, hit.path) != (answer.tree, answer.path):
        return False
    outer, inner = answer.span, hit.span
    contains = hit.depth > 0 and inner.start <= outer.start and outer.end <= inner.end
    if is_pasted:
        return contains or hit.id == answer.id
    return contains or answer.depth == 0 or (hit.depth > 0 and outer.start <= inner.start and inner.end <= outer.end)
