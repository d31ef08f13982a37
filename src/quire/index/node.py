"""A node of a document's heading tree, as the index keeps it. Made by ``nodes``, read by the search.

It holds all that an answer needs, so that answering reads no source, parses nothing and counts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quire.breadcrumbs import joined
from quire.offsets import utf8_length

NO_PARENT = -1
"""The position of a document's parent, which it does not have."""


class Ancestor(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A node above another one: as much of it as merging needs."""

    position: int
    """Its place among the nodes of the document; 0 is the document itself."""
    depth: int
    """0 for the document, else the heading's level."""
    children: int
    """How many nodes are directly below it."""


class Part(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A run of whole blocks inside a node's text, for answers that must be short."""

    start: int
    """Its first character, counted from the start of the node's text."""
    end: int
    """One past its last character."""
    tokens: int
    """How many tokens it has."""


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The document or a heading with its own text."""

    tree: str
    """The name of the tree that it is in."""
    path: str
    """The document, relative to the tree's folder, with forward slashes."""
    slug: str
    """The last part of its id; empty for the document."""
    title: str
    """The heading as plain text, or the document's title."""
    depth: int
    """0 for the document, else the heading's level."""
    position: int
    """Its place among the nodes of the document, in document order; 0 is the document."""
    last: int
    """The position of the last node below it; its own where there is none."""
    children: int
    """How many nodes are directly below it."""
    ancestors: tuple[Ancestor, ...]
    """From the document down to its parent; empty for the document."""
    breadcrumb: tuple[str, ...]
    """The titles from the document's down to its own, each in one line, as the breadcrumb line shows them."""
    start: int
    """Where its text starts, in characters of the source: at its heading; 0 for the document."""
    end: int
    """Where its text ends: where the next node starts, whatever its depth, or at the end of the document."""
    full_end: int
    """Where all that belongs to it ends: its own text and that of every node below it."""
    byte_start: int
    """As ``start``, in bytes of UTF-8."""
    byte_full_end: int
    """As ``full_end``, in bytes of UTF-8."""
    line: int
    """The 1-based line of ``start``."""
    last_line: int
    """The 1-based line of its own text's last character that is not blank."""
    full_last_line: int
    """As ``last_line``, with all nodes below it."""
    body: int
    """Where the body starts in ``text``: after the heading's line and, in a document, after the front matter."""
    text: str
    """``source[start:end]``, to the character: heading and own text. The texts of a document's nodes in order are the
    whole source."""
    tokens: int
    """How many tokens ``text`` has."""
    full_tokens: int
    """How many tokens ``source[start:full_end]`` has."""
    crumb_tokens: int
    """How many tokens the breadcrumb line has."""
    parts: tuple[Part, ...] = ()
    """The blocks of a long text, in order; empty for a short one."""
    tags: tuple[str, ...] = ()
    """The tags of front matter."""
    body_end: int | None = None
    """Where the body ends in ``text``: at the next heading, whether that one makes a node or not; None for its end."""
    titles: tuple[str, ...] = ()
    """The headings below it that have no text and so make no node; the node is found by them, too."""
    anchor: str = ""
    """The slug that GitHub gives the heading, where it is not ``slug``."""

    @property
    def document_id(self) -> str:
        """The id of the document."""
        return f"{self.tree}:{self.path}"

    @property
    def id(self) -> str:
        """The node's own id: that of the document, with its slug behind a ``#``."""
        return f"{self.document_id}#{self.slug}" if self.slug else self.document_id

    @property
    def breadcrumb_line(self) -> str:
        """``> Title › Parent › Node``."""
        return joined(self.breadcrumb)

    @property
    def body_text(self) -> str:
        """The body: own text without heading, front matter and headings that make no node."""
        return self.text[self.body : self.body_end]

    def alone(self) -> Node:
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


def parent_of(ancestors: Sequence[Ancestor]) -> int:
    """The position of a node's parent, from what is above it."""
    return ancestors[-1].position if ancestors else NO_PARENT


def encoded(node: Node) -> bytes:
    """A node as the engine stores it."""
    return _ENCODER.encode(node)


def decoded(data: bytes) -> Node:
    """What ``encoded`` made."""
    return _DECODER.decode(data)


def term(text: str) -> str:
    """An id as a term of the engine, which leaves out without a word what is longer than 65,530 bytes."""
    if len(text) <= _LONGEST_TERM:
        return text
    from hashlib import blake2b  # noqa: PLC0415  hardly ever needed

    return text[:_LONGEST_TERM] + blake2b(text.encode(), digest_size=16).hexdigest()


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Node)
_LONGEST_TERM = 1_000
