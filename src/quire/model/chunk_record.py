"""The chunk: its fields and their JSON names. cut/chunk_fields.py makes it of a piece, which a strategy chose."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct, field, structs, to_builtins

from quire.model.document import UNTITLED, Document, Finding
from quire.model.options import Options
from quire.model.page_markers import without_markers
from quire.model.substitutions import substitute
from quire.model.validation import check_record

Number = Annotated[int, Meta(ge=0)]
Depth = Annotated[int, Meta(ge=1, le=6)]
OTHER_NAMES = {"headerHierarchy": "headerBreadcrumb", "sectionId": "sectionSlug", "heading": "sectionTitle"}
"""Alternative JSON names that are also read, with the names that are written; output/legacy.py has more."""


class Piece(NamedTuple):
    """A span that a strategy chose, to be made into a chunk."""

    start: int  # its first character
    end: int  # one past its last character
    section: int  # the number of the section that gives the heading path
    tokens: int  # the tokens of its text with everything that is added to it, but the breadcrumb
    prefix: str = ""  # text added in front, so that a cut block stays valid: an opening fence, a table's header rows
    suffix: str = ""  # text added behind: a closing fence
    overlap_start: int | None = None  # where the repeated sentences of the piece before start; None for no overlap


class SourcePosition(Struct, frozen=True, rename="camel"):
    """Where a chunk's own text is in its source, as characters, UTF-8 bytes and 1-based lines."""

    char_start: Number  # the first character
    char_end: Number  # one past the last character
    total_chars: Number  # how many characters the source has
    byte_start: Number = 0  # the first byte
    byte_end: Number = 0  # one past the last byte
    start_line: Number = 0  # the line of the first character
    end_line: Number = 0  # the line of the last character


class TokenStats(Struct, frozen=True, rename="camel"):
    """The size of a chunk."""

    tokens: Number  # tokens of ``original_text``
    estimated_tokens: Number  # a quarter of the characters of ``original_text``, rounded up
    embed_tokens: Number = 0  # tokens of ``embed_text``; the cap limits this number


class Chunk(Struct, frozen=True, kw_only=True, rename="camel"):
    """A piece worth retrieving, with its place in the document. ``to_dict`` gives its JSON form.

    Embed ``embed_text``. Show ``original_text``, below ``header_breadcrumb``. Cite ``source_path`` with the lines of
    ``source_position``, or ``url``. Store it under ``stable_id``.
    """

    id: str  # unique among the chunks of a run. It counts: a chunk that is inserted changes those behind it
    stable_id: str = ""
    """``{contentType}:{path}#{anchor}~{hash of its text}``: unique in the document, unchanged by edits elsewhere."""
    parent_id: str | None
    """The document's id; in the tree strategy the id of the parent node, None for the document itself."""
    node_id: str = ""  # the id of the section of ``header_path`` in the search index: ``{tree}:{path}#{slug}``
    chunk_number: Number  # its number among the document's chunks, from 0
    content_type: str  # the kind of content, such as ``doc``
    source_path: str | None = None  # the path of the document; None for text without one
    embed_text: str  # the text to embed: ``original_text``, below a breadcrumb where that helps
    original_text: str  # the text to show
    file_title: str  # the document's title
    section_title: str
    """The last of ``header_path``; the document's title if it has no headings; else its first heading, or empty."""
    header_path: tuple[str, ...]  # the headings above it, outermost first
    header_breadcrumb: str  # ``header_path`` joined with `` > ``
    header_depths: tuple[Depth, ...]  # the level of each heading in ``header_path``
    header_slugs: tuple[str, ...]  # the anchor of each heading in ``header_path``
    section_slug: str  # the last of ``header_slugs``, or empty
    anchor: str = ""
    """The slug of the heading at which its own text begins, or of its section; empty above all headings."""
    url: str | None = None  # the address of its page, with its anchor; None if no base URL is set
    source_position: SourcePosition  # where its own text is in the source
    token_stats: TokenStats  # its size
    prev_id: str | None = None  # the chunk before it in the document
    next_id: str | None = None  # the chunk after it in the document
    node_types: tuple[str, ...] = ()  # the kinds of block in it, by mdast's names
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Front matter, source file, options, quire's version. All chunks of a document share it."""
    strategy: str = ""  # the strategy that made it
    overlap_chars: Number = 0  # how many characters at the start of ``original_text`` repeat the chunk before
    added_chars: Number = 0
    """How many characters of ``embed_text`` quire added: breadcrumb, overlap, repeated headers and fences."""
    breadcrumb: tuple[str, ...] = ()
    """The file's name, then ``header_path``; the name alone where ``packed`` makes one chunk of the document."""
    contained_headings: tuple[str, ...] = ()  # the headings in its own text
    contained_slugs: tuple[str, ...] = ()  # the anchors of the headings in its own text
    pages: tuple[Number, ...] = ()  # the first and last page, if a converter marked pages in the document
    cells: tuple[Number, ...] = ()  # the first and last cell, from 1, if the document is a notebook
    cell_lines: tuple[Number, ...] = ()
    """Its first line in the first of these cells, and its last line in the last, from 1."""
    position: Number | None = None  # the tree strategy only: its position among all nodes of the tree

    def __hash__(self) -> int:
        return hash((self.id, self.embed_text))

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only view of a dict cannot be pickled; the dict can.
        return _restored, (structs.asdict(self) | {"metadata": plain_values(self.metadata)},)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], *, name: str = "<record>") -> Chunk:
        """The chunk of a record that ``to_dict`` made; errors call it ``name``.

        ``OTHER_NAMES`` are read, too. A missing field or a wrong type raises an InputError. Unknown fields are ignored.
        """
        record = renamed(record, OTHER_NAMES) if isinstance(record, Mapping) else record
        chunk: Chunk = check_record(record, cls, name=name)
        return structs.replace(chunk, metadata=MappingProxyType(chunk.metadata))

    @property
    def content_hash(self) -> str:
        """Changes when the embedded text or its heading path changes, and only then."""
        parts = "\x1f".join(map(_escaped, (*self.header_path, "", self.embed_text)))
        return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    @property
    def embed_prefix(self) -> str:
        """The line above its text in ``embed_text``, where variables of the text may have their values."""
        text = self.original_text
        if not self.embed_text.endswith(text):
            options = self.metadata.get("chunkingOptions", {})
            text = substitute(text, options.get("substitutions", {}))
            text = without_markers(text, options.get("page_marker", ""))
        return self.embed_text[: len(self.embed_text) - len(text)]

    def to_dict(self) -> dict[str, Any]:
        """The chunk as JSON-ready values under camelCase names."""
        record: dict[str, Any] = plain_values(to_builtins(self, enc_hook=plain_values))
        for name in ("position", "pages", "cells", "cellLines"):
            if record[name] in (None, []):
                del record[name]
        return record | {"contentHash": self.content_hash}

    def __repr__(self) -> str:
        """The id; the place and the size; the beginning of the text."""
        at, beginning = self.source_position, " ".join(self.original_text[:_SHOWN].split())
        size = f"lines {at.start_line} to {at.end_line}, {self.token_stats.embed_tokens} tokens"
        place = f"{self.header_breadcrumb}, " if self.header_path else ""
        return f"<Chunk {self.id}\n  {place}{size}\n  {beginning}{'…' * (len(self.original_text) > _SHOWN)}>"


