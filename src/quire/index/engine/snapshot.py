"""Reads a committed state of the engine's index."""

import errno
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from math import log
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import tantivy

from quire.errors import IndexDamagedError, QuireError, StoreError, is_panic
from quire.index.engine import damage
from quire.index.engine.damage import MAX_SHOWN, mark_damaged, text_and_code
from quire.index.engine.index_schema import BLOB, DOC, ID, NODE, NUMBER, POSITION, RANKED, RECORD, TREE, field
from quire.index.file_records import (
    FILE_KEYS,
    FOLDERS_KEY,
    LINKS_KEY,
    SETTINGS_KEY,
    FileTable,
    FolderTimes,
    FrontMatter,
    IndexSettings,
    Signs,
    TreeRecord,
    decode_files,
    decode_front_matter,
)
from quire.index.folder import Folder, Stamp
from quire.index.node import Node, Outline, decode_node, decode_outline
from quire.operating_system import remove_folder, temporary_folder
from quire.patterns import pattern

_CACHE_SIZE = 4_096  # of nodes, and of outlines
_MAX_STATISTICS = 50_000  # of how many terms and titles they are cached
_REMOVE_TRIES, _REMOVE_PAUSE = 50, 0.002
_ENGINE_FILE = pattern(r'filepath: "(?:[^"]*[/\\])?([^"/\\]+)"')  # the engine names files by their whole path

Decoded = TypeVar("Decoded")
Address = tantivy.DocAddress  # the engine's address of a node in a snapshot
Location = tuple[str, int]  # a document id, and a position in the document's list of nodes
Opened = tuple["Snapshot | None", Stamp]  # a commit, None if there is none, and its stamp


class engine_reads:  # noqa: N801  used as a function; a generator costs four times as much, and a search has twenty
    """Turn every error while the engine's files are read into an ``IndexDamagedError``, and remember the damage."""

    def __init__(self, generation: Path) -> None:
        self._generation = generation

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, QuireError | MemoryError):
            return
        if not isinstance(error, Exception) and not is_panic(error):
            return
        text, code = text_and_code(error)
        file = _ENGINE_FILE.search(text)
        what = f"{file[1]} cannot be read: {os.strerror(code)}" if code is not None and file else text[:MAX_SHOWN]
        if code is None:  # else a file is missing or may not be read
            mark_damaged(self._generation, what)
        needs_rights = code in (errno.EACCES, errno.EPERM)
        advice = "correct its rights, or run: quire index" if needs_rights else "run: quire index"
        raise IndexDamagedError(str(self._generation.parent), f"the index is damaged ({what})", advice) from error


class Match(msgspec.Struct, frozen=True, gc=False):
    """A node that matches a query."""

    score: float
    address: Address
    number: int  # of its document
    position: int  # in its document's list of nodes
    own: float = 1.0  # the share of the query that its own title and body satisfy


class TermStatistics(msgspec.Struct, frozen=True):
    """Where a term occurs."""

    fields: frozenset[str]  # the ranked fields that have it
    rarity: float  # in the field in which it is most frequent


def open_snapshot(folder: Folder, last: Opened | None = None) -> Opened:
    """The last commit, after a check for damage, and its stamp; None if there is no index.

    ``last`` is returned if it is still the last commit. If another process commits meanwhile and removes the files,
    this starts again.
    """
    while True:
        stamp = folder.stamp()
        try:
            generation = folder.current()
            if generation is None:
                return None, stamp
            damage.check(generation)
            return last if last is not None and last[1] == stamp else (Snapshot(generation), stamp)
        except damage.DamageError as error:
            if folder.stamp() == stamp:
                raise folder.damaged(f"the index is damaged ({error})") from error
        except IndexDamagedError:
            if folder.stamp() == stamp:
                raise


def newest_readable_trees(folder: Folder) -> Mapping[str, TreeRecord]:
    """The trees of the newest readable generation, if it is unknown which one is current."""
    for _, generation in sorted(folder.generations().items(), reverse=True):
        with suppress(damage.DamageError, StoreError):
            damage.check(generation)
            return Snapshot(generation).settings.trees
    return {}


