"""LangChain: RecursiveCharacterTextSplitter with its separators for Markdown, and behind MarkdownHeaderTextSplitter."""

from __future__ import annotations

from typing import Any

from langchain_text_splitters import Language, MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

from benchmarks.peers.record import CAP, Output, Peer, Piece, Split, count

LEVELS = [("#" * level, f"Header {level}") for level in range(1, 7)]


def make() -> Split:
    """The headings stay in the text, as in the documentation's example of a limit on size."""
    header = MarkdownHeaderTextSplitter(LEVELS, strip_headers=False)
    recursive = RecursiveCharacterTextSplitter(chunk_size=CAP, chunk_overlap=0, length_function=count)
    return lambda text: recursive.split_documents(header.split_text(text))


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


def make_recursive() -> Split:
    """By Markdown's separators, without a look at the headings."""
    options: dict[str, Any] = {"chunk_size": CAP, "chunk_overlap": 0, "length_function": count}
    return RecursiveCharacterTextSplitter.from_language(Language.MARKDOWN, **options).split_text


def output_recursive(_: str, texts: list[str]) -> Output:
    """Texts alone."""
    return Output([Piece(text, text) for text in texts])


PEERS = (
    Peer("LangChain, headers then recursive", ("langchain-text-splitters",), make, output, has_headings=True),
    Peer("LangChain, recursive, Markdown separators", ("langchain-text-splitters",), make_recursive, output_recursive),
)
