"""LlamaIndex: MarkdownNodeParser, which has no cap, and SentenceSplitter behind it, which has no structure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sized
from dataclasses import replace
from functools import partial
from typing import Any

import tiktoken
from llama_index.core import Document
from llama_index.core.node_parser import MarkdownNodeParser, SentenceSplitter

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split, count

SEPARATOR = "\x1f"
"""Between the headings of a path: the default is a slash, which titles have in them, too."""

Nodes = tuple[list[Any], list[Any]]
"""The sections, and the chunks."""

_HEADING = re.compile(r"#+\s(.*)")


def by_headers() -> Split:
    """A node a section."""
    parser = MarkdownNodeParser(header_path_separator=SEPARATOR)

    def split(text: str) -> Nodes:
        sections = parser.get_nodes_from_documents([Document(text=text)])
        return sections, sections

    return split


def by_sentences(tokenizer: Callable[[], Callable[[str], Sized]]) -> Split:
    """The same, cut further. The tokenizer's answer is only asked for its length."""
    parser = MarkdownNodeParser(header_path_separator=SEPARATOR)
    splitter = SentenceSplitter(chunk_size=CAP, chunk_overlap=0, tokenizer=tokenizer())

    def split(text: str) -> Nodes:
        sections = parser.get_nodes_from_documents([Document(text=text)])
        return sections, splitter.get_nodes_from_documents(sections)

    return split


def _tiktoken() -> Callable[[str], Sized]:
    return tiktoken.encoding_for_model("gpt-4o").encode


def _given() -> Callable[[str], Sized]:
    return lambda text: range(count(text))


def output(_: str, nodes: Nodes) -> Output:
    """The path names the headings above a section; the section's own is its first line."""
    sections, chunks = nodes
    own = tuple(found[1] for section in sections if (found := _HEADING.match(section.text)))
    pieces = [Piece(node.text, node.text, node.start_char_idx, node.end_char_idx, _path(node)) for node in chunks]
    if pieces:
        pieces[0] = replace(pieces[0], headings=(*pieces[0].headings, *own))
    return Output(pieces)


def _path(node: Any) -> tuple[str, ...]:
    return tuple(title for title in node.metadata.get("header_path", "").split(SEPARATOR) if title)


_PACKAGES = ("llama-index-core",)

PEERS = (
    Peer(
        "LlamaIndex, headers",
        _PACKAGES,
        by_headers,
        output,
        by_headers,
        has_cap=False,
        has_headings=True,
        has_offsets=True,
        note="It has no cap: a long section is a long chunk.",
    ),
    Peer(
        "LlamaIndex, headers then sentences",
        _PACKAGES,
        partial(by_sentences, _tiktoken),
        output,
        partial(by_sentences, _given),
        has_headings=True,
        has_offsets=True,
        note="Sentences stay whole, and the headings above are known; positions of most chunks are wrong or missing.",
    ),
)
