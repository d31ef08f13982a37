"""Query -> the nodes that match, with their scores. Before: ``phases`` has parsed. After: ``counting`` and ``merge``.

All words must match; where nothing does so, as many as possible. What a filter leaves out is never looked at, so that
it takes no place among the best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from quire.index.engine.clauses import together
from quire.index.engine.compile import Compiler, anywhere, filtered
from quire.index.engine.dictionary import Dictionary
from quire.index.engine.fields import DOC, TREE
from quire.index.engine.known import Ranking, Words
from quire.index.engine.own import Flags, Own, shifted
from quire.index.engine.store import Key, Place, Scored, Snapshot
from quire.index.outline import Spot
from quire.query import leaves
from quire.query.query_tree import Not, Phrase, Query, Word
from quire.search import asked
from quire.search.places import fits
from quire.search.settings import BOOSTS, SHARPNESS, SearchSettings

MOST = 10_000
"""How many nodes are looked at, at most."""
MAX_CORRECTED = 8
"""For how many words of a query that occur nowhere corrections are looked up."""
AHEAD = 1_000
"""How many the engine is asked for at once: it takes hardly longer than for a few."""


class Found(msgspec.Struct, frozen=True, gc=False):
    """A node that matches."""

    score: float
    """How well, by itself: 1 for the best of all."""
    key: Key
    """Where the engine has it."""
    spot: Spot
    """Where it stands; its text is not read."""

    @property
    def place(self) -> Place:
        """Its document and its position in it."""
        return self.spot.document_id, self.spot.position


class Matching(msgspec.Struct, frozen=True):
    """What is looked for, ready for the engine."""

    snapshot: Snapshot
    """The state of the index in which it is looked for."""
    query: Any
    """The engine's query, filters included."""
    compiler: Compiler
    """What made it."""
    top: Sequence[Scored]
    """The best of what it finds."""
    is_all: bool
    """Whether these are all."""
    partial: bool = False
    """Whether parts of what was asked for are enough."""

    @classmethod
    def of(cls, snapshot: Snapshot, query: Any, compiler: Compiler, limit: int, *, partial: bool = False) -> Matching:
        """What is looked for, with the best ``limit`` of what it finds."""
        top = snapshot.top(query, limit)
        return cls(snapshot, query, compiler, top, is_all=len(top) < limit, partial=partial)

    @property
    def unit(self) -> float:
        """What the best node is worth, and so what a score of 1 is."""
        best = self.top[0][0] if self.top else 0.0
        return best if best > 0 else 1.0

    def best(self, limit: int) -> list[Found]:
        """The best nodes."""
        is_enough = self.is_all or limit <= len(self.top)
        return self._found(self.top[:limit] if is_enough else self.snapshot.top(self.query, limit))

    def rest(self, found: Sequence[Found], limit: int) -> list[Found]:
        """All other nodes that match in the documents of some of the best ``limit``.

        Whether a parent gathers depends on them, too.
        """
        if self.is_all:
            # To look through all that matches is faster than to ask the engine again.
            others, documents = self.top[limit:], {each.spot.number for each in found}
            numbers = self.snapshot.numbers([key for _, key in others])
            inside = [(scored, number) for scored, number in zip(others, numbers, strict=True) if number in documents]
            return self._found([scored for scored, _ in inside], [number for _, number in inside])
        among = filtered(self.query, self.compiler.among(DOC, _documents(found)))
        known = {_at(each.key) for each in found}
        return self._found([scored for scored in self.snapshot.top(among, MOST) if _at(scored[1]) not in known])

    def own(self, query: Query, found: Sequence[Found]) -> list[float]:
        """What share of the query each node satisfies by its own title and body; 1 where it asks for no text.

        It is compared within a document, so where each node is alone in its own, the engine is not asked.
        """
        counts = Counter([each.spot.document_id for each in found])
        several = [document for document, count in counts.items() if count > 1]
        own = Own(self.compiler.words, query, partial=self.partial) if several else None
        if not own:
            return [1.0] * len(found)
        flags: dict[tuple[int, int], Flags] = {}
        for first, asked_for in own.queries(self.compiler.among(DOC, several)):
            for score, key in self.snapshot.top(asked_for, self.snapshot.size(several)):
                if score:
                    at = key.segment_ord, key.doc
                    flags[at] = flags.get(at, 0) | shifted(int(score), first)
        return [own.shares[flags.get(_at(each.key), 0), each.spot.position == 0] for each in found]

    def unwanted(self, query: Query, found: Sequence[Found]) -> set[Place]:
        """The sections in which something stands that the query leaves out, in themselves or below them.

        Only in the documents of ``found``.
        """
        refused = [self.compiler.strict(item.item) for item in together(query) if isinstance(item, Not)]
        documents = _documents(found)
        places: set[Place] = set()
        for each in refused if documents else ():
            if each is not None:
                among = filtered(each, self.compiler.among(DOC, documents))
                keys = [key for _, key in self.snapshot.top(among, self.snapshot.size(documents))]
                for spot in self.snapshot.spots(keys):
                    positions = (spot.position, *(above.position for above in spot.ancestors))
                    places.update((spot.document_id, position) for position in positions)
        return places

    def _found(self, some: Sequence[Scored], numbers: Sequence[int] | None = None) -> list[Found]:
        """Some of the nodes that match; ``numbers`` are those of their documents, if they are known."""
        unit = self.unit
        if self.top and not self.top[0][0]:  # where no text is asked for, as in ``tree:docs``, all are the best
            some = [(unit, key) for _, key in some]
        keys = [key for _, key in some]
        spots = self.snapshot.spots(keys, numbers)
        return [Found((score / unit) ** SHARPNESS, key, spot) for (score, key), spot in zip(some, spots, strict=True)]


