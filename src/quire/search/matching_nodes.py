"""Finds the nodes that match a query, with their scores. Filters are part of the engine's query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from itertools import islice
from typing import Any

import msgspec

from quire.index.engine.clauses import QueryContext, Ranking, all_items, is_plain
from quire.index.engine.compile import Compiler, filtered
from quire.index.engine.corrections import Dictionary
from quire.index.engine.coverage import DIGITS, coverage, filtered_queries
from quire.index.engine.index_schema import DOC, ID, TREE
from quire.index.engine.snapshot import Address, Location, Ranked, Snapshot
from quire.index.node import NodeRef
from quire.query import leaves
from quire.query.query_tree import Not, Phrase, Query, Word
from quire.search.argument_checks import known_trees
from quire.search.fusion import Near, fused
from quire.search.merge import Candidate
from quire.search.path_filter import matches_path
from quire.search.ranking_settings import BOOSTS, SHARPNESS, SearchSettings
from quire.search.second_pass import rescored

MAX_NODES = 10_000  # the most nodes that a search looks at
MAX_CORRECTED = 8  # for how many unknown words of a query corrections are looked up


class Match(Candidate, frozen=True, kw_only=True, gc=False):
    """A node that matches. Its score is 1 for the best."""

    address: Address
    number: int  # of its document


class Matching(msgspec.Struct, frozen=True):
    """A query with its best nodes, after both passes."""

    snapshot: Snapshot
    compiler: Compiler
    query: Query
    settings: SearchSettings
    top: Sequence[Ranked]
    is_all: bool  # whether ``top`` has all nodes that match

    @classmethod
    def of(
        cls,
        snapshot: Snapshot,
        compiler: Compiler,
        query: Query,
        settings: SearchSettings,
        *,
        filters: Sequence[Any],
        limit: int,
        near: Near | None = None,
    ) -> Matching:
        """Run a query for its best ``limit`` nodes."""
        compiled = compiler.compile(query)
        top = [] if compiled is None else snapshot.ranked(filtered(compiled, *filters), limit)
        again = rescored(snapshot, compiler.context, query, top, settings)
        if near is not None:
            again = fused(snapshot, again if near.weight < 1 else [], near)
        return cls(snapshot, compiler, query, settings, again, is_all=len(top) < limit)

    @property
    def best_score(self) -> float:
        """The score of the best node, which all scores are divided by."""
        best = self.top[0][0] if self.top else 0.0
        return best if best > 0 else 1.0

    def matches(self, limit: int) -> list[Match]:
        """The best ``limit`` nodes."""
        refs = self.snapshot.refs(node_key for _, _, node_key in self.top[:limit])
        return self._matches(self.top[:limit], refs, [1.0] * len(refs))

    def matches_in_documents(self, limit: int) -> list[Match]:
        """The nodes near the best of their document, in all documents that can have one of ``limit`` results.

        A result scores at least as much as its best node and at most ``score_cap_multiplier`` times that.
        """
        best = self.best_score
        scores = [(score / best) ** SHARPNESS if score > 0 else 0.0 for score, _, _ in self.top]
        bests: dict[int, float] = {}
        for score, (_, _, (number, _)) in zip(scores, self.top, strict=True):
            bests.setdefault(number, score)
        least = sorted(bests.values(), reverse=True)[limit - 1] if len(bests) > limit else 0.0
        cap = max(self.settings.score_cap_multiplier, 1.0)
        cutoff = self.settings.match_cutoff
        chosen = [
            ranked
            for score, ranked in zip(scores, self.top, strict=True)
            if cap * (in_document := bests[ranked[2][0]]) >= least and score >= cutoff * in_document
        ]
        refs = self.snapshot.refs(node_key for _, _, node_key in chosen)
        return self._matches(chosen, refs, self._coverage(refs, [address for _, address, _ in chosen]))

    def _coverage(self, refs: Sequence[NodeRef], addresses: Sequence[Address]) -> list[float]:
        """The share of the query that each node's own title and body satisfy; 1 if it searches for no text.

        Shares are compared only where one match is below another.
        """
        locations = {(each.document_id, each.position) for each in refs}
        several = list(
            dict.fromkeys(
                each.document_id
                for each in refs
                if any((each.document_id, above.position) in locations for above in each.ancestors)
            )
        )
        wanted = coverage(self.compiler.context, self.query) if several else None
        if not wanted or not wanted.text:
            return [1.0] * len(refs)
        filters = self.compiler.one_of(DOC, several), self.compiler.one_of(ID, several)
        shares: dict[tuple[int, int], float] = defaultdict(float)
        for query in filtered_queries(wanted, *filters):
            for score, address in self.snapshot.top(query, self.snapshot.node_count(several)):
                shares[address.segment_ord, address.doc] += score
        return [round(shares[address.segment_ord, address.doc], DIGITS) for address in addresses]

    def without_excluded(self) -> tuple[Matching, set[Location]]:
        """The same without nodes that have something the query excludes, also below them; and all such nodes."""
        refused = [item.item for item in all_items(self.query) if isinstance(item, Not)]
        compiled = [each for item in refused if (each := self.compiler.compile(item, strict=True)) is not None]
        locations: set[Location] = set()
        if not compiled or not self.top:
            return self, locations
        refs = self.snapshot.refs(node_key for _, _, node_key in self.top)
        documents = list(dict.fromkeys(ref.document_id for ref in refs))
        for each in compiled:
            inside = filtered(each, self.compiler.one_of(DOC, documents))
            hits = self.snapshot.top(inside, self.snapshot.node_count(documents))
            for ref in self.snapshot.refs(self.snapshot.node_keys([address for _, address in hits])):
                positions = (ref.position, *(above.position for above in ref.ancestors))
                locations.update((ref.document_id, position) for position in positions)
        kept = [
            ranked
            for ranked, ref in zip(self.top, refs, strict=True)
            if (ref.document_id, ref.position) not in locations
        ]
        return msgspec.structs.replace(self, top=kept), locations

    def _matches(self, ranked: Sequence[Ranked], refs: Sequence[NodeRef], own: Sequence[float]) -> list[Match]:
        """Matches with normalized scores; ``own`` is the share of the query that each node satisfies itself."""
        best = self.best_score
        is_text = not self.top or self.top[0][0] > 0  # else a query such as ``tree:docs``: all are equally good
        return [
            Match(
                document=ref.document_id,
                position=ref.position,
                depth=ref.depth,
                score=(score / best) ** SHARPNESS if is_text else 1.0,
                own=share,
                ancestors=ref.ancestors,
                address=address,
                number=ref.number,
            )
            for (score, address, _), ref, share in zip(ranked, refs, own, strict=True)
        ]


def make_compiler(snapshot: Snapshot, settings: SearchSettings, query: Query | None = None) -> Compiler:
    """The compiler for a snapshot and a query."""
    ranking = Ranking(
        boosts={**BOOSTS, **settings.boosts},
        tie=settings.tie,
        coordination=settings.coordination,
    )
    context = QueryContext(
        schema=snapshot.schema,
        languages=snapshot.settings.languages,
        dictionary=Dictionary(snapshot),
        ranking=ranking,
        first_word=next((leaf.text for leaf in leaves(query)), "") if query else "",
    )
    return Compiler(context)


def corrected(context: QueryContext, query: Query) -> tuple[Query, dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The query, corrections for its first words that do not occur, and those of them that have none.

    A word with which others start becomes a prefix: ``auth`` finds *authentication*.
    """
    plain = [leaf for leaf in leaves(query) if is_plain(leaf)]
    texts = dict.fromkeys(word.text for word in plain if not context.is_optional(word))
    unknown = list(islice((text for text in texts if not context.dictionary.has(text)), MAX_CORRECTED))
    prefixes = {text: (f"{text}*",) for text in unknown if context.dictionary.is_prefix(text)}
    found = {text: prefixes.get(text) or context.dictionary.corrections(text) for text in unknown}
    query = _with_prefixes(query, prefixes) if prefixes else query
    corrections = {word: instead for word, instead in found.items() if instead}
    return query, corrections, tuple(word for word in unknown if word not in corrections)


