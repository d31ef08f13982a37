"""Parts of a query tree -> clauses of the engine's query. Used by ``compile``, which knows what they are for.

A word is looked for in every field and counts as in the best of them, plus a little of the others; words add up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
import tantivy

from quire.index.engine import fields
from quire.index.engine.analysis import terms
from quire.index.engine.known import WHOLE, Words, is_plain, last_part
from quire.index.engine.spelling import is_unspaced
from quire.index.engine.words import Spelling, pairs, runs, spelled
from quire.index.node import term as id_term
from quire.query.query_tree import All, Either, Not, Phrase, Query, Word, leaves

_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


class Way(NamedTuple):
    """One way to read a word."""

    language: str
    """The language."""
    spelling: Spelling
    """How it is spelled there."""
    units: Sequence[tuple[str, ...]]
    """The pieces of it that may stand anywhere, each with its terms side by side."""


class Pass(msgspec.Struct, frozen=True):
    """One way through the tree: into which fields, and whether all must match."""

    words: Words
    """What is known of the words."""
    boosts: Mapping[str, float]
    """The fields that are looked into."""
    loose: bool = False
    """Whether some of the words are enough; never behind a field or a ``-``."""
    bonus: bool = True
    """Whether words side by side in a title, and flags of commands, count extra."""

    def compiled(self, query: Query) -> tantivy.Query | None:
        """Any part of the tree; None where there is nothing to look for."""
        match query:
            case Word(field=str()) | Phrase(field=str()) if self.loose:
                return self._strict.compiled(query)
            case Word():
                return _boosted(self._word(query), query.boost)
            case Phrase():
                return _boosted(self._phrase(query), query.boost)
            case Either(items=items):
                return best(self._each(items), self.words.ranking.tie)
            case _:
                return self._all(together(query))

    def side_by_side(self, items: Sequence[Query]) -> Iterator[tuple[str, tantivy.Query]]:
        """The bonus for words that follow each other, here and in a title."""
        weight = self.words.ranking.adjacent * self.boosts.get("title", 0.0)
        for one, other in pairwise(items) if self.bonus and weight > 0 else ():
            if not is_plain(one) or not is_plain(other):
                continue
            if self.words.is_optional(one) and self.words.is_optional(other):
                continue
            for language in self.words.languages:
                left, right = (spelled(self.words.texts(word)[0], language)[:1] for word in (one, other))
                if left and right:
                    phrase = self._side("title", language, (left[0].terms[-1], right[0].terms[0]))
                    yield f"{one.text} {other.text}", tantivy.Query.boost_query(phrase, weight)

    def ways(self, word: Word) -> Iterator[Way]:
        """The ways to read a word."""
        for text in self.words.texts(word):
            for language in self.words.languages:
                for spelling in spelled(text, language):
                    yield self._way(spelling, language, tight=word.field == "path")

    def any_of(self, ways: Iterable[Way]) -> tantivy.Query | None:
        """All pieces of one of the ways; None of none."""
        return best([self._read(way, self.boosts) for way in ways], 0.0)

    def _way(self, spelling: Spelling, language: str, *, tight: bool = False) -> Way:
        units = [spelling.terms] if tight else runs(spelling)
        return Way(language, spelling, [pair for unit in units for pair in pairs(unit)] if self.loose else units)

    @property
    def _strict(self) -> Pass:
        return msgspec.structs.replace(self, loose=False)

    def _each(self, items: Iterable[Query]) -> list[tantivy.Query]:
        return [made for item in items if (made := self.compiled(item)) is not None]

    def _all(self, items: Sequence[Query]) -> tantivy.Query | None:
        needed = self.words.needed(items)
        musts = self._each(needed)
        unwanted = [self._strict.compiled(item.item) for item in items if isinstance(item, Not)]
        refused = [each for each in unwanted if each is not None]
        optional = self._each(item for item in items if self.words.is_optional(item) and item not in needed)
        if not musts:
            if not refused:
                return None
            musts = [tantivy.Query.const_score_query(tantivy.Query.exists_query(fields.POSITION), 1.0)]
        elif self.loose:
            meant = self._each(item for item in needed if _is_in_field(item))
            some = [(_SHOULD, each) for each in self._each(item for item in needed if not _is_in_field(item))]
            musts = [*meant, *([tantivy.Query.boolean_query(some)] if some else [])]
        clauses = [(_MUST, each) for each in musts]
        clauses += [(_SHOULD, each) for each in optional]
        clauses += [(_SHOULD, each) for _, each in self.side_by_side(items)]
        clauses += [(_NOT, each) for each in refused]
        return tantivy.Query.boolean_query(clauses) if len(clauses) > 1 else musts[0]

    def _word(self, word: Word) -> tantivy.Query | None:
        if word.field == "tree":
            return self._tree(word)
        if word.prefix and _may_go_on(word.text):
            return self._prefix(word)
        return self._or_flag(word, best([self._read(way, self._fields(word)) for way in self.ways(word)], 0.0))

    def _read(self, way: Way, into: Mapping[str, float]) -> tantivy.Query:
        """The pieces of a word in any field each, more if they all stand side by side."""
        made = [self._side_in_any(unit, way.language, into) for unit in way.units]
        if len(made) == 1:
            return made[0]
        apart = tantivy.Query.boolean_query([(_SHOULD if self.loose else _MUST, each) for each in made])
        side = tantivy.Query.boost_query(self._side_in_any(way.spelling.terms, way.language, into), WHOLE)
        return tantivy.Query.boolean_query([(_MUST, apart), (_SHOULD, side)])

    def _phrase(self, phrase: Phrase) -> tantivy.Query | None:
        if phrase.field == "tree":
            return self._tree(phrase)
        into = self._fields(phrase)
        ways = []
        for language in self.words.languages:
            # As it is looked for in other queries, and as it stands in a text: ``don't`` is two terms there.
            forms = {each.terms for each in spelled(phrase.text, language)[:1]} | {tuple(terms(phrase.text, language))}
            ways += [self._side_in_any(form, language, into) for form in sorted(forms) if form]
        return self._or_flag(phrase, best(ways, 0.0))

    def _or_flag(self, leaf: Word | Phrase, made: tantivy.Query | None) -> tantivy.Query | None:
        """A word or phrase, more where it is a flag of a command and stands there as one."""
        flag = self.words.flag(leaf) if self.bonus else None
        return made if made is None or flag is None else tantivy.Query.boolean_query([(_MUST, made), (_SHOULD, flag)])

    def _prefix(self, word: Word) -> tantivy.Query | None:
        """A beginning counts as the best of the words that it may be; rare ones, where there are many, count little."""
        lead, beginning = last_part(word.text)
        into = self._fields(word)
        ways = []
        for language in self.words.languages:
            completed = self.words.dictionary.completions(beginning, language)
            words = [self._side_in_any((term,), language, into) for term in completed.frequent]
            starts = best([*words, *self._any_of(completed.others, language, into)], 0.0)
            if starts is not None:
                before = [self._read(self._way(each, language), into) for each in spelled(lead, language)[:1]]
                ways.append(tantivy.Query.boolean_query([(_MUST, each) for each in (*before, starts)]))
        return best(ways, 0.0) or tantivy.Query.empty_query()

    def _any_of(self, terms: Sequence[str], language: str, into: Mapping[str, float]) -> Iterator[tantivy.Query]:
        """Any of many terms, all in one go, which cannot be scored."""
        for name in (name for name, boost in into.items() if terms and boost > 0):
            among = tantivy.Query.term_set_query(self.words.schema, fields.field(name, language), terms)
            yield tantivy.Query.const_score_query(among, 1.0)

    def _tree(self, leaf: Word | Phrase) -> tantivy.Query:
        query = tantivy.Query.term_query(self.words.schema, fields.TREE, id_term(leaf.text), index_option="basic")
        if isinstance(leaf, Word) and leaf.prefix:
            query = tantivy.Query.regex_query(self.words.schema, fields.TREE, f"{re.escape(leaf.text)}.*")
        return tantivy.Query.const_score_query(query, 0.0)

    def _fields(self, leaf: Word | Phrase) -> Mapping[str, float]:
        return {leaf.field: 1.0} if leaf.field else self.boosts

    def _side_in_any(self, terms: tuple[str, ...], language: str, into: Mapping[str, float]) -> tantivy.Query:
        """Terms side by side, in the best of some fields."""
        made = [(self._side(name, language, terms), boost) for name, boost in into.items() if boost > 0]
        ways = [query if boost == 1 else tantivy.Query.boost_query(query, float(boost)) for query, boost in made]
        return best(ways, self.words.ranking.tie) or tantivy.Query.empty_query()

    def _side(self, name: str, language: str, terms: tuple[str, ...]) -> tantivy.Query:
        where = fields.field(name, language)
        if len(terms) == 1:
            return tantivy.Query.term_query(self.words.schema, where, terms[0])
        return tantivy.Query.phrase_query(self.words.schema, where, list(terms))


def together(query: Query) -> tuple[Query, ...]:
    """The items that must match together."""
    return query.items if isinstance(query, All) else (query,)


def _is_in_field(item: Query) -> bool:
    """Whether an item says in which field to look: that is meant, whatever else matches."""
    return all(leaf.field is not None for leaf in leaves(item))


def _may_go_on(text: str) -> bool:
    """Whether a word can go on behind this: not behind ``C++``, nor where each character is a word."""
    return text[-1:].isalnum() and not is_unspaced(text[-1:])


def _boosted(query: tantivy.Query | None, boost: float) -> tantivy.Query | None:
    return query if query is None or boost == 1 else tantivy.Query.boost_query(query, float(boost))


def best(queries: Sequence[tantivy.Query], tie: float) -> tantivy.Query | None:
    """As much as the best of some queries, plus a part of the others; None of none."""
    if not queries:
        return None
    return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(list(queries), float(tie))
