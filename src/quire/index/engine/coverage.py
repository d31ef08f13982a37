"""The share of a query that a node's own title and body satisfy, without titles, paths and front matter above it.

The engine only tells which words a node's heading and text have: its score is a sum of powers of two, two bits per
word. The share is computed here, once per combination of bits: parts and items add up, and the best variant counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import tantivy

from quire.index.engine.clauses import ClauseBuilder, QueryContext, Variant, all_items, is_plain
from quire.query.query_tree import Either, Not, Phrase, Query, Word

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_IN_TEXT, _HEADING_BONUS = 0.99, 0.01  # the share for a word that a node has, and the bonus if its heading has it
FULLY_COVERED = _IN_TEXT - 1e-4  # a share from here on covers the whole query
_DIGITS = 5
TOLERANCE = 2 * 10.0**-_DIGITS  # shares that differ by less are equal: they are rounded sums of weights
_ITEMS_PER_QUERY = 12  # a score has 24 exact bits, and an item needs two
_HEADING, _TEXT = 1, 2  # the bits of an item
Bits = int  # the bits of all items; the first item has the lowest
_TITLE: Mapping[str, float] = {"title": 1.0}
_BODY: Mapping[str, float] = {"body": 1.0}


Share = Callable[[Bits, float], float]
"""The share of an item by the bits of a node; the number is the bonus for a heading."""


class Coverage:
    """The queries that find out what nodes have of a query, and the shares for the answers."""

    def __init__(self, context: QueryContext, query: Query) -> None:
        self._context = context
        self._items: list[tuple[tantivy.Query | None, tantivy.Query | None]] = []  # in a heading, in a text
        share = self._all(all_items(query))
        self.share = cache(
            lambda bits, is_document: round(share(bits, 0.0 if is_document else _HEADING_BONUS), _DIGITS)
        )
        """The share of a node by its bits. A document gets no heading bonus: its title is about everything in it."""

    def __bool__(self) -> bool:
        return any(text is not None for _, text in self._items)

    def queries(self, among: tantivy.Query) -> Iterator[tuple[int, tantivy.Query]]:
        """Queries that score the filtered nodes by the bits of some items, each with the number of its first item.

        The clauses are nested, so the engine looks up each only where the filter matches. Side by side, it would go
        through all matches of each.
        """
        for first in range(0, len(self._items), _ITEMS_PER_QUERY):
            query = tantivy.Query.const_score_query(among, 0.0)
            for number, (heading, text) in enumerate(self._items[first : first + _ITEMS_PER_QUERY]):
                for bit, wanted in ((_HEADING, heading), (_TEXT, text)):
                    if wanted is not None:
                        scored = tantivy.Query.const_score_query(wanted, float(shifted(bit, number)))
                        query = tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, scored)])
            yield first, query

    def _all(self, items: Sequence[Query]) -> Share:
        required = [item for item in self._context.required(items) if _searches_text(item)]
        total = sum(map(_weight, required))
        return _weighted([(_weight(item) / total, self._share(item)) for item in required if total])

    def _share(self, item: Query) -> Share:
        if isinstance(item, Word | Phrase):
            return self._word(item) if is_plain(item) else self._field_or_phrase(item)
        if isinstance(item, Either):
            return _best_of([self._share(each) for each in item.items])
        return self._all(all_items(item))

    def _word(self, word: Word) -> Share:
        """A word, with a name split into its parts, which may be apart or missing.

        All variants of one group share an item: most words have no others.
        """
        variants = list(self._builder(_TITLE).variants(word))
        whole = [variant for variant in variants if len(variant.groups) == 1]
        shares = [_single(self._add_variants(whole), _HEADING | _TEXT)] if whole else []
        for variant in variants:
            if len(variant.groups) > 1:
                parts = [self._add_variants([variant._replace(groups=[group])]) for group in variant.groups]
                shares.append(_name(parts))
        return self._with_flag(word, shares[0] if len(shares) == 1 else _best_of(shares))

    def _field_or_phrase(self, item: Word | Phrase) -> Share:
        """A phrase, a prefix, or a word with a field."""
        is_phrase = isinstance(item, Phrase)
        heading = self._builder(_TITLE).build(item)
        text = self._builder(_BODY if is_phrase else {**_TITLE, **_BODY}).build(item)
        return self._with_flag(item, _single(self._add(heading, text), _HEADING | _TEXT if is_phrase else _TEXT))

    def _with_flag(self, item: Word | Phrase, share: Share) -> Share:
        """A command-line flag counts in full only with its dashes."""
        flag = self._context.flag(item)
        return share if flag is None else _weighted([(0.5, share), (0.5, _single(self._add(None, flag), _TEXT))])

    def _add_variants(self, variants: Sequence[Variant]) -> int:
        """Add an item for any of some variants, all of it in the heading or all of it in the text."""
        heading, text = (self._builder(boosts).any_variant(variants) for boosts in (_TITLE, _BODY))
        return self._add(heading, text)

    def _add(self, heading: tantivy.Query | None, text: tantivy.Query | None) -> int:
        self._items.append((heading, text))
        return len(self._items) - 1

    def _builder(self, boosts: Mapping[str, float]) -> ClauseBuilder:
        return ClauseBuilder(self._context, boosts, bonus=False)


def _single(number: int, needs_any: Bits) -> Share:
    return lambda bits, bonus: _IN_TEXT * _has(bits, number, needs_any) + bonus * _has(bits, number, _HEADING)


def _name(parts: Sequence[int]) -> Share:
    """The parts of a name. Each counts for itself; the heading bonus needs all of them."""
    shares = [_single(part, _HEADING | _TEXT) for part in parts]

    def share(bits: Bits, bonus: float) -> float:
        in_heading = all(_has(bits, part, _HEADING) for part in parts)
        return sum([each(bits, 0.0) for each in shares]) / len(shares) + bonus * in_heading

    return share


def _weighted(shares: Sequence[tuple[float, Share]]) -> Share:
    return lambda bits, bonus: sum([weight * share(bits, bonus) for weight, share in shares])


def _best_of(shares: Sequence[Share]) -> Share:
    return lambda bits, bonus: max([share(bits, bonus) for share in shares], default=0.0)


def shifted(bits: Bits, number: int) -> Bits:
    """Bits of items from ``number`` on, moved to their place among all bits."""
    return bits << 2 * number


def _has(bits: Bits, number: int, any_of: Bits) -> bool:
    return bool(bits >> 2 * number & any_of)


def _searches_text(item: Query) -> bool:
    """Whether a node's own text can satisfy an item."""
    if isinstance(item, Word | Phrase):
        return item.field in (None, "title", "body")
    return not isinstance(item, Not) and any(_searches_text(each) for each in item.items)


def _weight(item: Query) -> float:
    if isinstance(item, Word | Phrase):
        return item.boost
    return 0.0 if isinstance(item, Not) else max(_weight(each) for each in item.items)
