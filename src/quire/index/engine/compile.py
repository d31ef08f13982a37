"""Query tree to engine queries, and the scores of their parts for ``--explain``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import tantivy

from quire.index.engine import index_schema
from quire.index.engine.clauses import ClauseBuilder, QueryContext, all_items
from quire.query import show
from quire.query.query_tree import Not, Query, leaves

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_FEW_TERMS = 64
"""Up to so many terms are looked up one by one; for a larger set, the engine scans all terms of the field."""


class Compiler(msgspec.Struct, frozen=True):
    """Compiles queries for one snapshot."""

    context: QueryContext

    def compile(self, query: Query, *, strict: bool = False) -> tantivy.Query | None:
        """A query for the engine; None if there is nothing to search for. With ``strict`` for an exclusion."""
        return self._builder(strict=strict).build(query)

    def one_of(self, name: str, values: Iterable[str]) -> tantivy.Query:
        """A filter: nodes with one of these values in a field that is not analysed."""
        terms = list(values)
        schema = self.context.schema
        if not 0 < len(terms) <= _FEW_TERMS:
            return tantivy.Query.term_set_query(schema, name, terms)
        queries = (tantivy.Query.term_query(schema, name, term, index_option="basic") for term in terms)
        return tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])

    def all_but(self, name: str, value: str) -> tantivy.Query:
        """A filter: nodes without this value in a field that is not analysed."""
        everything = (_MUST, tantivy.Query.all_query())
        return tantivy.Query.boolean_query([everything, (tantivy.Occur.MustNot, self.one_of(name, [value]))])

    def item_scores(
        self, searcher: tantivy.Searcher, query: Query, address: tantivy.DocAddress
    ) -> list[dict[str, Any]]:
        """The score of each item of the query in a node. Their sum is the node's score before normalization."""
        builder, items = self._builder(), all_items(query)
        clauses = [(show(item), builder.build(item)) for item in items if not isinstance(item, Not)]
        scores = [(name, _score(searcher, clause, address)) for name, clause in clauses if clause is not None]
        return [{"item": name, "score": round(score, 3)} for name, score in scores if score]

    def word_scores(
        self, searcher: tantivy.Searcher, query: Query, address: tantivy.DocAddress
    ) -> list[dict[str, Any]]:
        """The score of each word and phrase in each field of a node, the highest first; they do not add up."""
        scores = [
            {"word": word, "field": name, "score": round(score, 3)}
            for word, name, part in self._words_by_field(query)
            if (score := _score(searcher, part, address))
        ]
        return sorted(scores, key=lambda each: -each["score"])

    def _words_by_field(self, query: Query) -> Iterator[tuple[str, str, tantivy.Query]]:
        for leaf in leaves(query):
            for name, boost in ({leaf.field: 1.0} if leaf.field else self.context.ranking.boosts).items():
                builder = ClauseBuilder(self.context, {name: boost}, bonus=False)
                clause = builder.build(leaf) if boost > 0 else None
                if clause is not None:
                    yield leaf.text, name, clause
            flag = self.context.flag(leaf)
            if flag is not None:
                yield leaf.text, index_schema.FLAGS, flag

    def _builder(self, *, strict: bool = False) -> ClauseBuilder:
        return ClauseBuilder(self.context, self.context.ranking.boosts, strict=strict)


def filtered(query: tantivy.Query, *filters: tantivy.Query) -> tantivy.Query:
    """A query restricted by filters, which do not change scores."""
    musts = [(_MUST, tantivy.Query.const_score_query(each, 0.0)) for each in filters]
    return tantivy.Query.boolean_query([(_MUST, query), *musts]) if musts else query


def _score(searcher: tantivy.Searcher, query: tantivy.Query, address: tantivy.DocAddress) -> float:
    try:
        return float(msgspec.json.decode(query.explain(searcher, address).to_json())["value"])
    except ValueError:  # the query does not match
        return 0.0
