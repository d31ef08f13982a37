"""What the adapters share: ids and metadata of chunks and hits, names of documents, searches."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from quire.index.folder import is_inside
from quire.model.chunk_record import Chunk, Chunks
from quire.model.validation import NO_LIMIT
from quire.output.record_forms import flat
from quire.pipeline import chunk, parse
from quire.search.expand import Documents, expand
from quire.search.hit import Hit
from quire.search.index_api import Index

Item = TypeVar("Item")
Metadata: TypeAlias = dict[str, str | int | float]
AnyIndex: TypeAlias = Index | str | PathLike[str]  # an open index or its folder

_CHUNK_FIELDS = (
    "stableId", "sourcePath", "fileTitle", "headerPath", "sectionSlug", "anchor", "url", "tags", "nodeId",
    "chunkNumber", "charStart", "charEnd", "startLine", "endLine", "tokens", "contentHash", "prevId", "nextId",
)  # fmt: skip


class FrameworkChunk(NamedTuple):
    """A chunk with the id and the metadata that it has in a framework."""

    chunk: Chunk
    id: str  # a UUID, which all stores accept; the same as long as the chunk's text and the document's key are
    metadata: Metadata

    def start(self, text: str, content: str) -> int | None:
        """Where ``content``, which is the chunk's, is in the document's ``text``; None if it is not verbatim."""
        position = self.chunk.source_position
        if text.startswith(content, position.char_start):
            return position.char_start
        start = text.find(content, max(position.char_start - len(content), 0), position.char_end)
        return None if start < 0 else start


class Splitter:
    """Cuts documents; checks the options when it is made. ``header_keys`` adds ``Header 1``, ``Header 2``."""

    def __init__(self, strategy: str, options: dict[str, Any], *, header_keys: bool = False) -> None:
        chunk("", strategy, **options)
        self.strategy, self.options, self.header_keys = strategy, options, header_keys

    def __call__(self, values: Iterable[tuple[Any, ...]]) -> list[list[FrameworkChunk]]:
        """The pieces of documents: of each its text, path, id and metadata."""
        documents, taken = list(values), Counter[str]()
        names = _names([str(path or id_ or "") for _, path, id_, _ in documents])
        cut = [self._chunks(text, path, name) for (text, path, *_), name in zip(documents, names, strict=True)]
        keys = [relative(id_) if id_ else _key(metadata) for _, _, id_, metadata in documents]
        return [pieces(each, key, taken, header_keys=self.header_keys) for each, key in zip(cut, keys, strict=True)]

    def _chunks(self, text: str, path: object, name: str) -> Chunks:
        """The chunks of a document. Without a path its name, or else its content, is in quire's ids only."""
        if path:
            return chunk(text, self.strategy, path=name, **self.options)
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
        options = {"syntax": "markdown", **self.options}
        if options.get("title") is None:
            options["title"] = parse(text, syntax=options["syntax"]).title
        return chunk(text, self.strategy, path=name or f"untitled-{digest}", **options)


def _key(metadata: Mapping[Any, Any]) -> str:
    """What tells a document without an id from others: all of its metadata, such as source and page."""
    values = {str(name): relative(value) if isinstance(value, str) else value for name, value in metadata.items()}
    return json.dumps(values, sort_keys=True, default=str)


def pieces(chunks: Chunks, key: str, taken: Counter[str], *, header_keys: bool) -> list[FrameworkChunk]:
    """The chunks of a document with ids that no other has; ``taken`` counts what ids of this call are made of."""
    ids: dict[str | None, str] = {}
    for record in chunks:
        name = f"{key}\0{record.stable_id}"
        seed = f"{name}\0{taken[name]}".encode("utf-8", "surrogatepass")
        ids[record.id] = str(UUID(bytes=hashlib.blake2b(seed, digest_size=16).digest(), version=5))
        taken[name] += 1
    return [FrameworkChunk(each, ids[each.id], _metadata(each, ids, header_keys=header_keys)) for each in chunks]


def _metadata(chunk: Chunk, ids: Mapping[str | None, str], *, header_keys: bool) -> Metadata:
    """The fields of a chunk that frameworks filter and cite by, without empty ones."""
    record = {**flat(chunk), "prevId": ids.get(chunk.prev_id, ""), "nextId": ids.get(chunk.next_id, "")}
    headers = zip(chunk.header_depths, chunk.header_path, strict=True) if header_keys else ()
    known = {name: record[name] for name in _CHUNK_FIELDS if record[name] != ""}
    return {"chunkId": chunk.id, **known, **{f"Header {depth}": title for depth, title in headers}}


def expanded(
    ranked: Sequence[tuple[Item, Mapping[str, Any]]], documents: Documents, max_tokens: int, options: Mapping[str, Any]
) -> Iterator[tuple[Item, Chunk, Metadata]]:
    """The sections of ranked pieces, which have the metadata of chunks; each with the best of its pieces."""
    places = [(metadata["sourcePath"], metadata["charStart"], metadata["charEnd"]) for _, metadata in ranked]
    for section in expand([metadata for _, metadata in ranked], documents, max_tokens=max_tokens, **options):
        path, at = section.source_path, section.source_position
        inside = [each[0] == path and each[1] < at.char_end and at.char_start < each[2] for each in places]
        yield ranked[inside.index(True)][0], section, _metadata(section, {}, header_keys=False)


def relative(path: str) -> str:
    """A path in the current folder as relative to it, so that it is the same on every machine; others as they are."""
    folder = os.getcwd()  # noqa: PTH109
    is_below = os.path.isabs(path) and is_inside(path, folder)  # noqa: PTH117
    return os.path.relpath(path, folder).replace(os.sep, "/") if is_below else path


def _names(paths: Sequence[str]) -> list[str]:
    """The paths of documents in quire's ids, never absolute: outside of the current folder from their common one on."""
    short = [relative(path) for path in paths]
    outside = [os.path.dirname(path) for path in short if os.path.isabs(path)]  # noqa: PTH117, PTH120
    root = os.path.commonpath(outside) if len({os.path.splitdrive(path)[0] for path in outside}) == 1 else ""
    names = {path: os.path.relpath(path, root or os.path.dirname(path)) for path in short if os.path.isabs(path)}  # noqa: PTH117, PTH120
    return [names.get(path, path).replace(os.sep, "/") for path in short]


def hit_metadata(hit: Hit) -> Metadata:
    """The fields of a hit that frameworks cite by."""
    known: Metadata = {"sourcePath": hit.path, "tree": hit.tree, "title": hit.title, "breadcrumb": hit.breadcrumb_line}
    known |= {"nodeId": hit.id, "charStart": hit.span.start, "charEnd": hit.span.end}
    return {**known, "startLine": hit.lines[0], "endLine": hit.lines[1], "tokens": hit.tokens, "score": hit.score}


def opened(index: AnyIndex) -> Index:
    """The index, opened if it is a folder."""
    return index if isinstance(index, Index) else Index.open(index)


def search(index: Index, query: str, limit: int, *, max_tokens: int | None, **options: Any) -> list[Hit]:
    """The best ``limit`` hits, whatever their scores; without ``max_tokens`` none is left out for its length."""
    chosen = {name: value for name, value in options.items() if value is not None}
    most = NO_LIMIT if max_tokens is None else max_tokens
    return index.search(query, limit=limit, max_tokens=most, every=True, **chosen)
