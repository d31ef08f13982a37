"""The nodes that a store found for a query as a small index in memory, with the rarities of terms in the store."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import tantivy

from quire.index.engine import node_fields
from quire.index.engine.analysis import analyser
from quire.index.engine.node_fields import DOC, FLAGS, NODE, NUMBER, POSITION, RANKED, TREE, build_schema, field
from quire.index.engine.snapshot import Address, Decoded, Location, Snapshot, rarity
from quire.index.file_records import FileRecord
from quire.index.node import Node, decode_node, decode_outline

if TYPE_CHECKING:
    from quire.stores.node_index import _Version

BETWEEN_VALUES = "\n"  # separates the values of a field in a row; terms are separated by spaces
_ELSEWHERE = 1 << 20  # the segment number of nodes that are not in memory
_PADDING = "-"  # no term of a text
_MAX_PADDED = 10_000  # how many empty nodes are added
_HEAP = 15_000_000  # the least that the engine accepts

Row = Mapping[str, Any]  # a node: its columns by name
Counts = Mapping[str, int]  # how many nodes have a term, by field


def stored_fields(nodes: node_fields.NodeFields, language: str) -> list[dict[str, Any]]:
    """The columns of the nodes of a document that are searched: their terms."""
    common = dict.fromkeys(RANKED, "") | _terms(nodes.common, language)
    return [{**common, **_terms(own, language), FLAGS: " ".join(own.get(FLAGS, ()))} for own in nodes.own]


def _terms(fields: Mapping[str, Any], language: str) -> dict[str, str]:
    values = {name: fields[key] for name in RANKED if (key := field(name, language)) in fields}
    return {name: BETWEEN_VALUES.join([_joined(text, language) for text in texts]) for name, texts in values.items()}


@lru_cache(maxsize=4_096)  # titles and descriptions are repeated
def _joined(text: str, language: str) -> str:
    return " ".join(analyser(language).analyze(text))


class Candidates(Snapshot):
    """The nodes that a store found for a query, as a snapshot."""

    node_total: int = 0
    mean_tokens: float = 0.0
    deleted: int = 0  # none of the nodes that are counted

    def __init__(self, store: "_Version", records: Sequence[tuple[FileRecord, bytes]], rows: Sequence[Row]) -> None:
        """``records``, with encoded outlines, are those of the documents that the nodes in ``rows`` are in."""
        self.folder, self.memory = Path(store.label), defaultdict(dict)
        self.settings, self.front_matter_keys, self._store = store.settings, store.front_matter_keys, store
        self.node_total, self.mean_tokens = store.node_total, store.mean_tokens
        numbered = [msgspec.structs.replace(record, number=number) for number, (record, _) in enumerate(records)]
        self.files = {record.id: record for record in numbered}
        self._outlines = {number: decode_outline(outline) for number, (_, outline) in enumerate(records)}
        self._encoded: dict[tuple[int, ...], bytes] = {
            (self.files[row[DOC]].number, row[POSITION]): row[NODE] for row in rows
        }
        self.schema = build_schema(store.settings.languages)
        self.index = tantivy.Index(self.schema)
        spaces = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        for language in {*store.settings.languages, "none"}:
            self.index.register_tokenizer(f"quire_{language}", spaces)
        if rows:
            self._add(rows)
        self.index.reload()
        self.searcher = self.index.searcher()
        self._elsewhere: list[Location] = []

    def _add(self, rows: Sequence[Row]) -> None:
        writer, lengths = self.index.writer(heap_size=_HEAP, num_threads=1), Counter[str]()
        for row in rows:
            language = self.settings.trees[row[TREE]].language
            fields: dict[str, Any] = {
                field(name, language): row[name].split(BETWEEN_VALUES) for name in RANKED if row[name]
            }
            for name, values in fields.items():
                lengths[name] += sum([value.count(" ") + 1 for value in values if value])
            fields |= {name: row[name] for name in (DOC, TREE, POSITION)}
            fields |= {name: row[name] for name in (node_fields.IN_LINKS, node_fields.PAGE_LINKS) if row[name]}
            fields |= {NUMBER: self.files[row[DOC]].number, FLAGS: row[FLAGS].split()}
            writer.add_document(tantivy.Document.from_dict(fields, self.schema))
        # Nodes that match nothing, with which fields are on average as long as in the store: scores depend on that.
        means = {name: length / self.node_total for name, length in self._store.lengths.items() if lengths[name]}
        total = min(max([len(rows) + 1, *[ceil(lengths[name] / means[name]) for name in means]]), _MAX_PADDED)
        missing = {name: round(total * means[name]) - lengths[name] for name in means}
        texts = {name: f"{_PADDING} " * length for name, length in missing.items() if length > 0}
        writer.add_document(tantivy.Document.from_dict(texts, self.schema))
        for _ in range(total - len(rows) - 1):
            writer.add_document(tantivy.Document())
        writer.commit()

    def node_count(self, numbers: Iterable[int]) -> int:
        """At least the number of nodes of some documents that are in memory."""
        return int(self.searcher.num_docs)

    def file(self, document_id: str) -> FileRecord | None:
        """The record of a file, which the store has if it is not among those in memory."""
        if document_id not in self.files:
            self.files = {**self.files, **{record.id: record for record, _ in self._store.records([document_id])}}
        return self.files.get(document_id)

    def nodes(self, addresses: Iterable[Address]) -> list[Node]:
        """The nodes at some addresses; those that are not in memory are read from the store."""
        return [
            self.nodes_of(*self._elsewhere[address.doc])[0]
            if address.segment_ord == _ELSEWHERE
            else decode_node(self._encoded[self.numbers([address], NUMBER, POSITION)[0]])
            for address in addresses
        ]

    def get(self, node_id: str) -> Node | None:
        """The node with an id."""
        return self._store.node(node_id)

    def nodes_of(self, document_id: str, first: int = 0, last: int | None = None) -> list[Node]:
        """The nodes of a document, from the store."""
        return self._store.nodes_of(document_id)[first : None if last is None else last + 1]

    def blobs_of_documents(
        self, field: str, terms: Sequence[str], decode: Callable[[bytes], Decoded]
    ) -> Iterator[Decoded]:
        """The links of documents with some ids."""
        return map(decode, self._store.blobs(terms))

    def addresses(self, locations: Iterable[Location]) -> dict[Location, Address]:
        """Addresses of nodes that may not be in memory."""
        first = len(self._elsewhere)
        self._elsewhere += locations
        return {
            location: Address(_ELSEWHERE, number)
            for number, location in enumerate(self._elsewhere[first:], start=first)
        }

    # Terms of all nodes of the store

    def look_up(self, terms: Iterable[str]) -> None:
        """Read the counts of terms at once."""
        self._store.counts(list(terms))

    def idf_factor(self, name: str, language: str, terms: Sequence[str]) -> float:
        """The rarity of terms in the field in the store, divided by that in memory, which the engine scores with."""
        key = field(name, language)
        found = self._store.counts(terms)
        every = sum([rarity(self.node_total, found.get(term, {}).get(key, 0)) for term in terms])
        total = self.searcher.num_docs
        return every / sum([rarity(total, self.searcher.doc_freq(key, term)) for term in terms])

    def doc_freq(self, fields: Iterable[str], term: str) -> int:
        """The number of nodes with a term, summed over fields."""
        counts = self._store.counts([term]).get(term, {})
        return sum([counts.get(name, 0) for name in fields])

    def live_freq(self, field: str, *terms: str) -> int:
        """The number of nodes with a term; adjacent terms are counted in memory only."""
        return self.doc_freq([field], *terms) if len(terms) == 1 else super().live_freq(field, *terms)

    def terms_with_prefix(self, fields: Iterable[str], prefix: str) -> dict[str, int]:
        """The terms with a prefix, with their number of nodes summed over fields."""
        names = list(fields)
        found = self._store.counts_with_prefix(prefix)
        counts = {term: sum([by_field.get(name, 0) for name in names]) for term, by_field in found.items()}
        return {term: count for term, count in counts.items() if count}
