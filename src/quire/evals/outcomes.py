"""Asking questions: at which rank the right section is found, and how many tokens are read until then.

A hit is right if it is an answer, lies inside one, or contains one without being the whole document. If an answer is a
whole document, any section of it is right. Hits in the documents that hold a question's link are skipped. Ranks count
all hits, also those that an answer of the usual length leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from quire.errors import InputError, NotFoundError, QueryError
from quire.evals.questions import Question
from quire.indexed import Index
from quire.search.fusion import Mode
from quire.search.hit import Hit

if TYPE_CHECKING:
    from quire.index.read_files import OnProgress

DEPTH = 10
"""How many hits are looked at."""
_MOST_HITS = 1_000


class Outcome(NamedTuple):
    """The result of asking one question."""

    question: Question
    rank: int
    """Of the first right hit; 0 if there is none."""
    tokens: int
    """Of all hits up to the right one, in an answer of the usual length; 0 if it does not have the right one."""
    first: str
    """The id of the first hit; empty if nothing was found."""
    repeats_title: bool
    """Whether the query is the title of an answer, which makes it easy."""


def ask(
    index: Index,
    questions: Sequence[Question],
    *,
    trees: Sequence[str] | None = None,
    path: Sequence[str] | None = None,
    mode: Mode = "words",
    on_progress: OnProgress | None = None,
) -> list[Outcome]:
    """Ask each question; ``trees`` and ``path`` restrict the search. An answer must be in what is searched."""
    searched = {record.id for record in index.documents(path=path) if trees is None or record.tree in trees}
    outcomes = []
    for done, question in enumerate(questions):
        if on_progress:
            on_progress(done, len(questions), question.query)
        answers = _find_answers(index, question, searched)
        search = partial(index.search, trees=trees, path=path, mode=mode)
        ranked = _hits(partial(search, every=True, max_tokens=0), question)
        outcomes.append(_outcome(question, answers, ranked, _hits(search, question)))
    return outcomes


def _find_answers(index: Index, question: Question, searched: Container[str]) -> list[Hit]:
    hits = []
    for answer in question.answers:
        try:
            hit = index.get(answer)
        except NotFoundError as error:
            raise InputError(question.line or question.query, f"answer {error.problem}", error.advice) from error
        if _document_id(hit) not in searched:
            problem = f"answer {answer}: not in the documents that are searched"
            raise InputError(
                question.line or question.query, problem, "name its folder, too, or leave the question out"
            )
        hits.append(hit)
    return hits


def _outcome(question: Question, answers: Sequence[Hit], ranked: Sequence[Hit], shown: Sequence[Hit]) -> Outcome:
    titles = {answer.title.casefold() for answer in answers}
    is_right_hit = has_sentence if question.is_pasted else is_right
    return Outcome(
        question=question,
        rank=_rank(ranked, answers, is_right_hit),
        tokens=sum(hit.tokens for hit in shown[: _rank(shown, answers, is_right_hit)]),
        first=ranked[0].id if ranked else "",
        repeats_title=question.query.casefold() in titles,
    )


def _rank(hits: Sequence[Hit], answers: Sequence[Hit], is_right_hit: Callable[[Hit, Hit], bool]) -> int:
    """The rank of the first right hit; 0 if there is none."""
    right = (rank for rank, hit in enumerate(hits, start=1) if any(is_right_hit(hit, answer) for answer in answers))
    return next(right, 0)


def _document_id(hit: Hit) -> str:
    return f"{hit.tree}:{hit.path}"


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


def is_right(hit: Hit, answer: Hit) -> bool:
    """Whether a hit is an answer, lies inside it, or contains it without being the whole document."""
    if _document_id(hit) != _document_id(answer):
        return False
    if answer.depth == 0:
        return True
    lies_inside = answer.span.start <= hit.span.start and hit.span.end <= answer.span.end
    return hit.depth > 0 and (lies_inside or _contains(hit, answer))


def has_sentence(hit: Hit, answer: Hit) -> bool:
    """Whether a hit has a sentence of an answer's own text: it is the answer, or contains it, but no whole document."""
    return hit.id == answer.id or (
        hit.depth > 0 and _document_id(hit) == _document_id(answer) and _contains(hit, answer)
    )


def _contains(hit: Hit, answer: Hit) -> bool:
    return hit.span.start <= answer.span.start and answer.span.end <= hit.span.end
