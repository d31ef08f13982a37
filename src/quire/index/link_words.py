"""The words of links that lead to a section, and how many pages link to it. Both help to rank the section.

The first node of a document has a record of its links, of where they lead, and of the links that lead to it. An update
follows the links of the documents that it reads, and of those that have a link to a name that comes or goes: the engine
finds these by the names that their links look for. If a tree has to be followed otherwise than before, as its first
``_index.md`` is one of Hugo, all its links are followed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from typing import Any

import msgspec

from quire.index.engine.index_schema import LINK_NAMES
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import LINK_FOUND, LINK_LOST, FileTable, Signs, storable
from quire.link_addresses import Addresses, InternalLink, Page, Site, internal_link, is_file, keys_by_name, last_name
from quire.model import Document
from quire.parsing.links import heading_anchors

_MAX_LINKS = 2_000  # of one document; a list of thousands of links says little about each
_MAX_WORDS = 100  # the most texts of links that are searched for a section
_LONGEST = 200  # a longer text is no name of what it leads to

LinksToPage = tuple[tuple[str, str], ...]  # the fragment and the text of each link of one page to another


class LinkRecord(msgspec.Struct, array_like=True, gc=False):
    """The links of a document, and those that lead to it."""

    anchors: dict[str, int]  # the position of the section with each anchor
    links: tuple[InternalLink, ...]
    top: int  # the position of the section that a link to the whole page leads to
    leads: dict[str, LinksToPage] = {}  # its links by the path that they lead to
    names: tuple[str, ...] = ()  # the names that decide where its links lead
    signs: Signs = {}  # what it shows about the site, and how many of its links lead to a document
    sources: dict[str, LinksToPage] = {}  # the links that lead to it, by the path of the page that has them

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


def link_record(document: Document) -> LinkRecord:
    """The links of a document; where they lead is not known yet."""
    # A heading without text is part of the node before it.
    positions = list(accumulate(document.section_columns.positions, max))
    anchors = {storable(name): positions[number] for name, number in heading_anchors(document).items()}
    links = [internal_link(document, link) for link in document.links[:_MAX_LINKS]]
    # Without a title of its own, the page is its first heading.
    is_heading = "title" not in document.frontmatter and len(document.nodes) > 1
    top = 1 if is_heading and document.nodes[1].title == document.title else 0
    return LinkRecord(anchors, tuple(link for link in links if link and link.page), top)


class TreeLinks:
    """The links of a tree while some of its documents change.

    ``snapshot`` is the last commit, ``files`` are the new file records.
    """

    def __init__(self, tree: str, snapshot: Snapshot | None, files: FileTable) -> None:
        self.signs = Counter(snapshot.signs(tree) if snapshot else {})
        """How many signs of each kind the tree has."""
        self._prefix, self._snapshot, self._files = f"{tree}:", snapshot, files
        self._records: dict[str, LinkRecord | None] = {}  # by path: those that were read or set
        self._changed: set[str] = set()  # the paths of records that differ from the stored ones

    @cached_property
    def _pages(self) -> Mapping[str, list[Page]]:
        """The pages of the tree by the last names of their addresses."""
        pages: dict[str, list[Page]] = defaultdict(list)
        for document_id, record in self._files.items():
            for name in set(map(last_name, record.keys)) if document_id.startswith(self._prefix) else ():
                pages[name].append(Page(record.path, record.keys))
        return pages

    def _page(self, path: str) -> Page:
        return Page(path, self._files[self._prefix + path].keys)

    def change(self, edits: Mapping[str, LinkRecord | None]) -> dict[str, LinkRecord]:
        """Set the records of some documents by path, None for those that are gone; return all records that changed."""
        self._records.update(edits)
        site, stored = Site.of(self.signs), self._stored(edits)
        stale = self._stale_pages(edits, stored)
        for path, old in stored.items():
            if (new := edits[path]) is not None:
                new.leads, new.sources, new.names, new.signs = old.leads, old.sources, old.names, old.signs
        for path in [path for path in stored if edits[path] is None]:
            self._lead(path, stored[path].leads, {})
            self.signs.subtract(stored[path].signs)
        addresses = Addresses(lambda name: self._pages.get(name, ()))
        for path, record in self._existing(stale):
            counts = {sign: count for sign, count in record.signs.items() if sign in (LINK_FOUND, LINK_LOST)}
            self._set_signs(path, record, addresses.signs(self._page(path), record.links) | counts)
        addresses.site = Site.of(self.signs)
        if addresses.site != site:
            stale.update(record.path for record in self._files.values() if record.id.startswith(self._prefix))
        for path, record in self._existing(stale):
            self._follow(addresses, path, record)
        return {self._prefix + path: record for path, record in self._existing(self._changed.union(edits))}

    def _stale_pages(self, edits: Mapping[str, LinkRecord | None], stored: Mapping[str, LinkRecord]) -> set[str]:
        """The pages whose links must be followed: those that changed, and those with a link to a name that did."""
        stale: set[str] = set()
        names: set[str] = set()
        old_files = self._snapshot.files if self._snapshot else {}
        for path, new in edits.items():
            old, document_id = stored.get(path), self._prefix + path
            records = old_files.get(document_id), self._files.get(document_id)
            before, now = (set(record.keys if record else ()) for record in records)
            names.update(map(last_name, before ^ now))
            if old and new and old.anchors.keys() != new.anchors.keys():
                names.update(f"{last_name(key)}#" for key in now)  # of these names, anchors decide
            if new and not (old and old.links == new.links and before == now):
                stale.add(path)
        terms = [self._prefix + name for name in names]
        others = self._snapshot.documents_with(LINK_NAMES, terms) if self._snapshot else ()
        return stale.union(document_id.removeprefix(self._prefix) for document_id in others)

    def _follow(self, addresses: Addresses, path: str, record: LinkRecord) -> None:
        """Find out where the links of a page lead."""
        leads: dict[str, dict[tuple[str, str], None]] = {}
        names: set[str] = set()
        resolved = lost = 0
        here = self._page(path)
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
        self._set_signs(path, record, record.signs | {LINK_FOUND: resolved, LINK_LOST: lost})
        self._set(path, record, leads=by_page, names=tuple(sorted(names)))

    def _lead(self, path: str, old: Mapping[str, LinksToPage], new: Mapping[str, LinksToPage]) -> None:
        """Set the links of a page in the records of the pages that they lead to."""
        changed = [target for target in old.keys() | new.keys() if old.get(target) != new.get(target)]
        for target, record in self._existing(changed):
            if target in new:
                record.sources[path] = new[target]
            else:
                record.sources.pop(path, None)
            self._changed.add(target)

    def _set_signs(self, path: str, record: LinkRecord, signs: Signs) -> None:
        self.signs.subtract(record.signs)
        self.signs.update(signs)
        self._set(path, record, signs=dict(signs))

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
