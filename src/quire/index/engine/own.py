"""What share of a query a node's own title and body satisfy. Before: ``find`` has found nodes. After: they are merged.

The engine is asked for nothing but flags: whether the heading satisfies a word, whether the text does. Its score is
their sum, each another power of two. What they are worth together is worked out here, once for all nodes alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import tantivy

from quire.index.engine.clauses import Pass, Words, together
from quire.index.engine.words import spelled
from quire.query.tree import Not, Phrase, Query, Word

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_SAID, _IN_HEADING = 0.99, 0.01
"""How well a node satisfies a word that it says itself, and how much better if its heading does."""
SATISFIED = _SAID - 1e-4
"""From this share on, all of the query is satisfied: no share of less than all comes near it."""
_DIGITS = 5
"""To so many a share is rounded, which is a sum of weights."""
EQUAL = 2 * 10.0**-_DIGITS
"""Shares that are no further apart are equal: sums that differ in their last digits may be rounded to both sides."""
_AT_ONCE = 12
"""For how many items, with two flags each, a score has room: it has 24 bits."""
_HEADING, _TEXT = 1, 2
"""The flags of an item."""
_TITLE: Mapping[str, float] = {"title": 1.0}
_BODY: Mapping[str, float] = {"body": 1.0}


class _Item(NamedTuple):
    """A word, phrase or group that must match and asks for text."""

    part: float
    """How much of the query it is."""
    heading: tantivy.Query | None
    """What finds it in a heading."""
    text: tantivy.Query | None
    """What finds it in a text."""
    said: int
    """The flags of which one is enough for a node to say it."""


class Own:
    """What is asked of each node, and what the answers are worth."""

    def __init__(self, words: Words, query: Query) -> None:
        items = [item for item in words.needed(together(query)) if _asks_for_text(item)]
        total = sum(_weight(item) for item in items)
        self._items = [_item(words, item, _weight(item) / total) for item in items if total]
        self.shares = _Shares(self._items)
        """What a node satisfies, by its flags and by whether it is a document."""

    def __bool__(self) -> bool:
        """Whether there is anything to ask."""
        return any(item.text is not None for item in self._items)

    def queries(self, among: tantivy.Query) -> Iterator[tuple[int, tantivy.Query]]:
        """What passes a filter, scored by its flags; in front, by how many bits these are to be shifted.

        One flag stands around the other, so the engine looks for each only where the filter leads it. Side by side it
        would go through all that they match.
        """
        for first in range(0, len(self._items), _AT_ONCE):
            query = tantivy.Query.const_score_query(among, 0.0)
            for number, item in enumerate(self._items[first : first + _AT_ONCE]):
                for flag, wanted in ((_HEADING, item.heading), (_TEXT, item.text)):
                    if wanted is not None:
                        scored = tantivy.Query.const_score_query(wanted, float(flag << 2 * number))
                        query = tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, scored)])
            yield 2 * first, query


class _Shares(dict[tuple[int, bool], float]):
    """What flags are worth, 0 to 1; in a document, a little less. Each is worked out once.

    A heading satisfies a little better than a text. A document's title stands in its front matter and is said of all
    of it: it satisfies as a text does.
    """

    def __init__(self, items: Sequence[_Item]) -> None:
        self._items = items

    def __missing__(self, key: tuple[int, bool]) -> float:
        flags, is_document = key
        heading = 0.0 if is_document else _IN_HEADING
        worth = 0.0
        for number, item in enumerate(self._items):
            inside = flags >> 2 * number
            worth += item.part * (_SAID * bool(inside & item.said) + heading * bool(inside & _HEADING))
        self[key] = share = round(worth, _DIGITS)
        return share


def _item(words: Words, item: Query, part: float) -> _Item:
    # One term, or terms side by side, stand in one field or in the other; anything else may need both.
    in_one = isinstance(item, Phrase) or (isinstance(item, Word) and _is_one_term(words, item))
    return _Item(
        part,
        heading=Pass(words, _TITLE, bonus=False).compiled(item),
        text=Pass(words, _BODY if in_one else {**_TITLE, **_BODY}, bonus=False).compiled(item),
        said=_HEADING | _TEXT if in_one else _TEXT,
    )


def _is_one_term(words: Words, word: Word) -> bool:
    ways = (way for text in words.texts(word) for language in words.languages for way in spelled(text, language))
    return not word.prefix and all(len(way.terms) == 1 for way in ways)


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
