"""Query tree -> the engine's query. Before: ``query.parse`` and the corrections. After: ``store`` runs it.

A word is looked for in every field and counts as in the best of them, plus a little of the others; words add up. All
words must match (``strict``), or as many as possible (``loose``). Words side by side in a title count extra.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeGuard

import tantivy

from quire.index.engine import fields
from quire.index.engine.function_words import is_function_word
from quire.index.engine.words import Dictionary, Spelling, runs, spelled
from quire.index.node import term as id_term
from quire.query.tree import All, Either, Not, Phrase, Query, Word, leaves

_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot

_WHOLE = 2.0
"""How much a name counts extra whose parts stand side by side."""
_IN_TITLE, _IN_BODY = 1.0, 0.99
"""How well what a node itself says satisfies a word: its title a little better than its body."""
SATISFIED = _IN_BODY - 1e-4
"""From this share on, all of the query is satisfied: no share of less than all comes near it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What decides about scores."""

    boosts: Mapping[str, float]
    """How much a word counts in each field; those of 0 are not looked into."""
    tie: float
    """How much of the other fields is added to the best."""
    adjacent: float
    """How much two words count extra that stand side by side in a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """Compiles queries for one state of an index."""

    schema: tantivy.Schema
    """The engine's schema."""
    languages: tuple[str, ...]
    """The languages in use."""
    dictionary: Dictionary
    """The words of the index."""
    ranking: Ranking
    """What decides about scores."""
    corrections: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Words that occur nowhere, with what to look for instead."""

    def strict(self, query: Query) -> tantivy.Query | None:
        """What matches all of the query; None where it has nothing to look for."""
        return _Pass(self, self.ranking.boosts, loose=False).compiled(query)

    def loose(self, query: Query) -> tantivy.Query | None:
        """What matches some of the query."""
        return _Pass(self, self.ranking.boosts, loose=True).compiled(query)

    def own(self, query: Query) -> tantivy.Query | None:
        """A query whose score is the share of the query, 0 to 1, that a node's own title and body satisfy.

        Each word and phrase that must match has its part; None where none of them asks for text.
        """
        items = [item for item in self.needed(_together(query)) if _asks_for_text(item)]
        total = sum(_weight(item) for item in items)
        shares = [self._own_share(item, _weight(item) / total) for item in items if total]
        found = [(_SHOULD, share) for share in shares if share is not None]
        return tantivy.Query.boolean_query(found) if found else None

    def _own_share(self, item: Query, weight: float) -> tantivy.Query | None:
        ways = []
        for name, worth in (("title", _IN_TITLE), ("body", _IN_BODY)):
            inside = _Pass(self, {name: 1.0}, loose=False, bonus=False).compiled(item)
            if inside is not None:
                ways.append(tantivy.Query.const_score_query(inside, weight * worth))
        return _best(ways, 0.0)

    def parts(self, query: Query) -> Iterator[tuple[str, str, tantivy.Query]]:
        """Every word and phrase in every field by itself, as it counts for the score: text, field, query."""
        for leaf in leaves(query):
            for name, boost in ({leaf.field: 1.0} if leaf.field else self.ranking.boosts).items():
                part = _Pass(self, {name: boost}, loose=True).compiled(leaf) if boost > 0 else None
                if part is not None:
                    yield leaf.text, name, part
        bonus = _Pass(self, self.ranking.boosts, loose=False)
        for pair, part in bonus.side_by_side(_together(query)):
            yield pair, "title, side by side", part

    def within(self, query: tantivy.Query, *filters: tantivy.Query | None) -> tantivy.Query:
        """A query among what passes all filters, which do not count for the score."""
        musts = [(_MUST, tantivy.Query.const_score_query(each, 0.0)) for each in filters if each is not None]
        return tantivy.Query.boolean_query([(_MUST, query), *musts]) if musts else query

    def among(self, name: str, values: Iterable[str]) -> tantivy.Query:
        """A filter: those with one of these values in a field that is kept whole."""
        return tantivy.Query.term_set_query(self.schema, name, [id_term(value) for value in values])

    def needed(self, items: Sequence[Query]) -> list[Query]:
        """Of items that are to match together, those that may not be missing."""
        wanted: list[Query] = [item for item in items if not isinstance(item, Not)]
        return [item for item in wanted if not self.is_optional(item)] or wanted

    def is_optional(self, item: Query) -> bool:
        """Whether an item may be missing where others are there."""
        return _is_plain(item) and item.boost == 1 and is_function_word(item.text, self.languages)

    def texts(self, word: Word) -> Sequence[str]:
        """A word, or what is looked for instead."""
        return self.corrections.get(word.text, (word.text,)) if word.field is None else (word.text,)


def anywhere(schema: tantivy.Schema, term: str, language: str) -> tantivy.Query:
    """A term in any field."""
    ways = [tantivy.Query.term_query(schema, fields.field(name, language), term) for name in fields.RANKED]
    return tantivy.Query.disjunction_max_query(ways)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One way through the tree: into which fields, and whether all must match."""

    compiler: Compiler
    boosts: Mapping[str, float]
    loose: bool
    bonus: bool = True

    def compiled(self, query: Query) -> tantivy.Query | None:
        """Any part of the tree; None where there is nothing to look for."""
        match query:
            case Word():
                return _boosted(self._word(query), query.boost)
            case Phrase():
                return _boosted(self._phrase(query), query.boost)
            case Either(items=items):
                return _best(self._each(items), self.compiler.ranking.tie)
            case _:
                return self._all(_together(query))

    def side_by_side(self, items: Sequence[Query]) -> Iterator[tuple[str, tantivy.Query]]:
        """The bonus for words that follow each other, here and in a title."""
        weight = self.compiler.ranking.adjacent * self.boosts.get("title", 0.0)
        for one, other in pairwise(items) if self.bonus and weight > 0 else ():
            if not _is_plain(one) or not _is_plain(other):
                continue
            if self.compiler.is_optional(one) and self.compiler.is_optional(other):
                continue
            for language in self.compiler.languages:
                left, right = (spelled(self.compiler.texts(word)[0], language)[:1] for word in (one, other))
                if left and right:
                    phrase = self._side("title", language, (left[0].terms[-1], right[0].terms[0]))
                    yield f"{one.text} {other.text}", tantivy.Query.boost_query(phrase, weight)

    def _each(self, items: Iterable[Query]) -> list[tantivy.Query]:
        return [made for item in items if (made := self.compiled(item)) is not None]

    def _all(self, items: Sequence[Query]) -> tantivy.Query | None:
        needed = self.compiler.needed(items)
        musts = self._each(needed)
        refused = self._each(item.item for item in items if isinstance(item, Not))
        optional = self._each(item for item in items if not isinstance(item, Not) and item not in needed)
        if not musts:
            if not refused:
                return None
            musts = [tantivy.Query.const_score_query(tantivy.Query.exists_query(fields.POSITION), 1.0)]
        elif self.loose:
            places = self._each(item for item in needed if _is_place(item))
            words = self._each(item for item in needed if not _is_place(item))
            musts = [*places, *([tantivy.Query.boolean_query([(_SHOULD, each) for each in words])] if words else [])]
        clauses = [(_MUST, each) for each in musts]
        clauses += [(_SHOULD, each) for each in optional]
        clauses += [(_SHOULD, each) for _, each in self.side_by_side(items)]
        clauses += [(_NOT, each) for each in refused]
        return tantivy.Query.boolean_query(clauses) if len(clauses) > 1 else musts[0]

    def _word(self, word: Word) -> tantivy.Query | None:
        if word.field == "tree":
            return self._tree(word)
        if word.prefix:
            return self._prefix(word)
        ways = [
            self._spelling(spelling, language, self._fields(word), tight=word.field == "path")
            for text in self.compiler.texts(word)
            for language in self.compiler.languages
            for spelling in spelled(text, language)
        ]
        return _best(ways, 0.0)

    def _spelling(self, spelling: Spelling, language: str, into: Mapping[str, float], *, tight: bool) -> tantivy.Query:
        """The terms of a word in any field each, more if they stand side by side."""
        units = [spelling.terms] if tight else runs(spelling)
        if self.loose:
            units = [pair for unit in units for pair in _pairs(unit)]
        made = [self._side_in_any(unit, language, into) for unit in units]
        if len(made) == 1:
            return made[0]
        apart = tantivy.Query.boolean_query([(_SHOULD if self.loose else _MUST, each) for each in made])
        together = tantivy.Query.boost_query(self._side_in_any(spelling.terms, language, into), _WHOLE)
        return tantivy.Query.boolean_query([(_MUST, apart), (_SHOULD, together)])

    def _phrase(self, phrase: Phrase) -> tantivy.Query | None:
        if phrase.field == "tree":
            return self._tree(phrase)
        into = self._fields(phrase)
        ways = [
            self._side_in_any(spelling.terms, language, into)
            for language in self.compiler.languages
            for spelling in spelled(phrase.text, language)[:1]
        ]
        return _best(ways, 0.0)

    def _prefix(self, word: Word) -> tantivy.Query | None:
        """A beginning counts as the best of the words that it may be."""
        lead, beginning = _last_part(word.text)
        into = self._fields(word)
        ways = []
        for language in self.compiler.languages:
            completed = self.compiler.dictionary.completions(beginning, language)
            starts = _best([self._side_in_any((term,), language, into) for term in completed], 0.0)
            if starts is not None:
                before = [self._spelling(each, language, into, tight=False) for each in spelled(lead, language)[:1]]
                ways.append(tantivy.Query.boolean_query([(_MUST, each) for each in (*before, starts)]))
        return _best(ways, 0.0) or tantivy.Query.empty_query()

    def _tree(self, leaf: Word | Phrase) -> tantivy.Query:
        query = tantivy.Query.term_query(self.compiler.schema, fields.TREE, id_term(leaf.text), index_option="basic")
        if isinstance(leaf, Word) and leaf.prefix:
            query = tantivy.Query.regex_query(self.compiler.schema, fields.TREE, f"{re.escape(leaf.text)}.*")
        return tantivy.Query.const_score_query(query, 0.0)

    def _fields(self, leaf: Word | Phrase) -> Mapping[str, float]:
        return {leaf.field: 1.0} if leaf.field else self.boosts

    def _side_in_any(self, terms: tuple[str, ...], language: str, into: Mapping[str, float]) -> tantivy.Query:
        """Terms side by side, in the best of some fields."""
        made = [(self._side(name, language, terms), boost) for name, boost in into.items() if boost > 0]
        ways = [query if boost == 1 else tantivy.Query.boost_query(query, float(boost)) for query, boost in made]
        return _best(ways, self.compiler.ranking.tie) or tantivy.Query.empty_query()

    def _side(self, name: str, language: str, terms: tuple[str, ...]) -> tantivy.Query:
        where = fields.field(name, language)
        if len(terms) == 1:
            return tantivy.Query.term_query(self.compiler.schema, where, terms[0])
        return tantivy.Query.phrase_query(self.compiler.schema, where, list(terms))


def _together(query: Query) -> tuple[Query, ...]:
    """The items that must match together."""
    return query.items if isinstance(query, All) else (query,)


def _is_plain(item: Query) -> TypeGuard[Word]:
    return isinstance(item, Word) and item.field is None and not item.prefix


def _is_place(item: Query) -> bool:
    """Whether an item says where to look: that is meant, whatever else matches."""
    return isinstance(item, Word | Phrase) and item.field in ("tree", "path")


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


def _pairs(terms: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each two that follow each other: what is left of a run when it may match in part."""
    return [terms] if len(terms) < 3 else list(pairwise(terms))


def _last_part(text: str) -> tuple[str, str]:
    """A word and the beginning of one behind it: ``my_v`` is ``my`` and then ``v``."""
    cut = max((at + 1 for at, character in enumerate(text) if not character.isalnum()), default=0)
    return text[:cut], text[cut:]


def _boosted(query: tantivy.Query | None, boost: float) -> tantivy.Query | None:
    return query if query is None or boost == 1 else tantivy.Query.boost_query(query, float(boost))


def _best(queries: Sequence[tantivy.Query], tie: float) -> tantivy.Query | None:
    if not queries:
        return None
    return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(list(queries), float(tie))
