"""The chunk: the record that users see, and its JSON names. Made by finish/; pieces.py has what comes before it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

from quire import crumbs
from quire.config import Options
from quire.model import Document, Finding


@dataclass(frozen=True, kw_only=True)
class SourcePosition:
    """Where a chunk's own text stands in its source, as characters, UTF-8 bytes and 1-based lines."""

    char_start: int
    """The first character."""
    char_end: int
    """One past the last character."""
    total_chars: int
    """How many characters the source has."""
    byte_start: int
    """The first byte."""
    byte_end: int
    """One past the last byte."""
    start_line: int
    """The line of the first character."""
    end_line: int
    """The line of the last character."""

    @classmethod
    def of(cls, *values: int) -> SourcePosition:
        """The position with these values, in the order of the fields; twice as fast as the class itself."""
        position = object.__new__(cls)
        held = position.__dict__
        (
            held["char_start"], held["char_end"], held["total_chars"],
            held["byte_start"], held["byte_end"], held["start_line"], held["end_line"],
        ) = values  # fmt: skip
        return position


@dataclass(frozen=True, kw_only=True)
class TokenStats:
    """How large a chunk is."""

    tokens: int
    """Tokens of ``original_text``."""
    estimated_tokens: int
    """A quarter of the characters of ``original_text``, rounded up."""
    embed_tokens: int
    """Tokens of ``embed_text``; this is what a cap limits."""

    @classmethod
    def of(cls, tokens: int, estimated_tokens: int, embed_tokens: int) -> TokenStats:
        """The stats with these values, in the order of the fields; twice as fast as the class itself."""
        stats = object.__new__(cls)
        held = stats.__dict__
        held["tokens"], held["estimated_tokens"], held["embed_tokens"] = tokens, estimated_tokens, embed_tokens
        return stats


class Filling(Protocol):
    """Knows the fields of chunks."""

    def __call__(self, held: dict[str, Any], name: str | None) -> None:
        """Put the field ``name`` into what a chunk holds, which says its ``chunk_number``; None: all fields."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A piece worth retrieving, with its place in the document. ``to_dict`` gives its JSON form.

    A chunk made by a strategy fills in its fields when one of them is first asked for: many are made, few are read.
    """

    id: str
    """Unique among the chunks of a run."""
    parent_id: str | None
    """The document's id; in the tree strategy the id of the node above, None for the document itself."""
    chunk_number: int
    """Its place among the document's chunks, from 0."""
    content_type: str
    """What kind of content it is, such as ``doc``."""
    embed_text: str
    """The text to embed: ``original_text``, below a breadcrumb where that helps."""
    original_text: str
    """The text to show."""
    file_title: str
    """The document's title."""
    section_title: str
    """The last of ``header_path``; the document's title if it has no headings; empty for a preamble."""
    header_path: tuple[str, ...]
    """The headings above it, outermost first."""
    header_breadcrumb: str
    """``header_path`` joined with `` > ``."""
    header_depths: tuple[int, ...]
    """The level of each of ``header_path``."""
    header_slugs: tuple[str, ...]
    """The anchor of each of ``header_path``."""
    section_slug: str
    """The last of ``header_slugs``, or empty."""
    source_position: SourcePosition
    """Where its own text stands in the source."""
    token_stats: TokenStats
    """How large it is."""
    prev_id: str | None
    """The chunk before it in the document."""
    next_id: str | None
    """The chunk after it in the document."""
    node_types: tuple[str, ...]
    """The kinds of block in it, by mdast's names."""
    metadata: Mapping[str, Any]
    """Front matter, source file, options, quire's version."""
    strategy: str
    """The strategy that made it."""
    overlap_chars: int
    """How many characters at the start of ``original_text`` repeat the chunk before."""
    added_chars: int
    """How many characters of ``embed_text`` quire added: breadcrumb, overlap, repeated headers and fences."""
    breadcrumb: tuple[str, ...]
    """The file's name, then ``header_path``; the name alone where ``packed`` makes one chunk of the document."""
    contained_headings: tuple[str, ...]
    """The headings in its own text."""
    position: int | None
    """The tree strategy only: its place among all nodes of the tree."""

    @classmethod
    def filled_by(cls, fill: Filling, count: int) -> list[Chunk]:
        """So many chunks, numbered from 0, whose fields come from ``fill`` when they are asked for."""
        made = []
        new = object.__new__
        for number in range(count):
            chunk = new(cls)
            held = chunk.__dict__
            held["_fill"], held["chunk_number"] = fill, number
            made.append(chunk)
        return made

    def __hash__(self) -> int:
        return hash((self.id, self.content_hash))

    @cached_property
    def content_hash(self) -> str:
        """Changes when what is embedded, or its place under the headings, changes; and only then."""
        return _content_hash(self.header_path, self.embed_text)

    @property
    def own_text(self) -> str:
        """Its text without the sentences that repeat the chunk before."""
        return self.original_text[self.overlap_chars :]

    @property
    def breadcrumb_line(self) -> str:
        """The breadcrumb for readers: ``> Title › Parent › Section``."""
        return crumbs.reader_line(self.file_title, self.header_path)

    def __getstate__(self) -> dict[str, Any]:
        # So a chunk can be copied, and sent to another process.
        held = self._filled()
        return {**held, "metadata": _plain(held["metadata"])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, metadata=MappingProxyType(state["metadata"]))

    def _filled(self) -> dict[str, Any]:
        """All fields. They are not kept: a large document has many chunks, and each is mostly written once."""
        held = self.__dict__.copy()
        fill = held.pop("_fill", None)
        if fill is not None:
            fill(held, None)
        return held

    def to_dict(self) -> dict[str, Any]:
        """The chunk as JSON-ready values under camelCase names."""
        held = self._filled()
        place, stats = held["source_position"], held["token_stats"]
        record = {
            "id": held["id"],
            "parentId": held["parent_id"],
            "chunkNumber": held["chunk_number"],
            "contentType": held["content_type"],
            "embedText": held["embed_text"],
            "originalText": held["original_text"],
            "fileTitle": held["file_title"],
            "sectionTitle": held["section_title"],
            "headerPath": [*held["header_path"]],
            "headerBreadcrumb": held["header_breadcrumb"],
            "headerDepths": [*held["header_depths"]],
            "headerSlugs": [*held["header_slugs"]],
            "sectionSlug": held["section_slug"],
            "sourcePosition": {
                "charStart": place.char_start,
                "charEnd": place.char_end,
                "totalChars": place.total_chars,
                "byteStart": place.byte_start,
                "byteEnd": place.byte_end,
                "startLine": place.start_line,
                "endLine": place.end_line,
            },
            "tokenStats": {
                "tokens": stats.tokens,
                "estimatedTokens": stats.estimated_tokens,
                "embedTokens": stats.embed_tokens,
            },
            "prevId": held["prev_id"],
            "nextId": held["next_id"],
            "nodeTypes": [*held["node_types"]],
            "metadata": _plain(held["metadata"]),
            "strategy": held["strategy"],
            "overlapChars": held["overlap_chars"],
            "addedChars": held["added_chars"],
            "breadcrumb": [*held["breadcrumb"]],
            "containedHeadings": [*held["contained_headings"]],
            "position": held["position"],
            "contentHash": _content_hash(held["header_path"], held["embed_text"]),
        }
        if record["position"] is None:
            del record["position"]
        return record


