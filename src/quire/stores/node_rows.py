"""Copies the sections of an index to a store, for ``NodeIndex``: only documents that changed.

The rows of a document depend on its own tree alone, so that several machines can each index a part of the documents
and copy it to the same store.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from quire.index.engine import index_schema
from quire.index.engine.index_schema import BLOB, DOC, ID, IN_LINKS, NODE, OUTLINE, PAGE_LINKS, POSITION, RANKED, TREE
from quire.index.engine.memory_index import stored_fields
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import VERSION, IndexSettings, decode_front_matter
from quire.index.link_words import LinkRecord, decode_links
from quire.index.status import TreeInfo
from quire.search.index_api import Index
from quire.stores.store import batched, in_list, opened

_BATCH = 500  # how many documents are written in one commit
SUMMARY = ""  # the term whose row has the summary of an index


class Summary(msgspec.Struct, frozen=True, array_like=True):
    """One index in a store."""

    version: int
    settings: IndexSettings
    trees: dict[str, TreeInfo]
    front_matter_keys: frozenset[str]
    node_total: int  # as rarities count them
    lengths: dict[str, int]  # the number of terms by field and language


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """The number of documents that were written to a store, removed from it, and left as they were."""

    written: int
    removed: int
    unchanged: int


def copy_nodes(index: Index, target: str, on_progress: Callable[[int, int, str], None] | None = None) -> Copied:
    """Bring the sections of an index in a store up to date. If this is killed, the next call goes on."""
    snapshot, trees = index._snapshot(), index.trees()  # noqa: SLF001  what is committed, without reading files
    with opened(target, dry_run=False) as (store, name):
        tables = store.nodes(name)
        owner, summaries = ",".join(sorted(trees)), dict(tables.terms(f"term = '{SUMMARY}'", ("owner", "value")))
        replaced = {other for other in (*summaries, owner) if not trees.keys().isdisjoint(other.split(","))}
        names = {name for other in replaced for name in other.split(",")}
        rows = tables.nodes(f"position = 0 AND {in_list(TREE, names)}", (DOC, "fingerprint", "lengths"))
        stored = {document: (mark, lengths) for document, mark, lengths in rows}
        fingerprints = dict(_fingerprints(snapshot))
        changed = [document for document, mark in fingerprints.items() if stored.get(document, ("",))[0] != mark]
        removed = [document for document in stored if document not in fingerprints]
        lengths = {document: stored[document][1] for document in fingerprints.keys() & stored.keys()}
        done = 0
        for documents in batched([*removed, *changed], _BATCH):
            written = list(_rows(snapshot, documents, fingerprints))
            tables.write_nodes(documents, written)
            lengths |= {row[DOC]: row["lengths"] for row in written if not row[POSITION]}
            done += len(documents)
            if on_progress:
                on_progress(done, len(changed) + len(removed), documents[-1])
        keys, total = snapshot.front_matter_keys, snapshot.node_total
        sums: Counter[str] = Counter()
        for document, numbers in lengths.items():
            language = snapshot.settings.trees[document.partition(":")[0]].language
            sums.update(
                {index_schema.field(name, language): number for name, number in zip(RANKED, numbers, strict=True)}
            )
        own = Summary(VERSION, snapshot.settings, trees, keys, total, dict(sorted(sums.items())))
        summary = msgspec.msgpack.encode(own, enc_hook=str)
        if done or summaries.get(owner) != summary:
            # Last: readers do not know a new tree before.
            tables.write_terms(replaced, _terms(snapshot, owner, summary))
            tables.finish()
        return Copied(written=len(changed), removed=len(removed), unchanged=len(fingerprints) - len(changed))


def _terms(snapshot: Snapshot, owner: str, summary: bytes) -> Iterator[tuple[str, str, bytes]]:
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    ranked = [index_schema.field(name, language) for language in snapshot.settings.languages for name in RANKED]
    for name in (*ranked, index_schema.FLAGS, index_schema.WORDS, index_schema.ACCENTED):
        for term, count in snapshot.terms_with_prefix([name], "").items():
            counts[term][name] = count
    yield owner, SUMMARY, summary
    for term, by_field in counts.items():
        yield owner, term, msgspec.msgpack.encode(by_field)


def _links(snapshot: Snapshot, documents: Sequence[str]) -> dict[str, LinkRecord]:
    """The records of the links of some documents by id."""
    links: dict[str, LinkRecord] = {}
    for tree in snapshot.settings.trees:
        ids = [document for document in documents if document.startswith(f"{tree}:")]
        records = snapshot.blobs_of_documents(ID, ids, decode_links) if ids else ()
        links |= {f"{tree}:{record.page.path}": record for record in records}
    return links


def _fingerprints(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """For each document what its rows depend on: its bytes, the settings of its tree, the links that lead to it."""
    trees = {name: msgspec.structs.replace(tree, folder=b"") for name, tree in snapshot.settings.trees.items()}
    for documents in batched((record.id for record in snapshot.files.values() if record.nodes), _BATCH):
        links = _links(snapshot, documents)
        for document in documents:
            record = snapshot.files[document]
            incoming = sorted(links[document].incoming().items()) if document in links else []
            parts = [VERSION, snapshot.settings.quire, trees[record.tree], record.digest, incoming]
            yield document, blake2b(msgspec.msgpack.encode(parts), digest_size=16).hexdigest()


def _rows(snapshot: Snapshot, documents: list[str], fingerprints: dict[str, str]) -> Iterator[dict[str, Any]]:
    links = _links(snapshot, documents)
    for document in documents:
        record = snapshot.files.get(document)
        if record is None or not record.nodes:
            continue
        language = snapshot.settings.trees[record.tree].language
        nodes = snapshot.nodes_of(document)
        fields = index_schema.fields_of(nodes, language)
        if document in links:
            index_schema.add_links(fields, links[document], language)
        page_links, searched = fields.common.get(PAGE_LINKS, 0), stored_fields(fields, language)
        lengths = [sum([len(terms[name].split()) for terms in searched]) for name in RANKED]
        for node, own, terms in zip(nodes, fields.own, searched, strict=True):
            row = {name: own[name] for name in (ID, POSITION, NODE)}
            row |= {DOC: document, TREE: node.tree, "path": node.path, "tokens": node.tokens}
            row |= {"parent": node.ancestors[-1] if node.ancestors else None, "line": node.line}
            row |= {"last_line": node.last_line, IN_LINKS: own.get(IN_LINKS, 0), PAGE_LINKS: page_links, **terms}
            if not node.position:  # what is known of the document
                front_matter = msgspec.json.encode(decode_front_matter(record.front_matter)).decode()
                row |= {"record": msgspec.msgpack.encode(record), "front_matter": front_matter, "lengths": lengths}
                row |= {OUTLINE: own[OUTLINE], BLOB: own.get(BLOB), "fingerprint": fingerprints[document]}
            yield row
