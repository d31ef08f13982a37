"""What a strategy costs beside its two parts: draining the parser's events, and counting every byte once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from msgspec.structs import fields
from functools import partial

import pyromark
from pyromark import Options

import quire
from benchmarks import measure
from benchmarks.measure import Document
from quire import size
from quire.options import OWN

PARSER = pyromark.Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH)
FIELDS = (*[each.name for each in fields(quire.Chunk)], "content_hash")
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
    """``quire.chunk``, and every field of every chunk is read."""
    for chunk in quire.chunk(document[1], strategy, path=document[0], tokenizer="o200k_base"):
        for name in FIELDS:
            getattr(chunk, name)


def records(strategy: str, document: Document) -> None:
    """The same, as JSON values."""
    for chunk in quire.chunk(document[1], strategy, path=document[0], tokenizer="o200k_base"):
        chunk.to_dict()


def run(rounds: int = 5) -> list[str]:
    """A table as lines of Markdown. Each row is measured in turn with the two parts, and nothing else."""
    documents = measure.documents()
    if not documents:
        return ["No documents: set QUIRE_SHARED to a folder with Markdown files."]
    for document in documents:
        count(document)  # loads the vocabulary
    works: dict[str, Callable[[Document], None]] = {"quire.parse": parse}
    works |= {f"`{strategy}`": partial(cut, strategy) for strategy in OWN}
    works |= {f"`{strategy}`, every record as JSON values": partial(records, strategy) for strategy in OWN}
    size_ = measure.megabytes(documents)
    rows = [_row(name, work, documents, rounds, size_) for name, work in works.items()]
    return [
        f"{len(documents):,} documents, {size_:.1f} MB, one core, best of {rounds} rounds for each document.",
        "Each row is measured in turn with its two parts: draining the parser's events, and counting every byte once.",
        "",
        "| | ms/MB | MB/s | drain | count | of both together |",
        "|---|---|---|---|---|---|",
        *rows,
    ]


def _row(name: str, work: Callable[[Document], None], documents: Sequence[Document], rounds: int, size_: float) -> str:
    taken = measure.in_turn({"drain": drain, "count": count, "work": work}, documents, rounds)
    parts = taken["drain"] + taken["count"]
    per = {each: time / size_ * 1e3 for each, time in taken.items()}
    speed = size_ / taken["work"]
    return (
        f"| {name} | {per['work']:.1f} | {speed:.0f} | {per['drain']:.1f} | {per['count']:.1f} "
        f"| {taken['work'] / parts:.2f} |"
    )
