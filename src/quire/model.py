"""The records that travel through quire, in the order in which they come to be.

    bytes -> Source -> Block, Section -> Document -> Piece -> Chunk -> Chunks, and Finding beside them

All are frozen. Positions are characters of the untouched source text, half-open; text is sliced from them at
the end. The data layer: every stage imports this module, this module imports no stage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from quire import crumbs

if TYPE_CHECKING:
    from quire.config import Options

Syntax = Literal["markdown", "text"]
Kind = Literal[
    "heading", "paragraph", "code", "table", "list", "quote", "html", "math", "footnote", "rule", "reference",
    "directive", "item", "row",
]  # fmt: skip

BLANK = " \t\r\n"
"""The characters that Markdown calls blank. All others, NBSP and form feeds too, are text that must not be lost."""


class Span(NamedTuple):
    """A half-open range of characters in a source text."""

    start: int
    """The first character."""
    end: int
    """One past the last character; never below ``start``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth telling the user about one place."""

    code: str
    """A stable name for the kind of finding, such as ``heading-without-text``."""
    path: str
    """The document, as the user named it; ``<text>`` for text without a path."""
    line: int
    """The 1-based line; 0 when the finding is about the whole document."""
    message: str
    """One sentence: what was found and what became of it."""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message} [{self.code}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document as text, before parsing."""

    text: str
    """The whole text; a byte order mark stays character 0."""
    path: str | None = None
    """Where it came from, with forward slashes; relative to the directory that was given."""
    syntax: Syntax = "markdown"
    """Whether ``#`` lines can be headings."""
    frontmatter: Mapping[str, Any] = field(default_factory=dict)
    """The metadata at its top, as plain values."""
    body_start: int = 0
    """Where the body starts: after a byte order mark and the front matter."""
    opaque: Span | None = None
    """Front matter that does not parse: body text in which nothing is Markdown."""
    findings: tuple[Finding, ...] = ()
    """What reading found."""

    @property
    def text_start(self) -> int:
        """Where text starts: after a byte order mark."""
        return 1 if self.text.startswith("\ufeff") else 0

    @property
    def markdown_start(self) -> int:
        """Where Markdown starts: after front matter, whether it could be read or not."""
        return self.opaque.end if self.opaque is not None else self.body_start

    @property
    def name(self) -> str:
        """How messages name the document."""
        return self.path if self.path is not None else "<text>"


class Block(NamedTuple):
    """A block of Markdown: a paragraph, a table, a list item. Made by the thousand, so a tuple."""

    kind: Kind
    """What it is."""
    start: int
    """Its first character; for a block at document level the start of its first line."""
    end: int
    """One past its last character that is not blank."""
    level: int = 0
    """The heading level, 1 to 6; 1 for a table's header row; 0 otherwise."""
    info: str = ""
    """A heading's plain text, the info string of a code fence, the name of a directive."""
    inner: tuple[Block, ...] | Callable[[Block], tuple[Block, ...]] = ()
    """The blocks inside, or how to find them."""

    @property
    def span(self) -> Span:
        """The characters it covers."""
        return Span(self.start, self.end)

    @property
    def language(self) -> str:
        """The language of a code block: the first word of its info string."""
        return self.info.split(maxsplit=1)[0] if self.kind == "code" and self.info else ""

    @property
    def children(self) -> tuple[Block, ...]:
        """The blocks inside: a list's items, a table's rows, the content of a quote, an item or a footnote."""
        return self.inner if isinstance(self.inner, tuple) else self.inner(self)

    def walk(self) -> Iterator[Block]:
        """This block and every block inside it, in document order."""
        waiting = [self]
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.children))

    def __repr__(self) -> str:
        return f"Block({self.kind!r}, {self.start}, {self.end}, level={self.level}, info={self.info!r})"


class Section(NamedTuple):
    """The document (depth 0) or a heading with all that belongs to it. Made by the thousand, so a tuple."""

    number: int
    """Its place in ``Document.sections``; the document itself is 0."""
    depth: int
    """0 for the document, else the heading's level."""
    title: str
    """The heading as plain text; the document's title at depth 0."""
    slug: str
    """The ASCII slug used in ids, unique in the document; empty at depth 0."""
    anchor: str
    """The slug that GitHub gives the heading, unique in the document; empty at depth 0."""
    start: int
    """Where the heading starts."""
    body_start: int
    """Where its own text starts: right after the heading's line."""
    body_end: int
    """Where its own text ends: at the next heading, whatever that one's depth."""
    end: int
    """Where all that belongs to it ends: at the next heading of the same or a lower depth."""
    text_start: int
    """Where its own text starts without blank lines around it; as ``text_end`` if there is none."""
    text_end: int
    """Where its own text ends without blank lines around it."""
    parent: int | None
    """The number of the section it belongs to; None at depth 0."""
    position: int | None
    """Its place among the nodes of the tree, in document order; None for a heading that makes no node."""

    @property
    def body(self) -> Span:
        """Its own text, without the heading and without its children."""
        return Span(self.body_start, self.body_end)

    @property
    def span(self) -> Span:
        """All that belongs to it below the heading's line, children included."""
        return Span(self.body_start, self.end)

    @property
    def is_node(self) -> bool:
        """Whether it is in the tree: the document, and every heading with text somewhere below it."""
        return self.position is not None