def able(found: Sequence[Found], limit: int, cap: float) -> list[Found]:
    """Those whose documents can have one of the best results.

    A result scores at least as much as its best node and at most ``cap`` times that: where so many documents have a
    node of some score, no other document needs a look whose best node, so many times over, does not reach it.
    """
    best: dict[str, float] = {}
    for each in found:
        best.setdefault(each.spot.document_id, each.score)
    least = sorted(best.values(), reverse=True)[limit - 1] if len(best) > limit else 0.0
    return [each for each in found if max(cap, 1.0) * best[each.spot.document_id] >= least]


def compiler(snapshot: Snapshot, settings: SearchSettings, query: Query | None = None) -> Compiler:
    """The compiler for a state of the index, and for a query."""
    ranking = Ranking(boosts={**BOOSTS, **settings.boosts}, tie=settings.tie, adjacent=settings.adjacent)
    dictionary = Dictionary(snapshot, snapshot.languages, partial(_sample, snapshot))
    first = next((leaf.text for leaf in leaves(query)), "") if query else ""
    words = Words(
        schema=snapshot.schema, languages=snapshot.languages, dictionary=dictionary, ranking=ranking, first=first
    )
    return Compiler(words)


def _sample(snapshot: Snapshot, term: str, language: str, number: int) -> Iterator[str]:
    """All that the nodes are found by that have most of a term, one after the other."""
    seen: set[str] = set()
    for _, key in snapshot.top(anywhere(snapshot.schema, term, language), number):
        node = snapshot.node(key)
        yield " ".join((*node.breadcrumb, node.text, node.path, *node.tags))
        if node.document_id not in seen:
            seen.add(node.document_id)
            yield from (document.text[: document.body] for document in snapshot.nodes_of(node.document_id, 0, 0))


def corrections(words: Words, query: Query) -> dict[str, tuple[str, ...]]:
    """For each word that occurs nowhere the words that it nearly is; only for the first few such words."""
    plain = [leaf for leaf in leaves(query) if isinstance(leaf, Word) and leaf.field is None and not leaf.prefix]
    texts = dict.fromkeys(word.text for word in plain if not words.is_optional(word))
    unknown = islice((text for text in texts if not words.dictionary.has(text)), MAX_CORRECTED)
    near = {text: words.dictionary.corrections(text) for text in unknown}
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


def _at(key: Key) -> tuple[int, int]:
    return key.segment_ord, key.doc


def _documents(found: Iterable[Found]) -> list[str]:
    return list(dict.fromkeys(each.spot.document_id for each in found))
