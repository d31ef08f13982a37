"""A node: a document or one of its sections, as stored in the index with everything that an answer needs.

A node's text ends where the next node starts, so the texts in order are the whole source. A heading without text is no
node: it is part of the text of the node before it, and its title is searchable through its parent.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING

import msgspec

from quire.index.engine.analysis import terms
from quire.index.engine.function_words import is_function_word
from quire.index.file_records import storable
from quire.model.breadcrumbs import joined, one_line
from quire.model.document import UNTITLED, Document
from quire.model.offsets import BLANK, bytes_at, line_start, lines_at, utf8_length
from quire.model.page_markers import pages_of
from quire.model.patterns import pattern
from quire.model.substitutions import substitute
from quire.read import frontmatter

if TYPE_CHECKING:
    from quire.tokens.token_counters import TokenCounter

_TITLE = pattern(r"^title\s*[:=]", re.MULTILINE)  # in front matter
_MAX_TITLE = 200  # in an outline; a longer one is no name
_MAX_TAGS = 100
_MAX_DESCRIPTION = 1_000  # in characters; all sections of a document repeat it
NO_PARENT = -1  # the position of the parent of a document, which has none


class PassageSpan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A passage of whole blocks inside a node's text, for answers that must be short."""

    start: int  # relative to the node's text
    end: int
    tokens: int


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The document, or a heading with its own text."""

    tree: str
    path: str  # of the document, relative to the tree's folder, with forward slashes
    slug: str  # the last part of its id; empty for the document
    title: str  # as plain text
    depth: int  # 0 for the document, else the heading level
    position: int  # among the nodes of the document, in document order; 0 is the document
    last: int  # the position of the last node below it; its own if there is none
    ancestors: tuple[int, ...]  # the positions of the nodes above it, from the document to the parent
    breadcrumb: tuple[str, ...]  # the titles from the document's to its own, each on one line
    start: int  # of its text in the source, in characters: at its heading; 0 for the document
    end: int  # of its own text, at the start of the next node of any depth
    full_end: int  # of its text and that of all nodes below it
    byte_start: int  # ``start`` and ``full_end`` in bytes of UTF-8
    byte_full_end: int
    line: int  # 1-based, of ``start``
    last_line: int  # 1-based, the last line of its own text that is not blank
    full_last_line: int  # ``last_line`` including all nodes below it
    body: int  # where the body starts in ``text``: after the heading, or after the front matter
    text: str  # ``source[start:end]``; the texts of all nodes in order are the whole source
    tokens: int  # of ``text``
    full_tokens: int  # of ``source[start:full_end]``
    crumb_tokens: int  # of the breadcrumb line
    passages: tuple[PassageSpan, ...] = ()  # the passages of a long text; empty for a short one
    tags: tuple[str, ...] = ()  # from the front matter
    body_end: int | None = None  # where the body ends in ``text``: at the next heading, node or not; None: its end
    titles: tuple[str, ...] = ()  # of headings below it without text, which are no nodes; they find this node
    description: str = ""  # of a document, from its front matter
    words: str = ""  # its body with the values of its variables; empty if it has none
    pages: tuple[int, ...] = ()  # of a converted document: the first page, the last of its text, the last below it

    @property
    def document_id(self) -> str:
        """The id of the document."""
        return f"{self.tree}:{self.path}"

    @property
    def id(self) -> str:
        """The id of the document, with ``#slug`` for a section."""
        return f"{self.document_id}#{self.slug}" if self.slug else self.document_id

    @property
    def body_text(self) -> str:
        """Its own text without heading, front matter and headings that are no nodes."""
        return self.text[self.body : self.body_end]

    @property
    def has_text(self) -> bool:
        """Whether its body is not blank."""
        return bool(self.body_text.strip(BLANK))

    @property
    def own_title(self) -> str:
        """Its title; empty for a document without a title in its front matter, which has that of a heading or file."""
        return self.title if self.ancestors or _TITLE.search(self.text[: self.body]) else ""

    def without_children(self) -> "Node":
        """The same node as if there were none below it."""
        return msgspec.structs.replace(
            self,
            last=self.position,
            full_end=self.end,
            byte_full_end=self.byte_start + utf8_length(self.text),
            full_last_line=self.last_line,
            full_tokens=self.tokens,
            pages=self.pages[:2],
        )


