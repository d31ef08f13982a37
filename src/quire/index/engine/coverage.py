"""The share of a query that a node's own title and body satisfy, without titles, paths and front matter above it.

The engine only tells which words a node's heading and text have: its score is a sum of powers of two, two bits per
word. The share is computed here, once per combination of bits: parts and items add up, and the best variant counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import tantivy

from quire.index.engine.clauses import ClauseBuilder, QueryContext, Variant, all_items, is_plain
from quire.query.query_tree import Either, Not, Phrase, Query, Word

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_IN_TEXT, _HEADING_BONUS = 0.99, 0.01
"""The share for a word that a node has, and the bonus if its heading has it."""
FULLY_COVERED = _IN_TEXT - 1e-4
"""A share from here on covers the whole query."""
_DIGITS = 5
TOLERANCE = 2 * 10.0**-_DIGITS
"""Shares that differ by less are equal: they are rounded sums of weights."""
_ITEMS_PER_QUERY = 12
"""A score has 24 exact bits, and an item needs two."""
_HEADING, _TEXT = 1, 2
"""The bits of an item."""
Bits = int
"""The bits of all items; the first item has the lowest."""
_TITLE: Mapping[str, float] = {"title": 1.0}
_BODY: Mapping[str, float] = {"body": 1.0}


class _Item(NamedTuple):
    """The queries for one item."""

    heading: tantivy.Query | None
    text: tantivy.Query | None


class _Single(NamedTuple):
    """An item by its number."""

    number: int
    needs_any: Bits  # one of these bits satisfies it

    def share(self, bits: Bits, bonus: float) -> float:
        return _IN_TEXT * _has(bits, self.number, self.needs_any) + bonus * _has(bits, self.number, _HEADING)


class _Name(NamedTuple):
    """The parts of a name. Each counts for itself; the heading bonus needs all of them."""

    parts: Sequence[_Single]

    def share(self, bits: Bits, bonus: float) -> float:
        in_heading = all(_has(bits, part.number, _HEADING) for part in self.parts)
        return sum([part.share(bits, 0.0) for part in self.parts]) / len(self.parts) + bonus * in_heading


class _Weighted(NamedTuple):
    """Items that add up, each with its weight."""

    items: Sequence[tuple[float, _Wanted]]

    def share(self, bits: Bits, bonus: float) -> float:
        return sum([weight * item.share(bits, bonus) for weight, item in self.items])


class _BestOf(NamedTuple):
    """Alternatives, of which the best counts."""

    alternatives: Sequence[_Wanted]

    def share(self, bits: Bits, bonus: float) -> float:
        return max([each.share(bits, bonus) for each in self.alternatives], default=0.0)


_Wanted = _Single | _Name | _Weighted | _BestOf


class Coverage:
    """The queries that find out what nodes have of a query, and the shares for the answers."""

    def __init__(self, context: QueryContext, query: Query, *, partial: bool) -> None:
        self._context = context
        self._partial = partial
        self._items: list[_Item] = []
        self.shares = _Shares(self._all(all_items(query)))
        """The share of a node by its bits and by whether it is a document."""

    def __bool__(self) -> bool:
        """Whether the query searches for any text."""
        return any(each.text is not None for each in self._items)

    def queries(self, among: tantivy.Query) -> Iterator[tuple[int, tantivy.Query]]:
        """Queries that score the filtered nodes by the bits of some items, each with the number of its first item.

        The clauses are nested, so the engine looks up each only where the filter matches. Side by side, it would go
        through all matches of each.
        """
        for first in range(0, len(self._items), _ITEMS_PER_QUERY):
            query = tantivy.Query.const_score_query(among, 0.0)
            for number, item in enumerate(self._items[first : first + _ITEMS_PER_QUERY]):
                for bit, wanted in ((_HEADING, item.heading), (_TEXT, item.text)):
                    if wanted is not None:
                        scored = tantivy.Query.const_score_query(wanted, float(shifted(bit, number)))
                        query = tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, scored)])
            yield first, query

    def _all(self, items: Sequence[Query]) -> _Weighted:
        required = [item for item in self._context.required(items) if _searches_text(item)]
        total = sum(map(_weight, required))
        return _Weighted([(_weight(item) / total, self._wanted(item)) for item in required if total])

    def _wanted(self, item: Query) -> _Wanted:
        if isinstance(item, Word | Phrase):
            return self._word(item) if is_plain(item) else self._field_or_phrase(item)
        if isinstance(item, Either):
            return _BestOf([self._wanted(each) for each in item.items])
        return self._all(all_items(item))

    def _word(self, word: Word) -> _Wanted:
        """A word, with a name split into its parts, which may be apart or missing.

        All variants of one group share an item: most words have no others.
        """
        variants = list(self._builder(_TITLE).variants(word))
        whole = [variant for variant in variants if len(variant.groups) == 1]
        wanted: list[_Wanted] = [self._any_variant(whole)] if whole else []
        names = [variant for variant in variants if len(variant.groups) > 1]
        wanted += [
            _Name([self._any_variant([variant._replace(groups=[group])]) for group in variant.groups])
            for variant in names
        ]
        return self._with_flag(word, wanted[0] if len(wanted) == 1 else _BestOf(wanted))

    def _with_flag(self, item: Word | Phrase, wanted: _Wanted) -> _Wanted:
        """A command-line flag counts in full only with its dashes."""
        flag = self._context.flag(item)
        return wanted if flag is None else _Weighted([(0.5, wanted), (0.5, self._add(None, flag, _TEXT))])

    def _any_variant(self, variants: Sequence[Variant]) -> _Single:
        """One of some variants, all of it in the heading or all of it in the text."""
        heading, text = (self._builder(boosts).any_variant(variants) for boosts in (_TITLE, _BODY))
        return self._add(heading, text, _HEADING | _TEXT)

    def _field_or_phrase(self, item: Word | Phrase) -> _Wanted:
        """A phrase, a prefix, or a word with a field."""
        is_phrase = isinstance(item, Phrase)
        heading = self._builder(_TITLE).build(item)
        text = self._builder(_BODY if is_phrase else {**_TITLE, **_BODY}).build(item)
        return self._with_flag(item, self._add(heading, text, _HEADING | _TEXT if is_phrase else _TEXT))

    def _add(self, heading: tantivy.Query | None, text: tantivy.Query | None, needs_any: Bits) -> _Single:
        self._items.append(_Item(heading, text))
        return _Single(len(self._items) - 1, needs_any)

    def _builder(self, boosts: Mapping[str, float]) -> ClauseBuilder:
        return ClauseBuilder(self._context, boosts, partial=self._partial, bonus=False)


def shifted(bits: Bits, number: int) -> Bits:
    """Bits of items from ``number`` on, moved to their place among all bits."""
    return bits << 2 * number


def _has(bits: Bits, number: int, any_of: Bits) -> bool:
    return bool(bits >> 2 * number & any_of)


class _Shares(dict[tuple[Bits, bool], float]):
    """The share for each combination of bits, 0 to 1, computed once.

    A document gets no heading bonus: its title is about everything in it.
    """

    def __init__(self, wanted: _Wanted) -> None:
        self._wanted = wanted

    def __missing__(self, key: tuple[Bits, bool]) -> float:
        bits, is_document = key
        self[key] = share = round(self._wanted.share(bits, 0.0 if is_document else _HEADING_BONUS), _DIGITS)
        return share


def _searches_text(item: Query) -> bool:
    """Whether a node's own text can satisfy an item."""
    if isinstance(item, Word | Phrase):
        return item.field in (None, "title", "body")
    return not isinstance(item, Not) and any(_searches_text(each) for each in item.items)


def _weight(item: Query) -> float:
    if isinstance(item, Word | Phrase):
        return item.boost
    return 0.0 if isinstance(item, Not) else max(_weight(each) for each in item.items)
