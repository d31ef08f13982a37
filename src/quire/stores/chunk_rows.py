"""The rows of chunks in a store. A row is a chunk, or a passage of a chunk that is longer than the model's window."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from quire.cut.chunk_fields import node_id
from quire.embed.embedder import Embedder, passages
from quire.model.chunk_record import Chunk, Chunks, SourcePosition
from quire.model.offsets import repaired
from quire.output.record_forms import front_matter
from quire.read import frontmatter
from quire.tokens.sizer import Sizer
from quire.tokens.token_counters import TokenCounter
from quire.tokens.tokenizers import resolve

LAYOUT = 4  # the version of the rows; with another one, rows are made anew, with the vectors that there are

COLUMNS: Mapping[str, type] = {
    **dict.fromkeys(
        ("id", "document", "document_hash", "content_hash", "chunk_id", "content_type", "source_path", "file_title",
         "section_id", "section_title", "section_slug", "anchor", "url", "breadcrumb", "front_matter", "text"), str
    ),
    **dict.fromkeys(
        ("chunk_number", "passage", "start_line", "end_line", "char_start", "char_end", "tokens",
         "section_start", "section_end", "section_tokens"), int
    ),
    **dict.fromkeys(("header_path", "tags", "pages"), list),
}  # fmt: skip
"""The columns of a row besides its vector; those of the type list contain texts."""

_OF_CHUNK = [name for name in COLUMNS if name in ("content_hash", *Chunk.__struct_fields__)]
_OF_POSITION = [name for name in COLUMNS if name in SourcePosition.__struct_fields__]


class Row(NamedTuple):
    """A row; ``columns`` has the texts, numbers and lists by name."""

    columns: Mapping[str, Any]
    tokens: int = 0  # the tokens that embedding it costs
    vector: Any = None

    @property
    def id(self) -> str:
        """The stable id of the chunk, with the number of a later passage."""
        return str(self.columns["id"])

    @property
    def key(self) -> tuple[str, int]:
        """What the vector depends on, besides the model."""
        return self.columns["content_hash"], self.columns["passage"]


def rows(
    chunks: Chunks, document: str, document_hash: str, embedder: Embedder, tokenizer: object = None
) -> Iterator[Row]:
    """The rows of a document's chunks, of which there is at least one."""
    shared: dict[str, Any] = {"document": document, "document_hash": document_hash}
    shared |= {"front_matter": front_matter(chunks[0]), "tags": frontmatter.tags(chunks[0].metadata)}
    sections = dict(_sections(chunks, resolve(tokenizer, chunks.options.tokenizer)))
    for chunk in chunks:
        columns = shared | {name: getattr(chunk, name) for name in _OF_CHUNK} | sections[chunk.node_id]
        columns |= {name: getattr(chunk.source_position, name) for name in _OF_POSITION}
        columns |= {"chunk_id": chunk.id, "breadcrumb": chunk.header_breadcrumb, "tokens": chunk.token_stats.tokens}
        columns["pages"] = tuple(map(str, chunk.pages))
        for passage, text in enumerate(passages(chunk.embed_text, embedder)):
            id_ = f"{chunk.stable_id}:{passage}" if passage else chunk.stable_id
            values = columns | {"id": id_, "passage": passage, "text": text}
            tokens = 0 if passage else chunk.token_stats.embed_tokens
            yield Row({name: _storable(value) for name, value in values.items()}, tokens)


def _sections(chunks: Chunks, counter: TokenCounter) -> Iterator[tuple[str, dict[str, Any]]]:
    """The id of each section with its columns: where it is with all its children, and how many tokens that has."""
    document, options = chunks.document, chunks.options
    starts, _, _, ends, *_ = document.section_columns
    edges = [*starts, len(document.text)]
    sums, _ = Sizer(document, counter, options).sums(edges[0], edges[1:])
    tokens_before = dict(zip(edges, sums, strict=True))
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        id_, tokens = node_id(document, number, options), tokens_before[end] - tokens_before[start]
        yield id_, {"section_id": id_, "section_start": start, "section_end": end, "section_tokens": tokens}


def _storable(value: Any) -> Any:
    """``value`` without None, and without lone surrogates and NUL, which some stores refuse."""
    if isinstance(value, tuple):
        return [_storable(text) for text in value]
    if isinstance(value, str):
        value = value if value.isascii() else repaired(value)
        return value.replace("\0", "\ufffd")
    return "" if value is None else value
