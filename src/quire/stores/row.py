"""The row of a store: a chunk, or a passage of a chunk that is longer than the model's window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from quire.embed.embedder import Embedder, passages
from quire.record import Chunk, Chunks
from quire.size.surrogates import repaired
from quire.wire.forms import front_matter, tags

LAYOUT = 1
"""The version of the rows; another one is another generation."""

TEXTS = (
    "id", "document", "document_hash", "content_hash", "chunk_id", "content_type", "source_path", "file_title",
    "section_title", "section_slug", "breadcrumb", "front_matter", "text",
)  # fmt: skip
NUMBERS = ("chunk_number", "passage", "start_line", "end_line", "char_start", "char_end", "tokens")
LISTS = ("header_path", "tags")
"""The columns of a row besides its vector, by type."""

_NAMESPACE = UUID("6f6a1c3e-0f2b-5d0e-9a55-6a1b7c0d4e21")


@dataclass(frozen=True, slots=True)
class Row:
    """A row; ``columns`` has the texts, numbers and lists by name."""

    columns: MappingProxyType[str, Any]
    tokens: int
    """The tokens that embedding it costs."""
    vector: Any = None

    @property
    def id(self) -> str:
        """Made of the document, the content and the passage: it does not change when other chunks do."""
        return str(self.columns["id"])

    @property
    def key(self) -> tuple[str, int]:
        """What the vector depends on, besides the model."""
        return self.columns["content_hash"], self.columns["passage"]

    def columns_of(self, names: Sequence[str]) -> list[Any]:
        """The values of some columns."""
        return [self.columns[name] for name in names]

    def with_vector(self, vector: Any) -> Row:
        """The same row with its vector."""
        return replace(self, vector=vector)


def rows(chunks: Chunks, document: str, document_hash: str, embedder: Embedder) -> Iterator[Row]:
    """The rows of a document's chunks."""
    seen: dict[str, int] = {}
    for chunk in chunks:
        content = chunk.content_hash
        repeated = seen[content] = seen.get(content, -1) + 1
        base = f"{document}#{content}" + (f".{repeated}" if repeated else "")
        own = _columns(chunk) | {"document": document, "document_hash": document_hash, "content_hash": content}
        for passage, text in enumerate(passages(chunk.embed_text, embedder)):
            id_ = f"{base}:{passage}" if passage else base
            columns = own | {"id": id_, "passage": passage, "text": text}
            tokens = 0 if passage else chunk.token_stats.embed_tokens
            yield Row(MappingProxyType({name: _storable(value) for name, value in columns.items()}), tokens)


def _columns(chunk: Chunk) -> dict[str, Any]:
    place = chunk.source_position
    return {
        "chunk_id": chunk.id,
        "content_type": chunk.content_type,
        "source_path": chunk.source_path or "",
        "file_title": chunk.file_title,
        "section_title": chunk.section_title,
        "section_slug": chunk.section_slug,
        "breadcrumb": chunk.header_breadcrumb,
        "front_matter": front_matter(chunk),
        "chunk_number": chunk.chunk_number,
        "start_line": place.start_line,
        "end_line": place.end_line,
        "char_start": place.char_start,
        "char_end": place.char_end,
        "tokens": chunk.token_stats.tokens,
        "header_path": list(chunk.header_path),
        "tags": list(tags(chunk)),
    }


def _storable(value: Any) -> Any:
    """Texts without lone surrogates and NUL, which some stores refuse."""
    if isinstance(value, str):
        return repaired(value).replace("\0", "\ufffd")
    return [_storable(each) for each in value] if isinstance(value, list) else value


def uuid_of(name: str) -> str:
    """The id for stores that take UUIDs only."""
    return str(uuid5(_NAMESPACE, name))