class Snapshot:
    """One committed state of an index; later commits do not change it. Threads may share it."""

    def __init__(self, folder: Path, files: FileTable | None = None) -> None:
        """``files`` are the file records, if they are known."""
        self.folder = folder  # the generation
        if files is not None:
            self.files = files
        self.memory: dict[str, dict[Any, Any]] = defaultdict(dict)
        """What others have computed from this commit: weights, trees."""
        with engine_reads(folder):
            self.index = _open_index(folder)
            self.searcher = self.index.searcher()
            self.schema = self.index.schema
        self._node = lru_cache(maxsize=_CACHE_SIZE)(partial(_read_node, self.searcher))
        self._addresses = lru_cache(maxsize=_CACHE_SIZE)(partial(_read_addresses, folder, self.searcher, self.schema))

    @cached_property
    def settings(self) -> IndexSettings:
        """How the index was made."""
        settings: IndexSettings | None = self._stored(SETTINGS_KEY, IndexSettings)
        with engine_reads(self.folder):
            if settings is None:
                raise ValueError("its settings are missing")
        return settings

    @cached_property
    def files(self) -> FileTable:
        """The file records by document id."""
        with engine_reads(self.folder):
            return decode_files(self.blobs(FILE_KEYS))

    @cached_property
    def document_ids(self) -> dict[int, str]:
        """The document ids by the numbers of documents."""
        return {record.number: document_id for document_id, record in self.files.items()}

    @cached_property
    def front_matter(self) -> dict[str, FrontMatter]:
        """The values of front matter by document id."""
        with engine_reads(self.folder):
            return {record.id: decode_front_matter(record.front_matter) for record in self.files.values()}

    @cached_property
    def front_matter_keys(self) -> frozenset[str]:
        """The keys that documents have in their front matter."""
        return frozenset().union(*self.front_matter.values())

    @cached_property
    def outlines(self) -> Callable[[int], Outline]:
        """The heading tree of a document by its number."""
        return lru_cache(maxsize=_CACHE_SIZE)(partial(_read_outline, self.folder, self.files, self.document_ids))

    @cached_property
    def mean_tokens(self) -> float:
        """The tokens of a document, on average."""
        return sum([record.tokens for record in self.files.values()]) / max(len(self.files), 1)

    def node_count(self, documents: Iterable[str]) -> int:
        """The number of nodes of some documents."""
        return sum([self.files[document].nodes for document in documents])

    # Nodes

    def top(self, query: tantivy.Query, limit: int) -> list[tuple[float, Address]]:
        """The best nodes for a query. The engine allocates memory for ``limit`` hits, so it is capped."""
        with engine_reads(self.folder):
            return list(self.searcher.search(query, min(limit, self.searcher.num_docs), count=False).hits)

    def matches(self, query: tantivy.Query, limit: int) -> list[Match]:
        """The best ``limit`` nodes for a query; equal scores by document and position, also where they are cut off.

        The engine would order them by its segments, which differ between two indexes of the same documents.
        """
        wanted = limit + 1
        hits = self.top(query, wanted)
        while len(hits) == wanted and hits[-1][0] == hits[limit - 1][0]:
            wanted *= 4
            hits = self.top(query, wanted)
        matches = self.matches_at(hits)
        if len({score for score, _ in hits}) < len(hits):
            ids = self.document_ids
            matches.sort(key=lambda match: (-match.score, ids[match.number], match.position))
        return matches[:limit]

    def matches_at(self, hits: Sequence[tuple[float, Address]]) -> list[Match]:
        """The nodes of some hits of the engine, without reading them."""
        addresses = [address for _, address in hits]
        keys = self.numbers(addresses, NUMBER, POSITION)
        matches = [Match(score, address, *key) for (score, address), key in zip(hits, keys, strict=True)]
        files, ids = self.files, self.document_ids
        with engine_reads(self.folder):
            if any(match.position >= files[ids[match.number]].nodes for match in matches):
                raise ValueError("a section is in no document")
        return matches

    def nodes(self, addresses: Iterable[Address]) -> list[Node]:
        """The nodes at some addresses."""
        with engine_reads(self.folder):
            return [self._node(address.segment_ord, address.doc) for address in addresses]

    def get(self, node_id: str) -> Node | None:
        """The node with an id."""
        hits = self.top(self._has(ID, node_id), 1)
        return self.nodes([hits[0][1]])[0] if hits else None

    def nodes_of(self, document_id: str, first: int = 0, last: int | None = None) -> list[Node]:
        """The nodes of a document from one position to another, both included, in order."""
        return self.nodes(self._addresses_of(document_id)[first : None if last is None else last + 1])

    def _addresses_of(self, document_id: str) -> list[Address]:
        record = self.files.get(document_id)
        return self._addresses(document_id, record.nodes) if record and record.nodes else []

    def numbers(self, addresses: list[Address], *fields: str) -> list[tuple[int, ...]]:
        """Numeric fields of some nodes, without reading them."""
        with engine_reads(self.folder):
            columns = [cast("list[int]", self.searcher.fast_field_values(name, addresses)) for name in fields]
        return list(zip(*columns, strict=True))

    def addresses(self, locations: Iterable[Location]) -> dict[Location, Address]:
        """The addresses of nodes by their documents and positions, without nodes that do not exist."""
        rests = [(location, self._addresses_of(location[0])[location[1] :]) for location in locations]
        return {location: rest[0] for location, rest in rests if rest}

    def _has(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self.schema, field, value, index_option="basic")

    def blobs(self, keys: Sequence[str]) -> list[bytes]:
        """The records with some keys, as they were written."""
        query = tantivy.Query.term_set_query(self.schema, RECORD, keys)
        with engine_reads(self.folder):
            hits = self.searcher.search(query, 2 * len(keys), count=False).hits
            return [self.searcher.doc(address)[BLOB][0] for _, address in hits]

    def signs(self, tree: str) -> Signs:
        """What the links of a tree show about its site."""
        return self._stored(LINKS_KEY + tree, Signs) or {}

    def folder_times(self, tree: str) -> FolderTimes:
        """The folders of a tree at the last update that listed them; none if a change could leave the same times."""
        return self._stored(FOLDERS_KEY + tree, FolderTimes) or {}

    def _stored(self, key: str, kind: Any) -> Any:
        with engine_reads(self.folder):
            return next((msgspec.msgpack.decode(blob, type=kind) for blob in self.blobs([key])), None)

    def links(self, document_ids: Sequence[str], decode: Callable[[bytes], Decoded]) -> dict[str, Decoded]:
        """The records of the links of some documents by id, without those that are not in the index."""
        query = tantivy.Query.term_set_query(self.schema, ID, document_ids)
        addresses = [address for _, address in self.top(query, len(document_ids))] if document_ids else []
        with engine_reads(self.folder):
            records = [decode(self.searcher.doc(address)[BLOB][0]) for address in addresses]
        numbers = self.numbers(addresses, NUMBER)
        return {self.document_ids[number]: record for (number,), record in zip(numbers, records, strict=True)}

    def documents_with(self, field: str, terms: Sequence[str]) -> list[str]:
        """The ids of documents whose first node has one of some terms."""
        most = sum([self.doc_freq((field,), term) for term in terms])
        hits = self.top(tantivy.Query.term_set_query(self.schema, field, terms), most) if most else []
        return [self.document_ids[number] for (number,) in self.numbers([address for _, address in hits], NUMBER)]

    # Terms. The engine counts deleted nodes until it merges their segment.

    @cached_property
    def statistics(self) -> Callable[[str, str], TermStatistics]:
        """Where a term of a language occurs."""
        return lru_cache(maxsize=_MAX_STATISTICS)(partial(_term_statistics, self.folder, self.searcher))

    @cached_property
    def title_rarities(self) -> Callable[[tuple[str, ...], str], tuple[Mapping[str, float], float]]:
        """The rarity of each term of a title in a language, and their sum."""
        return lru_cache(maxsize=_MAX_STATISTICS)(partial(_title_rarities, self.statistics))

    def doc_freq(self, fields: Iterable[str], term: str) -> int:
        """The number of nodes with a term, summed over fields; includes deleted nodes."""
        with engine_reads(self.folder):
            return sum([self.searcher.doc_freq(field, term) for field in fields])

    @cached_property
    def deleted(self) -> int:
        """The number of deleted nodes that ``doc_freq`` and ``terms_with_prefix`` count."""
        return sum(self.terms_with_prefix([TREE], "").values()) - self.node_count(self.files)

    def live_freq(self, field: str, *terms: str) -> int:
        """The number of nodes with a term, or with adjacent terms, in a field, without deleted nodes."""
        is_one = len(terms) == 1
        query = self._has(field, terms[0]) if is_one else tantivy.Query.phrase_query(self.schema, field, list(terms))
        with engine_reads(self.folder):
            # The engine's stubs lack ``count``.
            return cast("int", self.searcher.search(query, 1).count)  # type: ignore[attr-defined]

    def terms_with_prefix(self, fields: Iterable[str], prefix: str) -> dict[str, int]:
        """The terms with a prefix, with their number of nodes summed over fields; includes deleted nodes."""
        counts: dict[str, int] = {}
        with engine_reads(self.folder):
            for name in fields:
                for term, count in self.searcher.terms_with_prefix(name, prefix):
                    counts[term] = counts.get(term, 0) + count
        return counts


