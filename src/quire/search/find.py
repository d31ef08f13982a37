"""Query -> the nodes that match, with their scores. Before: ``engine`` has parsed. After: ``merge``.

All words must match; where nothing does so, as many as possible. What a filter leaves out is never looked at, so that
it takes no place among the best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from quire.index.engine.clauses import together
from quire.index.engine.compile import SATISFIED, Compiler, Ranking, anywhere
from quire.index.engine.fields import DOC, TREE
from quire.index.engine.store import Key, Snapshot
from quire.index.engine.words import Dictionary
from quire.index.node import Node
from quire.query import leaves
from quire.query.tree import Phrase, Query, Word
from quire.search import asked
from quire.search.places import fits
from quire.search.settings import BOOSTS, SHARPNESS, SearchSettings

MOST = 10_000
"""How many nodes are looked at, at most."""
_SAMPLED = 3

Place = tuple[str, int]
"""A document and a position in it."""


class Found(NamedTuple):
    """A node that matches."""

    score: float
    """How well, by itself: 1 for the best of all."""
    key: Key
    """Where the engine has it."""
    node: Node
    """The node."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.node.document_id, self.node.position


@dataclass(frozen=True, slots=True)
class Matching:
    """What is looked for, ready for the engine."""

    snapshot: Snapshot
    """The state of the index in which it is looked for."""
    query: Any
    """The engine's query, filters included."""
    compiler: Compiler
    """What made it."""

    def best(self, limit: int) -> list[Found]:
        """The best nodes."""
        hits = self.snapshot.top(self.query, limit)
        return self._found(hits, hits[0][0]) if hits else []

    def rest(self, found: Sequence[Found]) -> list[Found]:
        """All other nodes that match in the documents of the best: whether a parent gathers depends on them, too."""
        known = {(each.key.segment_ord, each.key.doc) for each in found}
        inside = self.compiler.within(self.query, self.compiler.among(DOC, _documents(found)))
        hits = self.snapshot.top(inside, MOST)
        # The best of all is among them, so the unit of the scores is the same.
        return self._found([hit for hit in hits if (hit[1].segment_ord, hit[1].doc) not in known], hits[0][0])

    def own(self, query: Query, found: Sequence[Found]) -> dict[Place, float]:
        """What share of the query each node satisfies by its own title and body; 1 where it asks for no text.

        It is compared within a document, so a node that is alone in its own is not asked about.
        """
        share = self.compiler.own(query)
        counts = Counter(each.node.document_id for each in found)
        several = [document for document, count in counts.items() if count > 1]
        if share is None or not several:
            return {each.place: 1.0 for each in found}
        inside = self.compiler.within(share, self.compiler.among(DOC, several))
        shares = {(key.segment_ord, key.doc): round(score, 5) for score, key in self.snapshot.top(inside, MOST)}
        return {each.place: shares.get((each.key.segment_ord, each.key.doc), 0.0) for each in found}

    def _found(self, hits: Sequence[tuple[float, Key]], best: float) -> list[Found]:
        unit = best if best > 0 else 1.0
        return [Found((score / unit) ** SHARPNESS, key, self.snapshot.node(key)) for score, key in hits]


def able(found: Sequence[Found], limit: int, cap: float) -> list[Found]:
    """Those whose documents can have one of the best results.

    A result scores at least as much as its best node and at most ``cap`` times that: where so many documents have a
    node of some score, no other document needs a look whose best node, so many times over, does not reach it.
    """
    best: dict[str, float] = {}
    for each in found:
        best.setdefault(each.node.document_id, each.score)
    least = sorted(best.values(), reverse=True)[limit - 1] if len(best) > limit else 0.0
    return [each for each in found if max(cap, 1.0) * best[each.node.document_id] >= least]


def by_themselves(found: Iterable[Found], own: Mapping[Place, float]) -> list[Found]:
    """Those that count as matches when results are merged. No document is left without one.

    A word may stand above a node only, in a heading, in front matter, in the path. Where other nodes of the document
    have all words themselves, such a node counts only if it scores at least as well as the best of them; and never, if
    it has none of the words itself and others do.
    """
    documents: dict[str, list[Found]] = {}
    for each in found:
        documents.setdefault(each.node.document_id, []).append(each)
    return [each for inside in documents.values() for each in _by_themselves(inside, own)]


def _by_themselves(found: Sequence[Found], own: Mapping[Place, float]) -> Sequence[Found]:
    satisfied = [each for each in found if own[each.place] >= SATISFIED]
    least = max((each.score for each in satisfied), default=0.0)
    some = [each for each in found if own[each.place] > 0 and (each.score >= least or own[each.place] >= SATISFIED)]
    return some or [each for each in found if each.node.position == 0] or found


def compiler(snapshot: Snapshot, settings: SearchSettings) -> Compiler:
    """The compiler for a state of the index."""
    ranking = Ranking(boosts={**BOOSTS, **settings.boosts}, tie=settings.tie, adjacent=settings.adjacent)
    dictionary = Dictionary(snapshot, snapshot.languages, partial(_sample, snapshot))
    return Compiler(schema=snapshot.schema, languages=snapshot.languages, dictionary=dictionary, ranking=ranking)


def _sample(snapshot: Snapshot, term: str, language: str) -> str:
    """All that the nodes are found by that have most of a term."""
    nodes = [snapshot.node(key) for _, key in snapshot.top(anywhere(snapshot.schema, term, language), _SAMPLED)]
    documents = [first for node in nodes for first in snapshot.nodes_of(node.document_id, 0, 0)]
    texts = [document.text[: document.body] for document in documents]
    for node in nodes:
        texts += [*node.breadcrumb, node.text, node.path, *node.tags]
    return " ".join(texts)


def corrections(compiler: Compiler, query: Query) -> dict[str, tuple[str, ...]]:
    """For each word that occurs nowhere the words that it nearly is."""
    words = [leaf for leaf in leaves(query) if isinstance(leaf, Word) and leaf.field is None and not leaf.prefix]
    near = {word.text: compiler.dictionary.corrections(word.text) for word in words if not compiler.is_optional(word)}
    return {word: instead for word, instead in near.items() if instead}


def refuse_unknown_trees(snapshot: Snapshot, query: Query, trees: Iterable[str] | None) -> None:
    """Say so where nothing can be found because no tree is called so, by an option or by the query."""
    there = snapshot.settings.trees
    asked.known("trees", trees or (), there)
    for item in together(query):
        if isinstance(item, Word | Phrase) and item.field == "tree":
            prefix = isinstance(item, Word) and item.prefix
            if not any(name == item.text or (prefix and name.startswith(item.text)) for name in there):
                asked.known("tree:", [f"{item.text}{'*' * prefix}"], there)


def filters(
    snapshot: Snapshot, compiler: Compiler, trees: Iterable[str] | None, paths: Sequence[str] | None
) -> list[Any]:
    """Only these trees, only documents that fit one of the patterns."""
    made = [] if trees is None else [compiler.among(TREE, trees)]
    if paths is not None:
        fitting = [each.id for each in snapshot.files().values() if fits(each.tree, each.path, paths)]
        made.append(compiler.among(DOC, fitting))
    return made


def _documents(found: Iterable[Found]) -> list[str]:
    return list(dict.fromkeys(each.node.document_id for each in found))
