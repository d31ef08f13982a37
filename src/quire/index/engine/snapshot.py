"""Reads a committed state of the engine's index."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from math import log
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import tantivy

from quire.errors import IndexDamagedError
from quire.index import file_records
from quire.index.engine import damage
from quire.index.engine import node_fields as schema
from quire.index.engine.damage import engine_reads
from quire.index.engine.node_fields import field
from quire.index.engine.open_index import open_index
from quire.index.file_records import FileRecord, FileTable, FolderTimes, FrontMatter, IndexSettings, Signs, TimesByTree
from quire.index.folder import Folder, Stamp
from quire.index.node import Node, Outline, decode_node, decode_outline

_MAX_NODES, _MAX_OUTLINES, _MAX_ADDRESSES, _MAX_STATISTICS = 4_096, 16_384, 4_096, 50_000  # how many are kept
PER_LOOKUP = 64  # how many terms the engine looks up at a time; for larger sets, it would scan all terms of the field
_CHECKED_MATCHES = 100  # of how many matches outlines are read at once; the others are read if they are needed

Decoded = TypeVar("Decoded")
Address = tantivy.DocAddress  # the engine's address of a node in a snapshot
Location = tuple[str, int]  # a document id, and a position in the document's list of nodes
Opened = tuple["Snapshot | None", Stamp]  # a commit, None if there is none, and its stamp


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


class Snapshot:
    """One committed state of an index; later commits do not change it. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # the generation
        self.memory: dict[str, dict[Any, Any]] = defaultdict(dict)
        """What others have computed from this commit: weights, trees."""
        with engine_reads(folder):
            self.index = open_index(folder)
            self.searcher = self.index.searcher()
            self.schema = self.index.schema
        self._outlines: dict[int, Outline] = {}  # those that were read, by the numbers of their documents

    @cached_property
    def settings(self) -> IndexSettings:
        """How the index was made."""
        with engine_reads(self.folder):
            [blob] = self.blobs([file_records.SETTINGS_KEY])
            return msgspec.msgpack.decode(blob, type=IndexSettings)

    @cached_property
    def files(self) -> FileTable:
        """The file records by document id, all of them."""
        with engine_reads(self.folder):
            return file_records.decode_files(self.blobs(file_records.FILE_KEYS))

    def file(self, document_id: str) -> FileRecord | None:
        """The record of one file."""
        if "files" in self.__dict__:
            return self.files.get(document_id)
        parts, key = self.memory["files"], file_records.blob_key(document_id, file_records.FILE_KEYS)
        if key not in parts:
            with engine_reads(self.folder):
                parts[key] = file_records.decode_files(self.blobs([key]))
        record: FileRecord | None = parts[key].get(document_id)
        return record

    def file_times(self) -> list[TimesByTree]:
        """The times of all files."""
        with engine_reads(self.folder):
            return list(map(file_records.decode_times, self.blobs(file_records.TIMES_KEYS)))

    @cached_property
    def front_matter(self) -> dict[str, FrontMatter]:
        """The values of front matter by document id."""
        with engine_reads(self.folder):
            return {record.id: file_records.decode_front_matter(record.front_matter) for record in self.files.values()}

    @cached_property
    def front_matter_keys(self) -> frozenset[str]:
        """The keys that documents have in their front matter."""
        return frozenset().union(*self.front_matter.values())

    @cached_property
    def totals(self) -> Signs:
        """How many files, nodes and tokens all trees have together."""
        return dict(sum(map(Counter, map(self.signs, self.settings.trees)), Counter[tuple[str, str]]()))

    @property
    def mean_tokens(self) -> float:
        """The tokens of a document, on average."""
        return self.totals.get(file_records.TOKENS, 0) / max(self.totals.get(file_records.FILES, 0), 1)

    # Documents by their numbers

    def outlines(self, number: int) -> Outline:
        """The heading tree of a document."""
        return self._outlines.get(number) or self._read_outlines([number])[number]

    def document_id(self, number: int) -> str:
        """The id of a document."""
        return self.outlines(number).document_id

    def node_count(self, numbers: Iterable[int]) -> int:
        """The number of nodes of some documents."""
        return sum([len(self.outlines(number).parents) for number in numbers])

    def _read_outlines(self, numbers: Sequence[int]) -> dict[int, Outline]:
        """Read outlines all at once, as each lookup takes some time."""
        addresses = self._first_nodes(schema.FIRST, numbers)
        with engine_reads(self.folder):
            read = [decode_outline(self.searcher.doc(address)[schema.OUTLINE][0]) for address in addresses]
            outlines = {
                number: each for (number,), each in zip(self.numbers(addresses, schema.NUMBER), read, strict=True)
            }
            if outlines.keys() != set(numbers):
                raise ValueError("a section is in no document")
        if len(self._outlines) > _MAX_OUTLINES:
            self._outlines = {}
        self._outlines.update(outlines)
        return outlines

    def _first_nodes(self, field: str, terms: Sequence[Any]) -> list[Address]:
        """The addresses of the first nodes of documents with one of some terms in a field that is not analysed."""
        addresses: dict[tuple[int, int], Address] = {}
        for start in range(0, len(terms), PER_LOOKUP):
            some = terms[start : start + PER_LOOKUP]
            is_unique = field in (schema.FIRST, schema.ID)
            most = len(some) if is_unique else sum([self.doc_freq((field,), term) for term in some])
            query = tantivy.Query.boolean_query([(tantivy.Occur.Should, self._has(field, term)) for term in some])
            addresses |= {(address.segment_ord, address.doc): address for _, address in self.top(query, most)}
        return list(addresses.values())

    def blobs_of_documents(
        self, field: str, terms: Sequence[str], decode: Callable[[bytes], Decoded]
    ) -> Iterator[Decoded]:
        """The blobs of the first nodes of documents with one of some terms in a field."""
        for address in self._first_nodes(field, terms):
            with engine_reads(self.folder):
                yield decode(self.searcher.doc(address)[schema.BLOB][0])

    # Nodes

    def top(self, query: tantivy.Query, limit: int) -> list[tuple[float, Address]]:
        """The best nodes for a query. The engine allocates memory for ``limit`` hits, so it is capped."""
        with engine_reads(self.folder):
            return list(self.searcher.search(query, max(min(limit, self.searcher.num_docs), 1), count=False).hits)

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
            matches.sort(key=lambda match: (-match.score, self.document_id(match.number), match.position))
        return matches[:limit]

    def matches_at(self, hits: Sequence[tuple[float, Address]]) -> list[Match]:
        """The nodes of some hits of the engine, without reading them."""
        addresses = [address for _, address in hits]
        keys = self.numbers(addresses, schema.NUMBER, schema.POSITION)
        matches = [Match(score, address, *key) for (score, address), key in zip(hits, keys, strict=True)]
        best = matches[:_CHECKED_MATCHES]
        missing = dict.fromkeys([match.number for match in best if match.number not in self._outlines])
        if missing:
            self._read_outlines([*missing])
        with engine_reads(self.folder):
            if any(match.position >= len(self.outlines(match.number).parents) for match in best):
                raise ValueError("a section is in no document")
        return matches

    def nodes(self, addresses: Iterable[Address]) -> list[Node]:
        """The nodes at some addresses. A search asks for most of its nodes twice."""
        known, nodes = self.memory["nodes"], list[Node]()
        with engine_reads(self.folder):
            for address in addresses:
                key = address.segment_ord, address.doc
                if (node := known.get(key)) is None:
                    node = known[key] = decode_node(self.searcher.doc(address)[schema.NODE][0])
                nodes.append(node)
        if len(known) > _MAX_NODES:
            known.clear()
        return nodes

    def get(self, node_id: str) -> Node | None:
        """The node with an id."""
        hits = self.top(self._has(schema.ID, node_id), 1)
        return self.nodes([hits[0][1]])[0] if hits else None

    def nodes_of(self, document_id: str, first: int = 0, last: int | None = None) -> list[Node]:
        """The nodes of a document from one position to another, both included, in order."""
        return self.nodes(self._addresses(document_id)[first : None if last is None else last + 1])

    @property
    def next_number(self) -> int:
        """A number above those of all documents."""
        query = tantivy.Query.exists_query(schema.POSITION)
        with engine_reads(self.folder):
            hits = self.searcher.search(query, 1, count=False, order_by_field=schema.NUMBER).hits
        return 1 + int(hits[0][0]) if hits else 0

    def numbers(self, addresses: list[Address], *fields: str) -> list[tuple[int, ...]]:
        """Numeric fields of some nodes, without reading them."""
        with engine_reads(self.folder):
            columns = [cast("list[int]", self.searcher.fast_field_values(name, addresses)) for name in fields]
        return list(zip(*columns, strict=True))

    def addresses(self, locations: Iterable[Location]) -> dict[Location, Address]:
        """The addresses of nodes by their documents and positions, without nodes that do not exist."""
        rests = [(location, self._addresses(location[0])[location[1] :]) for location in locations]
        return {location: rest[0] for location, rest in rests if rest}

    def _addresses(self, document_id: str) -> list[Address]:
        """The addresses of the nodes of a document, in order."""
        known = self.memory["addresses"]
        addresses: list[Address] | None = known.get(document_id)
        if addresses is None:
            with engine_reads(self.folder):
                most = self.searcher.doc_freq(schema.DOC, document_id)  # of deleted nodes, too
                query, by, order = self._has(schema.DOC, document_id), schema.POSITION, tantivy.Order.Asc
                hits = self.searcher.search(query, max(most, 1), count=False, order_by_field=by, order=order).hits
                addresses = [address for _, address in hits]
                outline = decode_outline(self.searcher.doc(addresses[0])[schema.OUTLINE][0]) if addresses else None
                if outline and len(outline.parents) != len(addresses):
                    raise ValueError(f"sections of {document_id} are missing")
            if len(known) > _MAX_ADDRESSES:
                known.clear()
            known[document_id] = addresses
        return addresses

    def _has(self, field: str, value: str | int) -> tantivy.Query:
        return tantivy.Query.term_query(self.schema, field, value, index_option="basic")

    def blobs(self, keys: Sequence[str]) -> list[bytes]:
        """The records with some keys, as they were written."""
        query = tantivy.Query.term_set_query(self.schema, schema.RECORD, keys)
        with engine_reads(self.folder):
            hits = self.searcher.search(query, 2 * len(keys), count=False).hits if keys else ()
            return [self.searcher.doc(address)[schema.BLOB][0] for _, address in hits]

    def signs(self, tree: str) -> Signs:
        """What the links of a tree show about its site."""
        return self._stored(file_records.LINKS_KEY + tree, Signs) or {}

    def folder_times(self, tree: str) -> FolderTimes:
        """The folders of a tree at the last update that listed them; none if a change could leave the same times."""
        return self._stored(file_records.FOLDERS_KEY + tree, FolderTimes) or {}

    def _stored(self, key: str, kind: Any) -> Any:
        with engine_reads(self.folder):
            return next((msgspec.msgpack.decode(blob, type=kind) for blob in self.blobs([key])), None)

    # Terms. The engine counts deleted nodes until it merges their segment.

    def statistics(self, term: str, language: str) -> TermStatistics:
        """Where a term of a language occurs."""
        known = self.memory["statistics"]
        statistics: TermStatistics | None = known.get((term, language))
        if statistics is None:
            counts = {name: self.doc_freq((field(name, language),), term) for name in schema.RANKED}
            most = max(counts.values())
            statistics = TermStatistics(frozenset(filter(counts.get, counts)), rarity(self.node_total, most))
            if len(known) > _MAX_STATISTICS:
                known.clear()
            known[term, language] = statistics
        return statistics

    @property
    def node_total(self) -> int:
        """The number of nodes that rarities refer to."""
        return int(self.searcher.num_docs)

    def look_up(self, terms: Iterable[str]) -> None:
        """Read the counts of terms that will be asked for, where one by one would take long: not here."""

    def idf_factor(self, name: str, language: str, terms: Sequence[str]) -> float:
        """What the engine's score for adjacent terms is multiplied by; not 1 if it knows a part of the nodes only."""
        return 1.0

    def doc_freq(self, fields: Iterable[str], term: str) -> int:
        """The number of nodes with a term, summed over fields; includes deleted nodes."""
        with engine_reads(self.folder):
            return sum([self.searcher.doc_freq(field, term) for field in fields])

    @cached_property
    def deleted(self) -> int:
        """The number of deleted nodes that ``doc_freq`` and ``terms_with_prefix`` count."""
        return sum(self.terms_with_prefix([schema.TREE], "").values()) - self.totals.get(file_records.NODES, 0)

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


def rarity(total: int, count: int) -> float:
    """The inverse document frequency, as in BM25, of a term that ``count`` of all nodes have."""
    return log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))
