"""What share of a query a node's own title and body satisfy. Before: ``find`` has found nodes. After: they are merged.

The engine is asked for nothing but flags: whether the heading has a word, or a part of a name, whether the text does.
Its score is their sum, each another power of two. What they are worth together is worked out here, once for all nodes
alike: parts and items add up, of several ways the best counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import tantivy

from quire.index.engine.clauses import Pass, Way, together
from quire.index.engine.known import Words, is_plain
from quire.query.query_tree import Either, Not, Phrase, Query, Word

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
"""For how much, with two flags each, a score has room: it has 24 bits."""
_HEADING, _TEXT = 1, 2
"""The flags of one thing that is asked for."""
Flags = int
"""The flags of all, two bits each, those of the first lowest."""
_TITLE: Mapping[str, float] = {"title": 1.0}
_BODY: Mapping[str, float] = {"body": 1.0}


class _Asked(NamedTuple):
    """What the engine is asked for about each node."""

    heading: tantivy.Query | None
    """What finds it in a heading."""
    text: tantivy.Query | None
    """What finds it in a text."""


class _Said(NamedTuple):
    """Something that the engine is asked for, by its number."""

    number: int
    any_of: Flags
    """The flags of which one is enough for a node to say it."""

    def worth(self, flags: Flags, heading: float) -> float:
        """How well it is satisfied; ``heading`` is how much better a heading does so."""
        return _SAID * _has(flags, self.number, self.any_of) + heading * _has(flags, self.number, _HEADING)


class _Name(NamedTuple):
    """The parts of a name: what a node says of them counts in part, what a heading says only if it has them all."""

    parts: Sequence[_Said]

    def worth(self, flags: Flags, heading: float) -> float:
        in_heading = all(_has(flags, part.number, _HEADING) for part in self.parts)
        return sum([part.worth(flags, 0.0) for part in self.parts]) / len(self.parts) + heading * in_heading


class _Together(NamedTuple):
    """Items that belong together, each with how much of them it is."""

    items: Sequence[tuple[float, _Wanted]]

    def worth(self, flags: Flags, heading: float) -> float:
        return sum([part * item.worth(flags, heading) for part, item in self.items])


class _BestOf(NamedTuple):
    """Several ways to say something: the best one counts."""

    ways: Sequence[_Wanted]

    def worth(self, flags: Flags, heading: float) -> float:
        return max([way.worth(flags, heading) for way in self.ways], default=0.0)


_Wanted = _Said | _Name | _Together | _BestOf


class Own:
    """What is asked of each node, and what the answers are worth."""

    def __init__(self, words: Words, query: Query, *, partial: bool) -> None:
        self._words = words
        self._partial = partial
        self._asked: list[_Asked] = []
        self.shares = _Shares(self._all(together(query)))
        """What a node satisfies, by its flags and by whether it is a document."""

    def __bool__(self) -> bool:
        """Whether there is anything to ask."""
        return any(each.text is not None for each in self._asked)

    def queries(self, among: tantivy.Query) -> Iterator[tuple[int, tantivy.Query]]:
        """What passes a filter, scored by some of the flags; in front, the number of what the first are for.

        One flag stands around the other, so the engine looks for each only where the filter leads it. Side by side it
        would go through all that they match.
        """
        for first in range(0, len(self._asked), _AT_ONCE):
            query = tantivy.Query.const_score_query(among, 0.0)
            for number, asked in enumerate(self._asked[first : first + _AT_ONCE]):
                for flag, wanted in ((_HEADING, asked.heading), (_TEXT, asked.text)):
                    if wanted is not None:
                        scored = tantivy.Query.const_score_query(wanted, float(shifted(flag, number)))
                        query = tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, scored)])
            yield first, query

    def _all(self, items: Sequence[Query]) -> _Together:
        """Items of which each has its part, as far as they must match and ask for text."""
        needed = [item for item in self._words.needed(items) if _asks_for_text(item)]
        total = sum(map(_weight, needed))
        return _Together([(_weight(item) / total, self._wanted(item)) for item in needed if total])

    def _wanted(self, item: Query) -> _Wanted:
        if isinstance(item, Word | Phrase):
            return self._name(item) if is_plain(item) else self._whole(item)
        if isinstance(item, Either):
            return _BestOf([self._wanted(each) for each in item.items])
        return self._all(together(item))

    def _name(self, word: Word) -> _Wanted:
        """A word by its parts, if it has any: those of a name may stand apart, or be missing.

        Whatever it is in one piece, in any language, is asked for at once: most words are nothing else.
        """
        ways = list(self._pass(_TITLE).ways(word))
        whole = [way for way in ways if len(way.units) == 1]
        wanted: list[_Wanted] = [self._ask(whole)] if whole else []
        named = [way for way in ways if len(way.units) > 1]
        wanted += [_Name([self._ask([way._replace(units=[unit])]) for unit in way.units]) for way in named]
        return self._or_flag(word, wanted[0] if len(wanted) == 1 else _BestOf(wanted))

    def _or_flag(self, item: Word | Phrase, wanted: _Wanted) -> _Wanted:
        """A word or phrase that is a flag of a command counts in full only where it stands as one."""
        flag = self._words.flag(item)
        return wanted if flag is None else _Together([(0.5, wanted), (0.5, self._said(None, flag, _TEXT))])

    def _ask(self, ways: Sequence[Way]) -> _Said:
        """Ask for pieces of which one is enough. A piece stands in one field or in the other."""
        heading, text = (self._pass(into).any_of(ways) for into in (_TITLE, _BODY))
        return self._said(heading, text, _HEADING | _TEXT)

    def _whole(self, item: Word | Phrase) -> _Wanted:
        """Ask for a phrase, a beginning, or what must stand in a field."""
        in_one = isinstance(item, Phrase)
        heading = self._pass(_TITLE).compiled(item)
        text = self._pass(_BODY if in_one else {**_TITLE, **_BODY}).compiled(item)
        return self._or_flag(item, self._said(heading, text, _HEADING | _TEXT if in_one else _TEXT))

    def _said(self, heading: tantivy.Query | None, text: tantivy.Query | None, any_of: Flags) -> _Said:
        self._asked.append(_Asked(heading, text))
        return _Said(len(self._asked) - 1, any_of)

    def _pass(self, into: Mapping[str, float]) -> Pass:
        """As the nodes were looked for: in a partial match, two of a run of characters are something of it."""
        return Pass(self._words, into, loose=self._partial, bonus=False)


def shifted(flags: Flags, number: int) -> Flags:
    """Some flags among all; ``number`` is that of what the first of them are for."""
    return flags << 2 * number


def _has(flags: Flags, number: int, any_of: Flags) -> bool:
    """Whether what has a number has any of some flags."""
    return bool(flags >> 2 * number & any_of)


class _Shares(dict[tuple[Flags, bool], float]):
    """What flags are worth, 0 to 1; in a document, a little less. Each is worked out once.

    A heading satisfies a little better than a text. A document's title stands in its front matter and is said of all
    of it: it satisfies as a text does.
    """

    def __init__(self, wanted: _Wanted) -> None:
        self._wanted = wanted

    def __missing__(self, key: tuple[Flags, bool]) -> float:
        flags, is_document = key
        self[key] = share = round(self._wanted.worth(flags, 0.0 if is_document else _IN_HEADING), _DIGITS)
        return share


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
