"""Ways in which an agent can look for the answer to a question, and what each costs in tokens. Neighbour: agents.py.

An agent pays for everything that it is shown: each way ends when the right section was shown, or after ten steps. Text
of the page that holds the question's link is paid for and is never right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import quire
from benchmarks.linkqa import Collection, Question
from quire.index.engine.function_words import is_function_word
from quire.mcp.answers import DEFAULT_TOKENS, Service
from quire.mcp.tools import Get, Search
from quire.tokens.tokenizers import resolve
from quire.workspace.workspace import Workspace

STEPS = 10
AROUND = 20
_SEEN = 120
"""So many characters from the start of a section must be shown."""
_WORD = re.compile(r"\w{3,}")

count = resolve("o200k_base", "o200k_base").count


class Shown(NamedTuple):
    """A step of a way: what the agent is shown, and whether the right section is in it."""

    tokens: int
    is_right: bool


class Spent(NamedTuple):
    """What one question cost."""

    tokens: int
    is_found: bool
    steps: int


Route = Callable[[Question], Iterator[Shown]]


class Project:
    """A collection in a folder of its own, without the links that ask the questions, so that they answer nothing."""

    def __init__(self, collection: Collection, questions: list[Question], folder: Path) -> None:
        self.collection = collection
        self.questions = questions
        self.folder = folder / "docs"
        asked = {each.text.casefold() for each in questions}
        self.texts = {path: self._written(path, asked) for path in collection.sections}
        self._lowered = {path: text.lower() for path, text in self.texts.items()}
        self.index = folder / ".quire"
        self._workspace = Workspace.open_updated([str(self.folder)], index=str(self.index))
        self.service = Service(self._workspace, count, DEFAULT_TOKENS)

    def _written(self, path: str, asked: set[str]) -> str:
        """The text of a page, where only the words of such links remain, padded so that all positions stay."""
        text = (self.collection.folder / path).read_bytes().decode()
        for link in quire.parse(text, path=path).links:
            if " ".join(link.text.split()).strip('“”" ').casefold() in asked:
                size = link.end - link.start
                text = text[: link.start] + link.text[:size].ljust(size) + text[link.end :]
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return text

    def spent(self, question: Question, route: Route) -> Spent:
        """The cost of a question."""
        tokens = steps = 0
        for shown in route(question):
            tokens, steps = tokens + shown.tokens, steps + 1
            if shown.is_right or steps == STEPS:
                return Spent(tokens, shown.is_right, steps)
        return Spent(tokens, is_found=False, steps=steps)

    def is_right(self, question: Question, path: str, text: str) -> bool:
        """Whether a text of a page shows the start of the right section; of a whole page any part is right."""
        for file, slug in question.answers:
            if file != path or file in question.holders:
                continue
            if not slug:
                return bool(text.strip())
            start, end = self.collection.sections[file][slug]
            if self.texts[file][start:end].strip()[:_SEEN] in text:
                return True
        return False

    def search(self, question: Question) -> Iterator[Shown]:
        """The tool ``search``, then ``get`` for sections that it only names, and its next pages."""
        cursor = "0"
        while cursor:
            answer = Search(query=question.text, cursor=cursor).answer(self.service)
            results = answer.record["results"]
            pages = [(each["path"].rpartition(":")[0], each.get("text", "")) for each in results]
            yield Shown(count(answer.text), any(self.is_right(question, *each) for each in pages))
            for each in results:
                if "text" not in each:
                    yield self._got(question, each["id"])
            cursor = answer.record.get("cursor", "")

    def list_then_get(self, question: Question) -> Iterator[Shown]:
        """A list of ten sections, as ``quire search --list`` prints it, then each by ``get``, the best first."""
        hits = self._workspace.search(question.text, limit=STEPS, max_tokens=0)
        lines = [f"docs/{hit.path}:{hit.lines[0]}  {hit.breadcrumb_line[2:]}  {hit.tokens} tokens\n" for hit in hits]
        yield Shown(count("".join(lines)), is_right=False)
        for hit in hits:
            yield self._got(question, hit.id)

    def places_then_get(self, question: Question) -> Iterator[Shown]:
        """The tool ``search`` with ``list``, then each section by ``get``, the best first."""
        answer = Search(query=question.text, limit=STEPS, list=True).answer(self.service)
        yield Shown(count(answer.text), is_right=False)
        for each in answer.record["results"]:
            yield self._got(question, each["id"])

    def _got(self, question: Question, name: str) -> Shown:
        answer = Get(id=name).answer(self.service)
        path = name.partition("#")[0].removeprefix("docs:")
        return Shown(count(answer.text), self.is_right(question, path, answer.record["text"]))

    def files(self, question: Question, order: Order) -> Iterator[Shown]:
        """The files that grep finds, each read as a whole."""
        found = self._grep(question, order)
        yield Shown(count("".join(f"docs/{path}\n" for path in found)), is_right=False)
        for path in found:
            yield Shown(count(self.texts[path]), self.is_right(question, path, self.texts[path]))

    def lines(self, question: Question, order: Order) -> Iterator[Shown]:
        """The same files, but only the lines with most of the words and 20 lines around each."""
        words = _words(question)
        for path in self._grep(question, order):
            lines = self.texts[path].split("\n")
            found = [sum(word in line.lower() for word in words) for line in lines]
            near = {
                number
                for at, score in enumerate(found)
                if score and score == max(found)
                for number in range(at - AROUND, at + AROUND + 1)
            }
            text = "\n".join(line for number, line in enumerate(lines) if number in near)
            yield Shown(count(text), self.is_right(question, path, text))

    def _grep(self, question: Question, order: Order) -> list[str]:
        """Ten files with words of the question."""
        words = _words(question)
        counts = {path: [text.count(word) for word in words] for path, text in self._lowered.items()}
        keys = {
            path: order(
                Match(sum(map(bool, found)), sum(word in path for word in words), sum(found), len(self.texts[path]))
            )
            for path, found in counts.items()
            if any(found)
        }
        return sorted(keys, key=lambda path: (keys[path], path))[:STEPS]


class Match(NamedTuple):
    """What grep can tell about a file."""

    words: int
    """How many of the words it has."""
    in_path: int
    """How many of them are in its path."""
    matches: int
    size: int


Order = Callable[[Match], tuple[int, ...]]
"""Sorts files: the smallest comes first."""


def most_matches(match: Match) -> tuple[int, ...]:
    """The order with the most success: files with most of the words, in their paths, then with most matches."""
    return -match.words, -match.in_path, -match.matches


def shortest(match: Match) -> tuple[int, ...]:
    """The cheapest order: words in files and paths count alike, then short files come first."""
    return -match.words - match.in_path, match.size


def _words(question: Question) -> list[str]:
    words = dict.fromkeys(_WORD.findall(question.text.lower()))
    return [word for word in words if not is_function_word(word, ("english",))] or list(words)


def requests(query: str) -> list[str]:
    """The first messages of a client: it connects and asks once."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    call = {"name": "search", "arguments": {"query": query}}
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    return [json.dumps({"jsonrpc": "2.0", **each}) for each in messages]