@dataclass(frozen=True, kw_only=True)
class Document:
    """A parsed document: what every strategy works on."""

    source: Source
    """The text it was parsed from."""
    title: str
    """The caller's title, else front matter's, else the first H1, else the file name, else empty."""
    sections: tuple[Section, ...]
    """The document itself, then every heading at document level, in order."""
    findings: tuple[Finding, ...] = ()
    """What reading and parsing found."""
    open_blocks: Callable[[], tuple[Block, ...]] = field(repr=False, compare=False)
    """How to get the blocks; called once, when they are first asked for."""

    @property
    def text(self) -> str:
        """The source text."""
        return self.source.text

    @property
    def path(self) -> str | None:
        """The source's path."""
        return self.source.path

    @property
    def frontmatter(self) -> Mapping[str, Any]:
        """The metadata at the top of the document."""
        return self.source.frontmatter

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks at document level, in order; together they hold every character that is not blank."""
        return self.open_blocks()

    @cached_property
    def verbatim(self) -> tuple[Span, ...]:
        """Where code, tables, HTML and math stand, at any depth, in order: text whose white space means something."""
        spans: list[Span] = []
        for block in self.blocks:
            for inner in block.walk() if _may_hold_verbatim(block, self.text) else (block,):
                is_leaf = inner.kind in ("code", "html", "math") and not inner.children
                if (is_leaf or inner.kind == "table") and (not spans or inner.start >= spans[-1].end):
                    spans.append(inner.span)
        return tuple(spans)

    @cached_property
    def nodes(self) -> tuple[Section, ...]:
        """The sections that are in the tree, in order; the first is the document itself."""
        return tuple(section for section in self.sections if section.position is not None)

    def path_to(self, section: Section) -> tuple[Section, ...]:
        """The headings from the top of the document down to ``section``, itself included; empty for the root."""
        path: list[Section] = []
        current = section
        while current.parent is not None:
            path.append(current)
            current = self.sections[current.parent]
        return tuple(reversed(path))

    def children_of(self, section: Section) -> tuple[Section, ...]:
        """The nodes directly below ``section``."""
        return tuple(node for node in self._below(section) if node.parent == section.number)

    def full_text(self, section: Section) -> str:
        """All of a section, put together from its parts: headings and bodies in document order."""
        parts = [section, *self._below(section, nodes_only=False)]
        if section.depth == 0 and section.body_end == len(self.text):
            parts = [section]  # no heading makes a node, so the document's own body holds them all
        return "".join(self.text[part.start : part.body_end] for part in parts)

    def _below(self, section: Section, *, nodes_only: bool = True) -> Iterator[Section]:
        for index in range(section.number + 1, len(self.sections)):
            below = self.sections[index]
            if below.start >= section.end:
                return
            if below.is_node or not nodes_only:
                yield below


class Piece(NamedTuple):
    """A part of a document that a strategy has cut out, to be made into a chunk."""

    start: int
    """Its first character."""
    end: int
    """One past its last character."""
    section: int
    """The number of the section that gives the heading path."""
    tokens: int
    """How many tokens its text has, with what is added around it."""
    before: str = ""
    """What is added in front, so that it stands alone: an opening fence, a table's header."""
    after: str = ""
    """What is added behind: a closing fence."""
    overlap: int | None = None
    """Where the end of the piece before starts that is repeated in front of this one; None for none."""


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
        record = {json_name: _plain(getattr(self, name)) for name, json_name in _json_names(Chunk)}
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


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """How options, records and messages name it."""

    def count(self, text: str) -> int:
        """How many tokens ``text`` has."""

    def cuts_cleanly(self, text: str, at: int) -> bool:
        """Whether the counts of ``text[:at]`` and ``text[at:]`` are known to add up to that of ``text``."""


class Cut(NamedTuple):
    """What a strategy makes of a document."""

    pieces: Sequence[Piece]
    """Ordered, disjoint, with no text between them but what the laws allow."""
    findings: Sequence[Finding] = ()
    """What could not be had."""


class Strategy(Protocol):
    """Cuts a document into pieces."""

    def __call__(self, document: Document, counter: TokenCounter, options: Options) -> Cut:
        """The pieces of ``document``."""


def _may_hold_verbatim(block: Block, text: str) -> bool:
    """Whether it is worth looking into a block: a list of plain items holds no code."""
    if block.kind not in ("list", "quote", "footnote"):
        return bool(block.children)
    inside = text[block.start : block.end]
    return any(mark in inside for mark in ("`", "~~~", "<", "|", "    ", "\t"))


def doc_name(path: str | None) -> str:
    """A document's name in ids: its path without the extension."""
    if path is None:
        return "untitled"
    folder, slash, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return f"{folder}{slash}{stem if dot and stem else name}"


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


def _plain(value: Any) -> Any:
    if isinstance(value, SourcePosition | TokenStats):
        return {json_name: getattr(value, name) for name, json_name in _json_names(type(value))}
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value
