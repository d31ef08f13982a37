"""The row of a store: a chunk, or a passage of a chunk that is longer than the model's window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from quire.embed.embedder import Embedder, passages
from quire.offsets import repaired
from quire.record import Chunk
from quire.wire.forms import front_matter, tags

LAYOUT = 2
"""The version of the rows; with another one, rows are made anew, with the vectors that there are."""

COLUMNS: Mapping[str, type] = MappingProxyType(
    {
        **dict.fromkeys(
            ("id", "document", "document_hash", "content_hash", "chunk_id", "content_type", "source_path", "file_title",
             "section_title", "section_slug", "anchor", "url", "breadcrumb", "front_matter", "text"), str
        ),
        **dict.fromkeys(("chunk_number", "passage", "start_line", "end_line", "char_start", "char_end", "tokens"), int),
        **dict.fromkeys(("header_path", "tags"), list),
    }
)  # fmt: skip
"""The columns of a row besides its vector; those of the type list contain texts."""

_NAMESPACE = UUID("6f6a1c3e-0f2b-5d0e-9a55-6a1b7c0d4e21")


@dataclass(frozen=True, slots=True)
class Row:
    """A row; ``columns`` has the texts, numbers and lists by name."""

    columns: Mapping[str, Any]
    tokens: int = 0
    """The tokens that embedding it costs."""
    vector: Any = None

    @property
    def id(self) -> str:
        """The stable id of the chunk, with the number of a later passage."""
        return str(self.columns["id"])

    @property
    def key(self) -> tuple[str, int]:
        """What the vector depends on, besides the model."""
        return self.columns["content_hash"], self.columns["passage"]

    def with_vector(self, vector: Any) -> Row:
        """The same row with its vector."""
        return Row(self.columns, self.tokens, vector)


def rows(chunks: Sequence[Chunk], document: str, document_hash: str, embedder: Embedder) -> Iterator[Row]:
    """The rows of a document's chunks."""
    if not chunks:
        return
    shared = _document_columns(chunks[0]) | {"document": _storable(document), "document_hash": document_hash}
    for chunk in chunks:
        columns, key = shared | _columns(chunk), _storable(chunk.stable_id)
        for passage, text in enumerate(passages(chunk.embed_text, embedder)):
            own = {"id": f"{key}:{passage}" if passage else key, "passage": passage, "text": _storable(text)}
            yield Row(columns | own, 0 if passage else chunk.token_stats.embed_tokens)


def _document_columns(chunk: Chunk) -> dict[str, Any]:
    """What all chunks of a document share."""
    return {
        "content_type": chunk.content_type,
        "source_path": _storable(chunk.source_path or ""),
        "file_title": _storable(chunk.file_title),
        "front_matter": _storable(front_matter(chunk)),
        "tags": [*map(_storable, tags(chunk))],
    }


def _columns(chunk: Chunk) -> dict[str, Any]:
    place = chunk.source_position
    return {
        "content_hash": chunk.content_hash,
        "chunk_id": _storable(chunk.id),
        "anchor": _storable(chunk.anchor),
        "url": _storable(chunk.url or ""),
        "section_title": _storable(chunk.section_title),
        "section_slug": _storable(chunk.section_slug),
        "breadcrumb": _storable(chunk.header_breadcrumb),
        "chunk_number": chunk.chunk_number,
        "start_line": place.start_line,
        "end_line": place.end_line,
        "char_start": place.char_start,
        "char_end": place.char_end,
        "tokens": chunk.token_stats.tokens,
        "header_path": [*map(_storable, chunk.header_path)],
    }


def _storable(text: str) -> str:
    """``text`` without lone surrogates and NUL, which some stores refuse."""
    text = text if text.isascii() else repaired(text)
    return text.replace("\0", "\ufffd") if "\0" in text else text


def uuid_of(name: str) -> str:
    """The id for stores that take UUIDs only."""
    return str(uuid5(_NAMESPACE, name))
