"""What a strategy costs beside its two parts: draining the parser's events, and counting every byte once."""

from __future__ import annotations

from collections import deque

import pyromark
from pyromark import Options

import quire
from benchmarks import measure
from benchmarks.measure import Document
from quire import size
from quire.config import OWN

PARSER = pyromark.Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH)
COUNTER = size.resolve("o200k_base", "o200k_base")


def drain(document: Document) -> None:
    """Take all events from the parser and do nothing with them."""
    deque(PARSER.events_with_range(document[1]), maxlen=0)


def count(document: Document) -> None:
    """Count the tokens of the whole text."""
    COUNTER.count(document[1])


def parse(document: Document) -> None:
    """``quire.parse``: sections, titles, slugs, findings."""
    quire.parse(document[1], path=document[0])


def cut(strategy: str, document: Document) -> None:
    """``quire.chunk`` from text to chunks with their counts."""
    quire.chunk(document[1], strategy, path=document[0], tokenizer="o200k_base")


def records(strategy: str, document: Document) -> None:
    """The same, and every field of every chunk."""
    for chunk in quire.chunk(document[1], strategy, path=document[0], tokenizer="o200k_base"):
        chunk.to_dict()


def run(rounds: int = 6) -> list[str]:
    """A table as lines of Markdown."""
    documents = measure.documents()
    if not documents:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    works = {"drain the parser's events": drain, "count every byte once": count, "quire.parse": parse}
    for strategy in OWN:
        works[f"`{strategy}`"] = lambda document, strategy=strategy: cut(strategy, document)
        works[f"`{strategy}`, every record as JSON values"] = lambda document, strategy=strategy: records(
            strategy, document
        )
    for document in documents:
        count(document)  # loads the vocabulary
    taken = measure.in_turn(works, documents, rounds)
    parts = taken["drain the parser's events"] + taken["count every byte once"]
    size_ = measure.megabytes(documents)
    rows = [
        f"| {name} | {time / size_ * 1e3:.1f} | {size_ / time:.0f} | {time / parts:.2f} |"
        for name, time in taken.items()
    ]
    return [
        f"{len(documents):,} documents, {size_:.1f} MB, one core, best of {rounds} rounds for each document.",
        "",
        "| | ms/MB | MB/s | of the first two together |",
        "|---|---|---|---|",
        *rows,
    ]
