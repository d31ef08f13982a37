"""A node: a document or one of its sections, as stored in the index. ``build_nodes`` makes them.

A node has everything an answer needs, so that a search reads, parses and counts nothing. The heading tree of a document
is also stored without texts (``Outline``): a search merges nodes with it and reads only those that it shows.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from quire.breadcrumbs import joined
from quire.index.engine.analysis import terms
from quire.index.engine.function_words import is_function_word
from quire.offsets import BLANK, utf8_length
from quire.patterns import pattern

_TITLE = pattern(r"^title\s*[:=]", re.MULTILINE)  # in front matter
_MAX_TITLE = 200  # in an outline; a longer one is no name
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
    children: int  # the number of nodes directly below it
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
    anchor: str = ""  # the slug that GitHub gives the heading, if it differs from ``slug``
    words: str = ""  # its body with the values of its variables; empty if it has none

    @property
    def document_id(self) -> str:
        """The id of the document."""
        return f"{self.tree}:{self.path}"

    @property
    def id(self) -> str:
        """The id of the document, with ``#slug`` for a section."""
        return f"{self.document_id}#{self.slug}" if self.slug else self.document_id

    @property
    def breadcrumb_line(self) -> str:
        """``> Title › Parent › Node``."""
        return joined(self.breadcrumb)

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
            children=0,
            full_end=self.end,
            byte_full_end=self.byte_start + utf8_length(self.text),
            full_last_line=self.last_line,
            full_tokens=self.tokens,
        )


encode_node = msgspec.msgpack.Encoder().encode
decode_node = msgspec.msgpack.Decoder(Node).decode


class Outline(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The heading tree of a document without texts. Each list has an entry for every node, by its position."""

    depths: list[int]
    parents: list[int]  # positions; ``NO_PARENT`` for the document
    children: list[int]  # how many nodes are directly below each
    titles: list[tuple[str, ...]]  # the terms of their own titles, without function words

    def ancestors(self, position: int) -> Iterator[int]:
        """The positions of the nodes above a node, from its parent to the document."""
        while (position := self.parents[position]) != NO_PARENT:
            yield position


def encode_outline(nodes: Sequence[Node], language: str) -> bytes:
    """The heading tree of a document, for ``decode_outline``."""
    return msgspec.msgpack.encode(
        Outline(
            depths=[node.depth for node in nodes],
            parents=[node.ancestors[-1] if node.ancestors else NO_PARENT for node in nodes],
            children=[node.children for node in nodes],
            titles=[_title_terms(node.own_title[:_MAX_TITLE], language) for node in nodes],
        )
    )


decode_outline = msgspec.msgpack.Decoder(Outline).decode


@lru_cache(maxsize=4_096)  # many pages have the same headings
def _title_terms(title: str, language: str) -> tuple[str, ...]:
    """The terms of a title without function words, unless it has no others."""
    words = [word for word in title.split() if not is_function_word(word.strip(".,:;?!()"), (language,))]
    return tuple(terms(" ".join(words) or title, language))
