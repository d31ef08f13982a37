"""The document: plain records of a source text, its blocks and its sections; chunk_record.py has pieces and chunks.

Positions are characters of the untouched source text, half-open.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

from quire.model.offsets import BLANK, lines_at
from quire.model.page_markers import Marker, after_first_marker
from quire.model.patterns import pattern

Syntax = Literal["markdown", "text"]
Kind = Literal[
    "heading", "paragraph", "code", "table", "list", "quote", "html", "math", "footnote", "rule", "reference",
    "directive", "item", "row",
]  # fmt: skip

BOM = "\ufeff"  # the byte order mark
OWN_METADATA = ("sourceFile", "processedAt", "chunkingOptions", "pipeline")
"""Names in a chunk's metadata that belong to quire; front matter cannot set them."""
UNTITLED = "untitled"  # the name of a document without a path
VERBATIM = frozenset({"code", "html", "math", "table"})  # the kinds of block whose white space is significant


class Span(NamedTuple):
    """A half-open range of characters in a source text."""

    start: int  # the first character
    end: int  # one past the last character; never below ``start``


class Finding(Struct, frozen=True, kw_only=True):
    """A warning about one place in a document. docs/reference/findings.md lists every code."""

    code: str  # a stable name for the kind of finding, such as ``heading-without-text``
    path: str  # the document, as the user named it; ``<text>`` for text without a path
    line: int  # the 1-based line; 0 when the finding is about the whole document
    message: str  # one sentence: what was found and what quire did about it

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message} [{self.code}]"


Note: TypeAlias = tuple[int, str, str]  # a finding before its line is known: position, code, message


class Source(Struct, frozen=True, kw_only=True):
    """A document as text, before parsing."""

    text: str  # the whole text; a byte order mark stays character 0
    path: str | None = None  # where it came from, with forward slashes; relative to the directory that was given
    syntax: Syntax = "markdown"  # whether ``#`` lines can be headings
    dialect: str | None = None  # the dialect of Markdown, if it is known; None to read the constructs of all
    page_marker: str = ""  # a regular expression for lines that begin a page, besides those of known converters
    markers: tuple[Marker, ...] = ()  # the markers of pages in it
    substitutions: Mapping[str, str] = field(default_factory=dict)
    """The values of the template variables in it, by name."""
    frontmatter: Mapping[str, Any] = field(default_factory=dict)  # the metadata at its top, as plain values
    body_start: int = 0  # where the body starts: after a byte order mark and the front matter
    malformed_frontmatter: Span | None = None  # front matter that does not parse: it is body text, but not Markdown
    findings: tuple[Finding, ...] = ()  # findings from reading

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The front matter for the records of the document; empty if it is too large to repeat in each."""
        is_large = any(finding.code == "frontmatter-too-large" for finding in self.findings)
        return {} if is_large else self.frontmatter

    @property
    def text_start(self) -> int:
        """Where text starts: after a byte order mark, and after a page marker if that comes first."""
        return after_first_marker(self.text, self.markers, int(self.text.startswith(BOM)))

    @property
    def markdown_start(self) -> int:
        """Where Markdown starts: after front matter, valid or not."""
        return self.malformed_frontmatter.end if self.malformed_frontmatter is not None else self.body_start

    @property
    def name(self) -> str:
        """The name of the document in messages."""
        return self.path if self.path is not None else "<text>"


def findings_at(source: Source, notes: Sequence[Note]) -> list[Finding]:
    """A finding for each note; notes are in document order."""
    lines = lines_at(source.text, [position for position, _, _ in notes])
    return [
        Finding(code=code, path=source.name, line=line, message=message)
        for (_, code, message), line in zip(notes, lines, strict=True)
    ]


class Block(NamedTuple):
    """A block of Markdown: a paragraph, a table, a list item."""

    kind: Kind  # what it is
    start: int  # its first character; for a block at document level the start of its first line
    end: int  # one past its last character that is not blank
    level: int = 0  # the heading level, 1 to 6; 1 for a table's header row; 0 otherwise
    info: str = ""  # a heading's plain text, the info string of a code fence, the name of a directive
    children: "tuple[Block, ...]" = ()
    """The blocks inside. ``Document.blocks`` leaves them out; ``parsing.inner_blocks`` makes them."""
    id: str = ""  # the id that the author gave a heading; empty otherwise

    @property
    def span(self) -> Span:
        """The characters it covers."""
        return Span(self.start, self.end)

    def walk(self) -> "Iterator[Block]":
        """This block and every block inside it, in document order."""
        waiting = [self]
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.children))


class Section(NamedTuple):
    """The document (depth 0), or a heading with everything below it."""

    number: int  # its index in ``Document.sections``; the document itself is 0
    depth: int  # 0 for the document, else the heading's level
    title: str  # the heading as plain text; the document's title at depth 0
    start: int  # where the heading starts
    body_start: int  # where its own text starts: right after the heading's line
    body_end: int  # where its own text ends: at the next heading of any depth
    end: int  # where the section ends: at the next heading of the same or a lower depth
    text_start: int  # where its own text starts without blank lines around it; equal to ``text_end`` if it has none
    text_end: int  # where its own text ends without blank lines around it
    parent: int | None  # the number of the parent section; None at depth 0
    position: int | None
    """Its position among the nodes of the tree, in document order; None for a heading that makes no node."""
    slug: str  # the slug used in ids, unique in the document: the author's id, else made of ASCII. Empty at depth 0.
    anchor: str
    """The slug for links, unique in the document: the author's id, else as GitHub makes it. Empty at depth 0."""

    @property
    def body(self) -> Span:
        """Its own text, without the heading and without its children."""
        return Span(self.body_start, self.body_end)

    @property
    def span(self) -> Span:
        """Everything below the heading's line, children included."""
        return Span(self.body_start, self.end)


