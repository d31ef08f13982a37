"""Query tree -> the engine's queries. Before: ``query.parse`` and the corrections. After: ``store`` runs them.

All words must match (``strict``), or as many as possible (``loose``). ``own`` asks what a node itself has of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import tantivy

from quire.index.engine import fields
from quire.index.engine.clauses import Pass, together
from quire.index.engine.known import Words
from quire.index.node import term as id_term
from quire.query import show
from quire.query.query_tree import All, Not, Query, leaves

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_FEW = 64
"""Up to so many terms are looked up one by one: for a set of them the engine goes through all terms of the field."""


class Compiler(msgspec.Struct, frozen=True):
    """Compiles queries for one state of an index."""

    words: Words
    """What is known of the words of the query and of the index."""

    def strict(self, query: Query) -> tantivy.Query | None:
        """What matches all of the query; None where it has nothing to look for."""
        return self._pass().compiled(query)

    def loose(self, query: Query) -> tantivy.Query | None:
        """What matches some of the query."""
        return self._pass(loose=True).compiled(query)

    def items(self, query: Query, *, partial: bool) -> Iterator[tuple[str, tantivy.Query]]:
        """What the score is the sum of, as it was looked for: the items of the query, and words side by side."""
        way = self._pass(loose=partial)
        items = together(query)
        for item in items:
            made = None if isinstance(item, Not) else way.compiled(item)
            if made is not None:
                yield show(item), made
        if isinstance(query, All):
            yield from ((f"{pair} side by side", made) for pair, made in way.side_by_side(items))

    def parts(self, query: Query) -> Iterator[tuple[str, str, tantivy.Query]]:
        """Every word and phrase in every field by itself: text, field, query."""
        for leaf in leaves(query):
            for name, boost in ({leaf.field: 1.0} if leaf.field else self.words.ranking.boosts).items():
                way = Pass(self.words, {name: boost}, loose=True, bonus=False)
                part = way.compiled(leaf) if boost > 0 else None
                if part is not None:
                    yield leaf.text, name, part
            flag = self.words.flag(leaf)
            if flag is not None:
                yield leaf.text, fields.FLAGS, flag
        for pair, part in self._pass().side_by_side(together(query)):
            yield pair, "title, side by side", part

    def among(self, name: str, values: Iterable[str]) -> tantivy.Query:
        """A filter: those with one of these values in a field that is kept whole."""
        terms = [id_term(value) for value in values]
        if not 0 < len(terms) <= _FEW:
            return tantivy.Query.term_set_query(self.words.schema, name, terms)
        each = (tantivy.Query.term_query(self.words.schema, name, term, index_option="basic") for term in terms)
        return tantivy.Query.boolean_query([(_SHOULD, query) for query in each])

    def _pass(self, *, loose: bool = False) -> Pass:
        return Pass(self.words, self.words.ranking.boosts, loose=loose)


def filtered(query: tantivy.Query, *filters: tantivy.Query) -> tantivy.Query:
    """A query among what passes all filters, which do not count for the score."""
    musts = [(_MUST, tantivy.Query.const_score_query(each, 0.0)) for each in filters]
    return tantivy.Query.boolean_query([(_MUST, query), *musts]) if musts else query


def anywhere(schema: tantivy.Schema, term: str, language: str) -> tantivy.Query:
    """A term in any field."""
    ways = [tantivy.Query.term_query(schema, fields.field(name, language), term) for name in fields.RANKED]
    return tantivy.Query.disjunction_max_query(ways)