encode_node = msgspec.msgpack.Encoder().encode
decode_node = msgspec.msgpack.Decoder(Node).decode


class Outline(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A document without texts: its heading tree. Each list has an entry for every node, by its position."""

    depths: list[int]
    parents: list[int]  # positions; ``NO_PARENT`` for the document
    children: list[int]  # how many nodes are directly below each
    titles: list[tuple[str, ...]]  # the terms of their own titles, without function words
    tokens: list[int]  # with everything below each
    document_id: str = ""

    def ancestors(self, position: int) -> Iterator[int]:
        """The positions of the nodes above a node, from its parent to the document."""
        while (position := self.parents[position]) != NO_PARENT:
            yield position


def encode_outline(nodes: Sequence[Node], language: str) -> bytes:
    """The heading tree of a document, for ``decode_outline``."""
    parents = [node.ancestors[-1] if node.ancestors else NO_PARENT for node in nodes]
    children = Counter(parents)
    outline = Outline(
        depths=[node.depth for node in nodes],
        parents=parents,
        children=[children[position] for position in range(len(nodes))],
        titles=[_title_terms(node.own_title[:_MAX_TITLE], language) for node in nodes],
        tokens=[node.full_tokens for node in nodes],
        document_id=nodes[0].document_id,
    )
    return msgspec.msgpack.encode(outline)


decode_outline = msgspec.msgpack.Decoder(Outline).decode


@lru_cache(maxsize=4_096)  # many pages have the same headings
def _title_terms(title: str, language: str) -> tuple[str, ...]:
    """The terms of a title without function words, unless it has no others."""
    words = [word for word in title.split() if not is_function_word(word.strip(".,:;?!()"), (language,))]
    return tuple(terms(" ".join(words) or title, language))


def build_nodes(document: Document, tree: str, counter: "TokenCounter") -> tuple[Node, ...]:
    """The nodes of a document in order; the first is the document itself."""
    sections, text, variables = document.nodes, document.text, document.source.substitutions
    starts = [section.start for section in sections]
    edges = [*starts, len(text)]
    texts = [text[start:end] for start, end in pairwise(edges)]
    counts = [
        _count(own_text, _passage_starts(document, start, end), counter)
        for own_text, (start, end) in zip(texts, pairwise(edges), strict=True)
    ]
    last = [max(position, bisect_left(starts, section.end) - 1) for position, section in enumerate(sections)]
    full_tokens = _full_tokens(text, edges, [tokens for tokens, _ in counts], last, counter)
    in_bytes = bytes_at(text, edges)
    lasts = [start + max(len(own_text.rstrip(BLANK)) - 1, 0) for start, own_text in zip(starts, texts, strict=True)]
    lines = lines_at(text, chain.from_iterable(zip(starts, lasts, strict=True)))  # of first and last characters
    path = storable(document.path or UNTITLED)
    tags = tuple([storable(tag) for tag in frontmatter.tags(document.source.metadata)[:_MAX_TAGS]])
    description = document.source.metadata.get("description")
    description = one_line(substitute(description, variables)) if isinstance(description, str) else ""
    titles = _titles_without_node(document)
    nodes: list[Node] = []
    for position, section in enumerate(sections):
        parent = None if section.parent is None else nodes[document.sections[section.parent].position or 0]
        ancestors = () if parent is None else (*parent.ancestors, parent.position)
        start, end, below = section.start, edges[position + 1], last[position]
        title = storable(section.title)
        breadcrumb = parent.breadcrumb if parent else ()
        if not (parent and section.number == 1 and title == parent.title):  # the first heading may repeat the title
            breadcrumb += (line,) if (line := one_line(title)) else ()
        tokens, passages = counts[position]
        body = min(section.body_start - start if ancestors else document.source.body_start, end - start)
        body_end = min(section.body_end, end) - start
        body_text = texts[position][body:body_end]
        words = substitute(body_text, variables) if variables else body_text
        nodes.append(
            Node(
                tree=tree,
                path=path,
                slug=section.slug,
                title=title,
                depth=section.depth,
                position=position,
                last=below,
                ancestors=ancestors,
                breadcrumb=breadcrumb,
                start=start,
                end=end,
                full_end=edges[below + 1],
                byte_start=in_bytes[position],
                byte_full_end=in_bytes[below + 1],
                line=lines[2 * position],
                last_line=lines[2 * position + 1],
                full_last_line=lines[2 * below + 1],
                body=body,
                text=texts[position],
                tokens=tokens,
                full_tokens=full_tokens[position],
                crumb_tokens=counter.count(joined(breadcrumb)),
                passages=passages,
                tags=tags,
                body_end=body_end,
                titles=tuple(map(storable, titles.get(section.number, ()))),
                description="" if ancestors else storable(description[:_MAX_DESCRIPTION]),
                words=storable(words) if words != body_text else "",
                pages=_pages(document, start, end, edges[below + 1]),
            )
        )
    return tuple(nodes)


def _full_tokens(
    text: str, edges: Sequence[int], tokens: Sequence[int], last: Sequence[int], counter: "TokenCounter"
) -> list[int]:
    """The tokens of each node with all below it: a sum, unless a token may span the start of a node between them."""
    before = [0, *accumulate(tokens)]
    unclean = [0, *accumulate(not counter.cuts_cleanly(text, start) for start in edges[1:-1])]
    return [
        before[below + 1] - before[position]
        if unclean[below] == unclean[position]
        else counter.count(text[edges[position] : edges[below + 1]])
        for position, below in enumerate(last)
    ]


def _titles_without_node(document: Document) -> dict[int, list[str]]:
    """The titles of headings that are no nodes, by the number of the nearest section above that is one."""
    titles: dict[int, list[str]] = {}
    for section in document.sections:
        if section.position is None and section.title:
            above = section
            while above.position is None and above.parent is not None:
                above = document.sections[above.parent]
            titles.setdefault(above.number, []).append(section.title)
    return titles


def _pages(document: Document, *edges: int) -> tuple[int, ...]:
    """The page at a position, and the last page up to each of the others."""
    markers = document.source.markers
    pages = [pages for end in edges[1:] if (pages := pages_of(document.text, markers, edges[0], end))]
    return (pages[0][0], *(last for _, last in pages)) if pages else ()


def _count(text: str, starts: Sequence[int], counter: "TokenCounter") -> tuple[int, tuple[PassageSpan, ...]]:
    """The tokens of a node's text, and its passages if it has several. Counts are added up where that is exact."""
    if not starts:
        return counter.count(text), ()
    spans = pairwise((0, *starts, len(text)))
    passages = tuple([PassageSpan(start, end, counter.count(text[start:end])) for start, end in spans])
    if all(counter.cuts_cleanly(text, start) for start in starts):
        return sum([passage.tokens for passage in passages]), passages
    return counter.count(text), passages


# Passages: a long node is cut before a block that does not follow a heading, once enough text is before it. A long
# block is cut below a blank line, else at a line end. Sizes are in characters.

_LONG = 800  # a longer node, of some 200 tokens, has passages
_SHORTEST = 250  # about how long a passage is at least: a single sentence is a poor answer
_LONG_BLOCK = 500  # about how much of a block that must be cut goes into one passage
_BELOW_BLANK_LINE = pattern(r"\n[ \t\r]*+\n(?=\S)")


def _passage_starts(document: Document, start: int, end: int) -> list[int]:
    """Where the passages of a node start, relative to its start; without the first."""
    if end - start <= _LONG:
        return []
    text, (kinds, block_starts, block_ends, _) = document.text, document.block_columns
    cuts = [start]
    for number in range(bisect_left(block_starts, start), bisect_left(block_starts, end)):
        block_start, block_end = line_start(text, block_starts[number]), block_ends[number]
        if block_start - cuts[-1] >= _SHORTEST and (not number or kinds[number - 1] != "heading"):
            cuts.append(block_start)
        is_long = block_end - block_start > _LONG
        while is_long and block_end - cuts[-1] > _LONG_BLOCK and (cut := _cut_in_block(text, cuts[-1], block_end)):
            cuts.append(cut)
    return [cut - start for cut in cuts[1:]]


def _cut_in_block(text: str, start: int, end: int) -> int:
    """Where the next passage starts in a block that is too long; 0 if it has no more lines."""
    if below := _BELOW_BLANK_LINE.search(text, start + _SHORTEST, min(start + _LONG, end)):
        return below.end()
    cut = text.rfind("\n", start + _SHORTEST, start + _LONG_BLOCK) + 1
    return cut or text.find("\n", start + _LONG_BLOCK, end) + 1