class Link(NamedTuple):
    """A link: inline, by reference, an autolink or a wiki link. Images are not links."""

    text: str  # what a reader sees, without markup
    start: int  # its first character
    end: int  # one past its last character
    target: str  # where it leads, as the author wrote it: ``page.md#id``


class BlockColumns(NamedTuple):
    """The blocks at document level as parallel lists, in order: the fields of ``Block``."""

    kinds: list[Kind]
    starts: list[int]
    ends: list[int]
    names: dict[int, str]  # the names of directives and components, by the number of the block

    def add(self, kind: Kind, start: int, end: int) -> None:
        """Append a block."""
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)


class SectionColumns(NamedTuple):
    """The document itself and every heading as parallel lists: the fields of ``Section``, with -1 for None."""

    starts: list[int]
    depths: list[int]
    parents: list[int]
    ends: list[int]
    body_starts: list[int]
    text_starts: list[int]
    text_ends: list[int]
    positions: list[int]
    titles: list[str]
    ids: list[str]  # the id that the author gave the heading; empty if none
    slugs: list[str]
    anchors: list[str]
    blocks: list[int]  # the number of the heading's block; -1 for the document


class Document(Struct, frozen=True, kw_only=True, dict=True):
    """A parsed document: the input of every strategy. ``blocks`` and ``sections`` are made when they are first read."""

    source: Source  # the text it was parsed from
    title: str  # the caller's title, else front matter's, else the first H1, else the file name, else empty
    block_columns: BlockColumns
    """The blocks at document level, as lists; together they cover every character that is not blank."""
    section_columns: SectionColumns  # the sections, as lists
    findings: tuple[Finding, ...] = ()  # findings from reading and parsing

    def __repr__(self) -> str:
        return f"Document(path={self.path!r}, title={self.title!r}, findings={self.findings!r})"

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The document itself, then every heading at document level, in order."""
        lists, size = self.section_columns, len(self.text)
        body_ends = [*lists.starts[1:], size]
        if max(lists.positions) == 0:  # no heading makes a node: the document's own body contains them all
            body_ends[0] = size
        rows = zip(
            range(len(lists.starts)), lists.depths, lists.titles, lists.starts, lists.body_starts, body_ends,
            lists.ends, lists.text_starts, lists.text_ends, [None, *lists.parents[1:]],
            [None if at < 0 else at for at in lists.positions], lists.slugs, lists.anchors, strict=True,
        )  # fmt: skip
        return tuple(map(Section._make, rows))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks at document level, in order; together they cover every character that is not blank."""
        kinds, starts, ends, names = self.block_columns
        blocks = list(map(Block, kinds, starts, ends))
        for number, kind in enumerate(kinds):
            if kind == "code" or number in names:
                info = fence_info(self.text, starts[number]) if kind == "code" else names[number]
                blocks[number] = blocks[number]._replace(info=info)
        lists = self.section_columns
        for number, depth, title, heading_id in zip(lists.blocks, lists.depths, lists.titles, lists.ids, strict=True):
            if depth:
                blocks[number] = blocks[number]._replace(level=depth, info=title, id=heading_id)
        return tuple(blocks)

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

    @property
    def nodes(self) -> tuple[Section, ...]:
        """The sections that are in the tree, in order; the first is the document itself."""
        return tuple([section for section in self.sections if section.position is not None])

    @property
    def links(self) -> tuple[Link, ...]:
        """The links in the text, in order. They are looked for each time this is read."""
        from quire.parsing.links import links_of  # noqa: PLC0415  model imports no stage; most uses need no links

        return tuple(links_of(self))

    def section_at(self, position: int) -> int:
        """The number of the section that contains a position; a heading belongs to its own section."""
        return bisect_right(self.section_columns.starts, position) - 1

    def text_between(self, start: int, end: int) -> tuple[int, int]:
        """The span ``start`` to ``end`` without the headings at its edges; all of it if there is nothing else."""
        kinds, starts, ends, _ = self.block_columns
        first, last = bisect_right(ends, start), bisect_left(starts, end) - 1
        while first < last and kinds[first] == "heading":
            first += 1
        while first < last and kinds[last] == "heading":
            last -= 1
        if first > last or kinds[first] == "heading":
            return start, end
        return max(start, starts[first]), min(end, ends[last])

    def enclosing_section(self, start: int, end: int) -> int:
        """The number of the deepest section that contains all text from ``start`` to ``end``."""
        start, end = self.text_between(start, end)
        starts, _, parents, ends = self.section_columns[:4]
        section = max(bisect_right(starts, start) - 1, 0)
        while section and ends[section] < end:
            section = parents[section]
        return section

    def first_section(self, start: int, end: int) -> int:
        """The number of the first section that has text from ``start`` to ``end``."""
        return max(bisect_right(self.section_columns.starts, self.text_between(start, end)[0]) - 1, 0)

    def blocks_between(self, start: int, end: int) -> Sequence[Block]:
        """The blocks at document level that overlap ``start`` to ``end``."""
        _, starts, ends, _ = self.block_columns
        return self.blocks[bisect_right(ends, start) : bisect_left(starts, end)]

    def path_to(self, section: Section) -> tuple[Section, ...]:
        """The headings from the top of the document down to ``section``, itself included; empty for the root."""
        path: list[Section] = []
        while section.parent is not None:
            path.append(section)
            section = self.sections[section.parent]
        return tuple(reversed(path))


_FENCE_INFO = pattern(r"[ \t]*(?:`{3,}|~{3,})[ \t]*([^\r\n]*)")


def fence_info(text: str, start: int) -> str:
    """The info string of the fence at ``start``; empty for indented code."""
    match = _FENCE_INFO.match(text, start)
    return match[1].strip(BLANK) if match else ""


def doc_name(path: str | None) -> str:
    """A document's name in ids: its path without the extension."""
    if path is None:
        return UNTITLED
    folder, slash, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return f"{folder}{slash}{stem if dot and stem else name}"
