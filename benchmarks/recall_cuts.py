"""The ways to cut that are compared: quire's strategies and its peers, each at 256 and 512 tokens, without overlap.

Peers that take no counter are given four characters for a token; those that take one count in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import quire
from benchmarks.recall_sets import breadcrumbs, sections

SIZES = (256, 512)
_CHARACTERS = 4  # in a token


class Cut(NamedTuple):
    """A chunk: its span in the document and the text to embed."""

    start: int
    end: int
    text: str


Cutter = Callable[[str, str], Sequence[Cut]]
"""From a path and a text to chunks."""

SMALL_TO_BIG = "quire `packed` 64, then `expand`"
"""The row whose ranked chunks are turned into sections."""
QUIRE: Mapping[str, dict[str, Any]] = {
    "quire `packed`": {"strategy": "packed"},
    SMALL_TO_BIG: {"strategy": "packed", "max_tokens": 64, "target_tokens": 64, "breadcrumb_mode": "always"},
    "quire `packed` 64": {"strategy": "packed", "max_tokens": 64, "target_tokens": 64, "breadcrumb_mode": "always"},
    "quire `packed`, 1024 and 512": {"strategy": "packed", "max_tokens": 1024, "target_tokens": 512},
    "quire `packed` 512": {"strategy": "packed", "max_tokens": 512, "target_tokens": 512},
    "quire `packed` 256": {"strategy": "packed", "max_tokens": 256, "target_tokens": 256},
    "quire `flow`": {"strategy": "flow"},
    "quire `flow` 256": {"strategy": "flow", "max_tokens": 256, "target_tokens": 200},
    "quire `flow` 288": {
        "strategy": "flow",
        "max_tokens": 288,
        "target_tokens": 128,
        "min_tokens": 32,
        "overlap_sentences": 0,
    },
    "quire `sections`": {"strategy": "sections"},
    "quire `sections` 400": {"strategy": "sections", "max_tokens": 400, "min_tokens": 40},
    "quire `tree`": {"strategy": "tree"},
}
DEFAULT = next(iter(QUIRE))
_HEADED = "LangChain, sections then recursive"
WIDE = (DEFAULT, SMALL_TO_BIG, "quire `packed`, 1024 and 512", *(f"{_HEADED} {size}" for size in SIZES))
"""The rows that are measured with a larger window, too: it takes hours for all."""


def cutters() -> Iterator[tuple[str, Callable[[], Cutter]]]:
    """The name of each row, and what makes its cutter; a package may be missing."""
    for name, options in QUIRE.items():
        yield name, partial(of_quire, **options)
    for name, make in _PEERS.items():
        for size in SIZES:
            yield f"{name} {size}", partial(make, size)


def of_quire(**options: Any) -> Cutter:
    """Chunks of quire with these options."""

    def cut(path: str, text: str) -> list[Cut]:
        chunks = quire.chunk(text, path=path, **options)
        places = [chunk.source_position for chunk in chunks]
        return [Cut(at.char_start, at.char_end, chunk.embed_text) for at, chunk in zip(places, chunks, strict=True)]

    return cut


def recursive(size: int) -> Cutter:
    """LangChain's RecursiveCharacterTextSplitter."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter  # noqa: PLC0415 - may be missing

    splitter = RecursiveCharacterTextSplitter(chunk_size=size * _CHARACTERS, chunk_overlap=0, add_start_index=True)

    def cut(_: str, text: str) -> list[Cut]:
        documents = splitter.create_documents([text])
        return [_cut_at(each.metadata["start_index"], each.page_content) for each in documents]

    return cut


def headed(size: int) -> Cutter:
    """Sections by heading, each cut by LangChain's splitter, with the title and the headings above every piece."""
    inner = recursive(size)

    def cut(path: str, text: str) -> list[Cut]:
        lines = breadcrumbs(path, text)
        return [
            Cut(start + piece.start, start + piece.end, f"{lines[start]}\n{piece.text}")
            for start, end in sections(text)
            for piece in inner(path, text[start:end])
        ]

    return cut


def text_splitter(size: int) -> Cutter:
    """semantic-text-splitter's MarkdownSplitter."""
    from semantic_text_splitter import MarkdownSplitter  # noqa: PLC0415 - may be missing

    splitter = MarkdownSplitter(size * _CHARACTERS)
    return lambda _, text: [_cut_at(start, piece) for start, piece in splitter.chunk_indices(text)]


def chonkie(size: int) -> Cutter:
    """The RecursiveChunker of chonkie, with its default rules."""
    from chonkie import RecursiveChunker  # noqa: PLC0415 - may be missing

    chunker = RecursiveChunker(tokenizer="character", chunk_size=size * _CHARACTERS)
    return lambda _, text: [Cut(each.start_index, each.end_index, each.text) for each in chunker.chunk(text)]


def semchunk(size: int) -> Cutter:
    """Chunks of semchunk with a counter of characters."""
    from semchunk import chunkerify  # noqa: PLC0415 - may be missing

    chunker = chunkerify(_tokens, size)

    def cut(_: str, text: str) -> list[Cut]:
        pieces, offsets = chunker(text, offsets=True)
        return [Cut(*span, piece) for piece, span in zip(pieces, offsets, strict=True)]

    return cut


def llama_index(size: int) -> Cutter:
    """LlamaIndex's MarkdownNodeParser, then SentenceSplitter; embedded with the metadata, as its pipeline does."""
    from llama_index.core import Document  # noqa: PLC0415 - may be missing
    from llama_index.core.node_parser import MarkdownNodeParser, SentenceSplitter  # noqa: PLC0415
    from llama_index.core.schema import MetadataMode  # noqa: PLC0415

    by_headings = MarkdownNodeParser()
    by_size = SentenceSplitter(chunk_size=size, chunk_overlap=0, tokenizer=lambda text: range(_tokens(text)))

    def cut(_: str, text: str) -> list[Cut]:
        nodes = by_size.get_nodes_from_documents(by_headings.get_nodes_from_documents([Document(text=text)]))
        texts = [node.get_content(metadata_mode=MetadataMode.EMBED) for node in nodes]
        spans = located(text, [node.text for node in nodes])
        return [Cut(*span, each) for span, each in zip(spans, texts, strict=True)]

    return cut


_PEERS: Mapping[str, Callable[[int], Cutter]] = {
    _HEADED: headed,
    "LangChain, recursive": recursive,
    "text-splitter": text_splitter,
    "chonkie": chonkie,
    "semchunk": semchunk,
    "LlamaIndex": llama_index,
}


def located(text: str, pieces: Sequence[str]) -> list[tuple[int, int]]:
    """The spans of pieces that follow one another in a text; white space may have been lost or added."""
    solid = [at for at, character in enumerate(text) if not character.isspace()]
    letters = "".join(text[at] for at in solid)
    spans, at = [], 0
    for piece in pieces:
        wanted = "".join(piece.split())
        found = letters.find(wanted, at)
        first = max(found, at) if wanted else at
        last = min(first + len(wanted), len(solid)) if found >= 0 else first
        spans.append((solid[first], solid[last - 1] + 1) if first < last else (0, 0))
        at = last
    return spans


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS)


def _cut_at(start: int, piece: str) -> Cut:
    return Cut(start, start + len(piece), piece)
