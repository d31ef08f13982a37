"""Questions whose answers are known: from a file, from the links between documents, or from their sentences.

A link is its author's judgement that the target answers the link's text. Links with the same text are one question.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Annotated, NamedTuple, TypeAlias

import msgspec

from quire.cut.sentences import sentence_ends
from quire.errors import InputError, QuireError
from quire.links.broken_links import LinkTargets
from quire.model.document import Document, Link
from quire.read.source import read_file

MOST_ANSWERS = 5  # a text that links to more targets, such as *this page*, is no question
MOST_PASTED = 150  # so many sentences are drawn if no other number is asked for, always the same ones
FEWEST_WORDS, MOST_WORDS = 8, 25
SEED = 0  # of everything that is drawn
_LINK_MARKUP = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_MARKS = re.compile(r"[*`]+")
_MARKUP = re.compile(r"[<>{}|\[\]\\]|__|://")  # a sentence with more markup than that is not drawn
_EXAMPLE = 'write one per line: {"query": "how do I install it", "answers": ["guide.md#install"]}'

Trees: TypeAlias = Mapping[str, Mapping[str, Document]]  # documents by tree and path


class HeldLink(NamedTuple):
    """A link and the document that holds it."""

    document: str  # its id
    link: Link


class Question(NamedTuple):
    """A query and the sections that answer it."""

    query: str
    answers: tuple[str, ...]  # ids, ``PATH#SLUG`` or ``PATH``; a path is the whole document
    links: tuple[HeldLink, ...] = ()  # that it was made from; empty for a question from a file
    line: str = ""  # the file and line that it was read from; empty for a question made from links
    is_pasted: bool = False  # whether the query is a sentence of its answers: a hit inside one does not have it

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
    questions = []
    for where, line in lines:
        try:
            record = msgspec.json.decode(line, type=_Record)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InputError(where, f"not a question: {error}", _EXAMPLE) from error
        questions.append(Question(record.query, tuple(dict.fromkeys(record.answers)), line=where))
    return questions


class _Record(msgspec.Struct):
    query: Annotated[str, msgspec.Meta(pattern=r"\S")]
    answers: Annotated[list[Annotated[str, msgspec.Meta(min_length=1)]], msgspec.Meta(min_length=1)]


def sample(questions: Sequence[Question], most: int | None) -> list[Question]:
    """At most so many questions, always the same ones, in their order."""
    if most is None or most >= len(questions):
        return list(questions)
    return [questions[number] for number in sorted(Random(SEED).sample(range(len(questions)), most))]  # noqa: S311


def link_questions(trees: Trees) -> list[Question]:
    """A question for each text that links one document to another."""
    # A single word such as *here* is no question, except in scripts without spaces.
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
        for answer in [*answers]:
            if all(link.document == answer.partition("#")[0] for link in answers[answer]):
                del answers[answer]
        if 0 < len(answers) <= MOST_ANSWERS:
            questions.append(Question(words, tuple(answers), tuple(chain.from_iterable(answers.values()))))
    if not questions:
        problem = "there are no links between the documents to make questions of"
        raise QuireError(problem, "name a file with questions: --questions FILE")
    return sorted(questions)


def section_id(tree: str, path: str, document: Document, number: int) -> str:
    """The id of a section."""
    section = document.sections[number]
    slug = section.anchor if section.position is None else section.slug
    return f"{tree}:{path}#{slug}" if slug else f"{tree}:{path}"


def pasted_questions(trees: Trees, most: int | None = None, words: int | None = None) -> list[Question]:
    """Sentences that occur in one section only, each as a question; only its first ``words`` words if that is set."""
    texts: dict[str, str] = {}  # of sections by their ids
    sentences: set[str] = set()
    for tree, documents in trees.items():
        for path, document in documents.items():
            for section in document.sections:
                if section.position is not None and section.text_start < section.text_end:
                    text = document.text[section.text_start : section.text_end]
                    texts[section_id(tree, path, document, section.number)] = _plain(text).casefold()
                    sentences.update(_sentences(document, section.text_start, section.text_end))
    drawn = sorted(sentences)
    Random(SEED).shuffle(drawn)  # noqa: S311
    questions: list[Question] = []
    for sentence in drawn:
        if len(questions) == (most or MOST_PASTED):
            break
        if len(_holding(sentence, texts)) == 1:
            query = " ".join(sentence.split()[:words])
            questions.append(Question(query, _holding(query, texts), is_pasted=True))
    if not questions:
        problem = f"there is no sentence of {FEWEST_WORDS} to {MOST_WORDS} words in the documents"
        raise QuireError(problem, "ask questions of a file: --questions FILE")
    return questions


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


def _holding(words: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(section for section, text in texts.items() if words.casefold() in text)