def _with_prefixes(query: Query, prefixes: Container[str]) -> Query:
    """The query with some of its words as prefixes."""
    if isinstance(query, Not | Phrase):
        return query
    if isinstance(query, Word):
        return msgspec.structs.replace(query, prefix=True) if is_plain(query) and query.text in prefixes else query
    return msgspec.structs.replace(query, items=tuple(_with_prefixes(item, prefixes) for item in query.items))


def refuse_unknown_trees(snapshot: Snapshot, query: Query, trees: Iterable[str] | None) -> None:
    """Refuse a tree that does not exist, in an option or in the query: nothing would be found."""
    known = snapshot.settings.trees
    known_trees("trees", trees or (), known)
    for item in all_items(query):
        if isinstance(item, Word | Phrase) and item.field == "tree":
            prefix = isinstance(item, Word) and item.prefix
            if not any(name == item.text or (prefix and name.startswith(item.text)) for name in known):
                known_trees("tree:", [f"{item.text}{'*' * prefix}"], known)


def make_filters(
    snapshot: Snapshot,
    compiler: Compiler,
    trees: Iterable[str] | None,
    paths: Sequence[str] | None,
    without: str | None,
) -> list[Any]:
    """Filters for some trees and path patterns, and against one document."""
    filters = [] if trees is None else [compiler.one_of(TREE, trees)]
    filters += [] if without is None else [compiler.all_but(DOC, without)]
    if paths is not None:
        documents = [each.id for each in snapshot.files.values() if matches_path(each.tree, each.path, paths)]
        filters.append(compiler.one_of(DOC, documents))
    return filters
