"""Questions whose answers are known: from a file, or from the links between documents.

A link is its author's judgement that the target answers the link's text. Links with the same text are one question with
several answers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from quire.errors import InputError, QuireError
from quire.link_targets import LinkTargets
from quire.model import Document, Link
from quire.read import read_file

MOST_ANSWERS = 5
"""A text that links to more targets, such as *this page*, is no question."""
_EXAMPLE = 'write one per line: {"query": "how do I install it", "answers": ["guide.md#install"]}'


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


def link_questions(trees: Mapping[str, Mapping[str, Document]]) -> list[Question]:
    """A question for each text that links one document to another; ``trees`` are documents by tree and path.

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
