"""The words of links that lead to a section, and how many pages link to it. Both help to rank the section.

The first node of a document has a record of its links, of where they lead, and of the links that lead to it. An update
follows the links of the documents that it reads, and of those that have a link to a name that comes or goes: the engine
finds these by the names that their links look for. If a tree has to be followed otherwise than before, as its first
``_index.md`` is one of Hugo, all its links are followed.
"""

import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import SEEK_END
from itertools import accumulate
from struct import Struct
from typing import IO, Any

import msgspec

from quire.index.engine.node_fields import ID, LINK_NAMES, PAGE_NAMES
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import LINK_FOUND, LINK_LOST, Signs, storable
from quire.links.link_resolution import Addresses, InternalLink, Page, Site, internal_link, last_name, page_of
from quire.model.document import Document
from quire.model.offsets import lines_at

_MAX_LINKS = 2_000  # of one document; a list of thousands of links says little about each
_MAX_WORDS = 100  # the most texts of links that are searched for a section
_CHAINED = Struct("<qI")  # the place of the record before, and the length of this one
_LONGEST = 200  # in characters, of the text of a link

LinksToPage = tuple[tuple[str, str], ...]  # the fragment and the text of each link of one page to another


class LinkRecord(msgspec.Struct, array_like=True, gc=False):
    """The links of a document, and those that lead to it."""

    page: Page
    anchors: dict[str, int]  # the position of the section with each anchor
    links: tuple[InternalLink, ...]
    top: int  # the position of the section that a link to the whole page leads to
    names: tuple[str, ...] = ()  # the names that decide where its links lead
    signs: Signs = {}  # what it shows about the site, and how many of its links lead to a document
    sources: dict[str, LinksToPage] = {}  # the links that lead to it, by the path of the page that has them

    @property
    def leads(self) -> dict[str, LinksToPage]:
        """Its links to other documents, by their paths."""
        leads: dict[str, dict[tuple[str, str], None]] = {}
        for link in self.links:
            if link.target:  # a longer text is no name of what it leads to
                text = link.text if len(link.text) <= _LONGEST else ""
                leads.setdefault(link.target, {})[link.fragment, text] = None
        return {path: tuple(links) for path, links in leads.items()}

    def page_names(self) -> set[str]:
        """The last names of its addresses."""
        return set(map(last_name, self.page.keys))

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


class _PageRecord(msgspec.Struct, array_like=True, gc=False):
    """The beginning of a ``LinkRecord``; the rest is skipped."""

    page: Page


decode_links = msgspec.msgpack.Decoder(LinkRecord).decode
_decode_page = msgspec.msgpack.Decoder(_PageRecord).decode
_decode_source = msgspec.msgpack.Decoder(tuple[str, LinksToPage]).decode


