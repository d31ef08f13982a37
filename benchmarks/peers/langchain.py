"""LangChain: RecursiveCharacterTextSplitter with its separators for Markdown, and behind MarkdownHeaderTextSplitter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from langchain_text_splitters import Language, MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split, count

LEVELS = [("#" * level, f"Header {level}") for level in range(1, 7)]


Recursive = Callable[..., RecursiveCharacterTextSplitter]
TIKTOKEN: Recursive = partial(
    RecursiveCharacterTextSplitter.from_tiktoken_encoder, encoding_name="o200k_base", chunk_size=CAP, chunk_overlap=0
)
GIVEN: Recursive = partial(RecursiveCharacterTextSplitter, chunk_size=CAP, chunk_overlap=0, length_function=count)


def by_headers(recursive: Recursive) -> Split:
    """The headings stay in the text, as in the documentation's example of a limit on size."""
    header, splitter = MarkdownHeaderTextSplitter(LEVELS, strip_headers=False), recursive()
    return lambda text: splitter.split_documents(header.split_text(text))


def output(_: str, documents: list[Any]) -> Output:
    """Headings are in the metadata. ``start_index`` would refer to the section, so there are no offsets."""
    names = [name for _, name in LEVELS]
    return Output(
        [
            Piece(
                each.page_content,
                each.page_content,
                headings=tuple(each.metadata[name] for name in names if name in each.metadata),
            )
            for each in documents
        ]
    )


def by_separators(recursive: Recursive) -> Split:
    """By Markdown's separators, as ``from_language`` does, without a look at the headings."""
    separators = RecursiveCharacterTextSplitter.get_separators_for_language(Language.MARKDOWN)
    return recursive(separators=separators, is_separator_regex=True).split_text


def output_recursive(_: str, texts: list[str]) -> Output:
    """Texts alone."""
    return Output([Piece(text, text) for text in texts])


_PACKAGES = ("langchain-text-splitters",)

PEERS = (
    Peer(
        "LangChain, headers then recursive",
        _PACKAGES,
        partial(by_headers, TIKTOKEN),
        output,
        partial(by_headers, GIVEN),
        has_headings=True,
        note="Headings come with each chunk, and answers are as good as quire's; code loses its indentation.",
    ),
    Peer(
        "LangChain, recursive, Markdown separators",
        _PACKAGES,
        partial(by_separators, TIKTOKEN),
        output_recursive,
        partial(by_separators, GIVEN),
        note="Installed almost everywhere; it returns text alone, and tears code and headings apart.",
    ),
)
