"""Questions with the passage that answers each: links of two documentation sites, and Chroma's own questions.

A link's text is the question, the section it leads to is the answer. Sections are read here without quire, so that the
measurement shares no code with what it measures.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

PAGES = 60
"""Pages of a site, those with the most questions per character: embedding is what takes time."""
LONGEST_PAGE = 20_000
SHORTEST_PASSAGE = 150
"""Sections with fewer characters answer nothing."""
_CORPORA = ("chatlogs", "state_of_the_union", "wikitexts")
_SEED = 3

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_OWN_SLUG = re.compile(r"\s*(?:\{#([\w-]+)\}|(?<=\s)\[([\w-]+)\])\s*$")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\([^)\s]+[^)]*\)")
_TITLE = re.compile(r"^title:[ \t]*(.*)$", re.MULTILINE)

Span = tuple[int, int]
"""The first character, and one past the last."""


class Heading(NamedTuple):
    """A heading as a reader of the page sees it."""

    slugs: frozenset[str]
    """GitHub's slug, and the one that the heading declares, if it does."""
    depth: int
    title: str
    start: int


class Question(NamedTuple):
    """A question and the passages that answer it."""

    text: str
    path: str
    passages: tuple[Span, ...]


class QuestionSet(NamedTuple):
    """Documents and questions about them."""

    name: str
    texts: dict[str, str]
    questions: tuple[Question, ...]


def question_sets(data: Path) -> Iterator[QuestionSet]:
    """All sets that are found below a folder."""
    for name, folder in (("Kubernetes", "k8s"), ("Docker", "docker")):
        if (data / "linkqa" / folder).is_dir():
            yield linked_sections(name, data / "linkqa" / folder)
    if (data / "chroma").is_dir():
        yield chroma(data / "chroma")


def headings(text: str) -> list[Heading]:
    """The headings of a page; lines of code that look like one are none."""
    masked = _FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence.group()), text)
    found: list[Heading] = []
    seen: dict[str, int] = {}
    for line in _HEADING.finditer(masked):
        own = _OWN_SLUG.search(line[2])
        title = _OWN_SLUG.sub("", line[2])
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        slugs = {f"{slug}-{seen[slug]}" if seen[slug] else slug}
        if own:
            slugs.add((own[1] or own[2]).lower())
        found.append(Heading(frozenset(slugs), len(line[1]), title, line.start()))
    return found


def sections(text: str) -> list[Span]:
    """The page cut before every heading; stretches without text are left out."""
    edges = sorted({0, len(text), *(heading.start for heading in headings(text))})
    return [(start, end) for start, end in pairwise(edges) if text[start:end].strip()]


def breadcrumbs(path: str, text: str) -> dict[int, str]:
    """The title and the headings above and at each section, by the section's start."""
    title = _TITLE.search(text[:1500])
    name = title[1].strip("\"' ") if title else path
    lines, above = {0: name}, list[Heading]()
    for heading in headings(text):
        above = [*(each for each in above if each.depth < heading.depth), heading]
        lines[heading.start] = " > ".join([name, *(each.title for each in above)])
    return lines


def linked_sections(name: str, folder: Path) -> QuestionSet:
    """The links to exactly one section whose text is not the section's title, each text once."""
    lines = folder.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    records = [record for record in map(json.loads, lines) if _asks_for_section(record)]
    random.Random(_SEED).shuffle(records)
    words = {_words(record["query"]) for record in map(json.loads, lines)}
    texts: dict[str, str] = {}
    questions: dict[str, Question] = {}
    for record in records:
        (path, slug) = record["answers"][0]
        text = texts.get(path) or _page(folder / path, words)
        passage = _section(text, slug)
        if passage and _words(record["query"]) not in questions:
            texts[path] = text
            questions[_words(record["query"])] = Question(" ".join(record["query"].split()), path, (passage,))
    return _densest(QuestionSet(name, texts, tuple(questions.values())))


def _densest(whole: QuestionSet) -> QuestionSet:
    """The pages with the most questions per character, and their questions."""
    counts = Counter(question.path for question in whole.questions)
    paths = sorted(counts, key=lambda path: -counts[path] / len(whole.texts[path]))[:PAGES]
    texts = {path: text for path, text in whole.texts.items() if path in paths}
    return QuestionSet(whole.name, texts, tuple(each for each in whole.questions if each.path in texts))


def _asks_for_section(record: dict[str, Any]) -> bool:
    return not record["exact"] and len(record["answers"]) == 1 and bool(record["answers"][0][1])


def _words(text: str) -> str:
    return " ".join(re.sub(r"[`*_]", "", text).lower().split())


def _page(file: Path, asked: set[str]) -> str:
    """A page without the links that are asked for: their marks would give the answer away. Empty if left out."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    text = _LINK.sub(lambda link: link[1] if _words(link[1]) in asked else link[0], text)
    return text if len(text) < LONGEST_PAGE else ""


def _section(text: str, slug: str) -> Span | None:
    start = next((heading.start for heading in headings(text) if slug in heading.slugs), None)
    found = next((span for span in sections(text) if span[0] == start), None)
    return found if found and found[1] - found[0] >= SHORTEST_PASSAGE else None


def chroma(folder: Path, names: Sequence[str] = _CORPORA) -> QuestionSet:
    """Chroma's questions on its three small corpora; an answer may be several passages."""
    texts = {name: (folder / "corpora" / f"{name}.md").read_text(encoding="utf-8") for name in names}
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["corpus_id"] in texts]
    questions = [Question(row["question"], row["corpus_id"], _references(row["references"])) for row in rows]
    return QuestionSet("Chroma", texts, tuple(questions))


def _references(record: str) -> tuple[Span, ...]:
    return tuple((each["start_index"], each["end_index"]) for each in json.loads(record))
