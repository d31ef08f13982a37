"""Writes the sections of documents to a store, for ``NodeIndex``: only documents that changed.

The rows of a document depend on its own tree alone, so that several machines can each write some trees to the same
store. The documents are those of an index, or those that workers have read (``read_nodes``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from quire.errors import invalid_value
from quire.index.engine import node_fields as schema
from quire.index.engine.memory_index import stored_fields
from quire.index.engine.node_fields import DOC, IN_LINKS, PAGE_LINKS, RANKED, TREE, NodeFields
from quire.index.engine.writer import release_memory
from quire.index.file_records import VERSION, FileRecord, IndexSettings, blob_count, decode_front_matter
from quire.index.link_words import LinkRecord, decode_links
from quire.index.node import Node
from quire.index.status import TreeInfo
from quire.search.index_api import Index
from quire.stores.store import SUMMARY, batched, in_list, opened

if TYPE_CHECKING:
    from quire.stores.read_nodes import ReadDocuments

_BATCH = 500  # how many documents are written in one commit

decode_record = msgspec.msgpack.Decoder(FileRecord).decode
OnProgress = Callable[[int, int, str], None]
Row = dict[str, Any]


class Summary(msgspec.Struct, frozen=True, array_like=True):
    """Trees that were written together."""

    version: int
    settings: IndexSettings
    trees: dict[str, TreeInfo]
    front_matter_keys: frozenset[str]
    node_total: int  # as rarities count them: the nodes and blobs of an index
    lengths: dict[str, int]  # the number of terms by field and language


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """The number of documents that were written to a store, removed from it, and left as they were."""

    written: int
    removed: int
    unchanged: int


class IndexedDocuments:
    """The documents of an index at its last commit. ``ReadDocuments`` has the same methods."""

    def __init__(self, index: Index) -> None:
        self._snapshot = snapshot = index._snapshot()  # noqa: SLF001  without reading files
        self.settings, self.trees = snapshot.settings, index.trees()
        self.records = {name: record for name, record in snapshot.files.items() if record.nodes}

    def linked(self) -> Iterator[tuple[str, LinkRecord]]:
        """All documents by id, with the links from and to each."""
        for tree in self.settings.trees:
            for ids in batched((name for name, record in self.records.items() if record.tree == tree), _BATCH):
                for links in self._snapshot.blobs_of_documents(schema.ID, ids, decode_links):
                    yield f"{tree}:{links.page.path}", links

    def rows(self, document_id: str) -> list[Row]:
        """The rows of a document, without links."""
        nodes = self._snapshot.nodes_of(document_id)
        language = self.settings.trees[nodes[0].tree].language
        return document_rows(nodes, schema.fields_of(nodes, language), language)

    def counts(self, field: str) -> Mapping[str, int]:
        """How many nodes have each term; only after ``linked``."""
        return self._snapshot.terms_with_prefix([field], "")


def copy_nodes(index: Index, target: str, on_progress: OnProgress | None = None) -> Copied:
    """Bring the sections of an index in a store up to date. If this is killed, the next call goes on."""
    with opened_tables(target) as tables:
        return write_documents(tables, IndexedDocuments(index), on_progress)


@contextmanager
def opened_tables(target: str) -> Iterator[Any]:
    """The tables of sections in a store, which are made if they are missing."""
    with opened(target, dry_run=False) as (store, name):
        if not hasattr(store, "nodes"):
            raise invalid_value("to", target, "quire writes sections to lancedb only")
        yield store.nodes(name)


def write_documents(tables: Any, documents: IndexedDocuments | ReadDocuments, on_progress: OnProgress | None) -> Copied:
    """Write the documents that changed, and remove those of the same trees that are gone."""
    owner, summaries = ",".join(sorted(documents.settings.trees)), dict(tables.summaries())
    replaced = [other for other in {*summaries, owner} if not {*other.split(",")}.isdisjoint(owner.split(","))]
    names = {name for other in replaced for name in other.split(",")}
    rows = tables.nodes(f"position = 0 AND {in_list(TREE, names)}", (DOC, "fingerprint", "lengths"))
    stored = {document: (mark, lengths) for document, mark, lengths in rows}
    removed = [document for document in stored if document not in documents.records]
    lengths: Counter[str] = Counter()
    changes = chain(((document, ()) for document in removed), _changed(documents, stored, lengths))
    done = 0
    for some in batched(changes, _BATCH):
        tables.write_nodes([document for document, _ in some], [row for _, rows in some for row in rows])
        release_memory()
        done += len(some)
        if on_progress:
            on_progress(done, len(documents.records), some[-1][0])
    settings, records = documents.settings, documents.records
    keys = frozenset().union(*[decode_front_matter(record.front_matter) for record in records.values()])
    total = sum([record.nodes for record in records.values()]) + blob_count(records, len(settings.trees))
    own = Summary(VERSION, settings, documents.trees, keys, total, dict(sorted(lengths.items())))
    summary = msgspec.msgpack.encode(own, enc_hook=str, order="deterministic")
    if done or summaries.get(owner) != summary or not tables.is_finished():  # a killed writer may have left this
        # Last: readers do not know a new tree before.
        tables.write_terms(replaced, _terms(documents, owner, summary))
        tables.finish()
    written = done - len(removed)
    return Copied(written=written, removed=len(removed), unchanged=len(documents.records) - written)


def _changed(
    documents: IndexedDocuments | ReadDocuments, stored: Mapping[str, tuple[str, list[int]]], lengths: Counter[str]
) -> Iterator[tuple[str, Sequence[Row]]]:
    """The rows of documents that are not ``stored``; ``lengths`` gets those of all."""
    settings = documents.settings
    trees = {name: msgspec.structs.replace(tree, folder=b"") for name, tree in settings.trees.items()}
    for document, links in documents.linked():
        record = documents.records[document]
        language = trees[record.tree].language
        # What rows depend on: the bytes, the settings of the tree, the links from and to the document.
        around = [sorted(some.items()) for some in (links.sources, links.leads, links.signs)]
        parts = [VERSION, settings.quire, trees[record.tree], record.digest, links.names, around]
        mark = blake2b(msgspec.msgpack.encode(parts), digest_size=16).hexdigest()
        old_mark, numbers = stored.get(document, ("", []))
        rows: list[Row] = []
        if mark != old_mark:
            rows = documents.rows(document)
            _add_links(rows, links, language)
            numbers = [sum([len(row[name].split()) for row in rows]) for name in RANKED]
            front_matter = msgspec.json.encode(decode_front_matter(record.front_matter)).decode()
            rows[0] |= {"record": msgspec.msgpack.encode(record), "front_matter": front_matter}
            rows[0] |= {"lengths": numbers, "fingerprint": mark}
        lengths.update({schema.field(name, language): number for name, number in zip(RANKED, numbers, strict=True)})
        if rows:
            yield document, rows


def document_rows(nodes: Sequence[Node], fields: NodeFields, language: str) -> list[Row]:
    """The rows of the nodes of a document, without links."""
    rows = []
    for node, own, terms in zip(nodes, fields.own, stored_fields(fields, language), strict=True):
        row = {name: own[name] for name in (schema.ID, schema.POSITION, schema.NODE)}
        row |= {DOC: node.document_id, TREE: node.tree, "path": node.path, "tokens": node.tokens}
        row |= {"parent": node.ancestors[-1] if node.ancestors else None, "line": node.line}
        rows.append(row | {"last_line": node.last_line, **terms})
    rows[0][schema.OUTLINE] = fields.own[0][schema.OUTLINE]
    return rows


def _add_links(rows: Sequence[Row], links: LinkRecord, language: str) -> None:
    fields = NodeFields({TREE: rows[0][TREE]}, [{} for _ in rows])
    schema.add_links(fields, links, language)
    for row, own, terms in zip(rows, fields.own, stored_fields(fields, language), strict=True):
        row |= {"links": terms["links"], IN_LINKS: own.get(IN_LINKS, 0)}
        row |= {PAGE_LINKS: fields.common.get(PAGE_LINKS, 0)}
    rows[0][schema.BLOB] = fields.own[0][schema.BLOB]


def _terms(documents: IndexedDocuments | ReadDocuments, owner: str, summary: bytes) -> Iterator[tuple[str, str, bytes]]:
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    ranked = [schema.field(name, language) for language in documents.settings.languages for name in RANKED]
    for field in (*ranked, schema.FLAGS, schema.WORDS, schema.ACCENTED):
        for term, count in documents.counts(field).items():
            counts[term][field] = count
    yield owner, SUMMARY, summary
    for term, by_field in counts.items():
        yield owner, term, msgspec.msgpack.encode(by_field)