class _Spill:
    """Records in a file, in chains: each has the place of the one before it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._end = stream, stream.seek(0, SEEK_END)

    def add(self, data: bytes, before: int = -1) -> int:
        place = self._stream.seek(self._end)
        self._end += self._stream.write(_CHAINED.pack(before, len(data)) + data)
        return place

    def chain(self, place: int) -> Iterator[bytes]:
        """The record at a place, and those before it."""
        while place >= 0:
            self._stream.seek(place)
            place, size = _CHAINED.unpack(self._stream.read(_CHAINED.size))
            yield self._stream.read(size)


def link_record(document: Document, path: str) -> LinkRecord:
    """The links of a document; where they lead is not known yet."""
    from quire.parsing.links import heading_anchors  # noqa: PLC0415  only updates need the parser

    # A heading without text is part of the node before it.
    positions = list(accumulate(document.section_columns.positions, max))
    anchors = {storable(name): positions[number] for name, number in heading_anchors(document).items()}
    found = document.links[:_MAX_LINKS]
    lines = lines_at(document.text, [link.start for link in found])
    links = [
        msgspec.structs.replace(link, line=line, position=positions[max(document.section_at(source.start), 0)])
        for source, line in zip(found, lines, strict=True)
        if (link := internal_link(document, source)) and link.page
    ]
    # Without a title of its own, the page is its first heading.
    is_heading = "title" not in document.frontmatter and len(document.nodes) > 1
    top = 1 if is_heading and document.nodes[1].title == document.title else 0
    keys = tuple(map(storable, page_of(path, document.frontmatter).keys))
    return LinkRecord(Page(path, keys), anchors, tuple(links), top)


class TreeLinks:
    """The links of a tree while some of its documents change; ``snapshot`` is the last commit."""

    def __init__(self, tree: str, snapshot: Snapshot | None) -> None:
        self.signs = Counter(snapshot.signs(tree) if snapshot else {})
        """How many signs of each kind the tree has."""
        self.prefix, self._snapshot = f"{tree}:", snapshot
        self._records: dict[str, LinkRecord | None] = {}  # by path: those that were read or set
        self._changed: set[str] = set()  # the paths of records that differ from the stored ones
        self._absolute: dict[tuple[str, bool], tuple[Sequence[str], set[str]]] = {}  # absolute links looked up
        self._edits: Mapping[str, LinkRecord | None] = {}
        self._edited: dict[str, list[Page]] = defaultdict(list)  # the pages that change, by the names of addresses

    def _pages_named(self, name: str) -> list[Page]:
        stored = self._stored_pages(PAGE_NAMES, [name])
        return [page for page in stored if page.path not in self._edits] + self._edited.get(name, [])

    def change(self, encoded: Mapping[str, bytes]) -> Iterator[LinkRecord]:
        """Set the records of some documents by path, empty for those that are gone; return all records that changed."""
        self._edits = edits = {path: decode_links(data) if data else None for path, data in encoded.items()}
        self._records.update(edits)
        for edit in filter(None, edits.values()):
            for name in edit.page_names():
                self._edited[name].append(edit.page)
        site, stored = Site.of(self.signs), self._stored(edits)
        changed_names: set[str] = set()  # those that come or go
        for path, new in edits.items():
            old_keys, new_keys = (set(record.page.keys if record else ()) for record in (stored.get(path), new))
            changed_names.update(map(last_name, old_keys ^ new_keys))
        stale = {*filter(edits.get, edits), *(page.path for page in self._stored_pages(LINK_NAMES, changed_names))}
        for path, old in stored.items():
            if (new := edits[path]) is not None:
                new.sources, new.signs = old.sources, old.signs
        for path in [path for path in stored if edits[path] is None]:
            self._lead(path, stored[path].leads, {})
            self.signs.subtract(stored[path].signs)
        addresses = Addresses(self._pages_named)
        for path, record in self._existing(stale):
            counts = {sign: count for sign, count in record.signs.items() if sign in (LINK_FOUND, LINK_LOST)}
            self._set(path, record, signs=addresses.signs(record.page, record.links) | counts)
        addresses.site = Site.of(self.signs)
        if addresses.site != site:
            files = self._snapshot.files.values() if self._snapshot else ()
            stale.update(record.path for record in files if record.id.startswith(self.prefix))
            stale.update(edits)
        for path, record in self._existing(stale):
            before = stored.get(path, record).leads
            links, names, counts = self._resolved(addresses, record)
            self._set(path, record, signs=record.signs | counts, links=links, names=names)
            self._lead(path, before, record.leads)
        return (record for _, record in self._existing(sorted(self._changed.union(edits))))

    def follow_all(self, encoded: Mapping[str, bytes], spill: IO[bytes]) -> Iterator[LinkRecord]:
        """Follow the links of a new tree, whose records these are, by path.

        They may be too many for the memory, so what is found out is written to the end of ``spill`` and read again.
        """
        file, numbers = _Spill(spill), {path: number for number, path in enumerate(encoded)}
        paths: dict[str, list[str]] = defaultdict(list)  # by the names of addresses
        for path, data in encoded.items():
            for name in set(map(last_name, _decode_page(data).page.keys)) if data else ():
                paths[name].append(path)
        addresses = Addresses(lambda name: [Page(path, _decode_page(encoded[path]).page.keys) for path in paths[name]])
        for record in map(decode_links, filter(None, encoded.values())):
            self.signs.update(addresses.signs(record.page, record.links))
        addresses.site = Site.of(self.signs)
        places = array("q")  # of the records
        sources = array("q", [-1]) * len(numbers)  # the place of the last page that leads to each
        for record in map(decode_links, filter(None, encoded.values())):
            record.links, record.names, counts = self._resolved(addresses, record)
            record.signs = addresses.signs(record.page, record.links) | counts
            self.signs.update(counts)
            places.append(file.add(zlib.compress(msgspec.msgpack.encode(record), 1)))
            for target, links in record.leads.items():
                source = msgspec.msgpack.encode((record.page.path, links))
                sources[numbers[target]] = file.add(source, before=sources[numbers[target]])
        del addresses  # frees memory for the engine
        paths.clear()
        self._absolute.clear()
        for record in (decode_links(zlib.decompress(data)) for place in places for data in file.chain(place)):
            chain = [*file.chain(sources[numbers[record.page.path]])]
            record.sources = dict(map(_decode_source, reversed(chain)))
            yield record

    def _resolved(
        self, addresses: Addresses, record: LinkRecord
    ) -> tuple[tuple[InternalLink, ...], tuple[str, ...], Signs]:
        """The links of a page with their targets, the names that decide these, and how many lead to a document."""
        links: list[InternalLink] = []
        names: set[str] = set()
        resolved = lost = 0
        path = record.page.path
        for link in record.links:
            pages, link_names = self._looked_up(addresses, record.page, link)
            names |= link_names
            resolved += bool(pages)
            lost += not pages and not link.is_wiki and not link.is_file
            target = next(iter(pages), path)
            links.append(msgspec.structs.replace(link, target=target if target != path else ""))
        return tuple(links), tuple(sorted(names)), {LINK_FOUND: resolved, LINK_LOST: lost}

    def _looked_up(self, addresses: Addresses, page: Page, link: InternalLink) -> tuple[Sequence[str], set[str]]:
        """The pages that a link may lead to, and the names that decide it."""
        key = link.page, link.is_wiki
        if key in self._absolute:
            return self._absolute[key]
        lookup = addresses.lookup(page, link)
        pages = lookup.pages if addresses.site.has_wiki_links or not link.is_wiki else ()
        found = pages, lookup.names
        if link.page.startswith("/"):  # it means the same on all pages, and a site may have many prefixes
            self._absolute[key] = found
        return found

    def _lead(self, path: str, old: Mapping[str, LinksToPage], new: Mapping[str, LinksToPage]) -> None:
        changed = [target for target in old.keys() | new.keys() if old.get(target) != new.get(target)]
        for target, record in self._existing(changed):
            if target in new:
                record.sources[path] = new[target]
            else:
                record.sources.pop(path, None)
            self._changed.add(target)

    def _set(self, path: str, record: LinkRecord, signs: Signs, **values: Any) -> None:
        self.signs.subtract(record.signs)
        self.signs.update(signs)
        for name, value in {"signs": dict(signs), **values}.items():
            if getattr(record, name) != value:
                setattr(record, name, value)
                self._changed.add(path)

    def _stored(self, paths: Iterable[str]) -> dict[str, LinkRecord]:
        """The records of documents as the last commit has them, by path."""
        terms = [self.prefix + path for path in paths]
        records = self._snapshot.blobs_of_documents(ID, terms, decode_links) if self._snapshot else ()
        return {record.page.path: record for record in records}

    def _stored_pages(self, field: str, names: Iterable[str]) -> list[Page]:
        """The pages that had one of some names in a field at the last commit."""
        terms = [self.prefix + name for name in names]
        records = self._snapshot.blobs_of_documents(field, terms, _decode_page) if self._snapshot else ()
        return [record.page for record in records]

    def _existing(self, paths: Iterable[str]) -> Iterator[tuple[str, LinkRecord]]:
        """The records of some documents, without those that are gone."""
        wanted = list(paths)
        missing = [path for path in wanted if path not in self._records]
        if missing:
            self._records |= {**dict.fromkeys(missing), **self._stored(missing)}
        for path in wanted:
            if (record := self._records[path]) is not None:
                yield path, record
