"""The most terms that a query may have: what is beyond is ignored, so that no query takes long. Pure."""

from __future__ import annotations

import re

import msgspec

from quire.index.engine.spelling import normal
from quire.query.query_tree import Not, Phrase, Query, Word

MAX_TERMS = 64
"""How many terms are searched; of a name or a phrase each word is one, in Chinese or Japanese each character."""
PREFIX_TERMS = 16
"""How many terms a word with ``*`` behind it counts as: it stands for many."""

_TERM = re.compile(r"[A-Z]*+[^\W\d_A-Z]++|[A-Z]++|\d++")


def within_limit(query: Query | None) -> tuple[Query | None, int]:
    """What is left of a query within ``MAX_TERMS``, and how many terms are ignored."""
    cut = _Cut()
    return None if query is None else cut.kept(query), cut.ignored


class _Cut:
    """Counts terms on the way through a query."""

    def __init__(self) -> None:
        self.used = 0
        self.ignored = 0

    def kept(self, query: Query) -> Query | None:
        """What is kept of a query; None if it is nothing."""
        if isinstance(query, Word | Phrase):
            return self._leaf(query)
        if isinstance(query, Not):
            return self._not(query)
        # What is looked for comes first: a query that only says what to leave out means nothing.
        order = sorted(range(len(query.items)), key=lambda at: isinstance(query.items[at], Not))
        items = {at: kept for at in order if (kept := self.kept(query.items[at])) is not None}
        if len(items) < 2:
            return next(iter(items.values()), None)
        return msgspec.structs.replace(query, items=tuple(items[at] for at in sorted(items)))

    def _leaf(self, leaf: Word | Phrase) -> Word | Phrase | None:
        text = normal(leaf.text)
        ends = [term.end() for term in _TERM.finditer(text)] or [len(text)]
        is_prefix = isinstance(leaf, Word) and leaf.prefix
        count = (1 if leaf.field == "tree" else len(ends)) + (PREFIX_TERMS - 1) * is_prefix
        left = MAX_TERMS - self.used
        if count <= left:
            self.used += count
            return leaf
        if is_prefix or not left:
            self.ignored += count
            return None
        self.used += left
        self.ignored += count - left
        return msgspec.structs.replace(leaf, text=text[: ends[left - 1]])

    def _not(self, query: Not) -> Not | None:
        """A part of it would leave out more than was meant, so it is kept whole or not at all."""
        used, ignored = self.used, self.ignored
        self.kept(query.item)
        if self.ignored == ignored:
            return query
        self.ignored += self.used - used
        self.used = used
        return None
