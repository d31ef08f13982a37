"""``NodeIndex``: search in a store with the sections of any number of indexes, by the same code as in one index.

The store finds the best nodes for any of the words. They become a small index in memory, in which the query is searched
with the frequencies of words in the whole store.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NoReturn

import msgspec
from msgspec.structs import asdict

from quire.errors import StoreError, invalid_value
from quire.index.engine.analysis import flags, spellings
from quire.index.engine.analysis import terms as analysed
from quire.index.engine.first_pass import all_items
from quire.index.engine.memory_index import Candidates, Counts
from quire.index.engine.node_fields import BLOB, DOC, ID, NODE, OUTLINE, TREE
from quire.index.engine.pasted_text import MAX_VERBATIM, long_text
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import VERSION, FileRecord, IndexSettings, languages_of
from quire.index.node import Node, decode_node
from quire.index.status import Status, TreeInfo
from quire.model.patterns import pattern
from quire.model.query_tree import TEXT_FIELDS, Not, leaves
from quire.search.conditions import Filter, conditions, known_trees
from quire.search.index_api import Index
from quire.search.phases import NODES_PER_RESULT
from quire.search.query_syntax import KEYED, parse
from quire.search.query_terms import PreparedQuery, prepare, within_limit
from quire.search.search_settings import SearchSettings
from quire.stores.node_rows import Summary, decode_record
from quire.stores.store import SUMMARY, converted_errors, in_list, parse_target, store_module

CANDIDATES = 300  # how many nodes the store is asked for
_MAX_CHECKED = 3_000  # how many, if some are left out by conditions that the store does not check
_MAX_COUNTS = 200_000  # of how many terms the counts are kept
_MAX_DOCUMENTS = 50  # of how many documents the nodes are kept
_LAST_WORD = pattern(r"[^\W_]*\Z")
LACKS = f"ranks the {CANDIDATES} best sections; conditions are checked in {_MAX_CHECKED:,}; no search by meaning"

_counts = msgspec.msgpack.Decoder(dict[str, int]).decode
_summary = msgspec.msgpack.Decoder(Summary, dec_hook=lambda kind, value: kind(value)).decode


class _Version:
    """The tables at one version, as memory_index.py asks for them."""

    def __init__(self, tables: Any, label: str) -> None:
        self._tables, self.label = tables, label
        self._known: dict[str, Counts] = {}
        self.nodes_of = lru_cache(_MAX_DOCUMENTS)(self._nodes_of)
        rows = list(tables.summaries())
        versions = {msgspec.msgpack.decode(value)[0] for _, value in rows}
        if versions - {VERSION}:
            problem = f"it has sections of version {min(versions)}, this quire reads version {VERSION}"
            raise StoreError(label, problem, "run quire index --to with the same quire")
        summaries = [_summary(value) for _, value in rows]
        self.trees: dict[str, TreeInfo] = {name: info for each in summaries for name, info in each.trees.items()}
        records = {name: tree for each in summaries for name, tree in each.settings.trees.items()}
        self.settings = IndexSettings(summaries[0].settings.quire if summaries else "", languages_of(records), records)
        self.node_total = sum([each.node_total for each in summaries])
        documents = sum([tree.files for tree in self.trees.values()])
        self.mean_tokens = sum([tree.tokens for tree in self.trees.values()]) / max(documents, 1)
        self.lengths: Mapping[str, int] = sum([Counter(each.lengths) for each in summaries], Counter[str]())
        self.front_matter_keys = frozenset().union(*[each.front_matter_keys for each in summaries])

    def counts(self, terms: Sequence[str]) -> Mapping[str, Counts]:
        if len(self._known) > _MAX_COUNTS:
            self._known = {}
        if missing := [term for term in dict.fromkeys(terms) if term not in self._known]:
            found = _summed(self._tables.terms(in_list("term", missing)))
            self._known |= {term: found.get(term, {}) for term in missing}
        return self._known

    def counts_with_prefix(self, prefix: str) -> Mapping[str, Counts]:
        first, last = (text.replace("'", "''") for text in (prefix, f"{prefix}\U0010ffff"))
        return _summed(self._tables.terms(f"term >= '{first}' AND term <= '{last}' AND term != '{SUMMARY}'"))

    def _nodes_of(self, document_id: str) -> list[Node]:
        rows = self._tables.nodes(in_list(DOC, [document_id]), (NODE,))
        return sorted([decode_node(node) for (node,) in rows], key=lambda node: node.position)

    def node(self, node_id: str) -> Node | None:
        return next((decode_node(node) for (node,) in self._tables.nodes(in_list(ID, [node_id]), (NODE,))), None)

    def blobs(self, document_ids: Sequence[str]) -> list[bytes]:
        return [blob for (blob,) in self._tables.nodes(in_list(ID, document_ids), (BLOB,)) if blob]

    def records(self, document_ids: Sequence[str]) -> list[tuple[FileRecord, bytes]]:
        rows = self._tables.nodes(in_list(ID, document_ids), ("record", OUTLINE))
        return [(decode_record(record), outline) for record, outline in rows if record]

    def all_records(self, trees: Sequence[str]) -> list[FileRecord]:
        rows = self._tables.nodes(f"position = 0 AND {in_list(TREE, trees)}", ("record",))
        return [decode_record(record) for (record,) in rows]

    def candidates(self, prepared: PreparedQuery, wanted: Filter, limit: int) -> Candidates:
        """The snapshot of the best nodes for a query."""
        trees = self.trees.keys() if wanted.trees is None else set(wanted.trees)
        inside = [in_list(TREE, trees)] if trees != self.trees.keys() else []
        condition = " AND ".join([*inside, *([f"NOT {in_list(DOC, wanted.without)}"] if wanted.without else [])])
        words, flag_names = _searched(prepared)
        boosts = asdict(prepared.settings.boosts)
        is_filtered = wanted.paths is not None or bool(wanted.where)
        most = max(limit, _MAX_CHECKED) if is_filtered else limit
        best = self._tables.best(words, flag_names, boosts, condition, most)
        text = long_text(prepared.query)
        for terms in {tuple(analysed(text, language)) for language in prepared.context.languages} if text else ():
            best += set(self._tables.with_text(terms, condition, MAX_VERBATIM)).difference(best)
        best = [(node, document) for node, document in best if document.partition(":")[0] in trees]
        records = self.records(list(dict.fromkeys([document for _, document in best]))) if best else []
        if is_filtered:
            accepted = set(wanted.documents(Candidates(self, records, ())))
            best = [(node, document) for node, document in best if document in accepted][:limit]
        rows = self._tables.rows([node for node, _ in best]) if best else []
        titles = [row["title"].split() for row in rows]
        self.counts([term for title in titles if not set(words).isdisjoint(title) for term in title])
        documents = {row[DOC] for row in rows}
        return Candidates(self, [each for each in records if each[0].id in documents], rows)


def _summed(rows: Iterator[tuple[str, bytes]]) -> Mapping[str, Counts]:
    """The counts of terms, summed over indexes."""
    counts: dict[str, dict[str, int]] = {}
    for term, value in rows:
        known = counts.setdefault(term, {})
        for name, count in _counts(value).items():
            known[name] = known.get(name, 0) + count
    return counts


def _searched(prepared: PreparedQuery) -> tuple[list[str], list[str]]:
    """The terms that candidates have, any of them, and command-line flags."""
    context, terms, flag_names = prepared.context, dict[str, None](), list[str]()
    words = [leaf for leaf in leaves(prepared.query) if leaf.field in (None, *TEXT_FIELDS)]
    for leaf in [word for word in words if not context.is_optional(word)] or words:
        flag_names += flags(leaf.text)
        for language in context.languages:
            if leaf.prefix and (last := _LAST_WORD.search(leaf.text)):
                terms |= dict.fromkeys(context.dictionary.completions(last[0], language).frequent)
            for text in context.corrections.get(leaf.text, (leaf.text,)):
                terms |= dict.fromkeys([term for form in spellings(text, language) for term in form.terms])
    return list(terms), flag_names


class NodeIndex(Index):
    """The indexes in a store, ``lancedb:PLACE#NAME``, as one that can only be read. Any number of processes may."""

    def __init__(self, target: str, *, settings: SearchSettings | None = None, embedder: None = None) -> None:
        kind, self._place, self._name, self.label = parse_target(target)
        self._settings = SearchSettings.checked(settings)
        conditions("search.where", self._settings.where.keys())
        self._lock, self._closed = Lock(), False
        self._module = store_module(kind, self.label)
        if not hasattr(self._module, "open_nodes"):
            raise invalid_value("index", self.label, "quire searches sections in lancedb only")
        self._watched: Any = None
        self._version: tuple[tuple[int, int], _Version] | None = None
        self._at_last_version()

    def close(self) -> None:
        """Release the tables."""
        self._closed, self._watched = True, None

    def _at_last_version(self) -> _Version:
        """The tables as they are now. A search that goes on keeps those of its version."""
        with self._lock, converted_errors(self._module, self.label, self._place):
            if self._closed:
                raise StoreError(self.label, "the index is closed", "open it again with NodeIndex.open")
            if self._watched is None:
                self._watched = self._tables()
            numbers = self._watched.refresh()
            if self._version is None or self._version[0] != numbers:
                self._version = numbers, _Version(self._tables(), self.label)
            return self._version[1]

    def _tables(self) -> Any:
        tables = self._module.open_nodes(self._place, self._name)
        if tables is None:
            raise StoreError(self.label, "there are no sections", f"run: quire index --to {self.label}")
        return tables

    def _snapshot(self) -> Candidates:
        return Candidates(self._at_last_version(), (), ())  # no nodes are in memory; it knows the words of all

    def _searched(self, text: str, settings: SearchSettings, wanted: Filter) -> Candidates:
        """The candidates for a query."""
        version = self._at_last_version()
        empty = Candidates(version, (), ())
        known_trees("trees", wanted.trees or (), empty)
        query, _ = within_limit(parse(text, empty.front_matter_keys if KEYED.search(text) else frozenset()), text)
        if query is None:
            return empty
        with converted_errors(self._module, self.label, self._place):
            prepared = prepare(empty, query, settings, Filter())
            has_field = any(leaf.field is not None for leaf in leaves(query))
            is_strict = has_field or any(isinstance(item, Not) for item in all_items(query))
            most = max(_MAX_CHECKED if is_strict else CANDIDATES, NODES_PER_RESULT * settings.limit)
            return version.candidates(prepared, wanted, most)

    def trees(self) -> dict[str, TreeInfo]:
        """The trees of the store by name."""
        return dict(sorted(self._at_last_version().trees.items()))

    def _records(self, snapshot: Snapshot, tree: str | None) -> list[FileRecord]:
        version = self._at_last_version()
        return version.all_records(list(version.trees) if tree is None else [tree])

    def status(self) -> Status:
        """The state of the store's sections."""
        return Status(version=VERSION, size=0, trees=self.trees(), engine=f"LanceDB: {LACKS}")

    def _refuse_writing(self, *_: object, **__: object) -> NoReturn:
        advice = "run this where the documents are, and then quire index --to"
        raise StoreError(self.label, "a store is only read here", advice)

    update = remove = embed = embedder = orphans = _vectors = _refuse_writing