class _Asked:
    """A field of chunks that is filled in when it is first asked for; from then on the chunk itself holds it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, chunk: Chunk | None, _: type[Chunk]) -> Any:
        if chunk is None:
            return self
        held = chunk.__dict__
        held["_fill"](held, self._name)
        return held[self._name]


for _field in fields(Chunk):
    setattr(Chunk, _field.name, _Asked(_field.name))


class Chunks(list[Chunk]):
    """The chunks of one document: a list, with what else is known beside it."""

    def __init__(
        self, chunks: Iterable[Chunk], *, document: Document, options: Options, findings: Sequence[Finding] = ()
    ) -> None:
        super().__init__(chunks)
        self.document = document
        """The document they were cut from."""
        self.options = options
        """The options they were cut with."""
        self.findings = tuple(findings)
        """What was found on the way, in document order."""


def _content_hash(header_path: Iterable[str], embed_text: str) -> str:
    parts = "\x1f".join([_escaped(part) for part in (*header_path, "", embed_text)])
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _escaped(text: str) -> str:
    """``text`` without the character that separates the parts of a hash."""
    return text.replace("\x1e", "\x1e0").replace("\x1f", "\x1e1")


_PLAIN = frozenset({str, int, bool, float, type(None)})
"""Types whose values are JSON's as they are; asking for them first spares most values the rest."""


def _plain(value: Any) -> Any:
    kind = value.__class__
    if kind is dict or kind is MappingProxyType:
        made = value.copy()
    elif isinstance(value, Mapping):
        made = dict(value)
    else:
        is_list = isinstance(value, tuple | list)
        return [each if each.__class__ in _PLAIN else _plain(each) for each in value] if is_list else value
    for key, each in made.items():
        if each.__class__ not in _PLAIN:
            made[key] = _plain(each)
    return made
