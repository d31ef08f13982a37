"""Query tree -> the engine's queries. Before: ``query.parse`` and the corrections. After: ``store`` runs them.

All words must match (``strict``), or as many as possible (``loose``); ``own`` tells what a node itself has of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import tantivy

from quire.index.engine import fields
from quire.index.engine.clauses import Pass, Ranking, Words, together
from quire.index.node import term as id_term
from quire.query.tree import Not, Phrase, Query, Word, leaves

__all__ = ["SATISFIED", "Compiler", "Ranking", "anywhere"]

_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
_SAID, _IN_HEADING = 0.99, 0.01
"""How well a node satisfies a word that it says itself, and how much better if its heading does."""
_FEW = 64
"""Up to so many terms are looked up one by one: for a set of them the engine goes through all terms of the field."""
SATISFIED = _SAID - 1e-4
"""From this share on, all of the query is satisfied: no share of less than all comes near it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler(Words):
    """Compiles queries for one state of an index."""

    def strict(self, query: Query) -> tantivy.Query | None:
        """What matches all of the query; None where it has nothing to look for."""
        return Pass(self, self.ranking.boosts).compiled(query)

    def loose(self, query: Query) -> tantivy.Query | None:
        """What matches some of the query."""
        return Pass(self, self.ranking.boosts, loose=True).compiled(query)

    def own(self, query: Query) -> tantivy.Query | None:
        """A query whose score is the share of the query, 0 to 1, that a node's own title and body satisfy.

        Each word and phrase that must match has its part; None where none of them asks for text. A heading satisfies a
        little better than a text. A document's title stands in its front matter and is said of all of it: it satisfies
        as a text does.
        """
        items = [item for item in self.needed(together(query)) if _asks_for_text(item)]
        total = sum(_weight(item) for item in items)
        weights = [(item, _weight(item) / total) for item in items if total]
        said = self._shares(weights, {"title": 1.0, "body": 1.0}, _SAID)
        if not said:
            return None
        headings = self._shares(weights, {"title": 1.0}, _IN_HEADING)
        if headings:
            document = tantivy.Query.term_query(self.schema, fields.POSITION, 0, index_option="basic")
            better = tantivy.Query.boolean_query([*headings, (_NOT, document)])
            said.append((_SHOULD, better))
        return tantivy.Query.boolean_query(said)

    def _shares(
        self, weights: Iterable[tuple[Query, float]], into: Mapping[str, float], worth: float
    ) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """What each item adds where one of the fields satisfies it."""
        found = [(Pass(self, into, bonus=False).compiled(item), weight * worth) for item, weight in weights]
        return [(_SHOULD, tantivy.Query.const_score_query(made, part)) for made, part in found if made is not None]

    def parts(self, query: Query) -> Iterator[tuple[str, str, tantivy.Query]]:
        """Every word and phrase in every field by itself, as it counts for the score: text, field, query."""
        for leaf in leaves(query):
            for name, boost in ({leaf.field: 1.0} if leaf.field else self.ranking.boosts).items():
                part = Pass(self, {name: boost}, loose=True).compiled(leaf) if boost > 0 else None
                if part is not None:
                    yield leaf.text, name, part
        bonus = Pass(self, self.ranking.boosts)
        for pair, part in bonus.side_by_side(together(query)):
            yield pair, "title, side by side", part

    def within(self, query: tantivy.Query, *filters: tantivy.Query | None) -> tantivy.Query:
        """A query among what passes all filters, which do not count for the score."""
        musts = [(_MUST, tantivy.Query.const_score_query(each, 0.0)) for each in filters if each is not None]
        return tantivy.Query.boolean_query([(_MUST, query), *musts]) if musts else query

    def among(self, name: str, values: Iterable[str]) -> tantivy.Query:
        """A filter: those with one of these values in a field that is kept whole."""
        terms = [id_term(value) for value in values]
        if not 0 < len(terms) <= _FEW:
            return tantivy.Query.term_set_query(self.schema, name, terms)
        each = (tantivy.Query.term_query(self.schema, name, term, index_option="basic") for term in terms)
        return tantivy.Query.boolean_query([(_SHOULD, query) for query in each])


def anywhere(schema: tantivy.Schema, term: str, language: str) -> tantivy.Query:
    """A term in any field."""
    ways = [tantivy.Query.term_query(schema, fields.field(name, language), term) for name in fields.RANKED]
    return tantivy.Query.disjunction_max_query(ways)


def _asks_for_text(item: Query) -> bool:
    """Whether a node's own text can satisfy an item."""
    if isinstance(item, Word | Phrase):
        return item.field in (None, "title", "body")
    return not isinstance(item, Not) and any(_asks_for_text(each) for each in item.items)


def _weight(item: Query) -> float:
    """How much an item weighs beside others."""
    if isinstance(item, Word | Phrase):
        return item.boost
    return 0.0 if isinstance(item, Not) else max(_weight(each) for each in item.items)