# The functions below do not hold the snapshot, which would then stay open until Python collects garbage.


def _read_node(searcher: tantivy.Searcher, segment: int, number: int) -> Node:
    return decode_node(searcher.doc(Address(segment, number))[NODE][0])


def _read_addresses(
    folder: Path, searcher: tantivy.Searcher, schema: tantivy.Schema, document_id: str, nodes: int
) -> list[Address]:
    query = tantivy.Query.term_query(schema, DOC, document_id, index_option="basic")
    with engine_reads(folder):
        hits = searcher.search(query, nodes, count=False, order_by_field=POSITION, order=tantivy.Order.Asc).hits
        if len(hits) != nodes:
            raise ValueError(f"sections of {document_id} are missing")
    return [address for _, address in hits]


def _term_statistics(folder: Path, searcher: tantivy.Searcher, term: str, language: str) -> TermStatistics:
    with engine_reads(folder):
        counts = {name: searcher.doc_freq(field(name, language), term) for name in RANKED}
    return TermStatistics(frozenset(filter(counts.get, counts)), rarity(searcher.num_docs, max(counts.values())))


def rarity(total: int, count: int) -> float:
    """The inverse document frequency, as in BM25, of a term that ``count`` of all nodes have."""
    return log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def _title_rarities(
    statistics: Callable[[str, str], TermStatistics], title: tuple[str, ...], language: str
) -> tuple[Mapping[str, float], float]:
    rarities = {term: statistics(term, language).rarity for term in title}
    return rarities, sum(rarities.values())


