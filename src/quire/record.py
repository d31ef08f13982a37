"""The chunk: the record that users see, and its JSON names. Made by finish/; model.py has the records before it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from quire import crumbs
from quire.config import Options
from quire.model import Document, Finding


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStats:
    """How large a chunk is."""

    tokens: int
    """Tokens of ``original_text``."""
    estimated_tokens: int
    """A quarter of the characters of ``original_text``, rounded up."""
    embed_tokens: int
    """Tokens of ``embed_text``; this is what a cap limits."""


class Filling(Protocol):
    """Knows the fields of chunks."""

    def __call__(self, number: int, name: str) -> Mapping[str, Any]:
        """The fields of the chunk with this ``number``; ``name`` is the one that was asked for."""


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
    """The file's name, then ``header_path``."""
    contained_headings: tuple[str, ...]
    """The headings in its own text."""
    position: int | None
    """The tree strategy only: its place among all nodes of the tree."""

    @classmethod
    def filled_by(cls, fill: Filling, number: int) -> Chunk:
        """The chunk with this ``number``, whose fields come from ``fill`` when they are asked for."""
        chunk = object.__new__(cls)
        object.__setattr__(chunk, "_fill", fill)
        object.__setattr__(chunk, "chunk_number", number)
        return chunk

    if not TYPE_CHECKING:  # where fields are missing; type checkers know them

        def __getattr__(self, name: str) -> Any:
            fill = self.__dict__.get("_fill")
            if fill is None or name.startswith("_"):
                raise AttributeError(f"a chunk has no {name!r}")
            fields = fill(self.__dict__["chunk_number"], name)
            self.__dict__.update(fields)
            if name not in fields:
                raise AttributeError(f"a chunk has no {name!r}")
            return fields[name]

    @cached_property
    def content_hash(self) -> str:
        """Changes when what is embedded, or its place under the headings, changes; and only then."""
        parts = "\x1f".join((*self.header_path, "", self.embed_text))
        return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    @property
    def own_text(self) -> str:
        """Its text without the sentences that repeat the chunk before."""
        return self.original_text[self.overlap_chars :]

    @property
    def breadcrumb_line(self) -> str:
        """The breadcrumb for readers: ``> Title › Parent › Section``."""
        return crumbs.reader_line(self.file_title, self.header_path)

    def to_dict(self) -> dict[str, Any]:
        """The chunk as JSON-ready values under camelCase names."""
        record = {
            json_name: value if (value := getattr(self, name)).__class__ in _PLAIN else _plain(value)
            for name, json_name in _json_names(Chunk)
        }
        record["contentHash"] = self.content_hash
        if self.position is None:
            del record["position"]
        return record


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


def _json_names(record: type[Any]) -> tuple[tuple[str, str], ...]:
    names = _JSON_NAMES.get(record)
    if names is None:
        names = tuple((each.name, _camel(each.name)) for each in fields(record))
        _JSON_NAMES[record] = names
    return names


_JSON_NAMES: dict[type[Any], tuple[tuple[str, str], ...]] = {}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_PLAIN = frozenset({str, int, type(None)})
"""Types whose values are JSON's as they are; asking for them first spares most values the rest."""


def _plain(value: Any) -> Any:
    if isinstance(value, SourcePosition | TokenStats):
        return {json_name: getattr(value, name) for name, json_name in _json_names(type(value))}
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {key: each if each.__class__ in _PLAIN else _plain(each) for key, each in value.items()}
    return value
