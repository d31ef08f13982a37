"""The document: the records that reading and parsing make, in the order in which they come to be.

    bytes -> Source -> Block, Section -> Document, and Finding beside them; pieces.py and record.py go on

All are frozen. Positions are characters of the untouched source text, half-open; text is sliced from them at
the end. The data layer: every stage imports this module, this module imports no stage.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from quire.offsets import lines_at

Syntax = Literal["markdown", "text"]
Kind = Literal[
    "heading", "paragraph", "code", "table", "list", "quote", "html", "math", "footnote", "rule", "reference",
    "directive", "item", "row",
]  # fmt: skip

BOM = "\ufeff"
"""The byte order mark."""
OWN_METADATA = ("sourceFile", "processedAt", "chunkingOptions", "pipeline")
"""The names in a chunk's metadata that are quire's alone; front matter cannot take them."""
MAX_METADATA = 8_000
"""The most characters of front matter that is repeated in the records of its document."""


class Span(NamedTuple):
    """A half-open range of characters in a source text."""

    start: int
    """The first character."""
    end: int
    """One past the last character; never below ``start``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth telling the user about one place. docs/reference/findings.md has every code."""

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


Note: TypeAlias = tuple[int, str, str]
"""What becomes a finding: where, its code, its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document as text, before parsing."""

    text: str
    """The whole text; a byte order mark stays character 0."""
    path: str | None = None
    """Where it came from, with forward slashes; relative to the directory that was given."""
    syntax: Syntax = "markdown"
    """Whether ``#`` lines can be headings."""
    frontmatter: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The metadata at its top, as plain values."""
    body_start: int = 0
    """Where the body starts: after a byte order mark and the front matter."""
    opaque: Span | None = None
    """Front matter that does not parse: body text in which nothing is Markdown."""
    findings: tuple[Finding, ...] = ()
    """What reading found."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The front matter for the records of the document; empty if it is too large to be repeated in each."""
        return {} if is_large(self.frontmatter) else self.frontmatter

    @property
    def text_start(self) -> int:
        """Where text starts: after a byte order mark."""
        return 1 if self.text.startswith(BOM) else 0

    @property
    def markdown_start(self) -> int:
        """Where Markdown starts: after front matter, whether it could be read or not."""
        return self.opaque.end if self.opaque is not None else self.body_start

    @property
    def name(self) -> str:
        """How messages name the document."""
        return self.path if self.path is not None else "<text>"


def is_large(frontmatter: Mapping[str, Any]) -> bool:
    """Whether front matter is too large to be repeated in the records of its document."""
    return len(str(frontmatter)) > MAX_METADATA


def findings_at(source: Source, notes: Sequence[Note]) -> list[Finding]:
    """A finding for each note; they are in document order."""
    lines = lines_at(source.text, [position for position, _, _ in notes])
    return [
        Finding(code=code, path=source.name, line=line, message=message)
        for (_, code, message), line in zip(notes, lines, strict=True)
    ]


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

    def __eq__(self, other: object) -> bool:
        # Blocks may be nested by the thousand, so what is inside is compared, and pickled, without recursion.
        if not isinstance(other, Block):
            return NotImplemented
        return self[:5] == other[:5] and [each[:5] for each in self.walk()] == [each[:5] for each in other.walk()]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:5])

    def __reduce__(self) -> tuple[Any, ...]:
        return _block_of, ([(*each[:5], len(each.children)) for each in self.walk()],)

    def __repr__(self) -> str:
        return f"Block({self.kind!r}, {self.start}, {self.end}, level={self.level}, info={self.info!r})"


def _block_of(rows: list[tuple[Any, ...]]) -> Block:
    """The block whose ``walk`` gave the fields in ``rows``, each with the number of its children."""
    made: list[Block] = []
    for kind, start, end, level, info, count in reversed(rows):
        made.append(Block(kind, start, end, level, info, tuple([made.pop() for _ in range(count)])))
    return made[0]