class Chunks(list[Chunk]):
    """The chunks of one document: a list, with the document, the options and the findings beside it.

    ``pandas.DataFrame(map(quire.flat, chunks))`` is a table of them.
    """

    def __init__(
        self, chunks: Iterable[Chunk], *, document: Document, options: Options, findings: Sequence[Finding] = ()
    ) -> None:
        super().__init__(chunks)
        self.document = document  # the document they were cut from
        self.options = options  # the options they were cut with
        self.findings = tuple(findings)  # findings from reading, parsing and cutting, in document order

    def __repr__(self) -> str:
        counted = (len(self), "chunk"), (len(self.findings), "finding")
        chunks, findings = (f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counted)
        return f"<Chunks: {chunks} of {self.document.path or UNTITLED}, {findings}, {self.options.strategy}>"

    def _repr_html_(self) -> str:
        """The chunks as coloured bands, for a notebook."""
        return "".join(map(_band, self))


def plain_values(value: Any) -> Any:
    """A copy made of dicts, lists and scalars alone."""
    if isinstance(value, Mapping):
        return {key: plain_values(each) for key, each in value.items()}
    return [plain_values(each) for each in value] if isinstance(value, tuple | list) else value


def renamed(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """``record`` with fields renamed; a field that also has its new name keeps that value."""
    return {names.get(key, key): value for key, value in record.items() if names.get(key) not in record}


_SHOWN = 100  # how many characters of a text a chunk shows of itself
_HUE_STEP = 137  # degrees between the colours of neighbouring bands


def _band(chunk: Chunk) -> str:
    hue, texts = chunk.chunk_number * _HUE_STEP % 360, (chunk.id, chunk.header_breadcrumb, chunk.original_text)
    name, headings, text = (text.replace("&", "&amp;").replace("<", "&lt;") for text in texts)
    return (
        f'<div style="border-left:6px solid hsl({hue},60%,60%);padding:0 8px;margin:4px 0">'
        f"<small>{name} · {headings} · {chunk.token_stats.tokens} tokens</small>"
        f'<div style="white-space:pre-wrap">{text}</div></div>'
    )


def _restored(values: dict[str, Any]) -> Chunk:
    return Chunk(**values | {"metadata": MappingProxyType(values["metadata"])})


def _escaped(text: str) -> str:
    """``text`` without the character that separates the parts of a hash."""
    if text.isprintable():
        return text
    return text.replace("\x1e", "\x1e0").replace("\x1f", "\x1e1")
