"""Questions pasted from the documents: a sentence is the query, the section that has it is the answer.

They need no labels, and people type them: an error message, a line of a page that they want to find again. Sentences
are drawn with a fixed seed, and as a reader copies them: without emphasis, code marks and the targets of links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random

from quire.errors import QuireError
from quire.evals.questions import Question, section_id
from quire.model import Document
from quire.split.sentences import sentence_ends

MOST_PASTED = 150
"""So many sentences are drawn if no other number is asked for."""
FEWEST_WORDS, MOST_WORDS = 8, 25
_SEED = 0
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_MARKS = re.compile(r"[*`]+")
_MARKUP = re.compile(r"[<>{}|\[\]\\]|__|://")  # a sentence with more markup than that is not drawn

Trees = Mapping[str, Mapping[str, Document]]


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
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", text)).split())


def _holding(words: str, texts: list[tuple[str, str]]) -> tuple[str, ...]:
    """The sections with some words."""
    return tuple(answer for answer, text in texts if words.casefold() in text)
