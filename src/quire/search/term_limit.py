"""The most terms that a query may have. Further terms are ignored, so that no query takes long."""

from __future__ import annotations

import re

import msgspec

from quire.index.engine.normalization import normalize
from quire.query.query_tree import Not, Phrase, Query, Word

MAX_TERMS = 64  # each word of a name or phrase is a term; in Chinese and Japanese each character
PREFIX_TERMS = 16  # a word with ``*`` counts as so many terms, as it stands for many words

_TERM = re.compile(r"[A-Z]*+[^\W\d_A-Z]++|[A-Z]++|\d++")


def within_limit(query: Query | None) -> tuple[Query | None, int]:
    """The query within ``MAX_TERMS``, and the number of ignored terms."""
    limiter = _Limiter()
    return None if query is None else limiter.limit(query), limiter.ignored


class _Limiter:
    """Counts terms while it walks through a query."""

    def __init__(self) -> None:
        self.used = 0
        self.ignored = 0

    def limit(self, query: Query) -> Query | None:
        """What remains of a query; None if nothing does."""
        if isinstance(query, Word | Phrase):
            return self._leaf(query)
        if isinstance(query, Not):
            return self._not(query)
        # Exclusions come last: alone they mean nothing.
        order = sorted(range(len(query.items)), key=lambda at: isinstance(query.items[at], Not))
        items = {at: kept for at in order if (kept := self.limit(query.items[at])) is not None}
        if len(items) < 2:
            return next(iter(items.values()), None)
        return msgspec.structs.replace(query, items=tuple(items[at] for at in sorted(items)))

    def _leaf(self, leaf: Word | Phrase) -> Word | Phrase | None:
        text = normalize(leaf.text)
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
        """An exclusion is kept whole or dropped: a part of it would exclude more than was meant."""
        used, ignored = self.used, self.ignored
        self.limit(query.item)
        if self.ignored == ignored:
            return query
        self.ignored += self.used - used
        self.used = used
        return None
