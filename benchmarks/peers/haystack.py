"""Haystack: MarkdownHeaderSplitter, which has no cap in tokens, and RecursiveDocumentSplitter behind it, which has."""

from __future__ import annotations

import logging
from typing import Any

from haystack import Document
from haystack.components.preprocessors import MarkdownHeaderSplitter, RecursiveDocumentSplitter

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split

logging.getLogger("haystack").setLevel(logging.ERROR)

SEPARATORS = ["\n\n", "\n", r"\. ", " "]
"""Its default without the sentence splitter, whose data has to be fetched."""


def by_headers() -> Split:
    """A document a section."""
    splitter = MarkdownHeaderSplitter()
    return lambda text: splitter.run([Document(content=text)])["documents"]


def by_tokens() -> Split:
    """The same, cut further; it counts with tiktoken's o200k_base and takes no other counter."""
    splitter = MarkdownHeaderSplitter()
    recursive = RecursiveDocumentSplitter(split_length=CAP, split_overlap=0, split_unit="token", separators=SEPARATORS)
    recursive.warm_up()
    return lambda text: recursive.run(splitter.run([Document(content=text)])["documents"])["documents"]


def output(_: str, documents: list[Any]) -> Output:
    """Offsets refer to the section, so there are none into the document."""
    return Output([Piece(each.content, each.content, headings=_titles(each.meta)) for each in documents])


def _titles(meta: dict[str, Any]) -> tuple[str, ...]:
    return tuple(title for title in (*meta.get("parent_headers", ()), meta.get("header", "")) if title)


_PACKAGES = ("haystack-ai",)

PEERS = (
    Peer(
        "Haystack, headers",
        _PACKAGES,
        by_headers,
        output,
        by_headers,
        has_cap=False,
        has_headings=True,
        note="It has no cap in tokens, and takes a `#` in code for a heading.",
    ),
    Peer(
        "Haystack, headers then recursive",
        _PACKAGES,
        by_tokens,
        output,
        None,
        has_headings=True,
        note="It fits into pipelines of Haystack; it has no positions in the document, and many small chunks.",
    ),
)
