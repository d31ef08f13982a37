"""The words of links that lead to a section, and how many pages link to it. Both help to rank the section.

Each document's links and addresses are stored beside its file record. When they change, an update finds out again where
all links of the tree lead, and writes the documents anew to which other links lead now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from quire.index.file_records import storable
from quire.link_targets import Addresses, Page, is_wiki, page_keys
from quire.model import Document

_MAX_LINKS = 2_000  # of one document; a list of thousands of links says little about each
_MAX_WORDS = 100  # the most texts of links that are searched for a section
_LONGEST = 200  # a longer text is no name of what it leads to


class OutgoingLink(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link as its author wrote it."""

    text: str
    target: str
    is_wiki: bool = False


class IncomingLinks(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The links that lead to one section."""

    words: tuple[str, ...]  # their texts, sorted, without duplicates
    pages: int  # the number of other pages that have one


class LinkRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The links of a document, and those that lead to it."""

    tree: str
    path: str
    keys: tuple[str, ...] = ()  # its addresses
    anchors: Mapping[str, int] = {}  # the position of the section with each anchor
    links: tuple[OutgoingLink, ...] = ()
    top: int = 0  # the position of the section that a link to the whole page leads to
    incoming: Mapping[int, IncomingLinks] = {}  # by the position of the section

    @property
    def id(self) -> str:
        """The document's id."""
        return f"{self.tree}:{self.path}"


LinkTable = Mapping[str, LinkRecord]  # by document id

_RECORDS = msgspec.msgpack.Decoder(list[LinkRecord])


def encode_links(records: Iterable[LinkRecord]) -> bytes:
    """A blob of link records."""
    return msgspec.msgpack.encode(sorted(records, key=lambda record: record.id))


def decode_links(blobs: Iterable[bytes]) -> dict[str, LinkRecord]:
    """The link records in some blobs, by document id."""
    return {record.id: record for blob in blobs for record in _RECORDS.decode(blob)}


def link_record(document: Document, tree: str, path: str) -> LinkRecord:
    """The links of a document; where they lead is not known yet."""
    anchors: dict[str, int] = {}
    position = 0
    for section in document.sections[1:]:
        position = position if section.position is None else section.position
        for name in (section.anchor, section.slug):
            anchors.setdefault(storable(name), position)
    links = [
        OutgoingLink(storable(" ".join(link.text.split())), storable(link.target), is_wiki(document, link))
        for link in document.links[:_MAX_LINKS]
    ]
    keys = tuple(map(storable, page_keys(path, document.frontmatter)))
    # Without a title of its own, the page is its first heading.
    is_heading = "title" not in document.frontmatter and len(document.nodes) > 1
    top = 1 if is_heading and document.nodes[1].title == document.title else 0
    return LinkRecord(tree, path, keys, anchors, tuple(links), top)


def with_incoming(records: LinkTable, old: LinkTable) -> dict[str, LinkRecord]:
    """The records with the links that lead to each document; ``old`` are those of the last update."""
    found = dict(records)
    for tree in {record.tree for record in records.values()}:
        inside = {name: record for name, record in records.items() if record.tree == tree}
        before = {name: record for name, record in old.items() if record.tree == tree}
        if _ways(inside) == _ways(before):
            incoming: Mapping[str, Any] = {name: record.incoming for name, record in before.items()}
        else:
            incoming = _incoming({record.path: record for record in inside.values()})
        for name, record in inside.items():
            found[name] = msgspec.structs.replace(record, incoming=incoming.get(name, {}))
    return found


def _ways(records: LinkTable) -> dict[str, tuple[Any, ...]]:
    """Everything that decides where the links of a tree lead."""
    return {name: (record.keys, record.anchors, record.links, record.top) for name, record in records.items()}


def _incoming(pages: Mapping[str, LinkRecord]) -> dict[str, dict[int, IncomingLinks]]:
    """The incoming links of one tree's documents, by document id and position."""
    addresses = Addresses(
        {path: Page(page.keys, [(link.target, link.is_wiki) for link in page.links]) for path, page in pages.items()}
    )
    words: dict[str, dict[int, dict[str, None]]] = {}
    sources: dict[tuple[str, int], set[str]] = {}
    for path, page in pages.items():
        for link in page.links:
            target = _target(addresses, pages, path, link)
            if target is None or target[0] == path:
                continue
            name, position = pages[target[0]].id, target[1]
            sources.setdefault((name, position), set()).add(path)
            texts = words.setdefault(name, {}).setdefault(position, {})
            if link.text and len(link.text) <= _LONGEST:
                texts[link.text] = None
    return {
        name: {
            position: IncomingLinks(_sorted(texts), len(sources[name, position]))
            for position, texts in sorted(by_position.items())
        }
        for name, by_position in words.items()
    }


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(texts)[:_MAX_WORDS])


def _target(
    addresses: Addresses, pages: Mapping[str, LinkRecord], path: str, link: OutgoingLink
) -> tuple[str, int] | None:
    """The document and the position of the section that a link leads to; None if it leads elsewhere."""
    found = addresses.lookup(path, link.target, link.is_wiki)
    if found is None or not found.pages:
        return None
    with_anchor = [page for page in found.pages if found.fragment in pages[page].anchors]
    page = (with_anchor or found.pages)[0]
    return page, pages[page].anchors.get(found.fragment, pages[page].top)