def _read_outline(folder: Path, files: FileTable, ids: Mapping[int, str], number: int) -> Outline:
    with engine_reads(folder):
        record = files[ids[number]]
        outline = decode_outline(record.outline)
        if not record.nodes == len(outline.parents) == len(outline.titles):
            raise ValueError(f"the outline of {record.id} is incomplete")
        return outline


def _open_index(folder: Path) -> tantivy.Index:
    """The engine's index as it is now; it does not see later commits."""
    if os.access(folder, os.W_OK):
        return _open_writable(folder)
    # The engine needs a lock file, so a read-only index is opened through a temporary folder of links. It maps the
    # files at once, so the links can be removed again.
    links = temporary_folder() / f"quire-{os.urandom(8).hex()}"
    try:  # before the folder is made: Ctrl-C may come right after that
        links.mkdir(0o700)
        for file in folder.iterdir():
            if not file.name.endswith(".lock"):
                (links / file.name).symlink_to(file.absolute())
        return _open_writable(links)
    finally:
        remove_links(links)


def _open_writable(folder: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(folder))
    index.config_reader("manual", 0)
    return index


def remove_links(links: Path) -> None:
    """Remove the folder of links. A thread of the engine may create its lock file there meanwhile, hence the loop."""
    for _ in range(_REMOVE_TRIES):
        remove_folder(links)
        if not links.exists():
            return
        time.sleep(_REMOVE_PAUSE)
