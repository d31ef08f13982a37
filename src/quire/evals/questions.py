"""Questions whose answers are known: from a file, from the links between documents, or from their sentences.

A link is its author's judgement that the target answers the link's text. Links with the same text are one question with
several answers. A sentence that one section has is pasted as people do who want to find a page again: without emphasis,
code marks and the targets of links.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

from quire.errors import InputError, QuireError
from quire.link_targets import LinkTargets
from quire.model import Document, Link
from quire.read import read_file
from quire.split.sentences import sentence_ends

MOST_ANSWERS = 5
"""A text that links to more targets, such as *this page*, is no question."""
MOST_PASTED = 150
"""So many sentences are drawn if no other number is asked for, always the same ones."""
FEWEST_WORDS, MOST_WORDS = 8, 25
_SEED = 0
_LINK_MARKUP = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_MARKS = re.compile(r"[*`]+")
_MARKUP = re.compile(r"[<>{}|\[\]\\]|__|://")  # a sentence with more markup than that is not drawn
_EXAMPLE = 'write one per line: {"query": "how do I install it", "answers": ["guide.md#install"]}'

Trees: TypeAlias = Mapping[str, Mapping[str, Document]]
"""Documents by tree and path."""


class HeldLink(NamedTuple):
    """A link and the document that holds it."""

    document: str
    """The document's id."""
    link: Link


class Question(NamedTuple):
    """A query and the sections that answer it."""

    query: str
    answers: tuple[str, ...]
    """Ids, ``PATH#SLUG`` or ``PATH``; a path is the whole document."""
    links: tuple[HeldLink, ...] = ()
    """The links that it was made from; empty for a question from a file."""
    line: str = ""
    """The file and line that it was read from; empty for a question made from links."""
    is_pasted: bool = False
    """Whether the query is a sentence of its answers: a hit inside an answer does not have it."""

    @property
    def holders(self) -> frozenset[str]:
        """The documents that hold its links and are no answers."""
        return frozenset(held.document for held in self.links) - {answer.partition("#")[0] for answer in self.answers}


def read_questions(file: Path, name: str) -> list[Question]:
    """The questions of a JSONL file; messages call the file ``name``."""
    text, _ = read_file(file, name)
    lines = [(f"{name}:{number}", line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise InputError(name, "there are no questions in it", _EXAMPLE)
    return [_question(line, where) for where, line in lines]


def _question(line: str, where: str) -> Question:
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"not JSON: {error}", _EXAMPLE) from error
    if not isinstance(record, dict):
        raise InputError(where, "not an object", _EXAMPLE)
    query, answers = record.get("query"), record.get("answers")
    if not isinstance(query, str) or not query.strip():
        raise InputError(where, "there is no query, or it is not text", _EXAMPLE)
    if (
        not isinstance(answers, list)
        or not answers
        or not all(isinstance(answer, str) and answer for answer in answers)
    ):
        raise InputError(where, "answers must be a list of ids or paths, with at least one", _EXAMPLE)
    return Question(query, tuple(dict.fromkeys(answers)), line=where)


def link_questions(trees: Trees) -> list[Question]:
    """A question for each text that links one document to another.

    A single word such as *here* is no question, except in scripts without spaces.
    """
    links: dict[str, dict[str, list[HeldLink]]] = defaultdict(lambda: defaultdict(list))
    for tree, documents in trees.items():
        targets = LinkTargets(documents)
        for path, held in targets.links.items():
            for link in held:
                words = " ".join(link.text.split())
                target = targets.resolve(path, link)
                if target.path and not target.problem and (" " in words or not words.isascii()):
                    answer = section_id(tree, target.path, documents[target.path], target.section)
                    links[words][answer].append(HeldLink(f"{tree}:{path}", link))
    questions = []
    for words, answers in links.items():
        asked = {answer: held for answer, held in answers.items() if _is_from_elsewhere(answer, held)}
        if 0 < len(asked) <= MOST_ANSWERS:
            questions.append(Question(words, tuple(asked), tuple(link for held in asked.values() for link in held)))
    if not questions:
        problem = "there are no links between the documents to make questions of"
        raise QuireError(problem, "name a file with questions: --questions FILE")
    return sorted(questions)


def _is_from_elsewhere(answer: str, held: list[HeldLink]) -> bool:
    return any(link.document != answer.partition("#")[0] for link in held)


def section_id(tree: str, path: str, document: Document, number: int) -> str:
    """The id of a section."""
    section = document.sections[number]
    slug = section.anchor if section.position is None else section.slug
    return f"{tree}:{path}#{slug}" if slug else f"{tree}:{path}"


def pasted_questions(trees: Trees, most: int | None = None, words: int | None = None) -> list[Question]:
    """Sentences that occur in one section only, each as a question; only its first ``words`` words if that is set."""
    sections = [section for tree, documents in trees.items() for section in _sections(tree, documents)]
    sentences = sorted(
        {sentence for _, document, start, end in sections for sentence in _sentences(document, start, end)}
    )
    Random(_SEED).shuffle(sentences)  # noqa: S311
    texts = [(answer, f" {_plain(document.text[start:end])} ".casefold()) for answer, document, start, end in sections]
    questions: list[Question] = []
    for sentence in sentences:
        if len(questions) == (most or MOST_PASTED):
            break
        if len(_holding(sentence, texts)) == 1:
            query = " ".join(sentence.split()[:words])
            questions.append(Question(query, _holding(query, texts), is_pasted=True))
    if not questions:
        raise QuireError(
            "there is no sentence of 8 to 25 words in the documents", "ask questions of a file: --questions FILE"
        )
    return questions


def _sections(tree: str, documents: Mapping[str, Document]) -> Iterator[tuple[str, Document, int, int]]:
    """The id of every section, its document, and where its own text starts and ends."""
    for path, document in documents.items():
        for section in document.sections:
            if section.position is not None and section.text_start < section.text_end:
                answer = section_id(tree, path, document, section.number)
                yield answer, document, section.text_start, section.text_end


def _sentences(document: Document, start: int, end: int) -> Iterator[str]:
    for block in document.blocks:
        if block.kind == "paragraph" and start <= block.start < end:
            at = block.start
            for stop in sentence_ends(document.text, block.start, block.end):
                sentence = _plain(document.text[at:stop])
                if FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS and not _MARKUP.search(sentence):
                    yield sentence
                at = stop


def _plain(text: str) -> str:
    """A text on one line, as a reader copies it."""
    return " ".join(_MARKS.sub("", _LINK_MARKUP.sub(r"\1", text)).split())


def _holding(words: str, texts: list[tuple[str, str]]) -> tuple[str, ...]:
    """The sections with some words."""
    return tuple(answer for answer, text in texts if words.casefold() in text)
