"""The words of links that lead to a section, and how many pages link to it. Both help to rank the section.

The first node of a document has a record of its links, of where they lead, and of the links that lead to it. An update
follows the links of the documents that it reads, and of those that have a link to a name that comes or goes: the engine
finds these by the names that their links look for. If a tree has to be followed otherwise than before, as its first
``_index.md`` is one of Hugo, all its links are followed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from quire.index.engine.index_schema import LINK_NAMES, PAGE_NAMES
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import LINK_FOUND, LINK_LOST, storable
from quire.link_addresses import (
    Addresses,
    InternalLink,
    Page,
    Sign,
    Site,
    internal_link,
    is_file,
    keys_by_name,
    last_name,
    page_of,
)
from quire.model import Document
from quire.parsing.anchors import heading_anchors

_MAX_LINKS = 2_000  # of one document; a list of thousands of links says little about each
_MAX_WORDS = 100  # the most texts of links that are searched for a section
_LONGEST = 200  # a longer text is no name of what it leads to

LinksToPage = tuple[tuple[str, str], ...]  # the fragment and the text of each link of one page to another


class LinkRecord(msgspec.Struct, array_like=True, gc=False):
    """The links of a document, and those that lead to it."""

    keys: tuple[str, ...]  # its addresses
    anchors: dict[str, int]  # the position of the section with each anchor
    links: tuple[InternalLink, ...]
    top: int  # the position of the section that a link to the whole page leads to
    leads: dict[str, LinksToPage] = {}  # its links by the path that they lead to
    names: tuple[str, ...] = ()  # the names that decide where its links lead
    signs: dict[Sign, int] = {}  # what it shows about the site
    found: int = 0  # how many of its links lead to a document
    lost: int = 0  # how many lead nowhere, without those to other files
    sources: dict[str, LinksToPage] = {}  # the links that lead to it, by the path of the page that has them

    @property
    def names_of_page(self) -> set[str]:
        """The last names of its addresses."""
        return set(map(last_name, self.keys))

    def incoming(self) -> dict[int, tuple[list[str], int]]:
        """The texts of links that lead to each section, and the number of pages that have one, by its position."""
        words: dict[int, set[str]] = {}
        pages: Counter[int] = Counter()
        for links in self.sources.values():
            positions = [self.anchors.get(fragment, self.top) for fragment, _ in links]
            pages.update(set(positions))
            for position, (_, text) in zip(positions, links, strict=True):
                words.setdefault(position, set()).add(text)
        return {position: (sorted(texts - {""})[:_MAX_WORDS], pages[position]) for position, texts in words.items()}


decode_links = msgspec.msgpack.Decoder(LinkRecord).decode


def link_record(document: Document, path: str) -> LinkRecord:
    """The links of a document; where they lead is not known yet."""
    anchors = {storable(name): _position_at(document, number) for name, number in heading_anchors(document).items()}
    links = [internal_link(document, link) for link in document.links[:_MAX_LINKS]]
    keys = tuple(map(storable, page_of(path, document.frontmatter).keys))
    # Without a title of its own, the page is its first heading.
    is_heading = "title" not in document.frontmatter and len(document.nodes) > 1
    top = 1 if is_heading and document.nodes[1].title == document.title else 0
    return LinkRecord(keys, anchors, tuple(link for link in links if link and link.page), top)


def _position_at(document: Document, number: int) -> int:
    """The position of the last node up to a section; a heading without text is part of the node before it."""
    positions = document.section_columns.positions
    while positions[number] < 0:
        number -= 1
    return positions[number]


class TreeLinks:
    """The links of a tree while some of its documents change. ``snapshot`` is the last commit."""

    def __init__(self, tree: str, snapshot: Snapshot | None) -> None:
        self.signs: Counter[Sign] = Counter(snapshot.signs(tree) if snapshot else {})
        """How many signs of each kind the tree has."""
        self._prefix, self._snapshot = f"{tree}:", snapshot
        self._records: dict[str, LinkRecord | None] = {}  # by path: those that were read or set
        self._named: dict[str, list[str]] = defaultdict(list)  # the paths of set records by their last names
        self._looked_up: set[str] = set()  # the names of which all pages are in ``_named``
        self._changed: set[str] = set()  # the paths of records that differ from the stored ones

    def change(self, edits: Mapping[str, LinkRecord | None]) -> dict[str, LinkRecord]:
        """Set the records of some documents by path, None for those that are gone; return all records that changed."""
        self._records.update(edits)
        stored = self._stored(edits)
        site = Site.of(self.signs)
        gone: dict[str, LinkRecord] = {}
        stale: set[str] = set()  # pages whose links must be followed
        names: set[str] = set()
        for path, new in edits.items():
            old = stored.get(path)
            names |= _changed_names(old, new)
            if new and not (old and (old.links, old.keys) == (new.links, new.keys)):
                stale.add(path)
            if new and old:
                new.leads, new.sources, new.names = old.leads, old.sources, old.names
                new.signs, new.found, new.lost = old.signs, old.found, old.lost
            elif old:
                gone[path] = old
            for name in new.names_of_page if new else ():
                self._named[name].append(path)
        for path, record in gone.items():
            self._lead(path, record.leads, {})
            self.signs.subtract({**record.signs, LINK_FOUND: record.found, LINK_LOST: record.lost})
        stale.update(self._paths_with(LINK_NAMES, names))
        self._load_pages({name for _, record in self._existing(stale) for name in record.names})
        addresses = Addresses(self._pages_named)
        for path, record in self._existing(stale):
            signs = addresses.signs(Page(path, record.keys), record.links)
            self.signs.subtract(record.signs)
            self.signs.update(signs)
            self._set(path, record, signs=dict(signs))
        addresses.site = Site.of(self.signs)
        if addresses.site != site and self._snapshot:
            stale.update(record.path for record in self._snapshot.files.values() if record.id.startswith(self._prefix))
        for path, record in self._existing(stale):
            self._follow(addresses, path, record)
        return {self._prefix + path: record for path, record in self._existing(self._changed.union(edits))}

    def _follow(self, addresses: Addresses, path: str, record: LinkRecord) -> None:
        """Find out where the links of a page lead."""
        leads: dict[str, dict[tuple[str, str], None]] = {}
        names: set[str] = set()
        resolved = lost = 0
        here = Page(path, record.keys)
        for link in record.links:
            lookup = addresses.lookup(here, link)
            pages = lookup.pages if addresses.site.has_wiki_links or not link.is_wiki else ()
            names.update(map(last_name, (*lookup.keys, *keys_by_name(link.page))))
            resolved += bool(pages)
            lost += not pages and not link.is_wiki and not is_file(link.page)
            page = next(iter(pages), path)
            if len(pages) > 1 and link.fragment:  # the anchors of these pages decide
                names.update(f"{last_name(key)}#" for key in lookup.keys)
                page = next(
                    (candidate for candidate, has in self._existing(pages) if link.fragment in has.anchors), page
                )
            if page != path:
                text = link.text if len(link.text) <= _LONGEST else ""
                leads.setdefault(page, {})[link.fragment, text] = None
        by_page = {page: tuple(links) for page, links in leads.items()}
        self._lead(path, record.leads, by_page)
        self.signs.update({LINK_FOUND: resolved - record.found, LINK_LOST: lost - record.lost})
        self._set(path, record, leads=by_page, names=tuple(sorted(names)), found=resolved, lost=lost)

    def _lead(self, path: str, old: Mapping[str, LinksToPage], new: Mapping[str, LinksToPage]) -> None:
        """Set the links of a page in the records of the pages that they lead to."""
        changed = [target for target in old.keys() | new.keys() if old.get(target) != new.get(target)]
        for target, record in self._existing(changed):
            if target in new:
                record.sources[path] = new[target]
            else:
                record.sources.pop(path, None)
            self._changed.add(target)

    def _set(self, path: str, record: LinkRecord, **values: Any) -> None:
        for name, value in values.items():
            if getattr(record, name) != value:
                setattr(record, name, value)
                self._changed.add(path)

    def _stored(self, paths: Iterable[str]) -> dict[str, LinkRecord]:
        """The records of documents as the last commit has them, by path."""
        ids = [self._prefix + path for path in paths]
        records = self._snapshot.links(ids, decode_links) if self._snapshot else {}
        return {document_id.removeprefix(self._prefix): record for document_id, record in records.items()}

    def _existing(self, paths: Iterable[str]) -> Iterator[tuple[str, LinkRecord]]:
        """The records of some documents, without those that are gone."""
        wanted = list(paths)
        missing = [path for path in wanted if path not in self._records]
        if missing:
            self._records |= {**dict.fromkeys(missing), **self._stored(missing)}
        for path in wanted:
            if (record := self._records[path]) is not None:
                yield path, record

    def _paths_with(self, field: str, names: Iterable[str]) -> Iterator[str]:
        if self._snapshot:
            terms = [self._prefix + name for name in names]
            yield from (
                document_id.removeprefix(self._prefix) for document_id in self._snapshot.documents_with(field, terms)
            )

    def _load_pages(self, names: set[str]) -> None:
        """Look for all pages with one of these names at once."""
        self._looked_up = names
        for path, record in self._existing(self._paths_with(PAGE_NAMES, names)):
            for name in record.names_of_page & names:
                self._named[name].append(path)

    def _pages_named(self, name: str) -> list[Page]:
        others = () if name in self._looked_up else self._paths_with(PAGE_NAMES, [name])
        paths = {*self._named.get(name, ()), *others}
        return [Page(path, record.keys) for path, record in self._existing(paths)]


def _changed_names(old: LinkRecord | None, new: LinkRecord | None) -> set[str]:
    """The names that lead to another page if a record changes, and those with ``#`` whose anchors decide."""
    names = {last_name(key) for key in {*(old.keys if old else ())} ^ {*(new.keys if new else ())}}
    if old and new and old.anchors.keys() != new.anchors.keys():
        names.update(f"{name}#" for name in new.names_of_page)
    return names
