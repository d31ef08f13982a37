"""Questions whose answers are known: a link is a judgement of its author about what answers the link's text.

A hit is right when it is the answered section, lies inside it, or holds it without being the whole page; for a whole
page any section of it is right. Hits in a page that holds the link do not count either way.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

import quire
from quire.links.broken_links import LinkTargets
from quire.model.document import Link

DEPTH = 10
"""How many hits of an answer are looked at."""
FOLDS = 5
"""A question is asked in an index without its own link; so many indexes are made, each without a part of the links."""

_INLINE = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^)\s]+)\)")
_BY_NAME = re.compile(r"(?<!!)\[([^\[\]]+)\]\[([^\[\]]*)\]")
_NAMED = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*(\S+)", re.MULTILINE)
_QUOTES = '“”" '
_WORDLESS = re.compile(r"(?:chapter|appendix|section)\s+\w+|here|this", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A link's text and where it leads."""

    text: str
    """What is asked."""
    answers: tuple[tuple[str, str], ...]
    """Files and slugs; an empty slug is the whole page."""
    holders: frozenset[str]
    """The pages that hold the link."""
    exact: bool
    """Whether the text repeats the target's own title."""

    @property
    def is_in_first_half(self) -> bool:
        """One of two halves, so that a choice by one can be tried on the other; a page's questions are in one half."""
        return int(sha1(self.answers[0][0].encode(), usedforsecurity=False).hexdigest(), 16) % 2 == 0

    @property
    def fold(self) -> int:
        """The index in which it is asked. Questions with the same words are in one fold."""
        return int(sha1(self.text.casefold().encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


class Place(NamedTuple):
    """A part of a page that was found."""

    path: str
    """The page."""
    start: int
    """Its first character."""
    end: int
    """One past its last character."""
    tokens: int
    """What reading it costs."""
    is_page: bool = False
    """Whether it is the whole page."""
    is_piece: bool = False
    """Whether it was cut without regard to sections: then it is right where it overlaps the answer."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Pages and questions."""

    name: str
    """How the results name it."""
    folder: Path
    """Where the pages are."""
    questions: tuple[Question, ...]
    """What is asked."""
    sections: dict[str, dict[str, tuple[int, int]]] = field(repr=False)
    """For each page its sections: slug, start, end."""

    def is_right(self, place: Place, question: Question) -> bool:
        """Whether a place answers a question."""
        return any(self._answers(place, *answer) for answer in question.answers)

    def _answers(self, place: Place, file: str, slug: str) -> bool:
        if place.path != file:
            return False
        if not slug:
            return True
        start, end = self.sections[file][slug]
        if place.is_page:
            return False
        if place.is_piece:
            return place.start < end and start < place.end
        return start <= place.start <= place.end <= end or place.start <= start <= end <= place.end


class Outcome(NamedTuple):
    """What came of one question."""

    question: Question
    rank: int
    """The place of the first right hit; 0 for none."""
    page_rank: int
    """The place of the first hit in a right page; 0 for none."""
    tokens: tuple[int, ...]
    """The tokens of each hit."""

    def first(self, depth: int) -> Outcome:
        """The same with only so many hits."""
        rank, page_rank = (each if each <= depth else 0 for each in (self.rank, self.page_rank))
        return Outcome(self.question, rank, page_rank, self.tokens[:depth])


def asked(
    collection: Collection,
    search: Callable[[str, int], Sequence[Place]],
    depth: int = DEPTH,
    questions: Sequence[Question] | None = None,
) -> list[Outcome]:
    """The outcome of some questions, by default all. ``search`` gives so many places, the best first."""
    chosen = collection.questions if questions is None else questions
    return [_outcome(collection, question, search, depth) for question in chosen]


def write_folds(collection: Collection, folder: Path) -> list[Path]:
    """Copies of the pages, each without the links of one fold's questions: same words, same target.

    Only the words of such a link stay, with spaces in place of its marks, so that all positions stay the same.
    """
    texts = {path: (collection.folder / path).read_bytes().decode() for path in collection.sections}
    documents = {path: quire.parse(text, path=path) for path, text in texts.items()}
    targets = LinkTargets(documents)
    folds = {(each.text.casefold(), answer): each.fold for each in collection.questions for answer in each.answers}
    own: list[dict[str, list[Link]]] = [defaultdict(list) for _ in range(FOLDS)]
    for path, links in targets.links.items():
        for link in links:
            found = targets.resolve(path, link)
            slug = documents[found.path].sections[found.section].anchor if found.path and found.section else ""
            words = _one_line(link.text).strip(_QUOTES).casefold()
            fold = folds.get((words, (found.path, slug)))
            if fold is not None:
                own[fold][path].append(link)
    for number, left_out in enumerate(own):
        for path, text in texts.items():
            file = folder / str(number) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            for link in left_out[path]:
                words = link.text[: link.end - link.start].ljust(link.end - link.start)
                text = text[: link.start] + words + text[link.end :]  # noqa: PLW2901
            file.write_bytes(text.encode())
    return [folder / str(number) for number in range(FOLDS)]


def _outcome(
    collection: Collection, question: Question, search: Callable[[str, int], Sequence[Place]], depth: int
) -> Outcome:
    wanted = 2 * depth
    while True:
        found = search(question.text, wanted)
        places = [place for place in found if place.path not in question.holders][:depth]
        if len(places) == depth or len(found) < wanted or wanted > 1_000:
            break
        wanted *= 3
    pages = {file for file, _ in question.answers}
    right = (number for number, place in enumerate(places, 1) if collection.is_right(place, question))
    in_page = (number for number, place in enumerate(places, 1) if place.path in pages)
    return Outcome(question, next(right, 0), next(in_page, 0), tuple(place.tokens for place in places))


def mrr(outcomes: Iterable[Outcome]) -> float:
    ranks = [outcome.rank for outcome in outcomes]
    return sum(1 / rank for rank in ranks if rank) / max(len(ranks), 1)


def recall(outcomes: Iterable[Outcome], depth: int) -> float:
    ranks = [outcome.rank for outcome in outcomes]
    return sum(0 < rank <= depth for rank in ranks) / max(len(ranks), 1)


def page_recall(outcomes: Iterable[Outcome]) -> float:
    """The share of questions with a hit in a right page."""
    ranks = [outcome.page_rank for outcome in outcomes]
    return sum(rank > 0 for rank in ranks) / max(len(ranks), 1)


def tokens_returned(outcomes: Sequence[Outcome]) -> float:
    """What all hits of an answer cost, on average."""
    return sum(sum(outcome.tokens) for outcome in outcomes) / max(len(outcomes), 1)


def tokens_read(outcomes: Sequence[Outcome]) -> float:
    """What is read until the right hit and with it, on average, where there is one."""
    answered = [sum(outcome.tokens[: outcome.rank]) for outcome in outcomes if outcome.rank]
    return sum(answered) / max(len(answered), 1)


def docker(data: Path) -> Collection:
    """Docker's documentation with the questions that come with it."""
    return _asked_collection("Docker", data / "linkqa" / "docker")


def kubernetes(data: Path) -> Collection:
    """Kubernetes' documentation with the questions that come with it."""
    return _asked_collection("Kubernetes", data / "linkqa" / "k8s")


def rust_book(data: Path) -> Collection:
    """The Rust Book with questions made from its own links, in the same way."""
    folder = data / "linkqa" / "rustbook"
    return _collection("Rust Book", folder, list(_linked(folder)))


def _asked_collection(name: str, folder: Path) -> Collection:
    lines = folder.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    return _collection(name, folder, [_read(json.loads(line)) for line in lines])


def _read(record: dict[str, Any]) -> Question:
    answers = tuple((file, slug) for file, slug in record["answers"])
    return Question(_one_line(record["query"]), answers, frozenset(record["from"]), record["exact"])


def _collection(name: str, folder: Path, questions: Sequence[Question]) -> Collection:
    sections = {}
    for file in sorted(folder.rglob("*.md")):
        path = file.relative_to(folder).as_posix()
        document = quire.parse(file.read_bytes().decode(), path=path)
        sections[path] = {section.anchor: (section.start, section.end) for section in document.sections[1:]}
    known = []
    for question in questions:
        answers = tuple((file, slug) for file, slug in question.answers if not slug or slug in sections.get(file, ()))
        if answers:
            known.append(Question(question.text, answers, question.holders, question.exact))
    return Collection(name, folder, tuple(known), sections)


def _linked(folder: Path) -> Iterator[Question]:
    """A question for each text that links from one page to another; a table of contents asks nothing."""
    pages = {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in folder.rglob("*.md")}
    answers: dict[str, dict[tuple[str, str], None]] = {}
    holders: dict[str, set[str]] = {}
    for path, text in sorted(pages.items()):
        for words, target in () if path == "SUMMARY.md" else _links(text):
            file, _, slug = target.partition("#")
            file = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)).removesuffix(".html")
            file = file if file.endswith(".md") else f"{file}.md"
            if file in pages and file != path and not _WORDLESS.fullmatch(words):
                answers.setdefault(words, {})[file, slug] = None
                holders.setdefault(words, set()).add(path)
    titles = {path: _titles(text, path) for path, text in pages.items()}
    for words, found in answers.items():
        exact = any(titles[file].get(slug, "").casefold() == words.casefold() for file, slug in found)
        yield Question(words, tuple(found), frozenset(holders[words]), exact=exact)


def _titles(text: str, path: str) -> dict[str, str]:
    """The title of each section of a page, by its slug; the page's own by the empty one."""
    document = quire.parse(text, path=path)
    return {section.anchor: section.title for section in document.sections[1:]} | {"": document.title}


def _links(text: str) -> Iterator[tuple[str, str]]:
    named = {name.lower(): target for name, target in _NAMED.findall(text)}
    found = [
        *_INLINE.findall(text),
        *((words, named.get((name or words).lower(), "")) for words, name in _BY_NAME.findall(text)),
    ]
    for words, target in found:
        if target and "://" not in target:
            yield _one_line(words).strip(_QUOTES), target


def _one_line(text: str) -> str:
    """A link's text without the line ends and quote marks of the page that it stands in."""
    return " ".join(re.sub(r"\s*\n\s*>?\s*", " ", text).split())