class Section(NamedTuple):
    """The document (depth 0) or a heading with all that belongs to it. Made by the thousand, so a tuple."""

    number: int
    """Its place in ``Document.sections``; the document itself is 0."""
    depth: int
    """0 for the document, else the heading's level."""
    title: str
    """The heading as plain text; the document's title at depth 0."""
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
    slug: str
    """The ASCII slug used in ids, unique in the document; empty at depth 0."""
    anchor: str
    """The slug that GitHub gives the heading, unique in the document; empty at depth 0."""

    def __repr__(self) -> str:
        return f"Section({self.number}, depth={self.depth}, {self.title!r}, {self.start}, {self.end})"

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


_Placed = TypeVar("_Placed", Span, Block)


def between(places: tuple[_Placed, ...], start: int, end: int) -> tuple[_Placed, ...]:
    """Those of the ordered ``places`` that stand between two positions, in whole or in part."""
    first = bisect_right(places, start, key=_end_of)
    return places[first : bisect_left(places, end, key=_start_of)]


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
    open_blocks: Callable[[int, int], tuple[Block, ...]] = field(repr=False, compare=False)
    """How to get the blocks between two positions where sections start, or the document ends."""

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # without what can be found again

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
        edges = [*self.section_starts, len(self.text)]
        known = self._own_blocks
        parts: list[tuple[Block, ...]] = []
        first = 0  # the first of the sections that are opened together, up to the next one whose blocks are known
        for section in sorted(known):
            if first < section:
                parts.append(self.open_blocks(edges[first], edges[section]))
            parts.append(known[section])
            first = section + 1
        if edges[first:-1]:
            parts.append(self.open_blocks(edges[first], edges[-1]))
        return parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))

    @cached_property
    def section_starts(self) -> list[int]:
        """Where each section starts."""
        return [section.start for section in self.sections]

    def section_at(self, position: int) -> int:
        """The number of the section in which a position stands; a heading stands in its own."""
        return bisect_right(self.section_starts, position) - 1

    def own_blocks(self, section: int) -> tuple[Block, ...]:
        """The blocks of a section without its children: its heading, and its own text."""
        known = self._own_blocks.get(section)
        if known is None:
            starts = self.section_starts
            end = starts[section + 1] if section + 1 < len(starts) else len(self.text)
            known = self._own_blocks[section] = self.open_blocks(starts[section], end)
        return known

    def blocks_between(self, start: int, end: int) -> Sequence[Block]:
        """The blocks at document level that stand between two positions, in whole or in part."""
        if "blocks" in self.__dict__:  # all of them are at hand
            return between(self.blocks, start, end)
        first, last = self.section_at(start), max(self.section_at(end - 1), 0)
        # A section may have very many, so those of each are looked up where they are.
        parts = [between(self.own_blocks(number), start, end) for number in range(first, last + 1)]
        return parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))

    @cached_property
    def _own_blocks(self) -> dict[int, tuple[Block, ...]]:
        return {}

    @cached_property
    def verbatim(self) -> tuple[Span, ...]:
        """Where code, tables, HTML and math stand, at any depth, in order: text whose white space means something."""
        spans: list[Span] = []
        for block in self.blocks:
            for inner in block.walk():
                if is_verbatim(inner) and (not spans or inner.start >= spans[-1].end):
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


_start_of, _end_of = attrgetter("start"), attrgetter("end")


VERBATIM = frozenset({"code", "html", "math", "table"})
"""The kinds of block whose white space means something."""


def is_verbatim(block: Block) -> bool:
    """Whether the white space of a block means something; of one that holds others, that is said of those."""
    return block.kind in VERBATIM and (block.kind == "table" or not block.children)


UNTITLED = "untitled"
"""The name of a document without a path."""


def doc_name(path: str | None) -> str:
    """A document's name in ids: its path without the extension."""
    if path is None:
        return UNTITLED
    folder, slash, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return f"{folder}{slash}{stem if dot and stem else name}"
