"""What the adapters share: the metadata of chunks and hits, and the names of documents without a path."""

from __future__ import annotations

import hashlib
from os import PathLike
from typing import Any, TypeAlias

from quire.indexed import Index
from quire.pipeline import chunk, parse
from quire.record import Chunk, Chunks
from quire.search.hit import Hit
from quire.wire.forms import flat

Metadata: TypeAlias = dict[str, str | int | float]

_CHUNK_FIELDS = (
    "sourcePath", "fileTitle", "headerPath", "sectionSlug", "tags", "nodeId", "chunkNumber", "charStart", "charEnd",
    "startLine", "endLine", "tokens", "prevId", "nextId", "contentHash",
)  # fmt: skip


AnyIndex: TypeAlias = Index | str | PathLike[str]
"""An open index or its folder."""


class Splitter:
    """Cuts texts by a strategy with options that are checked when it is made."""

    def __init__(self, strategy: str, options: dict[str, Any]) -> None:
        chunk("", strategy, **options)
        self.strategy = strategy
        self.options = options

    def __call__(self, text: str, path: str | None, name: str | None = None) -> Chunks:
        """The chunks of ``text``. A document without a path is named by ``name``, else by its content, in ids only."""
        if path:
            return chunk(text, self.strategy, path=path, **self.options)
        if not name:
            name = f"untitled-{hashlib.blake2b(text.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"
        options = {"syntax": "markdown", **self.options}
        title = options.pop("title", None)
        if title is None:
            title = parse(text, syntax=options["syntax"]).title
        return chunk(text, self.strategy, path=name, title=title, **options)


def chunk_metadata(chunk: Chunk) -> Metadata:
    """The fields of a chunk that frameworks filter and cite by, without empty ones."""
    record = flat(chunk)
    return {name: record[name] for name in _CHUNK_FIELDS if record[name] != ""}


def hit_metadata(hit: Hit) -> Metadata:
    """The fields of a hit that frameworks cite by."""
    return {
        "sourcePath": hit.path,
        "tree": hit.tree,
        "title": hit.title,
        "breadcrumb": hit.breadcrumb_line,
        "nodeId": hit.id,
        "charStart": hit.span.start,
        "charEnd": hit.span.end,
        "startLine": hit.lines[0],
        "endLine": hit.lines[1],
        "tokens": hit.tokens,
        "score": hit.score,
    }


def opened(index: AnyIndex) -> Index:
    """The index, opened if it is a folder."""
    return index if isinstance(index, Index) else Index.open(index)


def found(index: Index, query: str, limit: int, **options: Any) -> list[Hit]:
    """The hits of a search; options that are None are left to the index."""
    return index.search(query, limit=limit, **{name: value for name, value in options.items() if value is not None})
